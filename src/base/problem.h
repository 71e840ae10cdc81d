/*
 * What is wrong with what a user gave: one line of text. Functions that can find a problem return
 * -1 and write it.
 */
#ifndef BASE_PROBLEM_H
#define BASE_PROBLEM_H

#include <stddef.h>

struct problem {
	char text[512];
};

/* Always -1, so that a function can end with it. */
__attribute__((format(printf, 2, 3))) int problem_set(struct problem *problem, const char *format,
                                                      ...);

/* The name in the list (NULL at the end) that is nearest to what was given, NULL if none is near.
 * What stands after ':' in a name of the list does not count. */
const char *nearest_name(const char *given, const char *const *names);

#endif
