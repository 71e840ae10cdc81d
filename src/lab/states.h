/*
 * The set of states that the checker has seen. A state is a row of bytes; it is kept whole, in a
 * record of an arena. Records never move, and stand in the
 * order in which they were found, so that they are also the queue of a search.
 *
 * A state's name is the place of its record. The set is divided into shards by the hash of the row:
 * each shard is changed by one thread only.
 */
#ifndef LAB_STATES_H
#define LAB_STATES_H

#include "model.h"

#include <pthread.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { SHARDS_MAX = 64 };
enum { CHUNK_SHIFT = 19, CHUNK_UNITS = 1 << CHUNK_SHIFT };
#define STATES_MEMORY_MAX ((uint64_t)16 << 30) /* names are 32 bits, in units of 4 bytes */

#define STATE_NONE UINT32_MAX

/* A search first needs to know where it came from; when that is over, the same bytes serve what is
 * to be learned of the whole graph. */
struct record {
	union {
		uint32_t parent; /* the state from which it was found; its own name: the first */
		uint32_t most;   /* messages of any run that leads here */
	};
	union {
		struct {
			uint16_t most_so_far, fewest_so_far; /* messages, while it is searched */
		};
		uint32_t fewest;
		uint32_t number; /* 0, 1, 2, … */
	};
	uint16_t edges_in; /* that have not been followed */
	uint16_t size;     /* of the row */
	uint8_t bytes[];   /* `extra` bytes for the search, then the row */
};

/* A chunk of a shard: only the shard's thread writes here. */
struct chunk {
	uint32_t number;
	uint32_t used; /* units */
};

/* What different threads write is kept apart: a line of memory that two of them want goes to and fro
 * between their processors. Two lines, because they are fetched in pairs. */
enum { APART = 128 };

struct shard {
	alignas(APART) uint64_t
	        *slots; /* by the upper half of the hash, which stands above the state's name + 1;
	                    0: free */
	size_t slots_size;
	uint64_t slots_reserved; /* bytes */
	uint32_t count;
	struct chunk *chunks; /* in order */
	size_t chunks_count, chunks_size;
};

struct states {
	struct shard *shards;
	uint32_t shards_count;
	uint32_t extra;
	uint32_t **chunks; /* of all shards */
	uint32_t chunks_count;
	pthread_mutex_t chunks_mutex;
};

/* Zeroed, and apart from everything else; for free(). */
void *apart_alloc(size_t count, size_t size);

/* `memory_max`: more bytes will not be taken. */
void states_init(struct states *states, uint32_t shards_count, uint32_t extra, uint64_t memory_max);
void states_free(struct states *states);
uint64_t states_count(const struct states *states);
uint64_t states_memory(const struct states *states);
static inline struct record *states_record(const struct states *states, uint32_t name)
{
	return (struct record *)(void *)(states->chunks[name >> CHUNK_SHIFT] +
	                                 (name & (CHUNK_UNITS - 1)));
}

static inline uint32_t row_shard(uint64_t hash, uint32_t shards_count)
{
	return (uint32_t)((hash & UINT32_MAX) * shards_count >> 32);
}

/* Room for so many states more in a shard; how many bytes that will take beyond those of now. */
uint64_t shard_reserve_cost(const struct shard *shard, uint32_t more);
void shard_reserve(struct shard *shard, uint32_t more);

/*
 * A slot's home follows from the upper half of the hash in proportion, so that the slots stand
 * almost in the order of the hashes, and a larger table needs no look at the rows.
 */
static inline size_t slot_home(uint64_t slot, size_t slots_size)
{
	return (size_t)((slot >> 32) * slots_size >> 32);
}

/* Ahead of a look-up: fetches the slot where it begins. */
static inline void shard_prefetch(const struct shard *shard, uint64_t hash)
{
	__builtin_prefetch(&shard->slots[slot_home(hash, shard->slots_size)]);
}

