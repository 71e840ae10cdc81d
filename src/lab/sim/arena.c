#include "arena.h"

#include "must.h"

#include <stdlib.h>
#include <string.h>

enum { CLASS_LEAST = 4, CLASSES_COUNT = 40, CHUNK_SIZE = 1 << 20 };

struct chunk {
	struct chunk *next;
	size_t size;
	max_align_t bytes[];
};

struct arena {
	struct chunk *chunks; /* all, the one in use first */
	size_t used;          /* of the first chunk */
	void *free[CLASSES_COUNT];
};

struct arena *arena_create(void)
{
	struct arena *arena = calloc(1, sizeof(*arena));
	must(arena != NULL);
	return arena;
}

void arena_clear(struct arena *arena)
{
	while (arena->chunks != NULL) {
		struct chunk *chunk = arena->chunks;
		arena->chunks = chunk->next;
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
	if (arena->chunks == NULL || arena->chunks->size - arena->used < block_size) {
		size_t chunk_size = block_size > CHUNK_SIZE ? block_size : CHUNK_SIZE;
		struct chunk *chunk = malloc(sizeof(*chunk) + chunk_size);
		must(chunk != NULL);
		chunk->next = arena->chunks;
		chunk->size = chunk_size;
		arena->chunks = chunk;
		arena->used = 0;
	}
	block = (char *)arena->chunks->bytes + arena->used;
	arena->used += block_size;
	return block;
}

void arena_give_back(struct arena *arena, void *block, size_t size)
{
	unsigned class = class_of(size);
	memcpy(block, &arena->free[class], sizeof(block));
	arena->free[class] = block;
}
