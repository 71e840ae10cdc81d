/*
 * How the node shares a processor with its clients.
 *
 * A client that sends UNLOCK and goes on need not be interrupted for that: there is time until it
 * waits for something. So the node yields (SCHED_BATCH): it interrupts no other process when it is
 * woken, and reads the UNLOCK together with the LOCK that follows. But if something else keeps the
 * processor busy, answers would wait for the end of its time slice. So the node measures how long
 * it was ready but did not run. Where that is long, it competes like all others (SCHED_OTHER) and
 * tries to yield again later, less and less often.
 */
#ifndef DAEMON_SCHED_POLICY_H
#define DAEMON_SCHED_POLICY_H

#include <stdbool.h>
#include <stdint.h>

struct sched_policy {
	int stat_fd; /* the descriptor of the statistics; -1: the policy is left as it is */
	bool yields;
	uint64_t since_ms; /* since when the node yields, or does not */
	uint64_t since_runs;
	/* How long the node must not yield, because yielding was wrong; 0: it was not wrong
	 * lately. */
	uint64_t penalty_ms;
	bool doubtful;  /* the last look says that yielding is wrong */
	uint32_t turns; /* how many turns of the loop there were since the last look */
	uint64_t looked_ms;
	/* How long the process has waited for a processor and how often it ran, at the last
	 * look. */
	uint64_t waited_ns, runs;
};

/* Begins to choose the policy. Leaves it as it is if one was set from outside, or if the system
 * does not tell how long the process waits. */
void sched_policy_open(struct sched_policy *policy, uint64_t now_ms);
void sched_policy_close(struct sched_policy *policy);

/* Call it after each turn of the loop. */
void sched_policy_turn(struct sched_policy *policy, uint64_t now_ms);

/* Decides from how often the process has run so far and how long it has waited in all. Returns true
 * if it should yield. */
bool sched_policy_judge(struct sched_policy *policy, uint64_t now_ms, uint64_t waited_ns,
                        uint64_t runs);

#endif
