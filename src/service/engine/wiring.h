/*
 * Which members of a view need a link to each other: all pairs, or those that a topology makes
 * neighbours when the members are numbered by name.
 */
#ifndef ENGINE_WIRING_H
#define ENGINE_WIRING_H

#include "topology.h"

struct wiring {
	bool complete; /* the algorithm sends from every member to every other */
	struct topology topology;
	uint64_t seed; /* the seed of random:D */
};

/* Sets, for each of the `count` members sorted by name, whether the one at `self` needs a link to
 * it. */
void wiring_of(const struct wiring *wiring, uint32_t count, uint32_t self, bool *ret_linked);

#endif
