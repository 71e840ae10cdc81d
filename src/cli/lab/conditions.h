/*
 * Prints the conditions under which something was run or checked, apart from the algorithm and its
 * network. A verdict or a figure means nothing without them.
 */
#ifndef CLI_CONDITIONS_H
#define CLI_CONDITIONS_H

#include "setup.h"

/* Prints on stdout the parameters, the first holder if it was given, and dead places, each with
 * `before` in front. */
void conditions_print(const struct setup_words *words, const struct setup *setup,
                      const char *before);

#endif
