/*
 * The events of a name, told in the order of their fences.
 *
 * They come from different members by different links: "granted 7" of one may overtake "released 6"
 * of another. Within an epoch grants are numbered without gaps, so that a gap can be seen. An event
 * after a gap is held back until the gap is filled, or for as long as a member may be silent, or
 * until a client here must hear that it has lost the lock; what fills the gap later is not told.
 * Before the first event of a name there may be a gap too, unless it is the first grant of its
 * epoch or this node is alone. A stream that was not used for long may be forgotten to make room;
 * only then could an event come out of order, if it was under way all that time.
 */
#ifndef NODE_STREAM_H
#define NODE_STREAM_H

#include "interest.h"

TAILQ_HEAD(stream_list, stream);

struct streams {
	LIST_HEAD(stream_bucket, stream) * buckets; /* NULL: nothing was told yet */
	uint32_t count;
	struct stream_list use; /* all, the one used longest ago first */
	struct stream_list due; /* those that hold something back, by deadline */
};

void streams_init(struct streams *streams);
void streams_clear(struct streams *streams);
/* The deadline of a stream that holds something back. */
uint64_t stream_deadline(const struct stream *stream);
/* When something must be told at the latest. */
static inline uint64_t streams_deadline(const struct streams *streams)
{
	return TAILQ_EMPTY(&streams->due) ? NODE_NEVER
	                                  : stream_deadline(TAILQ_FIRST(&streams->due));
}

void streams_expire(struct node *node);
/* Events under way in the old epoch are lost: nothing waits for them any longer. */
void streams_flush(struct node *node);

/* An event, for the sessions here. */
void stream_take(struct node *node, const struct happening *happening);
/* A lock that was closed is open: what waited for that is told. */
void stream_opened(struct node *node, struct slice name);

#endif
