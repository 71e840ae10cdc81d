/*
 * Questions to all members: who leads, what there is, is it busy, have you heard. Each has a number
 * of its own, so that an answer to an older one is known as such; in a new view it is asked again,
 * under a new number, of the new members.
 */
#ifndef NODE_ASK_H
#define NODE_ASK_H

#include "frame.h"
#include "node.h"
#include "session.h"

/* Bytes of the reason of a BREAK: a member's name and two numbers. */
enum { ASK_WHY_MAX = NODE_NAME_MAX + 64 };

/* Asks all other members what the session's command says; with no others it is answered at once. */
void ask_all(struct node *node, struct session *session);
/* All questions under way, to the members of a new view. */
void ask_again(struct node *node);
/* All have answered, or the time is over: the command is answered from what is known. */
void ask_finish(struct node *node, struct session *session);
/* After an answer has been taken: is that question complete now? */
void ask_settle(struct node *node);
/* Writes who breaks a lock: the user and process, and the node. */
void ask_describe_breaker(const struct node *node, const struct session *session,
                          char why[ASK_WHY_MAX + 1]);
/* Takes a lock from the client here that has it with this fence; false if none does. */
bool ask_break_here(struct node *node, struct slice name, uint64_t fence, const char *why);

/* Handlers of frames: 0 or BATON_EMESSAGE, and then nothing has happened. */
int on_answer(struct node *node, const struct frame *frame);
int on_probe(struct node *node, const struct frame *frame);
int on_break(struct node *node, const struct frame *frame);

#endif
