/*
 * When each node wishes to enter, fixed by the seed and the node alone: whatever algorithm runs and
 * however long it takes, the wishes are the same. Every node draws from a stream of its own.
 */
#ifndef LAB_WISHES_H
#define LAB_WISHES_H

#include <stdint.h>

struct wishes;

struct wishes *wishes_create(uint32_t nodes);
void wishes_destroy(struct wishes *wishes);

/* Starts over. `interval` is the mean time between two wishes of a node, in millionths. */
void wishes_start(struct wishes *wishes, uint64_t seed, uint64_t interval);

/* The time of the node's next wish that was not taken yet; takes it. It may lie in the past: the
 * node was waiting or inside when it came. */
uint64_t wishes_take(struct wishes *wishes, uint32_t node);

#endif
