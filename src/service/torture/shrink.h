/*
 * Finds a small set of faults with which a failed run still fails, because only these faults are
 * worth looking at.
 */
#ifndef TORTURE_SHRINK_H
#define TORTURE_SHRINK_H

#include "ordeal.h"

#include <signal.h>

/* While more faults than this are left, the search for smaller sets does not give up early. */
enum { SHRINK_GOAL = 12 };

struct shrink_options {
	/* Does a run. Several threads call it at once. */
	void (*run)(void *context, const struct ordeal_plan *plan,
	            struct ordeal_result *ret_result);
	/* Called with the number of runs done, the most runs that there can be, and the number of
	 * faults left. */
	void (*progress)(void *context, uint32_t runs, uint32_t runs_max, uint32_t faults);
	void *context;
	uint32_t threads;
	const volatile sig_atomic_t *interrupted; /* set: the search ends as soon as it can */
};

/*
 * Leaves out faults as long as the run still fails. `result` is at first the result of the whole
 * run. It becomes the result of the run with only the faults in result->numbers. Returns how many
 * runs this took. The result does not depend on the number of threads.
 */
uint32_t shrink(const struct ordeal_plan *plan, const struct shrink_options *options,
                struct ordeal_result *result);

#endif