/* Then, when that has come: the slot of the row or, if it is not there, a slot before which it is
 * not; and fetches the record that it names. */
static inline size_t shard_seek(const struct states *states, const struct shard *shard,
                                uint64_t hash)
{
	const uint64_t *slots = shard->slots;
	size_t size = shard->slots_size, place = slot_home(hash, size);
	uint64_t slot;

	while ((slot = slots[place]) != 0 && (slot ^ hash) >> 32 != 0)
		place = place + 1 < size ? place + 1 : 0;
	if (slot != 0)
		__builtin_prefetch(states_record(states, (uint32_t)slot - 1), 1);
	return place;
}

/* Most rows are short, and a call would cost more than this. */
static inline bool is_same_row(const uint8_t *a, const uint8_t *b, uint32_t size)
{
	uint64_t of_a, of_b;

	if (size < sizeof(of_a))
		return memcmp(a, b, size) == 0;
	for (uint32_t i = 0; i + sizeof(of_a) < size; i += sizeof(of_a)) {
		memcpy(&of_a, a + i, sizeof(of_a));
		memcpy(&of_b, b + i, sizeof(of_b));
		if (of_a != of_b)
			return false;
	}
	memcpy(&of_a, a + size - sizeof(of_a), sizeof(of_a));
	memcpy(&of_b, b + size - sizeof(of_b), sizeof(of_b));
	return of_a == of_b;
}

/* The slot of the row, sought from a slot on that shard_seek gave, or where it would go. */
static inline uint64_t *shard_find(const struct states *states, const struct shard *shard,
                                   size_t place, const uint8_t *bytes, uint32_t size, uint64_t hash)
{
	for (;; place = place + 1 < shard->slots_size ? place + 1 : 0) {
		uint64_t slot = shard->slots[place];
		if (slot == 0)
			return &shard->slots[place];
		if ((slot ^ hash) >> 32 != 0)
			continue;
		const struct record *record = states_record(states, (uint32_t)slot - 1);
		if (record->size == size && is_same_row(record->bytes + states->extra, bytes, size))
			return &shard->slots[place];
	}
}

/* The name of the state with this row, or STATE_NONE if it is not there. */
static inline uint32_t shard_get(const struct states *states, const struct shard *shard,
                                 size_t place, const uint8_t *bytes, uint32_t size, uint64_t hash)
{
	uint64_t slot = *shard_find(states, shard, place, bytes, size, hash);
	return slot != 0 ? (uint32_t)slot - 1 : STATE_NONE;
}

/* A record that is in no slot yet: its name. */
uint32_t shard_append(struct states *states, struct shard *shard, const uint8_t *bytes,
                      uint32_t size, uint32_t parent);

/* The name of the state with this row; a new one gets a record whose parent is `parent`. There must
 * be room. */
static inline uint32_t shard_put(struct states *states, struct shard *shard, size_t place,
                                 const uint8_t *bytes, uint32_t size, uint64_t hash,
                                 uint32_t parent, bool *ret_new)
{
	uint64_t *slot = shard_find(states, shard, place, bytes, size, hash);

	*ret_new = *slot == 0;
	if (*ret_new)
		*slot = hash >> 32 << 32 | (shard_append(states, shard, bytes, size, parent) + 1);
	return (uint32_t)*slot - 1;
}

/* A place in the sequence of a shard's records. */
struct cursor {
	size_t chunk; /* of the shard's own */
	uint32_t unit;
};
struct cursor shard_end(const struct shard *shard);
/* The name that a record there has or will have at least: of a shard, later records have larger
 * names. */
uint32_t shard_name(const struct shard *shard, const struct cursor *cursor);
/* The name of the record there, and on to the next; false at `end`. */
bool shard_next(const struct states *states, const struct shard *shard, struct cursor *cursor,
                const struct cursor *end, uint32_t *ret_name);

#endif
