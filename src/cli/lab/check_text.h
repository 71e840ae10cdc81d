/*
 * Prints the result of a check for people.
 */
#ifndef CLI_CHECK_TEXT_H
#define CLI_CHECK_TEXT_H

#include "check.h"

/* Prints the result of a check on stdout. `entries` is the text of --entries, or NULL. */
void check_print(const struct setup_words *words, const char *entries,
                 const struct check_options *options, const struct check_result *result);

#endif
