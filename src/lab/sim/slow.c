#include "slow.h"

#include "memory.h"
#include "report.h"

#include <math.h>
#include <stdlib.h>

/* If a node waits equally long on average in both runs, rounding makes its two means differ by less
 * than this fraction. */
static const double rounding = 1e-9;

static double sync_of(const struct sim_options *options, const struct sim_result *result)
{
	double unit = (double)distribution_mean(&options->delay);

	return result->sync_count == 0 || unit == 0
	               ? NAN
	               : (double)result->sync_sum / (double)result->sync_count / unit;
}

struct waits {
	double mean; /* the mean time from request to entry; NAN if the node never entered */
	uint64_t count;
};

/* Notes how long each node waited, and returns the mean over the entries of all but the slow
 * one. */
static double note_waits(const struct sim *sim, const struct sim_options *options,
                         struct waits *ret_waits)
{
	uint64_t sum_all = 0, count_all = 0;

	for (uint32_t i = 1; i <= options->setup->network.graph.nodes; i++) {
		struct waits *waits = &ret_waits[i - 1];
		uint64_t sum = sim_node_response(sim, i, &waits->count);
		waits->mean = waits->count == 0 ? NAN : (double)sum / (double)waits->count;
		sum_all += i == options->slow_node ? 0 : sum;
		count_all += i == options->slow_node ? 0 : waits->count;
	}
	return count_all == 0 ? NAN : (double)sum_all / (double)count_all / MILLION;
}

void slow_run(struct sim *sim, const struct sim_options *options, struct sim_result *ret_result,
              struct slow_cost *ret_cost)
{
	uint32_t nodes = options->setup->network.graph.nodes;
	struct sim_options without = *options;
	struct waits *before = calloc(2 * (size_t)nodes, sizeof(*before)), *with = before + nodes;

	memory_must(before != NULL);
	without.slow_node = 0;
	without.trace = NULL;
	without.progress = NULL;
	*ret_cost = (struct slow_cost){0};
	sim_run(sim, &without, ret_result);
	ret_cost->sync_before = sync_of(options, ret_result);
	ret_cost->response_before = note_waits(sim, options, before);
	sim_run(sim, options, ret_result);
	ret_cost->sync = sync_of(options, ret_result);
	ret_cost->response = note_waits(sim, options, with);
	for (uint32_t i = 0; i < nodes; i++) {
		if (i + 1 == options->slow_node || before[i].count == 0)
			continue;
		ret_cost->others++;
		ret_cost->slower +=
		        with[i].count == 0 || with[i].mean > before[i].mean * (1 + rounding);
	}
	free(before);
}

json_t *slow_report(const struct sim_options *options, const struct slow_cost *cost)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:{s:o, s:o}, s:{s:o, s:o}}", "node",
	                 (json_int_t)options->slow_node, "factor", (json_int_t)options->slow_factor,
	                 "others", (json_int_t)cost->others, "slower", (json_int_t)cost->slower,
	                 "response", "without", report_number(cost->response_before), "with",
	                 report_number(cost->response), "sync_delay", "without",
	                 report_number(cost->sync_before), "with", report_number(cost->sync));
}
