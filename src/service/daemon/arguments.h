/*
 * The arguments of a command.
 */
#ifndef DAEMON_ARGUMENTS_H
#define DAEMON_ARGUMENTS_H

#include "resp.h"

#include <stdbool.h>

/* Is the argument this word? `word` must be in capital letters; the argument need not be. */
static inline bool argument_is(const struct resp_argument *argument, const char *word)
{
	size_t i = 0;

	for (; i < argument->size && word[i] != '\0'; i++) {
		char c = argument->bytes[i];
		if (c != word[i] && (c < 'a' || c > 'z' || c - 'a' + 'A' != word[i]))
			return false;
	}
	return i == argument->size && word[i] == '\0';
}

/* Reads a whole number up to 2^53. Returns false if the argument is not one. */
static inline bool argument_number(const struct resp_argument *argument, uint64_t *ret_number)
{
	uint64_t number = 0;

	if (argument->size == 0 || argument->size > 16)
		return false;
	for (size_t i = 0; i < argument->size; i++) {
		if (argument->bytes[i] < '0' || argument->bytes[i] > '9')
			return false;
		number = number * 10 + (uint64_t)(argument->bytes[i] - '0');
	}
	*ret_number = number;
	return number <= UINT64_C(1) << 53;
}

#endif
