#include "backlog.h"

#include "baton/error.h"
#include "memory.h"

#include <stdlib.h>
#include <string.h>

void backlog_init(struct backlog *backlog, size_t bytes_max)
{
	STAILQ_INIT(&backlog->frames);
	backlog->bytes_max = bytes_max;
}

void backlog_free(struct backlog *backlog)
{
	while (!STAILQ_EMPTY(&backlog->frames)) {
		struct waiting_frame *waiting = STAILQ_FIRST(&backlog->frames);
		STAILQ_REMOVE_HEAD(&backlog->frames, frames);
		free(waiting);
	}
}

bool backlog_has_room(const struct backlog *backlog, size_t size)
{
	return backlog->bytes == 0 ||
	       (size <= backlog->bytes_max && backlog->bytes <= backlog->bytes_max - size);
}

int backlog_add(struct backlog *backlog, const char *from, const uint8_t *bytes, size_t size,
                bool later, bool room)
{
	size_t from_size = strlen(from);
	struct waiting_frame *waiting;
	size_t needed = sizeof(*waiting) + size + from_size + 1;

	bool crowded = later && backlog->later_bytes != 0 &&
	               backlog->later_bytes + needed > backlog->bytes_max / 2;
	if (!room && (crowded || !backlog_has_room(backlog, needed))) {
		backlog->refused = true;
		backlog->refused_at = backlog->bytes;
		return BATON_EAGAIN;
	}
	waiting = malloc(needed);
	memory_must(waiting != NULL);
	*waiting =
	        (struct waiting_frame){.size = (uint32_t)size, .bytes_all = needed, .later = later};
	memcpy(waiting->bytes, bytes, size);
	memcpy(waiting->bytes + size, from, from_size + 1);
	STAILQ_INSERT_TAIL(&backlog->frames, waiting, frames);
	backlog->bytes += needed;
	backlog->later_bytes += later ? needed : 0;
	return 0;
}

void backlog_taken(struct backlog *backlog, const struct waiting_frame *waiting)
{
	backlog->bytes -= waiting->bytes_all;
	backlog->later_bytes -= waiting->later ? waiting->bytes_all : 0;
}

void backlog_take_all(struct backlog *backlog, struct waiting_frames *ret_frames)
{
	STAILQ_INIT(ret_frames);
	STAILQ_CONCAT(ret_frames, &backlog->frames);
}

bool backlog_reopens(struct backlog *backlog)
{
	/* Links are read again when half of the room is free. A large frame may be refused although
	 * half is free; then the backlog must first become smaller than it was at that refusal, or
	 * the frame would be refused again. */
	if (!backlog->refused || backlog->bytes >= backlog->refused_at ||
	    backlog->bytes > backlog->bytes_max / 2)
		return false;
	backlog->refused = false;
	return true;
}
