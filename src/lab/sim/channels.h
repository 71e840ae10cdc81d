/*
 * Channels that keep messages in order. For each channel this remembers when its last message
 * arrives, so that the next one does not arrive earlier.
 */
#ifndef LAB_CHANNELS_H
#define LAB_CHANNELS_H

#include <stdint.h>

struct channels;

struct channels *channels_create(void);
void channels_destroy(struct channels *channels);
void channels_clear(struct channels *channels);
/* Returns when a message arrives: at `time`, when its own delay is over, or later if it would
 * otherwise overtake the message before it. Remembers this for the next message. */
uint64_t channels_arrival(struct channels *channels, uint32_t from, uint32_t to, uint8_t side,
                          uint64_t time);

#endif
