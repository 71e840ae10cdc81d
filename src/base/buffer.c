/*
 * Bytes that are appended at the end and taken from the front: see buffer.h.
 */
#include "buffer.h"
#include "memory.h"

void buffer_make_room(struct buffer *buffer, size_t size)
{
	size_t used = buffer_size(buffer);

	/* Moving copies at most as many bytes as were taken from the front, so it is cheap on
	 * average. */
	if (buffer->start >= used && buffer->room - used >= size) {
		if (used > 0)
			memcpy(buffer->bytes, buffer->bytes + buffer->start, used);
	} else {
		/* As much again is free afterwards, so that on average a byte is copied at most
		 * once. A buffer that stays full takes at most twice the memory that it needs. */
		size_t room = 2 * used + size;
		if (room < 256)
			room = 256;
		/* realloc moves many megabytes without copying them, but it would also copy the
		 * bytes that were taken. */
		char *bytes = buffer->start == 0 ? realloc(buffer->bytes, room) : malloc(room);
		memory_must(bytes != NULL);
		if (buffer->start != 0) {
			memcpy(bytes, buffer->bytes + buffer->start, used);
			free(buffer->bytes);
		}
		buffer->bytes = bytes;
		buffer->room = room;
	}
	buffer->start = 0;
	buffer->end = used;
}
