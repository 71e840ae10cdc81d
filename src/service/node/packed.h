/*
 * The states of algorithms at rest, packed, and the one state that is unpacked.
 *
 * A state has room for all members and for great numbers, and most of it is zeros; a million locks
 * cannot afford that. So it is kept without its zeros: for each word of 8 bytes, a byte that says
 * which bytes of the word are not 0, then these. The word is zigzag-coded first, so that a small
 * negative number is a small one. The state of the lock that was used last stays unpacked: going on
 * with the same lock costs nothing.
 */
#ifndef NODE_PACKED_H
#define NODE_PACKED_H

#include "lock.h"
#include "pool.h"

struct opened {
	struct lock *lock; /* whose state is unpacked; NULL: none */
	uint8_t *state;
	uint8_t *packed; /* room to pack it */
	size_t size;     /* of the state, in whole words */
};

/* The state of the opened lock is packed, and this lock's is opened. */
void packed_swap(struct opened *opened, struct pool *pool, struct lock *lock);

/* The lock's state, as the algorithm knows it; good until another lock's is opened. */
static inline void *packed_open(struct opened *opened, struct pool *pool, struct lock *lock)
{
	if (opened->lock != lock)
		packed_swap(opened, pool, lock);
	return opened->state;
}

void packed_drop(struct opened *opened, struct pool *pool, struct lock *lock);
/* All states are forgotten; new ones have this size. */
void packed_renew(struct opened *opened, size_t state_size);
void packed_free(struct opened *opened);

#endif
