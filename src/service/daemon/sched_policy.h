/*
 * How the node shares a processor with its clients.
 *
 * A client that says UNLOCK and goes on need not be interrupted for that: until it waits for something
 * there is time. So the node yields (SCHED_BATCH): it interrupts nobody when it is woken, and finds the
 * UNLOCK together with the LOCK that follows. But where something else keeps the processor busy,
 * answers would wait for the end of its turn. So the node looks at how long it was ready and did not
 * run, and where that is long it is like all others (SCHED_OTHER) and tries again later, more and more
 * seldom.
 */
#ifndef DAEMON_SCHED_POLICY_H
#define DAEMON_SCHED_POLICY_H

#include <stdbool.h>
#include <stdint.h>

struct sched_policy {
	int stat_fd; /* -1: the policy is left as it is */
	bool yields;
	uint64_t since_ms; /* it does, or does not */
	uint64_t since_runs;
	/* How long not to, because it was wrong to; 0: it never was, or not of late. */
	uint64_t penalty_ms;
	bool doubtful;  /* the last look says that it is wrong to */
	uint32_t turns; /* of the loop since that */
	uint64_t looked_ms;
	uint64_t waited_ns, runs; /* of the process at that time */
};

/* Leaves the policy as it is if somebody has set one, or the system does not tell how long it waits. */
void sched_policy_open(struct sched_policy *policy, uint64_t now_ms);
void sched_policy_close(struct sched_policy *policy);

/* After each turn of the loop. */
void sched_policy_turn(struct sched_policy *policy, uint64_t now_ms);

/* So often it has run by now, and waited for so long in all. True: it should yield. */
bool sched_policy_judge(struct sched_policy *policy, uint64_t now_ms, uint64_t waited_ns,
                        uint64_t runs);

#endif
