/*
 * The times at which each node wishes to enter. They depend only on the seed and the node, so that
 * different algorithms get the same wishes. Every node has a random generator of its own.
 */
#ifndef LAB_WISHES_H
#define LAB_WISHES_H

#include <stdint.h>

struct wishes;

struct wishes *wishes_create(uint32_t nodes);
void wishes_destroy(struct wishes *wishes);

/* Starts again from time 0. `interval` is the mean time between two wishes of a node, in
 * millionths. */
void wishes_start(struct wishes *wishes, uint64_t seed, uint64_t interval);

/* Takes the node's next wish and returns its time. That time is in the past if the wish came
 * while the node was waiting or inside. */
uint64_t wishes_take(struct wishes *wishes, uint32_t node);

#endif
