/*
 * Frames that wait: for their view, for reports, or for room. Waiting is bounded; beyond the bound
 * a frame is refused and its link is not read on.
 */
#ifndef NODE_BACKLOG_H
#define NODE_BACKLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

struct waiting_frame {
	STAILQ_ENTRY(waiting_frame) frames;
	size_t bytes_all; /* of memory */
	uint32_t size;
	uint8_t bytes[]; /* the frame, then the peer's name, which ends with 0 */
};

STAILQ_HEAD(waiting_frames, waiting_frame);

struct backlog {
	struct waiting_frames frames; /* in the order of arrival */
	size_t bytes;                 /* of these, and of the messages that wait for closed locks */
	size_t bytes_max;
	bool refused;      /* a link is not being read because there was no room */
	size_t refused_at; /* what `bytes` was then */
	bool again;        /* what waits may have become possible */
};

void backlog_init(struct backlog *backlog, size_t bytes_max);
void backlog_free(struct backlog *backlog);
/* With nothing in it there is room for anything. */
bool backlog_has_room(const struct backlog *backlog, size_t size);
/* The frame waits; without `room` it must find it. 0, or BATON_EAGAIN: there is no room. */
int backlog_add(struct backlog *backlog, const char *from, const uint8_t *bytes, size_t size,
                bool room);
/* All frames, which are the caller's to free. */
void backlog_take_all(struct backlog *backlog, struct waiting_frames *ret_frames);
/* May the links that were refused be read again? If so, they are not refused any more. */
bool backlog_reopens(struct backlog *backlog);

#endif
