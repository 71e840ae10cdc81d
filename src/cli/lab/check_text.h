/*
 * What a check found, in words.
 */
#ifndef CLI_CHECK_TEXT_H
#define CLI_CHECK_TEXT_H

#include "check.h"

/* On stdout. `entries` as given, or NULL. */
void check_print(const struct setup_words *words, const char *entries,
                 const struct check_options *options, const struct check_result *result);

#endif
