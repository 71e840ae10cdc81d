/*
 * Elections. To be elected is to hold a lock and to have published a value: every member then
 * remembers who leads. The leader's own node knows best whether it still does, so that what others
 * remember counts only while the leader's node is silent. In a new view all is forgotten and
 * published again.
 */
#ifndef NODE_LEADER_H
#define NODE_LEADER_H

#include "frame.h"
#include "live.h"
#include "session.h"

/* The hold that the session was granted last is published; when all members have acknowledged it,
 * its ELECT is answered. */
void leader_announce(struct node *node, struct session *session);
/* All members learn who leads; question 0: they need not acknowledge it. */
void leader_publish(struct node *node, const struct live *live, uint64_t question);
/* The hold of a leader is over. */
void leader_ended(struct node *node, struct live *live);
/* The answer to LEADER, from what has been told so far. */
void leader_reply(struct node *node, struct session *session);

/* Handlers of frames: 0 or BATON_EMESSAGE, and then nothing has happened. */
int on_publish(struct node *node, const struct frame *frame);
int on_ended(struct node *node, const struct frame *frame);
int on_ask_leader(struct node *node, const struct frame *frame);
int on_tell_leader(struct node *node, const struct frame *frame);

#endif
