/*
 * A lock that this node knows in this epoch, and what can be done with it.
 */
#ifndef NODE_LOCK_H
#define NODE_LOCK_H

#include "letter.h"
#include "node.h"

struct live;

/* Where the algorithm stands. NONE: it has no state yet. INSIDE: this node has been let in, whether
 * or not it has a client inside. */
enum phase { PHASE_NONE, PHASE_IDLE, PHASE_WAITING, PHASE_INSIDE };

/*
 * There may be millions, so it is small. In memory it is followed by a pointer to its road (only if
 * the algorithm circulates) and its name.
 */
struct lock {
	uint64_t counter;  /* the Lamport clock: the last grant that this node knows of */
	struct live *live; /* NULL: no client here holds it or waits, and it is open */
	uint8_t *packed;   /* the algorithm's state (packed.h); NULL: all zeros */
	uint32_t hash;     /* the lower half of the hash of the name */
	uint16_t home;     /* the member that has the token at first */
	uint8_t phase;
	uint8_t name_size;
};

_Static_assert(NODE_MEMBERS_MAX <= UINT16_MAX, "a home has 16 bits");

/*
 * Does what can be done now: lets a client in, leaves the critical section, or asks for it; then
 * forgets what is not needed. The lock may be gone afterwards.
 */
void lock_settle(struct node *node, struct lock *lock);
/* A message for a lock that is open, in an active view; 0 or BATON_EMESSAGE. */
int lock_message(struct node *node, struct lock *lock, const struct letter *letter);
/* A message for a lock that is closed waits. */
void lock_postpone(struct node *node, struct live *live, const struct letter *letter);
/* Somebody elsewhere wants the token, whose home is here. */
void lock_touch(struct node *node, struct lock *lock);
/* A closed lock opens: what waited for that is done. */
void lock_open(struct node *node, struct live *live);
/* Clients may be let in again: settles all locks that somebody waits for. */
void lock_serve_all(struct node *node);
/* Tokens that have rested for as long as they may go on. */
void lock_hop(struct node *node);

#endif
