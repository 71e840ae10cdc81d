/*
 * Decides which members' leases are not renewed although they ask, because the others cannot work
 * with them:
 *
 * 	- a member whose petitions arrive, but which does not receive the acknowledgements;
 * 	- one of two members that lack a link to each other which the view needs;
 * 	- if an epoch does not begin, the member whose REPORT is missing at the most members;
 * 	- if a member is gone and the links of --links do not connect the others any more, all
 * 	  members outside the largest connected part.
 *
 * The lease of such a member runs out by the member's own clock. The member is then removed like
 * any other, and joins again when it can serve. Nothing in this file removes a member: a wrong
 * complaint costs time, never safety.
 */
#ifndef ENGINE_COMPLAINTS_H
#define ENGINE_COMPLAINTS_H

#include "petitioners.h"
#include "wiring.h"

/* Two members that lack a link to each other, and since when. */
struct wanting_pair {
	uint64_t a, b; /* the two processes, the smaller one first */
	uint64_t since;
	bool seen;
};

struct complaints {
	struct wanting_pair *pairs;
	uint32_t pairs_count;
	size_t pairs_size;
	uint64_t epoch; /* the epoch to which `stalled_since` belongs */
	/* Since when at least one member is not active in `epoch`; 0: all are active. */
	uint64_t stalled_since;
};

void complaints_free(struct complaints *complaints);

/* Decides on `withheld` for every petitioner that is a member. `votes` tells whether a name is a
 * voter. */
void complaints_judge(struct complaints *complaints, const struct agreed_state *state,
                      struct petitioners *petitioners, const struct wiring *wiring,
                      bool (*votes)(const void *context, const char *name), const void *context,
                      uint64_t now);

#endif
