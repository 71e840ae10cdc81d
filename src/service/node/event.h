/*
 * Events of locks, and subscriptions to them. Where an event happens it is sent once to each member
 * that is interested, which tells its own sessions in the order of fences (stream.h).
 */
#ifndef NODE_EVENT_H
#define NODE_EVENT_H

#include "frame.h"
#include "interest.h"
#include "lock.h"

/* It happened here. */
void event_tell(struct node *node, const struct lock *lock, enum node_event_kind kind,
                uint64_t fence, struct slice value);
/* A session subscribes; false: it has as many subscriptions as it may. */
bool event_subscribe(struct node *node, struct session *session, bool pattern, struct slice text);
/* It unsubscribes from one text, or from all of that kind (bytes NULL). */
void event_unsubscribe(struct node *node, struct session *session, bool pattern, struct slice text);
/* It unsubscribes from everything. */
void event_unsubscribe_all(struct node *node, struct session *session);
/* All that is subscribed to here is sent to the members of a new view. */
void event_send_interests(struct node *node);
/* The link to this member has room again: members reached by it are told how many events were
 * dropped. */
void event_tell_dropped(struct node *node, uint32_t route);

/* Handlers of frames: 0 or BATON_EMESSAGE, and then nothing has happened. */
int on_interest(struct node *node, const struct frame *frame);
int on_event(struct node *node, const struct frame *frame);
int on_dropped(struct node *node, const struct frame *frame);

#endif
