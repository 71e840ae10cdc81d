/*
 * Topologies: a text such as "tree:2" or "edges:1-2,2-3" becomes a graph. Nothing is allocated
 * here: the caller asks how much memory is needed and provides it.
 *
 * complete, ring, line, star (node 1 in the middle), tree:K (balanced K-ary, root 1, children of
 * i: K(i-1)+2 … Ki+1), radiating:K (K arms from node 1, as even as possible, the longer ones
 * first, numbered outward arm by arm), grid:RxC (row by row), random:D (connected, mean degree D
 * as nearly as a graph of that size allows, from the seed), edges:1-2,2-3,…
 *
 * file:PATH is only recognised. Core cannot read files, so a caller that can gives the content as
 * "edges:…" instead.
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

/* All forms, for messages and completion: "complete", …, "file:PATH". NULL at the end. */
extern const char *const topology_names[];

struct topology {
	enum topology_kind kind;
	uint32_t a, b;              /* the numbers in the text: K, or R and C */
	uint64_t degree_millionths; /* the D of random:D, which may be a decimal */
	/* The list after "edges:"; it is not copied, so the caller's text must outlive this. */
	const char *edges;
};

/*
 * Parses a topology. Returns NULL, or what is wrong with the text: a static sentence that says what
 * would be right, such as "tree:K needs a whole number K from 1 to 16777216, such as tree:2". A
 * list of edges is checked for its form: at least one edge, numbers from 1 to NODES_MAX, no edge
 * from a node to itself. An edge that is given twice, in either direction, counts once. Any run of
 * commas and white space separates edges, so a file that has one edge on each line can be used as
 * it is. A number that occurs in no edge is a node without neighbours. The caller must check that
 * the graph is connected (graph_is).
 */
const char *topology_parse(const char *text, struct topology *ret_topology);

/* Returns how many nodes the topology prescribes (grid: R times C, edges: the largest number),
 * or 0 if it works for any number. */
uint32_t topology_nodes(const struct topology *topology);

/*
 * Returns how many bytes topology_build needs, rounded up to a multiple of 8. A complete graph
 * needs none, but the result is 8, because 0 means failure: there are too many edges (2^31 or
 * more), or the bytes do not fit into a size_t. The caller must check that `nodes` is from 1 to
 * NODES_MAX, and that it equals topology_nodes unless the latter is 0.
 */
size_t topology_memory(const struct topology *topology, uint32_t nodes);

/*
 * Builds the graph. It cannot fail if `nodes` is as above and topology_memory did not return 0. The
 * memory must be aligned to 8 and live as long as the graph; it need not be cleared. Only random:D
 * uses the seed. A ring of 2 nodes has one edge, a ring of 1 has none.
 */
void topology_build(const struct topology *topology, uint32_t nodes, uint64_t seed, void *memory,
                    struct graph *ret_graph);

#endif
