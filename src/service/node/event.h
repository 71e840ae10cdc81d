/*
 * Events of locks, and subscriptions to them. The member where an event happens sends it once to
 * each interested member, which tells its own sessions in the order of fences (stream.h).
 */
#ifndef NODE_EVENT_H
#define NODE_EVENT_H

#include "frame.h"
#include "interest.h"
#include "lock.h"

/* Reports an event that happened here. */
void event_tell(struct node *node, const struct lock *lock, enum node_event_kind kind,
                uint64_t fence, struct slice value);
/* Subscribes a session. Returns 0; or BATON_ESUBSCRIPTIONS or BATON_EPATTERNS if the session, its
 * user or all sessions here together already have as many as allowed. */
int event_subscribe(struct node *node, struct session *session, bool pattern, struct slice text);
/* Ends the session's subscription to one text or, if `bytes` is NULL, to all texts of that kind. */
void event_unsubscribe(struct node *node, struct session *session, bool pattern, struct slice text);
/* Ends all subscriptions of the session. */
void event_unsubscribe_all(struct node *node, struct session *session);
/* Sends the subscriptions of all sessions here to the members of a new view. */
void event_send_interests(struct node *node);
/* Call it when the link to this member has room again: tells the members that are reached through
 * it how many events were dropped. */
void event_tell_dropped(struct node *node, uint32_t route);
/* Tells the sessions here how many events other members have dropped. */
void event_deliver_dropped(struct node *node);

/* Handlers of frames. They return 0; or BATON_EMESSAGE, and then they have changed nothing. */
int on_interest(struct node *node, const struct frame *frame);
int on_event(struct node *node, const struct frame *frame);
int on_dropped(struct node *node, const struct frame *frame);

#endif
