#include "channels.h"

#include "memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* An entry of a hash table with open addressing. Key 0 marks a free entry: no real key is 0,
 * because node numbers (`from`) begin with 1. */
struct channel {
	uint64_t key;
	uint64_t time;
};

struct channels {
	struct channel *slots;
	size_t size; /* a power of two */
	size_t used;
};

enum { SIZE_LEAST = 64 };

struct channels *channels_create(void)
{
	struct channels *channels = calloc(1, sizeof(*channels));
	memory_must(channels != NULL);
	channels->size = SIZE_LEAST;
	channels->slots = calloc(channels->size, sizeof(*channels->slots));
	memory_must(channels->slots != NULL);
	return channels;
}

void channels_destroy(struct channels *channels)
{
	free(channels->slots);
	free(channels);
}

void channels_clear(struct channels *channels)
{
	if (channels->used != 0)
		memset(channels->slots, 0, channels->size * sizeof(*channels->slots));
	channels->used = 0;
}

static struct channel *find(struct channels *channels, uint64_t key)
{
	uint64_t mixed = key * 0x9e3779b97f4a7c15u;
	size_t slot = (size_t)(mixed ^ mixed >> 32) & (channels->size - 1);

	while (channels->slots[slot].key != 0 && channels->slots[slot].key != key)
		slot = (slot + 1) & (channels->size - 1);
	return &channels->slots[slot];
}

static void enlarge(struct channels *channels)
{
	struct channel *old = channels->slots;
	size_t old_size = channels->size;

	channels->size *= 2;
	channels->slots = calloc(channels->size, sizeof(*channels->slots));
	memory_must(channels->slots != NULL);
	for (size_t i = 0; i < old_size; i++) {
		if (old[i].key != 0)
			*find(channels, old[i].key) = old[i];
	}
	free(old);
}

uint64_t channels_arrival(struct channels *channels, uint32_t from, uint32_t to, uint8_t side,
                          uint64_t time)
{
	uint64_t key = (uint64_t)from << 34 | (uint64_t)to << 2 | side;
	struct channel *channel = find(channels, key);

	if (channel->key == 0) {
		if (channels->used >= channels->size / 2) {
			enlarge(channels);
			channel = find(channels, key);
		}
		channels->used++;
		channel->key = key;
	}
	if (time > channel->time)
		channel->time = time;
	return channel->time;
}
