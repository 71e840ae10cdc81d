/*
 * Numbers that a user writes.
 */
#ifndef BASE_NUMBERS_H
#define BASE_NUMBERS_H

#include "problem.h"

#include <stdint.h>

/* Parses a whole number from `least` to `most`. Returns 0, or -1 and a problem that begins with
 * `what`. */
int parse_number(const char *text, uint64_t least, uint64_t most, const char *what,
                 uint64_t *ret_number, struct problem *problem);

/* Parses numbers from `least` to `most`, separated by commas: exactly `count` of them if that is
 * not 0. Returns 0 and an array that the caller frees, or -1. */
int parse_numbers(const char *text, uint64_t least, uint64_t most, const char *what, uint32_t count,
                  uint32_t **ret_numbers, uint32_t *ret_count, struct problem *problem);

#endif
