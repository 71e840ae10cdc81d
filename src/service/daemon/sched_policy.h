/*
 * Decides how the node shares a processor with its clients.
 *
 * When a client sends UNLOCK and goes on working, the node need not interrupt it: the UNLOCK can
 * wait until the client waits for something. So the node yields (SCHED_BATCH): it interrupts no
 * other process when it is woken, and reads the UNLOCK together with the LOCK that follows. But if
 * something else keeps the processor busy, answers would wait for the end of its time slice. So the
 * node measures how long it was ready but did not run. If that takes too long, it competes like all
 * other processes (SCHED_OTHER) and tries to yield again later, at growing intervals.
 */
#ifndef DAEMON_SCHED_POLICY_H
#define DAEMON_SCHED_POLICY_H

#include <stdbool.h>
#include <stdint.h>

struct sched_policy {
	int stat_fd; /* the descriptor of the statistics; -1: the policy is left as it is */
	bool yields;
	uint64_t since_ms; /* when the node last began or ceased to yield */
	uint64_t since_runs;
	/* How long the node does not yield after it has found that yielding makes it wait too long;
	 * 0: it has not found that lately. */
	uint64_t penalty_ms;
	bool doubtful;  /* at the last look, the node had waited too long */
	uint32_t turns; /* how many turns of the loop there were since the last look */
	uint64_t looked_ms;
	/* How long the process has waited for a processor and how often it ran, at the last
	 * look. */
	uint64_t waited_ns, runs;
};

/* Begins to choose the policy. Leaves it alone if another was set from outside, or if the system
 * does not tell how long the process waits. */
void sched_policy_open(struct sched_policy *policy, uint64_t now_ms);
void sched_policy_close(struct sched_policy *policy);

/* Call it after each turn of the loop. */
void sched_policy_turn(struct sched_policy *policy, uint64_t now_ms);

/* Decides whether the process should yield, from how often it has run so far and how long it has
 * waited in all. */
bool sched_policy_judge(struct sched_policy *policy, uint64_t now_ms, uint64_t waited_ns,
                        uint64_t runs);

#endif
