/*
 * Shows a frame between nodes as text, and counts its tokens for a judge.
 */
#ifndef TORTURE_FRAMES_H
#define TORTURE_FRAMES_H

#include "algorithm.h"

#include <stdio.h>

/* Returns how many tokens of a lock the frame carries, and its epoch. */
uint32_t frames_tokens(const struct algorithm *algorithm, const uint8_t *bytes, size_t size,
                       const char *lock, size_t lock_size, uint64_t *ret_epoch);

void frames_write(FILE *file, const struct algorithm *algorithm, const uint8_t *bytes, size_t size);

#endif
