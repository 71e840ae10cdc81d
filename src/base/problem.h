/*
 * What is wrong with a user's input: one line of text. Functions that can find a problem return -1
 * and write it.
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
