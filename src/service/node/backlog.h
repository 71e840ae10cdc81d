/*
 * Frames that wait for their view, for reports, or for room. Their memory is bounded: a frame
 * beyond the bound is refused, and its link is not read until there is room.
 */
#ifndef NODE_BACKLOG_H
#define NODE_BACKLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

struct waiting_frame {
	STAILQ_ENTRY(waiting_frame) frames;
	size_t bytes_all; /* the memory that this frame takes, in bytes */
	bool later;       /* the frame's epoch was later than the node's when the frame arrived */
	uint32_t size;
	uint8_t bytes[]; /* the frame, then the peer's name with a terminating 0 */
};

STAILQ_HEAD(waiting_frames, waiting_frame);

struct backlog {
	struct waiting_frames frames; /* the waiting frames, in the order of arrival */
	/* The memory of the waiting frames, and of the messages that wait for closed locks. */
	size_t bytes;
	size_t bytes_max;
	/* The part of `bytes` that frames of later epochs take. These frames get at most half of
	 * bytes_max: a member that sends frames of an epoch that never comes must not keep out the
	 * frames of this epoch. */
	size_t later_bytes;
	bool refused;      /* some link is not read because there was no room */
	size_t refused_at; /* what `bytes` was when a frame was refused last */
	bool again;        /* some waiting frames can perhaps be handled now */
};

void backlog_init(struct backlog *backlog, size_t bytes_max);
void backlog_free(struct backlog *backlog);
/* Is there room for a frame of this size? An empty backlog has room for any. */
bool backlog_has_room(const struct backlog *backlog, size_t size);
/* Keeps a copy of the frame, which is of this epoch or a later one. Returns 0, or BATON_EAGAIN if
 * there is no room. If `room` is true, the caller has made sure that there is room, and the frame
 * is always kept. */
int backlog_add(struct backlog *backlog, const char *from, const uint8_t *bytes, size_t size,
                bool later, bool room);
/* Call it for each frame that was taken out: its room is free again. The caller frees the frame. */
void backlog_taken(struct backlog *backlog, const struct waiting_frame *waiting);
/* Takes out all frames, which the caller frees. */
void backlog_take_all(struct backlog *backlog, struct waiting_frames *ret_frames);
/* Returns true, once, when links whose frames were refused may be read again. */
bool backlog_reopens(struct backlog *backlog);

#endif
