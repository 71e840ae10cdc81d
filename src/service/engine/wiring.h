/*
 * Which members of a view need a link to each other: all pairs, or those that a topology makes
 * neighbours when the members are numbered by their names.
 */
#ifndef ENGINE_WIRING_H
#define ENGINE_WIRING_H

#include "topology.h"

struct wiring {
	bool complete; /* the algorithm sends from everybody to everybody */
	struct topology topology;
	uint64_t seed; /* of random:D */
};

/* For each of `count` members, by name, whether the one at `self` needs a link to it. */
void wiring_of(const struct wiring *wiring, uint32_t count, uint32_t self, bool *ret_linked);

#endif
