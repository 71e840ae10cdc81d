/*
 * Bytes that are appended at the end and taken from the front: see buffer.h.
 */
#include "buffer.h"
#include "memory.h"

void buffer_make_room(struct buffer *buffer, size_t size)
{
	size_t used = buffer_size(buffer);

	/* Moving costs as much as was taken from the front at most: cheap in the long run. */
	if (buffer->start >= used && buffer->room - used >= size) {
		if (used > 0)
			memcpy(buffer->bytes, buffer->bytes + buffer->start, used);
	} else {
		/* As much again is free then, so that copying costs a byte for a byte at most; and a buffer
		 * that stays full has at most twice the room that it needs. */
		size_t room = 2 * used + size;
		if (room < 256)
			room = 256;
		/* realloc moves many megabytes without copying them, but would copy what was taken. */
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
