/*
 * Reads the text of a list of edges, such as "1-2,2-3", one edge at a time.
 */
#ifndef CORE_EDGE_LIST_H
#define CORE_EDGE_LIST_H

#include <stdbool.h>
#include <stdint.h>

struct edge {
	uint32_t a, b;
};

/*
 * Reads an edge and moves *text past it. Returns false at the end of the list, and at a malformed
 * edge. In the second case *text is not at its end.
 */
bool edge_read(const char **text, struct edge *ret_edge);

#endif
