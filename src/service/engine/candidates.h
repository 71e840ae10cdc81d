/*
 * Who may join: only somebody that can serve at once. A leader names its candidates to everybody
 * (prospects); everybody makes the links that the next view would need and says which it lacks; when
 * nobody lacks any, they join together.
 */
#ifndef ENGINE_CANDIDATES_H
#define ENGINE_CANDIDATES_H

#include "petitioners.h"

/* When a name was removed because its lease was over, by this voter's clock. */
struct absence {
	char name[ENTRY_NAME_MAX + 1];
	uint64_t since;
};

struct candidates {
	uint64_t *prospects; /* processes, in the order of their names */
	uint32_t prospects_count;
	size_t prospects_size;
	uint64_t digest; /* of them and the epoch */
	struct absence *absences;
	uint32_t absences_count;
	size_t absences_size;
};

void candidates_free(struct candidates *candidates);
/* The name was removed, or is taken to have been removed when the voter began. */
void candidates_absent(struct candidates *candidates, const char *name, uint64_t now);
/* Chooses the prospects again. True: they are others than before. */
bool candidates_choose(struct candidates *candidates, const struct agreed_state *state,
                       struct petitioners *petitioners, uint64_t now);
/* May all prospects join now? */
bool candidates_ready(const struct candidates *candidates, const struct agreed_state *state,
                      struct petitioners *petitioners, uint64_t now);

#endif
