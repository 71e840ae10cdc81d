/*
 * Filters control characters. Names and texts from strangers may contain any bytes, but what a
 * person sees must stay one line and must not control the terminal.
 */
#ifndef BASE_TAME_H
#define BASE_TAME_H

#include <stdbool.h>
#include <stddef.h>

static inline bool tame_is_control(char byte)
{
	return (unsigned char)byte < ' ' || byte == 0x7f;
}

/* Replaces each control character with '?', including both bytes of U+0080 to U+009F in UTF-8,
 * which terminals obey too. */
void tame_text(char *bytes, size_t size);

#endif
