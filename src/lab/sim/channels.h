/*
 * Channels that keep order. For each it is known when its last message arrives, so that the next
 * one does not arrive earlier.
 */
#ifndef LAB_CHANNELS_H
#define LAB_CHANNELS_H

#include <stdint.h>

struct channels;

struct channels *channels_create(void);
void channels_destroy(struct channels *channels);
void channels_clear(struct channels *channels);
/* A message should arrive at `time`. Returns that time, or a later one if it must not overtake,
 * and remembers it. */
uint64_t channels_arrival(struct channels *channels, uint32_t from, uint32_t to, uint8_t side,
                          uint64_t time);

#endif
