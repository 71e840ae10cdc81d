/*
 * The parts that reading a scenario (scenario.c) and binding it (scenario_bind.c) share.
 */
#ifndef LAB_REPLAY_SCENARIO_WORDS_H
#define LAB_REPLAY_SCENARIO_WORDS_H

#include "scenario.h"

/* An invariant that every algorithm of a kind has. */
struct scenario_built_in {
	const char *name;
	enum step_kind step; /* the step that expects this invariant */
	enum kind kind;      /* the kind of algorithms that have this invariant */
};

/* All invariants of this sort; the last element has no name. */
extern const struct scenario_built_in scenario_built_in[];

/* Reports an unknown word with "did you mean 'X'?" or, if no name is near, with the text
 * `otherwise`. Returns -1. */
int scenario_unknown_word(struct problem *problem, const char *what, const char *word,
                          const char *const *names, const char *otherwise);

#endif
