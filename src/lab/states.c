#include "states.h"

#include "must.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { CHUNK_SHIFT = 20, CHUNK_NUMBERS = 1 << CHUNK_SHIFT };

void states_init(struct states *states)
{
	*states = (struct states){.slots_size = 1 << 12, .chunk_used = CHUNK_NUMBERS};
	states->slots = calloc(states->slots_size, sizeof(*states->slots));
	must(states->slots != NULL);
}

void states_free(struct states *states)
{
	for (size_t i = 0; i < states->chunks_count; i++)
		free(states->chunks[i]);
	free(states->chunks);
	free(states->places);
	free(states->slots);
}

const uint32_t *states_get(const struct states *states, uint32_t state, uint32_t *ret_count)
{
	uint64_t place = states->places[state];
	const uint32_t *start =
	        states->chunks[place >> CHUNK_SHIFT] + (place & (CHUNK_NUMBERS - 1));
	*ret_count = start[0];
	return start + 1;
}

/*
 * The slot of a row, or where it would go. Half of the hash stands in the slot, so that a row is
 * looked at, far away in memory, only when it is almost certainly the right one.
 */
static uint64_t *find(const struct states *states, const uint32_t *row, uint32_t count,
                      uint64_t hash)
{
	size_t slot = (size_t)hash & (states->slots_size - 1);

	for (;; slot = (slot + 1) & (states->slots_size - 1)) {
		uint64_t there = states->slots[slot];
		if (there == 0)
			return &states->slots[slot];
		if ((there ^ hash) >> 32 != 0)
			continue;
		uint32_t known_count;
		const uint32_t *known = states_get(states, (uint32_t)there - 1, &known_count);
		if (known_count == count && memcmp(known, row, count * sizeof(*row)) == 0)
			return &states->slots[slot];
	}
}

static uint64_t hash_row(const uint32_t *row, uint32_t count)
{
	return XXH3_64bits(row, count * sizeof(*row));
}

static void enlarge_slots(struct states *states)
{
	free(states->slots);
	states->slots_size *= 2;
	states->slots = calloc(states->slots_size, sizeof(*states->slots));
	must(states->slots != NULL);
	for (uint32_t i = 0; i < states->count; i++) {
		uint32_t count;
		const uint32_t *row = states_get(states, i, &count);
		uint64_t hash = hash_row(row, count);
		size_t slot = (size_t)hash & (states->slots_size - 1);
		while (states->slots[slot] != 0)
			slot = (slot + 1) & (states->slots_size - 1);
		states->slots[slot] = hash >> 32 << 32 | (i + 1);
	}
}

static void append(struct states *states, const uint32_t *row, uint32_t count)
{
	must(count < CHUNK_NUMBERS);
	if (CHUNK_NUMBERS - states->chunk_used < (size_t)count + 1) {
		if (states->chunks_count == states->chunks_size) {
			states->chunks_size =
			        states->chunks_size == 0 ? 64 : states->chunks_size * 2;
			states->chunks = realloc(states->chunks,
			                         states->chunks_size * sizeof(*states->chunks));
			must(states->chunks != NULL);
		}
		states->chunks[states->chunks_count] = malloc(CHUNK_NUMBERS * sizeof(uint32_t));
		must(states->chunks[states->chunks_count] != NULL);
		states->chunks_count++;
		states->chunk_used = 0;
	}
	if (states->count == states->places_size) {
		states->places_size = states->places_size == 0
		                              ? 1024
		                              : states->places_size + states->places_size / 2;
		states->places =
		        realloc(states->places, states->places_size * sizeof(*states->places));
		must(states->places != NULL);
	}
	uint32_t *start = states->chunks[states->chunks_count - 1] + states->chunk_used;
	start[0] = count;
	memcpy(start + 1, row, count * sizeof(*row));
	states->places[states->count++] =
	        (uint64_t)(states->chunks_count - 1) << CHUNK_SHIFT | states->chunk_used;
	states->chunk_used += (size_t)count + 1;
}

uint32_t states_put(struct states *states, const uint32_t *row, uint32_t count, bool *ret_new)
{
	uint64_t hash = hash_row(row, count);
	uint64_t *slot = find(states, row, count, hash);

	*ret_new = *slot == 0;
	if (!*ret_new)
		return (uint32_t)*slot - 1;
	must(states->count < STATES_MAX);
	append(states, row, count);
	*slot = hash >> 32 << 32 | states->count;
	if (states->count > states->slots_size / 8 * 5)
		enlarge_slots(states);
	return states->count - 1;
}

size_t states_memory(const struct states *states)
{
	return states->chunks_count * CHUNK_NUMBERS * sizeof(uint32_t) +
	       states->places_size * sizeof(*states->places) +
	       states->slots_size * sizeof(*states->slots);
}
