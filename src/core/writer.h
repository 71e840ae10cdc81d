/*
 * Writes compact JSON into the caller's buffer. It never writes beyond the buffer but continues to
 * count, as snprintf does. If `used` is larger than `size` in the end, the caller must write again
 * with a larger buffer.
 */
#ifndef CORE_WRITER_H
#define CORE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct writer {
	char *text; /* the caller's buffer; the text has no final 0 */
	size_t size;
	size_t used;
	bool comma; /* a value has been written at this level: the next one needs a comma */
};

void writer_init(struct writer *writer, char *text, size_t size);

/* Writes plain text, as it is. */
void writer_text(struct writer *writer, const char *text);

/* Begin and end an array or an object, and write the name of an object's next member. */
void writer_open(struct writer *writer, char bracket);
void writer_close(struct writer *writer, char bracket);
void writer_key(struct writer *writer, const char *key);

void writer_int(struct writer *writer, int64_t value);
void writer_uint(struct writer *writer, uint64_t value);
void writer_bool(struct writer *writer, bool value);
void writer_null(struct writer *writer);
void writer_string(struct writer *writer, const char *value);

#endif
