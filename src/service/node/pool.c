#include "pool.h"

#include "memory.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK_WORDS = (1 << 13) - 1 };

struct pool_chunk {
	SLIST_ENTRY(pool_chunk) chunks;
	uint64_t words[];
};

static void add_chunk(struct pool *pool, size_t words)
{
	struct pool_chunk *chunk = malloc(sizeof(*chunk) + words * sizeof(uint64_t));

	memory_must(chunk != NULL);
	if (pool->left != 0)
		pool_give(pool, pool->next, pool->left);
	SLIST_INSERT_HEAD(&pool->chunks, chunk, chunks);
	pool->next = chunk->words;
	pool->left = words;
	pool->bytes += sizeof(*chunk) + words * sizeof(uint64_t);
}

void *pool_take(struct pool *pool, size_t words)
{
	if (words < pool->free_sizes && pool->free[words] != NULL) {
		void *piece = pool->free[words];
		memcpy(&pool->free[words], piece, sizeof(void *));
		return piece;
	}
	if (pool->left < words)
		add_chunk(pool, words > CHUNK_WORDS ? words : CHUNK_WORDS);
	void *piece = pool->next;
	pool->next += words;
	pool->left -= words;
	return piece;
}

void pool_give(struct pool *pool, void *piece, size_t words)
{
	if (words >= pool->free_sizes) {
		size_t sizes = words * 2;
		pool->free = realloc(pool->free, sizes * sizeof(void *));
		memory_must(pool->free != NULL);
		for (size_t i = pool->free_sizes; i < sizes; i++)
			pool->free[i] = NULL;
		pool->free_sizes = sizes;
	}
	memcpy(piece, &pool->free[words], sizeof(void *));
	pool->free[words] = piece;
}

void pool_free(struct pool *pool)
{
	while (!SLIST_EMPTY(&pool->chunks)) {
		struct pool_chunk *chunk = SLIST_FIRST(&pool->chunks);
		SLIST_REMOVE_HEAD(&pool->chunks, chunks);
		free(chunk);
	}
	free(pool->free);
}
