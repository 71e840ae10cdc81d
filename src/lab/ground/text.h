/*
 * Text in memory that grows at its end. A struct of zeros is an empty text.
 */
#ifndef LAB_TEXT_H
#define LAB_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
	/* The text with a final 0, which `used` does not count; NULL until something is added. */
	char *bytes;
	size_t used, size;
};

void text_add(struct text *text, const char *bytes, size_t count);
void text_add_string(struct text *text, const char *string);
/* Adds a string in which < and & are written as XML wants them. */
void text_add_xml(struct text *text, const char *string);
__attribute__((format(printf, 2, 3))) void text_format(struct text *text, const char *format, ...);

/* Empties the text and keeps its memory. */
void text_clear(struct text *text);
void text_free(struct text *text);

/* Returns the text as a string for the caller to free; never NULL. The text is empty afterwards. */
char *text_take(struct text *text);

/* Are these bytes UTF-8: no overlong form, no surrogate, nothing beyond U+10FFFF? */
bool text_is_utf8(const char *bytes, size_t count);

/* Writes a time in millionths as a decimal without needless zeros, and returns `ret_text`, which
 * has room for at least 32 bytes. */
char *time_text(uint64_t time, char *ret_text);

#endif
