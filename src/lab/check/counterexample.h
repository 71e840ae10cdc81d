/*
 * Writes a path that the checker found as a scenario, which `baton replay` can follow.
 */
#ifndef LAB_COUNTEREXAMPLE_H
#define LAB_COUNTEREXAMPLE_H

#include "check.h"

/* Returns the scenario, which the caller frees. `note` is a comment on top. `expectation` is the
 * last line, which says what should have held. `cycle` is the index of the first step of the part
 * that repeats without end, or SIZE_MAX. */
char *counterexample_text(const struct model *model, const struct action *path, size_t path_count,
                          size_t cycle, const char *note, const char *expectation);

/* Returns how many steps of a schedule these actions are. */
size_t counterexample_steps(const struct action *path, size_t count);

#endif
