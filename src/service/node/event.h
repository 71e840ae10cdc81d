/*
 * Events of locks, and subscriptions to them. An event is sent once from where it happens to each
 * member that is interested. That member tells its own sessions, in the order of fences (stream.h).
 */
#ifndef NODE_EVENT_H
#define NODE_EVENT_H

#include "frame.h"
#include "interest.h"
#include "lock.h"

/* Reports an event that happened here. */
void event_tell(struct node *node, const struct lock *lock, enum node_event_kind kind,
                uint64_t fence, struct slice value);
/* Subscribes a session. Returns false if it has as many subscriptions as it may. */
bool event_subscribe(struct node *node, struct session *session, bool pattern, struct slice text);
/* Ends the session's subscription to one text, or to all of that kind (bytes NULL). */
void event_unsubscribe(struct node *node, struct session *session, bool pattern, struct slice text);
/* Ends all subscriptions of the session. */
void event_unsubscribe_all(struct node *node, struct session *session);
/* Sends everything that is subscribed to here to the members of a new view. */
void event_send_interests(struct node *node);
/* Call it when the link to this member has room again: tells the members that are reached through
 * it how many events were dropped. */
void event_tell_dropped(struct node *node, uint32_t route);

/* Handlers of frames. They return 0, or BATON_EMESSAGE; then nothing has changed. */
int on_interest(struct node *node, const struct frame *frame);
int on_event(struct node *node, const struct frame *frame);
int on_dropped(struct node *node, const struct frame *frame);

#endif
