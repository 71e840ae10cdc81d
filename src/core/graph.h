/*
 * Undirected graphs, and the questions that drivers ask about them. topology.h makes graphs.
 */
#ifndef CORE_GRAPH_H
#define CORE_GRAPH_H

#include "algorithm.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * An undirected graph without loops. The neighbours of node i are adjacent[offset[i-1] …
 * offset[i]-1], in increasing order; if `complete` is set, no neighbours are stored, and both
 * arrays are NULL.
 */
struct graph {
	uint32_t nodes;
	uint64_t edges_count;
	/* The graph is complete, and its edges are not stored. A graph with stored edges can be
	 * complete too (graph_is). */
	bool complete;
	const uint32_t *offset;
	const uint32_t *adjacent;
};

/* Returns the number of pairs of nodes, which is the number of edges of a complete graph. There
 * must be at least one node. */
uint64_t graph_pairs(uint32_t nodes);

/* Nodes are counted from 1, neighbours (k) from 0. */
uint32_t graph_degree(const struct graph *graph, uint32_t node);
uint32_t graph_neighbour(const struct graph *graph, uint32_t node, uint32_t k);
bool graph_adjacent(const struct graph *graph, uint32_t a, uint32_t b);

/*
 * Does the graph belong to the class? A single node belongs to all classes, and every graph belongs
 * to GRAPH_NONE; two nodes with an edge are a ring. `scratch` must have room for graph->nodes
 * numbers, here and in graph_toward.
 */
bool graph_is(const struct graph *graph, enum graph_class class, uint32_t *scratch);

/*
 * Writes into ret_toward[i-1] the neighbour of node i on a shortest path to the root (the smallest
 * if there are several), and 0 for the root. The graph must be connected.
 */
void graph_toward(const struct graph *graph, uint32_t root, uint32_t *ret_toward,
                  uint32_t *scratch);

/*
 * Writes the ring's direction: node i's successor into ret_right[i-1], its predecessor into
 * ret_left[i-1]. The direction is from node 1 to its smaller neighbour. In a ring of one, both are
 * the node itself. The graph must be a GRAPH_RING.
 */
void graph_ring(const struct graph *graph, uint32_t *ret_left, uint32_t *ret_right);

#endif
