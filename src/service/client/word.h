/*
 * A word of a command or of an answer: bytes that need not end with 0.
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

/* Of a literal, and of a text that ends with 0. */
#define WORD(text)                                                                                 \
	(struct word)                                                                              \
	{                                                                                          \
		text, sizeof(text) - 1                                                             \
	}
struct word word_of(const char *text);
bool word_is(struct word word, const char *text);

/* Can it be a fence? It is below 2^53. 0 or BATON_EFENCE. */
int fence_verify(uint64_t fence);

#endif
