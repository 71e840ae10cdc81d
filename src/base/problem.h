/*
 * A problem: one line of text that says what is wrong with a user's input. Functions that find a
 * problem write it and return -1.
 */
#ifndef BASE_PROBLEM_H
#define BASE_PROBLEM_H

#include <stddef.h>

struct problem {
	char text[512];
};

/* Always returns -1, so that a function can end with it. */
__attribute__((format(printf, 2, 3))) int problem_set(struct problem *problem, const char *format,
                                                      ...);

/* Returns the name in the list (which ends with NULL) that is nearest to what was given, or NULL if
 * none is near. The part of a listed name after ':' is ignored. */
const char *nearest_name(const char *given, const char *const *names);

#endif
