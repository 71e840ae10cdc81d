/*
 * Topologies: a text such as "tree:2" or "edges:1-2,2-3" becomes a graph. No memory is allocated
 * here: the caller asks how much is needed and gives it.
 *
 * complete, ring, line, star (node 1 in the middle), tree:K (balanced K-ary, root 1, children of
 * i: K(i-1)+2 … Ki+1), radiating:K (K arms from node 1, as even as possible, the longer ones
 * first, numbered outward arm by arm), grid:RxC (row by row), random:D (connected, mean degree D
 * as nearly as a graph of that size allows, from the seed), edges:1-2,2-3,…
 *
 * file:PATH is known by name only: whoever can read files gives the text behind "edges:" instead.
 */
#ifndef CORE_TOPOLOGY_H
#define CORE_TOPOLOGY_H

#include "graph.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NODES_MAX = 1 << 24 };

enum topology_kind {
	TOPOLOGY_COMPLETE,
	TOPOLOGY_RING,
	TOPOLOGY_LINE,
	TOPOLOGY_STAR,
	TOPOLOGY_TREE,
	TOPOLOGY_RADIATING,
	TOPOLOGY_GRID,
	TOPOLOGY_RANDOM,
	TOPOLOGY_EDGES,
};

/* The forms, for messages and completion: "complete", …, "file:PATH"; NULL at the end. */
extern const char *const topology_names[];

struct topology {
	enum topology_kind kind;
	uint32_t a, b;              /* K; or R and C */
	uint64_t degree_millionths; /* random:D, D may be a decimal */
	const char *edges; /* the list behind "edges:", not copied: the caller's text must stay */
};

/*
 * NULL, or what is wrong with the text: a static sentence that says what would be right, such as
 * "tree:K needs a whole number K from 1 to 16777216, such as tree:2". A list of edges is checked
 * for its form: at least one edge, numbers from 1 to NODES_MAX, no edge from a node to itself. An
 * edge may be given twice, either way round, and counts once. Any run of commas and white space
 * separates edges, so that the text of a file with an edge a line can be used. A number that
 * occurs in no edge is a node without neighbours: whether the graph is connected is the caller's
 * to ask (graph_is).
 */
const char *topology_parse(const char *text, struct topology *ret_topology);

/* How many nodes the topology fixes (grid: RC, edges: the largest number), 0 if it fixes none. */
uint32_t topology_nodes(const struct topology *topology);

/*
 * Bytes that topology_build needs; a multiple of 8, and not 0 even where it needs none (complete).
 * 0: too many edges for a graph here (2^31 or more), or more bytes than a size_t can say. `nodes`
 * is from 1 to NODES_MAX and is topology_nodes where that is not 0: both are the caller's to
 * check.
 */
size_t topology_memory(const struct topology *topology, uint32_t nodes);

/*
 * Cannot fail: `nodes` is as above and topology_memory was not 0. The memory is aligned to 8, need
 * not be cleared, and stays as long as the graph; a complete graph does not touch it. Only
 * random:D looks at the seed. A ring of 2 is one edge, of 1 none.
 */
void topology_build(const struct topology *topology, uint32_t nodes, uint64_t seed, void *memory,
                    struct graph *ret_graph);

#endif
