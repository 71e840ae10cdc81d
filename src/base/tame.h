/*
 * Control characters. Names and what strangers say may be any bytes; what is shown to a person stays one
 * line, and a terminal obeys none of it.
 */
#ifndef BASE_TAME_H
#define BASE_TAME_H

#include <stdbool.h>
#include <stddef.h>

static inline bool tame_is_control(char byte)
{
	return (unsigned char)byte < ' ' || byte == 0x7f;
}

/* Replaces each with '?'; so also both bytes of U+0080 to U+009F in UTF-8, which terminals obey too. */
void tame_text(char *bytes, size_t size);

#endif
