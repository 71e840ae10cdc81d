/*
 * Tells which members of a view need a link to each other. These are all pairs; or neighbours in a
 * topology, with the members numbered in the order of their names; or the pairs that a list of
 * links names.
 */
#ifndef ENGINE_WIRING_H
#define ENGINE_WIRING_H

#include "named_link.h"
#include "state.h"
#include "topology.h"

struct wiring {
	bool complete; /* the algorithm needs a link between every two members */
	struct topology topology;
	uint64_t seed; /* the seed of random:D */
	/* Links between named nodes; if there are any, the topology is not used. */
	struct named_links links;
};

/* Writes for each of `count` members, sorted by name, whether the member at `self` needs a link to
 * it. */
void wiring_of(const struct wiring *wiring, const struct entry_text *names, uint32_t count,
               uint32_t self, bool *ret_linked);
void wiring_of_seats(const struct wiring *wiring, const struct seat *seats, uint32_t count,
                     uint32_t self, bool *ret_linked);

/*
 * The graph of a view may fall apart when a member is gone. Writes, for each member, the first
 * member of its part. Returns the first member of the part that goes on: the largest part or, of
 * several, the one with the smallest name.
 */
uint32_t wiring_parts(const struct wiring *wiring, const struct seat *seats, uint32_t count,
                      uint32_t *ret_parts);

#endif
