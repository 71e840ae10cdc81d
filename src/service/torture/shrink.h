/*
 * Finds a few of the faults of a run that failed with which it still fails, because these are worth
 * looking at.
 */
#ifndef TORTURE_SHRINK_H
#define TORTURE_SHRINK_H

#include "ordeal.h"

#include <signal.h>

/* A violation that still needs more faults than this is searched longer than others. */
enum { SHRINK_GOAL = 12 };

struct shrink_options {
	/* Does a run. Several threads call it at once. */
	void (*run)(void *context, const struct ordeal_plan *plan,
	            struct ordeal_result *ret_result);
	/* Is told how many runs are done, of at most how many, and how many faults are left. */
	void (*progress)(void *context, uint32_t runs, uint32_t runs_max, uint32_t faults);
	void *context;
	uint32_t threads;
	const volatile sig_atomic_t *interrupted; /* set: the search ends as soon as it can */
};

/*
 * Leaves out faults as long as the run still fails. `result` is that of the whole run, and becomes
 * that of the run with the faults in result->numbers, and only these. Returns how many runs this
 * took. The result does not depend on the number of threads.
 */
uint32_t shrink(const struct ordeal_plan *plan, const struct shrink_options *options,
                struct ordeal_result *result);

#endif
