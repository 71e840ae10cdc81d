/*
 * Memory for messages in flight: blocks of powers of two, taken and given back, never returned to
 * malloc before the end.
 */
#ifndef LAB_ARENA_H
#define LAB_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct arena;

struct arena *arena_create(void);
void arena_destroy(struct arena *arena);
/* Everything taken is given back at once. */
void arena_clear(struct arena *arena);
void *arena_take(struct arena *arena, size_t size);
void arena_give_back(struct arena *arena, void *block, size_t size);
/* Bytes that it holds, given back or not. */
size_t arena_memory(const struct arena *arena);
/* How many of them a block of that size takes. */
size_t arena_block_size(size_t size);

#endif
