#include "arena.h"

#include "memory.h"
#include "must.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

enum { CLASS_LEAST = 4, CLASSES_COUNT = 40, CHUNK_SIZE = 1 << 20 };

struct arena_chunk {
	SLIST_ENTRY(arena_chunk) link;
	size_t size;
	max_align_t bytes[];
};

struct arena {
	SLIST_HEAD(, arena_chunk) chunks; /* all chunks; blocks are taken from the first */
	size_t used;                      /* bytes taken from the first chunk */
	size_t memory;                    /* bytes of all chunks */
	void *free[CLASSES_COUNT];
};

struct arena *arena_create(void)
{
	struct arena *arena = calloc(1, sizeof(*arena));
	memory_must(arena != NULL);
	return arena;
}

void arena_clear(struct arena *arena)
{
	while (!SLIST_EMPTY(&arena->chunks)) {
		struct arena_chunk *chunk = SLIST_FIRST(&arena->chunks);
		SLIST_REMOVE_HEAD(&arena->chunks, link);
		free(chunk);
	}
	*arena = (struct arena){0};
}

void arena_destroy(struct arena *arena)
{
	arena_clear(arena);
	free(arena);
}

static unsigned class_of(size_t size)
{
	unsigned class = CLASS_LEAST;
	while (((size_t)1 << class) < size)
		class ++;
	must(class < CLASSES_COUNT);
	return class;
}

void *arena_take(struct arena *arena, size_t size)
{
	unsigned class = class_of(size);
	size_t block_size = (size_t)1 << class;
	void *block = arena->free[class];

	if (block != NULL) {
		memcpy(&arena->free[class], block, sizeof(block));
		return block;
	}
	struct arena_chunk *chunk = SLIST_FIRST(&arena->chunks);
	if (chunk == NULL || chunk->size - arena->used < block_size) {
		size_t chunk_size = block_size > CHUNK_SIZE ? block_size : CHUNK_SIZE;
		chunk = malloc(sizeof(*chunk) + chunk_size);
		memory_must(chunk != NULL);
		chunk->size = chunk_size;
		arena->memory += chunk_size;
		SLIST_INSERT_HEAD(&arena->chunks, chunk, link);
		arena->used = 0;
	}
	block = (char *)chunk->bytes + arena->used;
	arena->used += block_size;
	return block;
}

void arena_give_back(struct arena *arena, void *block, size_t size)
{
	unsigned class = class_of(size);
	memcpy(block, &arena->free[class], sizeof(block));
	arena->free[class] = block;
}

size_t arena_memory(const struct arena *arena)
{
	return arena->memory;
}

size_t arena_block_size(size_t size)
{
	return (size_t)1 << class_of(size);
}
