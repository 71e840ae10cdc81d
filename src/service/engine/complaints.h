/*
 * Whose lease a leader stops renewing although it asks, because the others cannot work with it:
 *
 *	a member that is heard but does not hear that it was acknowledged,
 *	one of two members that lack a link that the view needs,
 *	the member whose REPORT most others lack.
 *
 * It then lapses by its own clock, is removed by its lease like any other, and joins again when it
 * can serve. Nothing here removes anybody: a complaint that is wrong costs time, never safety.
 */
#ifndef ENGINE_COMPLAINTS_H
#define ENGINE_COMPLAINTS_H

#include "petitioners.h"
#include "wiring.h"

/* Two members without a link, since when. */
struct wanting_pair {
	uint64_t a, b; /* processes, a < b */
	uint64_t since;
	bool seen;
};

struct complaints {
	struct wanting_pair *pairs;
	uint32_t pairs_count;
	size_t pairs_size;
	uint64_t epoch;         /* the epoch in which somebody has not been active … */
	uint64_t stalled_since; /* … since then; 0: all are */
};

void complaints_free(struct complaints *complaints);

/* Sets `withheld` of every petitioner that is a member. `votes` tells whether a name is a voter's. */
void complaints_judge(struct complaints *complaints, const struct agreed_state *state,
                      struct petitioners *petitioners, const struct wiring *wiring,
                      bool (*votes)(const void *context, const char *name), const void *context,
                      uint64_t now);

#endif
