/*
 * The processes that may join the cluster. A process joins only when it can serve at once. The
 * leader sends the list of candidates that may join next, the prospects, to everybody. Everybody
 * then makes the links that the next view would need, and reports which ones are missing. When no
 * link is missing, all prospects join together.
 */
#ifndef ENGINE_CANDIDATES_H
#define ENGINE_CANDIDATES_H

#include "petitioners.h"
#include "wiring.h"

/* A name that is no longer a member, and since when, by this voter's clock. Only a name with
 * strikes (state.h) must wait before it joins again. */
struct absence {
	char name[ENTRY_NAME_MAX + 1];
	uint64_t since;
};

struct candidates {
	uint64_t *prospects; /* the processes that may join next, sorted by name */
	uint32_t prospects_count;
	size_t prospects_size;
	uint64_t digest; /* a digest of the prospects and the epoch */
	struct absence *absences;
	uint32_t absences_count;
	size_t absences_size;
};

void candidates_free(struct candidates *candidates);
/* Notes that the name is no longer a member from now on. A voter that starts does not know when the
 * names with strikes were removed, so it calls this for all names in its snapshot. */
void candidates_absent(struct candidates *candidates, const char *name, uint64_t now);
/* Chooses the prospects again. Returns true if the list differs from the last one. */
bool candidates_choose(struct candidates *candidates, const struct agreed_state *state,
                       struct petitioners *petitioners, const struct wiring *wiring, uint64_t now);
/* May all prospects join now? */
bool candidates_ready(const struct candidates *candidates, const struct agreed_state *state,
                      struct petitioners *petitioners, uint64_t now);

#endif
