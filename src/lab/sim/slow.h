/*
 * Measures what one slow node costs the others. The same run is made twice, without the slow node
 * and with it, and the waiting times are compared.
 */
#ifndef LAB_SLOW_H
#define LAB_SLOW_H

#include "sim.h"

#include <jansson.h>

/* Times are means after the warm-up; NAN if there is nothing to take the mean of. */
struct slow_cost {
	/* How many nodes other than options->slow_node enter in the first run, in which no node is
	 * slow. */
	uint32_t others;
	uint32_t slower; /* how many of `others` wait longer on average, or in vain */
	/* Mean times from request to entry of the other nodes, in units of time: first without a
	 * slow node, then with it. */
	double response_before, response;
	/* Mean times from an exit to the next entry, if a node waited at that exit, in mean message
	 * delays. */
	double sync_before, sync;
};

/* Makes two runs: first without a slow node, then the run that the options describe, with its slow
 * node. Only the second run is recorded in the trace. `options` has a slow node. */
void slow_run(struct sim *sim, const struct sim_options *options, struct sim_result *ret_result,
              struct slow_cost *ret_cost);
json_t *slow_report(const struct sim_options *options, const struct slow_cost *cost);

#endif
