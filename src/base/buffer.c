/*
 * Bytes that are appended at the end and taken from the front: see buffer.h.
 */
#include "buffer.h"
#include "memory.h"

void buffer_make_room(struct buffer *buffer, size_t size)
{
	size_t used = buffer_size(buffer);

	/* Move the rest to the beginning. That copies no more bytes than were taken since the last
	 * move, so it is cheap on average. */
	if (buffer->start >= used && buffer->room - used >= size) {
		if (used > 0)
			memcpy(buffer->bytes, buffer->bytes + buffer->start, used);
	} else {
		/* Double the room: then each byte is copied at most once on average, and a full
		 * buffer takes at most twice the memory that it needs. */
		size_t room = 2 * used + size;
		if (room < 256)
			room = 256;
		/* realloc can move many megabytes without copying them, but it would keep the bytes
		 * that were already taken. */
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
