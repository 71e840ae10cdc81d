/*
 * Memory for messages in flight. The size of a block is a power of two. A block that is given back
 * can be taken again; only arena_destroy returns memory to the system.
 */
#ifndef LAB_ARENA_H
#define LAB_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct arena;

struct arena *arena_create(void);
void arena_destroy(struct arena *arena);
/* Gives back all blocks at once. */
void arena_clear(struct arena *arena);
void *arena_take(struct arena *arena, size_t size);
void arena_give_back(struct arena *arena, void *block, size_t size);
/* Returns how many bytes the arena has in all, taken or not. */
size_t arena_memory(const struct arena *arena);
/* Returns how many bytes of the arena a block of this size takes. */
size_t arena_block_size(size_t size);

#endif
