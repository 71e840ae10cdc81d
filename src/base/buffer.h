/*
 * Bytes that are appended at the end and taken from the front. A struct of zeros is an empty
 * buffer.
 */
#ifndef BASE_BUFFER_H
#define BASE_BUFFER_H

#include "must.h"

#include <stdlib.h>
#include <string.h>

struct buffer {
	char *bytes;
	size_t start, end, room;
};

static inline size_t buffer_size(const struct buffer *buffer)
{
	return buffer->end - buffer->start;
}

static inline const char *buffer_front(const struct buffer *buffer)
{
	/* C does not even allow adding 0 to NULL, and `bytes` is NULL in a buffer that was never
	 * used. */
	return buffer->start != 0 ? buffer->bytes + buffer->start : buffer->bytes;
}

void buffer_make_room(struct buffer *buffer, size_t size);

/* Makes room for `size` more bytes, and returns where to write them. The caller then moves
 * buffer->end. */
static inline char *buffer_need(struct buffer *buffer, size_t size)
{
	if (buffer->room - buffer->end < size)
		buffer_make_room(buffer, size);
	return buffer->bytes + buffer->end;
}

static inline void buffer_append(struct buffer *buffer, const void *bytes, size_t size)
{
	if (size == 0)
		return;
	memcpy(buffer_need(buffer, size), bytes, size);
	buffer->end += size;
}

static inline void buffer_take(struct buffer *buffer, size_t size)
{
	buffer->start += size;
	if (buffer->start == buffer->end)
		buffer->start = buffer->end = 0;
}

static inline void buffer_free(struct buffer *buffer)
{
	free(buffer->bytes);
	*buffer = (struct buffer){0};
}

#endif
