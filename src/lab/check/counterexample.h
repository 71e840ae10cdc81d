/*
 * A path of the checker as a scenario that `baton replay` follows.
 */
#ifndef LAB_COUNTEREXAMPLE_H
#define LAB_COUNTEREXAMPLE_H

#include "check.h"

/* The text, to be freed. `expectation`: the last line, what should have held; `note`: a
 * comment on top. cycle: the step before which a part begins that repeats for ever, or SIZE_MAX. */
char *counterexample_text(const struct model *model, const struct action *path, size_t path_count,
                          size_t cycle, const char *note, const char *expectation);

#endif
