/*
 * Text in memory that grows at its end. All zeros is an empty one.
 */
#ifndef LAB_TEXT_H
#define LAB_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct text {
	char *bytes; /* ends with a 0 that is not counted; NULL as long as nothing was added */
	size_t used, size;
};

void text_add(struct text *text, const char *bytes, size_t count);
void text_add_string(struct text *text, const char *string);
__attribute__((format(printf, 2, 3))) void text_format(struct text *text, const char *format, ...);

/* Empties the text and keeps its memory. */
void text_clear(struct text *text);
void text_free(struct text *text);

/* The text as a string of malloc's, never NULL. The text itself is empty afterwards. */
char *text_take(struct text *text);

/* Are these bytes UTF-8: no overlong form, no surrogate, nothing beyond U+10FFFF? */
bool text_is_utf8(const char *bytes, size_t count);

#endif
