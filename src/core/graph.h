/*
 * Undirected graphs, and what the drivers ask of them. A graph is made of a topology (topology.h).
 */
#ifndef CORE_GRAPH_H
#define CORE_GRAPH_H

#include "algorithm.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * An undirected graph without loops. The neighbours of node i are adjacent[offset[i-1] …
 * offset[i]-1], in increasing order; a complete graph stores none: both are NULL.
 */
struct graph {
	uint32_t nodes;
	uint64_t edges_count;
	bool complete; /* stored as such; a graph may be complete by its edges too: graph_is */
	const uint32_t *offset;
	const uint32_t *adjacent;
};

/* The pairs of so many nodes, which is how many edges a complete graph has. At least one node. */
uint64_t graph_pairs(uint32_t nodes);

/* Nodes count from 1, k from 0. */
uint32_t graph_degree(const struct graph *graph, uint32_t node);
uint32_t graph_neighbour(const struct graph *graph, uint32_t node, uint32_t k);
bool graph_adjacent(const struct graph *graph, uint32_t a, uint32_t b);

/*
 * Does the graph belong to the class? A single node belongs to all, and every graph to GRAPH_NONE;
 * two nodes with an edge are a ring. `scratch` has room for graph->nodes numbers, here and below.
 */
bool graph_is(const struct graph *graph, enum graph_class class, uint32_t *scratch);

/*
 * toward[i-1]: the neighbour of i on a shortest path to root (the smallest where there are
 * several), 0 for root. A connected graph.
 */
void graph_toward(const struct graph *graph, uint32_t root, uint32_t *ret_toward,
                  uint32_t *scratch);

/*
 * The ring's direction: i's successor in right[i-1], its predecessor in left[i-1]; from 1 to its
 * smaller neighbour. A ring of one: itself. The graph is a GRAPH_RING.
 */
void graph_ring(const struct graph *graph, uint32_t *ret_left, uint32_t *ret_right);

#endif
