/*
 * The memory of the locks of an epoch. Pieces of a few words of 8 bytes are cut from large chunks,
 * with nothing between them. A piece that is given back is used for the next request of its size.
 * The pool is only freed as a whole.
 */
#ifndef NODE_POOL_H
#define NODE_POOL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

struct pool {
	SLIST_HEAD(, pool_chunk) chunks;
	uint64_t *next;    /* the first unused word of the newest chunk */
	size_t left;       /* how many words of the newest chunk are unused */
	size_t bytes;      /* the size of all chunks */
	void **free;       /* for each size in words, a chain of pieces that were given back */
	size_t free_sizes; /* the number of entries of `free` */
};

void *pool_take(struct pool *pool, size_t words);
void pool_give(struct pool *pool, void *piece, size_t words);
void pool_free(struct pool *pool);

static inline size_t words_of(size_t bytes)
{
	return (bytes + 7) / 8;
}

#endif
