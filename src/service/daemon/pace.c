#include "pace.h"

#include "internal.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

enum {
	LONG_NS = 250000, /* to wait for the processor */
	/* A look costs a system call, and one wait says little: after so many turns of the loop,
	 * less if they take long. */
	LOOK_TURNS = 256,
	LOOK_TURNS_LEAST = 4,
	LOOK_MS = 10,
	/* It was wrong to yield: then not for so long, and not before it has run so often. */
	PENALTY_LEAST_MS = 1000,
	PENALTY_MOST_MS = 64000,
	PENALTY_RUNS = 128,
};

static void set_since(struct pace *pace, bool yields, uint64_t now_ms)
{
	pace->yields = yields;
	pace->doubtful = false;
	pace->since_ms = now_ms;
	pace->since_runs = pace->runs;
}

bool pace_judge(struct pace *pace, uint64_t now_ms, uint64_t waited_ns, uint64_t runs)
{
	bool waits_long = waited_ns - pace->waited_ns > LONG_NS * (runs - pace->runs);
	bool was_doubtful = pace->doubtful;
	uint64_t for_ms = now_ms - pace->since_ms;

	pace->waited_ns = waited_ns;
	pace->runs = runs;
	pace->turns = 0;
	pace->looked_ms = now_ms;
	pace->doubtful = waits_long;
	if (!pace->yields) {
		if (for_ms >= pace->penalty_ms && runs - pace->since_runs >= PENALTY_RUNS)
			set_since(pace, true, now_ms);
	} else if (was_doubtful && waits_long) {
		pace->penalty_ms = pace->penalty_ms == 0                ? PENALTY_LEAST_MS
		                   : pace->penalty_ms < PENALTY_MOST_MS ? 2 * pace->penalty_ms
		                                                        : PENALTY_MOST_MS;
		set_since(pace, false, now_ms);
	} else if (for_ms >= PENALTY_MOST_MS) {
		pace->penalty_ms = 0;
	}
	return pace->yields;
}

/* How long the process was ready and did not run, and how often it did. */
static bool look(const struct pace *pace, uint64_t *ret_waited_ns, uint64_t *ret_runs)
{
	char text[80];
	ssize_t size = pread(pace->stat_fd, text, sizeof(text) - 1, 0);

	if (size <= 0)
		return false;
	text[size] = '\0';
	/* Where these are not counted they are 0. */
	return sscanf(text, "%*u %" SCNu64 " %" SCNu64, ret_waited_ns, ret_runs) == 2 &&
	       *ret_runs > 0;
}

/* From the other one, or not at all: somebody else may have set one meanwhile. */
static bool change_policy(bool yields)
{
	static const struct sched_param none;
	return sched_getscheduler(0) == (yields ? SCHED_OTHER : SCHED_BATCH) &&
	       sched_setscheduler(0, yields ? SCHED_BATCH : SCHED_OTHER, &none) == 0;
}

void pace_open(struct pace *pace, uint64_t now_ms)
{
	*pace = (struct pace){.stat_fd = -1};
	pace->stat_fd = open("/proc/self/schedstat", O_RDONLY | O_CLOEXEC);
	if (pace->stat_fd < 0)
		return;
	if (!look(pace, &pace->waited_ns, &pace->runs) || !change_policy(true)) {
		pace_close(pace);
		return;
	}
	set_since(pace, true, now_ms);
}

void pace_close(struct pace *pace)
{
	if (pace->stat_fd >= 0)
		close(pace->stat_fd);
	pace->stat_fd = -1;
}

void pace_turn(struct pace *pace, uint64_t now_ms)
{
	uint64_t waited_ns, runs;
	bool yielded = pace->yields;

	if (pace->stat_fd < 0)
		return;
	pace->turns++;
	if (pace->turns < LOOK_TURNS &&
	    (pace->turns < LOOK_TURNS_LEAST || now_ms - pace->looked_ms < LOOK_MS))
		return;
	if (!look(pace, &waited_ns, &runs))
		return;
	if (pace_judge(pace, now_ms, waited_ns, runs) == yielded)
		return;
	if (!change_policy(pace->yields)) {
		log_line(LEVEL_DEBUG, "somebody has set a policy for this process: it is kept");
		pace_close(pace);
		return;
	}
	log_line(LEVEL_DEBUG,
	         pace->yields ? "yields the processor to its clients"
	                      : "something keeps the processor busy: does not yield it for %" PRIu64
	                        " ms",
	         pace->penalty_ms);
}
