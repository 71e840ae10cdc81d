/*
 * The steps of the algorithm in one lock, and what follows from their effects: messages are sent,
 * and the lock's phase changes. lock.c looks after the clients.
 */
#ifndef NODE_STEP_H
#define NODE_STEP_H

#include "lock.h"

/* Returns this node's site in the network, with the home of this lock. Valid until the next call
 * for another lock. */
const struct site *step_site(struct node *node, const struct lock *lock);
/* Returns the algorithm's state. Valid until the next call for another lock. */
void *step_state(struct node *node, struct lock *lock);

/* Makes the algorithm's state, if there is none. */
void step_start(struct node *node, struct lock *lock);
/* Asks for the critical section, for the clients that wait here. */
void step_request(struct node *node, struct lock *lock);
void step_leave(struct node *node, struct lock *lock);
/* Gives the algorithm a message. Returns 0 or BATON_EMESSAGE. */
int step_deliver(struct node *node, struct lock *lock, const struct letter *letter);
/* Moves on `count` of the messages that rest here, the oldest first. */
void step_move(struct node *node, struct lock *lock, uint32_t count);
/* If this node waits to be let in, moves on the messages that rest here, the oldest first, until it
 * is let in. */
void step_move_if_waiting(struct node *node, struct lock *lock);

#endif
