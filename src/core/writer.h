/*
 * A writer of compact JSON text into a buffer of the caller's. It never writes beyond the buffer
 * but goes on counting, as snprintf does: if `used` ends up larger than `size`, give a larger
 * buffer and write again.
 */
#ifndef CORE_WRITER_H
#define CORE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct writer {
	char *text; /* not terminated by 0 */
	size_t size;
	size_t used;
	bool comma; /* a value has been written at this level: the next one needs a comma */
};

void writer_init(struct writer *writer, char *text, size_t size);

/* Plain text, as it is. */
void writer_text(struct writer *writer, const char *text);

/* An array or an object, and what is in it. `key` names a member of an object. */
void writer_open(struct writer *writer, char bracket);
void writer_close(struct writer *writer, char bracket);
void writer_key(struct writer *writer, const char *key);

void writer_int(struct writer *writer, int64_t value);
void writer_uint(struct writer *writer, uint64_t value);
void writer_bool(struct writer *writer, bool value);
void writer_null(struct writer *writer);
void writer_string(struct writer *writer, const char *value);

#endif
