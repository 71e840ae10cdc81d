/*
 * Under which conditions something was run or checked, beside the algorithm and its network: a
 * verdict or a figure says nothing without them.
 */
#ifndef CLI_CONDITIONS_H
#define CLI_CONDITIONS_H

#include "setup.h"

/* On stdout, each with `before` in front: parameters, the first holder if it was given, dead
 * places. */
void conditions_print(const struct setup_words *words, const struct setup *setup,
                      const char *before);

#endif
