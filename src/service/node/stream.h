/*
 * A stream: the events of one name. The sessions here are told of them in the order of fences.
 *
 * Events come from different members over different links: "granted 7" from one may overtake
 * "released 6" from another. Within an epoch grants are numbered without gaps, so a missing event
 * can be noticed. An event after a gap is held back until the gap is filled, until NODE_SILENCE_NS
 * have passed, or until a client here must be told that it has lost the lock. If the missing event
 * arrives after that, it is dropped. The first event of a name is held back too, because an earlier
 * one may be missing; but not if it is the first grant of its epoch, or if this node is the only
 * member. A stream that was not used for long may be forgotten to make room. Only then can an event
 * be told out of order, if it was on its way all that time.
 */
#ifndef NODE_STREAM_H
#define NODE_STREAM_H

#include "interest.h"

TAILQ_HEAD(stream_list, stream);

struct streams {
	/* The streams by the hash of their names; NULL: no event was told yet. */
	LIST_HEAD(stream_bucket, stream) * buckets;
	uint32_t count;
	struct stream_list use; /* all streams, the least recently used first */
	struct stream_list due; /* streams that hold something back, sorted by deadline */
};

void streams_init(struct streams *streams);
void streams_clear(struct streams *streams);
/* Returns the deadline of a stream that holds something back. */
uint64_t stream_deadline(const struct stream *stream);
/* Returns when the next event that is held back must be told. */
static inline uint64_t streams_deadline(const struct streams *streams)
{
	return TAILQ_EMPTY(&streams->due) ? NODE_NEVER
	                                  : stream_deadline(TAILQ_FIRST(&streams->due));
}

void streams_expire(struct node *node);
/* Call it when an epoch ends. Events of the epoch that have not arrived are lost, so nothing waits
 * for them any longer. */
void streams_flush(struct node *node);

/* Takes an event for the sessions here. */
void stream_take(struct node *node, const struct happening *happening);
/* A closed lock has opened: tells the events that waited for this. */
void stream_opened(struct node *node, struct slice name);

#endif
