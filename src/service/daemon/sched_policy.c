#include "sched_policy.h"

#include "log.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

enum {
	LONG_NS = 250000, /* a mean wait for the processor is too long if it is longer than this */
	/* How many turns of the loop pass between two looks at the statistics; fewer if turns take
	 * long. A look costs a system call, and a single wait says little. */
	LOOK_TURNS = 256,
	LOOK_TURNS_LEAST = 4,
	LOOK_MS = 10,
	/* After yielding turned out to be wrong: how long the node does not yield, and how often it
	 * must have run before it tries again. */
	PENALTY_LEAST_MS = 1000,
	PENALTY_MOST_MS = 64000,
	PENALTY_RUNS = 128,
};

static void set_since(struct sched_policy *policy, bool yields, uint64_t now_ms)
{
	policy->yields = yields;
	policy->doubtful = false;
	policy->since_ms = now_ms;
	policy->since_runs = policy->runs;
}

bool sched_policy_judge(struct sched_policy *policy, uint64_t now_ms, uint64_t waited_ns,
                        uint64_t runs)
{
	bool waits_long = waited_ns - policy->waited_ns > LONG_NS * (runs - policy->runs);
	bool was_doubtful = policy->doubtful;
	uint64_t for_ms = now_ms - policy->since_ms;

	policy->waited_ns = waited_ns;
	policy->runs = runs;
	policy->turns = 0;
	policy->looked_ms = now_ms;
	policy->doubtful = waits_long;
	if (!policy->yields) {
		if (for_ms >= policy->penalty_ms && runs - policy->since_runs >= PENALTY_RUNS)
			set_since(policy, true, now_ms);
	} else if (was_doubtful && waits_long) {
		policy->penalty_ms = policy->penalty_ms == 0                ? PENALTY_LEAST_MS
		                     : policy->penalty_ms < PENALTY_MOST_MS ? 2 * policy->penalty_ms
		                                                            : PENALTY_MOST_MS;
		set_since(policy, false, now_ms);
	} else if (for_ms >= PENALTY_MOST_MS) {
		policy->penalty_ms = 0;
	}
	return policy->yields;
}

/* Reads how long the process was ready but did not run, and how often it ran. */
static bool look(const struct sched_policy *policy, uint64_t *ret_waited_ns, uint64_t *ret_runs)
{
	char text[80];
	ssize_t size = pread(policy->stat_fd, text, sizeof(text) - 1, 0);

	if (size <= 0)
		return false;
	text[size] = '\0';
	/* Both are 0 if the kernel does not count them. */
	return sscanf(text, "%*u %" SCNu64 " %" SCNu64, ret_waited_ns, ret_runs) == 2 &&
	       *ret_runs > 0;
}

/* Changes the policy between SCHED_OTHER and SCHED_BATCH. Changes nothing if the present policy is
 * not the one that this code set last: then another program has changed it. */
static bool change_policy(bool yields)
{
	static const struct sched_param none;
	return sched_getscheduler(0) == (yields ? SCHED_OTHER : SCHED_BATCH) &&
	       sched_setscheduler(0, yields ? SCHED_BATCH : SCHED_OTHER, &none) == 0;
}

void sched_policy_open(struct sched_policy *policy, uint64_t now_ms)
{
	*policy = (struct sched_policy){.stat_fd = -1};
	policy->stat_fd = open("/proc/self/schedstat", O_RDONLY | O_CLOEXEC);
	if (policy->stat_fd < 0)
		return;
	if (!look(policy, &policy->waited_ns, &policy->runs) || !change_policy(true)) {
		sched_policy_close(policy);
		return;
	}
	set_since(policy, true, now_ms);
}

void sched_policy_close(struct sched_policy *policy)
{
	if (policy->stat_fd >= 0)
		close(policy->stat_fd);
	policy->stat_fd = -1;
}

void sched_policy_turn(struct sched_policy *policy, uint64_t now_ms)
{
	uint64_t waited_ns, runs;
	bool yielded = policy->yields;

	if (policy->stat_fd < 0)
		return;
	policy->turns++;
	if (policy->turns < LOOK_TURNS &&
	    (policy->turns < LOOK_TURNS_LEAST || now_ms - policy->looked_ms < LOOK_MS))
		return;
	if (!look(policy, &waited_ns, &runs))
		return;
	if (sched_policy_judge(policy, now_ms, waited_ns, runs) == yielded)
		return;
	if (!change_policy(policy->yields)) {
		log_line(LEVEL_DEBUG, "a scheduling policy was set from outside: it is kept");
		sched_policy_close(policy);
		return;
	}
	log_line(LEVEL_DEBUG,
	         policy->yields ? "this node yields the processor to its clients"
	                        : "something else keeps the processor busy: this node does not "
	                          "yield it for %" PRIu64 " ms",
	         policy->penalty_ms);
}
