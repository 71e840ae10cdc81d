/*
 * The states of the algorithm, one for each lock: packed, except the one in use.
 *
 * A state has room for all members and for large numbers, and most of it is zeros; with a million
 * locks that would cost too much memory. So it is stored without its zeros: for each word of 8
 * bytes, one byte tells which bytes of the word are not 0, and these follow. The word is
 * zigzag-coded first, so that a small negative number becomes a small positive one. The state of
 * the lock used last stays unpacked, so using that lock again costs nothing.
 */
#ifndef NODE_PACKED_H
#define NODE_PACKED_H

#include "lock.h"
#include "pool.h"

struct opened {
	struct lock *lock; /* the lock whose state is unpacked; NULL: none */
	uint8_t *state;
	uint8_t *packed; /* room to pack the state of `lock` */
	size_t size;     /* the size of a state, rounded up to whole words */
};

/* Packs the state that is unpacked now, and unpacks the state of this lock. */
void packed_swap(struct opened *opened, struct pool *pool, struct lock *lock);

/* Returns the lock's state as the algorithm knows it. Valid until another lock's state is
 * opened. */
static inline void *packed_open(struct opened *opened, struct pool *pool, struct lock *lock)
{
	if (opened->lock != lock)
		packed_swap(opened, pool, lock);
	return opened->state;
}

void packed_drop(struct opened *opened, struct pool *pool, struct lock *lock);
/* Forgets all states. New ones have this size. */
void packed_renew(struct opened *opened, size_t state_size);
void packed_free(struct opened *opened);

#endif
