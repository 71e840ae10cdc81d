/*
 * A frame between nodes, as a text for people; and what of it a judge wants to know.
 */
#ifndef TORTURE_FRAMES_H
#define TORTURE_FRAMES_H

#include "algorithm.h"

#include <stdio.h>

/* How many messages of a lock that are tokens there are in it, and of which epoch. */
uint32_t frames_tokens(const struct algorithm *algorithm, const uint8_t *bytes, size_t size,
                       const char *lock, size_t lock_size, uint64_t *ret_epoch);

/* 0: it is none. */
uint64_t frames_epoch(const uint8_t *bytes, size_t size);

void frames_write(FILE *file, const struct algorithm *algorithm, const uint8_t *bytes, size_t size);

#endif
