/*
 * Elections. A client is elected when it holds the lock and has published a value; every member
 * then remembers who leads. Only the leader's own node knows whether its client still leads; what
 * others remember counts only while that node is silent. In a new view everything is forgotten and
 * published again.
 */
#ifndef NODE_LEADER_H
#define NODE_LEADER_H

#include "frame.h"
#include "live.h"
#include "session.h"

/* Publishes the session's latest grant. Its ELECT is answered when all members have
 * acknowledged. */
void leader_announce(struct node *node, struct session *session);
/* Tells all members who leads. Question 0: they need not acknowledge it. */
void leader_publish(struct node *node, const struct live *live, uint64_t question);
/* Call it when the hold of a leader has ended: all members are told. */
void leader_ended(struct node *node, struct live *live);
/* Answers LEADER from the members' answers so far. */
void leader_reply(struct node *node, struct session *session);

/* Handlers of frames. They return 0; or BATON_EMESSAGE, and then they have changed nothing. */
int on_publish(struct node *node, const struct frame *frame);
int on_ended(struct node *node, const struct frame *frame);
int on_ask_leader(struct node *node, const struct frame *frame);
int on_tell_leader(struct node *node, const struct frame *frame);

#endif
