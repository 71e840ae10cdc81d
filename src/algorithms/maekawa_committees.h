/*
 * Committees for Maekawa's algorithm: each node is in its own, and every two have a node in common.
 * They are made once for a network, before anything runs, in the caller's memory. They are flat and
 * never change.
 */
#ifndef ALGORITHMS_MAEKAWA_COMMITTEES_H
#define ALGORITHMS_MAEKAWA_COMMITTEES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum committees_kind {
	/* The kind with the smallest committees among the next three; if equal, the first. */
	COMMITTEES_AUTO,
	COMMITTEES_PLANE, /* the lines of a projective plane: q + 1 out of q^2 + q + 1 nodes */
	/* The row and the column of a node in a grid: at most about 2 sqrt(N) - 1 nodes. */
	COMMITTEES_GRID,
	/* Translates of a difference cover: about sqrt(N) to sqrt(1.5 N) nodes. */
	COMMITTEES_CYCLIC,
	COMMITTEES_GIVEN, /* given as text: 1.2/2.3/3.1 */
};

struct committees;

/* Some nodes, in increasing order. */
struct nodes {
	const uint32_t *list;
	uint32_t count;
};

/* Returns the index of a node in the list, or the list's length if it is not there. */
uint32_t nodes_place(struct nodes nodes, uint32_t node);

static inline bool nodes_have(struct nodes nodes, uint32_t node)
{
	return nodes_place(nodes, node) < nodes.count;
}

/* Returns how many bytes committees_make needs. `text` is read for COMMITTEES_GIVEN only. */
size_t committees_size(uint32_t nodes, enum committees_kind kind, const char *text);

/*
 * Makes the committees in memory that must be all zeros. Returns NULL, or a sentence that says what
 * is wrong: there is no such plane, the text is malformed, a node is not in its own committee, or
 * two committees do not meet.
 */
const char *committees_make(uint32_t nodes, enum committees_kind kind, const char *text,
                            struct committees *committees);

/* Return the nodes that node i asks, and the nodes that ask node i. */
struct nodes committees_members(const struct committees *committees, uint32_t nodes, uint32_t i);
struct nodes committees_clients(const struct committees *committees, uint32_t nodes, uint32_t i);

#endif
