/*
 * Channels that keep order: when the last message of each arrives, so that the next does not arrive
 * before it.
 */
#ifndef LAB_CHANNELS_H
#define LAB_CHANNELS_H

#include <stdint.h>

struct channels;

struct channels *channels_create(void);
void channels_destroy(struct channels *channels);
void channels_clear(struct channels *channels);
/* A message is to arrive at `time`, or later if it must not overtake; returns when, and remembers
 * it. */
uint64_t channels_arrival(struct channels *channels, uint32_t from, uint32_t to, uint8_t side,
                          uint64_t time);

#endif
