/*
 * A word of a command or of an answer: bytes without a terminating 0.
 */
#ifndef CLIENT_WORD_H
#define CLIENT_WORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct word {
	const char *bytes;
	size_t size;
};

/* Make a word of a literal, and of a text with a terminating 0. */
#define WORD(text)                                                                                 \
	(struct word)                                                                              \
	{                                                                                          \
		text, sizeof(text) - 1                                                             \
	}
struct word word_of(const char *text);
bool word_is(struct word word, const char *text);

/* Checks that the number can be a fence: from 1 to 2^53 - 1. Returns 0 or BATON_EFENCE. */
int fence_verify(uint64_t fence);

#endif
