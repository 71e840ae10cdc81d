/*
 * What the checker learns from the whole graph of states once it is there: whether every run ends,
 * the largest and the smallest number of messages of a run, the longest bypass, and fair cycles in
 * which somebody waits for ever.
 */
#ifndef LAB_GRAPH_SEARCH_H
#define LAB_GRAPH_SEARCH_H

#include "model.h"
#include "states.h"

/*
 * The successors of state s are to[first[s]] … to[first[s + 1] - 1], in the order of model_actions,
 * so that the k-th edge is the k-th action.
 */
struct state_graph {
	struct model *model;
	const struct states *states;
	const uint64_t *first;
	const uint32_t *to;
};

struct liveness {
	bool bounded; /* every run ends */
	uint64_t messages_max, messages_min;
	bool bypass_bounded;
	uint64_t bypass_max;
	uint32_t starved; /* a node that waits for ever in a fair cycle, or 0 */
	uint32_t *cycle;  /* the states of the cycle, the first again at the end; to be freed */
	size_t cycle_count;
};

void graph_search(const struct state_graph *graph, struct liveness *ret_liveness);

#endif
