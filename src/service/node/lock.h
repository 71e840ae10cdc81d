/*
 * A lock that this node knows in this epoch, and the operations on it.
 */
#ifndef NODE_LOCK_H
#define NODE_LOCK_H

#include "letter.h"
#include "node.h"

struct live;

/* The phase of the algorithm at this node. NONE: it has no state yet. INSIDE: it has let this node
 * in, whether or not a client is inside. */
enum phase { PHASE_NONE, PHASE_IDLE, PHASE_WAITING, PHASE_INSIDE };

/*
 * Kept small, because there may be millions of locks. In memory the struct is followed by a pointer
 * to the lock's road (only if the algorithm's token circulates) and by the lock's name.
 */
struct lock {
	/* A Lamport clock: the number of the last grant that this node knows of. */
	uint64_t counter;
	/* The part for clients (live.h); NULL: no client here holds the lock or waits for it, and
	 * the lock is open. */
	struct live *live;
	uint8_t *packed; /* the algorithm's state (packed.h); NULL: all zeros */
	uint16_t home;   /* the member that has the token at first */
	uint8_t pace;    /* the index of the lock's counters in node->paces */
	uint8_t phase;
	uint8_t name_size;
};

_Static_assert(NODE_MEMBERS_MAX <= UINT16_MAX, "a home has 16 bits");

/*
 * Does what is possible now: lets a client in, leaves the critical section, or asks for it. Then
 * forgets what is not needed; the lock may be gone afterwards.
 */
void lock_settle(struct node *node, struct lock *lock);
/* Takes a message for a lock that is open, in an active view. Returns 0 or BATON_EMESSAGE. */
int lock_message(struct node *node, struct lock *lock, const struct letter *letter);
/* Keeps a message for a closed lock until it opens. */
void lock_postpone(struct node *node, struct live *live, const struct letter *letter);
/* Handles a TOUCH: a client elsewhere wants the token, whose home is here. */
void lock_touch(struct node *node, struct lock *lock);
/* Opens a closed lock, and does everything that waited for that. */
void lock_open(struct node *node, struct live *live);
/* Call it when clients may be let in again: settles all locks that a client waits for. */
void lock_serve_all(struct node *node);
/* Sends on the tokens that have rested here for --idle-hop. */
void lock_hop(struct node *node);

#endif
