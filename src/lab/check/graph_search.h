/*
 * Searches in the whole graph of states, for systems that have runs without end: finds the longest
 * bypass, and fair cycles in which a node waits without end.
 */
#ifndef LAB_GRAPH_SEARCH_H
#define LAB_GRAPH_SEARCH_H

#include "search.h"

/* The graph by the states' numbers. The successors of state s are to[first[s]] … to[first[s + 1]
 * - 1], in the order of search_actions, so that the k-th edge is the k-th action. */
struct state_graph {
	struct search *search;
	uint32_t count;
	uint32_t start;
	uint32_t *names; /* [number]: the state's name in the set of states */
	size_t *first;
	uint32_t *to;
	uint64_t *waiting; /* [number]: bit i is set if node i + 1 waits or cannot get ready */
	uint64_t *known;   /* [number]: bit i is set if node i + 1 waits and its request is known */
};

struct liveness {
	bool bypass_bounded;
	uint64_t bypass_max;
	bool endless;     /* an election can go on without end */
	uint32_t starved; /* a node that waits without end in a fair cycle, or 0 */
	/* The states of the cycle that was found, the first again at the end; the caller frees the
	 * array. */
	uint32_t *cycle;
	size_t cycle_count;
};

/* Makes the graph. Returns false if a limit was reached. */
bool state_graph_make(struct search *search, struct state_graph *ret_graph);
void state_graph_free(struct state_graph *graph);
uint64_t state_graph_memory(const struct state_graph *graph);
/* Returns the states of a shortest path from the first state to this one, both included, in an
 * array that the caller frees. */
uint32_t *state_graph_path(const struct state_graph *graph, uint32_t to, size_t *ret_count);

/* If a limit is reached, search->limit names it and the result means nothing. */
void graph_search(const struct state_graph *graph, struct liveness *ret_liveness);

#endif
