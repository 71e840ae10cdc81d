/*
 * Committees for Maekawa's algorithm: each node is in its own, and every two have a node in common.
 * Made once for a network, before anything runs, in memory of the caller's; flat, and never
 * changed again.
 */
#ifndef ALGORITHMS_MAEKAWA_COMMITTEES_H
#define ALGORITHMS_MAEKAWA_COMMITTEES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum committees_kind {
	COMMITTEES_AUTO, /* the smallest of the next three; a plane before a grid before the last */
	COMMITTEES_PLANE,  /* the lines of a projective plane: q + 1 of q^2 + q + 1 nodes */
	COMMITTEES_GRID,   /* the row and the column of a node: at most 2 sqrt(N) - 1 nodes or so */
	COMMITTEES_CYCLIC, /* translates of a difference cover: from sqrt(N) to sqrt(1.5 N) or so */
	COMMITTEES_GIVEN,  /* a text: 1.2/2.3/3.1 */
};

struct committees;

/* Some nodes, in increasing order. */
struct nodes {
	const uint32_t *list;
	uint32_t count;
};

/* Where a node is in the list; its length if it is not. */
uint32_t nodes_place(struct nodes nodes, uint32_t node);

static inline bool nodes_have(struct nodes nodes, uint32_t node)
{
	return nodes_place(nodes, node) < nodes.count;
}

/* Bytes that committees_make needs. `text` is read for COMMITTEES_GIVEN only. */
size_t committees_size(uint32_t nodes, enum committees_kind kind, const char *text);

/*
 * NULL, or a sentence that says what is wrong: there is no such plane, the text is malformed, a
 * node is not in its own committee, two committees do not meet. The memory is all zeros before.
 */
const char *committees_make(uint32_t nodes, enum committees_kind kind, const char *text,
                            struct committees *committees);

/* Whom node i asks, and who asks node i. */
struct nodes committees_members(const struct committees *committees, uint32_t nodes, uint32_t i);
struct nodes committees_clients(const struct committees *committees, uint32_t nodes, uint32_t i);

#endif
