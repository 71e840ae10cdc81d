/*
 * Questions to all members: who leads, what their clients hold, whether a lock is busy, whether
 * they have received a frame. Each question has a number of its own, so that a late answer to an
 * older one is recognised. In a new view the question is asked again, with a new number, to the new
 * members.
 */
#ifndef NODE_ASK_H
#define NODE_ASK_H

#include "frame.h"
#include "node.h"
#include "session.h"

/* The most bytes of the reason that a BREAK gives to the holder: a member's name and two
 * numbers. */
enum { ASK_WHY_MAX = NODE_NAME_MAX + 64 };

/* Asks all other members the question of the session's command. If there are none, answers at
 * once. */
void ask_all(struct node *node, struct session *session);
/* Asks all open questions again, to the members of a new view. */
void ask_again(struct node *node);
/* Answers the command from the answers so far. Call it when all members have answered, or when the
 * time is over. */
void ask_finish(struct node *node, struct session *session);
/* Call it after each answer: finishes the question if no answer is missing any more, or if one
 * answer was enough (BREAK: a member has taken the lock away). */
void ask_settle(struct node *node);
/* Writes who breaks a lock: the user and process, and the node. */
void ask_describe_breaker(const struct node *node, const struct session *session,
                          char why[ASK_WHY_MAX + 1]);
/* Takes the lock from the client of this node that holds it with this fence. Returns false if no
 * client does. */
bool ask_break_here(struct node *node, struct slice name, uint64_t fence, const char *why);

/* Handlers of frames. They return 0; or BATON_EMESSAGE, and then they have changed nothing. */
int on_answer(struct node *node, const struct frame *frame);
int on_probe(struct node *node, const struct frame *frame);
int on_break(struct node *node, const struct frame *frame);

#endif
