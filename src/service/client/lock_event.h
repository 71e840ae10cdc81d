/*
 * Messages on a subscribed connection: [kind, channel, text], where the text is "granted FENCE
 * NODE", "released FENCE NODE", "lost FENCE NODE [[MS] WHY]", "leader FENCE NODE VALUE" or "dropped
 * COUNT NODE".
 */
#ifndef CLIENT_LOCK_EVENT_H
#define CLIENT_LOCK_EVENT_H

#include "word.h"

#include <hiredis/hiredis.h>

/* EVENT_GONE: the lock was released or lost. EVENT_DROPPED: other events may be missing. */
enum lock_event_kind { EVENT_OTHER, EVENT_SUBSCRIBED, EVENT_GONE, EVENT_LEADER, EVENT_DROPPED };

/* An event about a lock. Its words point into the reply from which it was read. */
struct lock_event {
	enum lock_event_kind kind;
	struct word channel;
	uint64_t fence;
	struct word node;
	/* EVENT_LEADER: what was published; EVENT_GONE: why the lock was lost, or empty. */
	struct word value;
	/* EVENT_GONE: when the node sent the message about the loss, on its lease clock; 0: not
	 * known. */
	uint64_t told_ms;
};

/* Reads an event. Returns 0 or BATON_EPROTOCOL. */
int lock_event_parse(const redisReply *reply, struct lock_event *ret_event);

#endif
