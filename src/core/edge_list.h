/*
 * The text of a list of edges, "1-2,2-3", one edge at a time.
 */
#ifndef CORE_EDGE_LIST_H
#define CORE_EDGE_LIST_H

#include <stdbool.h>
#include <stdint.h>

struct edge {
	uint32_t a, b;
};

/*
 * Moves the text behind the next edge. False at the end of the list, and at a malformed edge: there
 * the text stops before its end.
 */
bool edge_read(const char **text, struct edge *ret_edge);

#endif
