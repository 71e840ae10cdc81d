/*
 * A link between two hosts, given by their names, for networks in which not all hosts reach each
 * other. A list of links replaces the topology: the graph of a view has the listed links between
 * its members.
 */
#ifndef BASE_NAMED_LINK_H
#define BASE_NAMED_LINK_H

#include <stdint.h>

struct named_link {
	const char *a, *b;
};

/* The names must stay valid as long as the list is used. */
struct named_links {
	/* The links; NULL: no links are listed, and the topology decides. */
	const struct named_link *list;
	uint32_t count;
};

#endif
