/*
 * Steps of the algorithm in one lock, and what follows from their effects: messages are sent, the
 * lock's phase changes. The clients are lock.c's business.
 */
#ifndef NODE_STEP_H
#define NODE_STEP_H

#include "lock.h"

/* This node's place in the network, with the home of this lock; good until it is asked for another
 * lock. */
const struct site *step_site(struct node *node, const struct lock *lock);
/* The algorithm's state; good until it is asked for another lock's. */
void *step_state(struct node *node, struct lock *lock);

/* Makes the algorithm's state, if there is none. */
void step_start(struct node *node, struct lock *lock);
/* Asks for the critical section, for the clients that wait here. */
void step_request(struct node *node, struct lock *lock);
void step_leave(struct node *node, struct lock *lock);
/* The algorithm takes a message, now; 0 or BATON_EMESSAGE. */
int step_deliver(struct node *node, struct lock *lock, const struct letter *letter);
/* So many messages that rest here, the oldest first, go on. */
void step_move(struct node *node, struct lock *lock, uint32_t count);
/* Messages that rest here go on while this node waits to be let in. */
void step_move_if_waiting(struct node *node, struct lock *lock);

#endif
