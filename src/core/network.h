/*
 * A network is one algorithm with its parameters on one graph. network_site makes the site of each
 * node.
 */
#ifndef CORE_NETWORK_H
#define CORE_NETWORK_H

#include "algorithm.h"
#include "topology.h"

/* The caller owns everything; `toward` (trees), `left` and `right` (rings) and `identifiers`
 * (elections) are NULL where they do not apply. */
struct network {
	const struct algorithm *algorithm;
	struct graph graph;
	uint32_t holder;
	uint64_t parameters[PARAMETERS_MAX];
	/* The texts of the parameters whose value is PARAMETER_TEXT. */
	const char *texts[PARAMETERS_MAX];
	const void *shared; /* data that the algorithm's `prepare` made from the other members */
	const uint32_t *toward;
	const uint32_t *left, *right;
	const uint32_t *identifiers;
};

static inline struct site network_site(const struct network *network, uint32_t node)
{
	const struct graph *graph = &network->graph;
	struct site site = {
	        .self = node,
	        .nodes = graph->nodes,
	        .holder = network->holder,
	        .identifier = network->identifiers != NULL ? network->identifiers[node - 1] : node,
	        .identifiers = network->identifiers,
	        .parameters = network->parameters,
	        .shared = network->shared,
	};
	if (graph->complete) {
		site.neighbours_count = graph->nodes - 1;
	} else {
		site.neighbours = graph->adjacent + graph->offset[node - 1];
		site.neighbours_count = graph->offset[node] - graph->offset[node - 1];
	}
	if (network->toward != NULL)
		site.toward = network->toward[node - 1];
	if (network->left != NULL) {
		site.left = network->left[node - 1];
		site.right = network->right[node - 1];
	}
	return site;
}

/* Appends a number from a state to a queue. Returns false if it is not the number of a node, or if
 * the queue is full. */
static inline bool queue_append(const struct snapshot *snapshot, uint32_t *queue, uint32_t *count,
                                uint32_t node)
{
	uint32_t nodes = snapshot->network->graph.nodes;

	if (node == 0 || node > nodes || *count >= nodes)
		return false;
	queue[(*count)++] = node;
	return true;
}

/* May a node send to another? If the algorithm needs complete links, all nodes are linked and
 * the graph is only a logical structure. */
static inline bool network_linked(const struct network *network, uint32_t from, uint32_t to)
{
	return network->algorithm->links == GRAPH_COMPLETE || network->graph.nodes == 1 ||
	       graph_adjacent(&network->graph, from, to);
}

#endif
