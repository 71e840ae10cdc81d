/*
 * The set of states that the checker has reached. A state is a row of bytes, kept whole in a
 * record. Records never move. Each thread appends the states that it finds to a lane of its own, so
 * that the lanes are also the queue of the search.
 *
 * A state's name is the place of its record. All threads may look up and add rows at the same time;
 * the table may grow only while one thread runs.
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

enum { LANES_MAX = 64 };
enum { CHUNK_SHIFT = 19, CHUNK_UNITS = 1 << CHUNK_SHIFT };
#define STATES_MEMORY_MAX ((uint64_t)16 << 30) /* a name has 32 bits and counts units of 4 bytes */

#define STATE_NONE UINT32_MAX

/* The search needs the parent of each state. After the search, the passes over the whole graph use
 * the same bytes for other numbers. */
struct state_record {
	union {
		/* The state from which this one was found; the first state has its own name
		 * here. */
		uint32_t parent;
		uint32_t most; /* most messages of a run that leads here */
	};
	union {
		struct {
			/* The most and the fewest messages of a run that leads here, over the runs
			 * found so far. */
			uint16_t most_so_far, fewest_so_far;
		};
		uint32_t fewest; /* fewest messages of a run that leads here */
		uint32_t number; /* the state's number in the graph: 0, 1, 2, … */
	};
	/* The first pass counts the steps into this state. The second pass counts down as it
	 * follows them. */
	uint16_t edges_in;
	uint16_t size;   /* the size of the row in bytes */
	uint8_t bytes[]; /* `extra` bytes for the search, then the row */
};

/* A chunk of a lane: only the lane's thread writes here. */
struct states_chunk {
	uint32_t number;
	uint32_t used; /* how many units are used */
};

/* Data of different threads is kept in different cache lines, to avoid false sharing. Two lines,
 * because processors fetch them in pairs. */
enum { APART = 128 };

struct lane {
	/* The lane's chunks in order; they never move. */
	alignas(APART) struct states_chunk *chunks;
	size_t chunks_count;
	uint32_t count; /* how many records the lane has */
};

struct states {
	uint64_t *slots; /* hash table: the upper half of the hash, then the state's name + 1; 0:
	                    free */
	size_t slots_size;
	uint64_t slots_reserved; /* how many bytes of addresses are reserved for the slots */
	struct lane *lanes;
	uint32_t lanes_count;
	uint32_t extra;
	uint32_t **chunks; /* the chunks of all lanes */
	/* For each chunk, the unit where the records of the newest level begin. */
	uint32_t *level_begin;
	uint32_t chunks_count;
	pthread_mutex_t chunks_mutex;
};

/* Allocates zeroed memory that shares no cache line with anything else. The caller calls free(). */
void *apart_alloc(size_t count, size_t size);

/* Makes an empty set, which may grow up to `memory_max` bytes. */
void states_init(struct states *states, uint32_t lanes_count, uint32_t extra, uint64_t memory_max);
void states_free(struct states *states);
uint64_t states_count(const struct states *states);
uint64_t states_memory(const struct states *states);
static inline struct state_record *states_record(const struct states *states, uint32_t name)
{
	return (struct state_record *)(void *)(states->chunks[name >> CHUNK_SHIFT] +
	                                       (name & (CHUNK_UNITS - 1)));
}

/* states_reserve_cost returns how many more bytes it takes to make room for `more` states;
 * states_reserve makes that room. */
uint64_t states_reserve_cost(const struct states *states, uint64_t more);
void states_reserve(struct states *states, uint64_t more);

/* A slot's home is proportional to the upper half of the hash. So slots are almost sorted by
 * hash, and the table can grow without looking at the rows. */
static inline size_t slot_home(uint64_t slot, size_t slots_size)
{
	return (size_t)((slot >> 32) * slots_size >> 32);
}

/* Prefetches the slot where a look-up begins. */
static inline void states_prefetch(const struct states *states, uint64_t hash)
{
	__builtin_prefetch(&states->slots[slot_home(hash, states->slots_size)]);
}

static inline uint64_t slot_load(const struct states *states, size_t place)
{
	return __atomic_load_n(&states->slots[place], __ATOMIC_ACQUIRE);
}

static inline size_t slot_next(const struct states *states, size_t place)
{
	return place + 1 < states->slots_size ? place + 1 : 0;
}

/* Returns the first slot that may be the row's, and prefetches its record. To be called after
 * states_prefetch. */
static inline size_t states_seek(const struct states *states, uint64_t hash)
{
	size_t place = slot_home(hash, states->slots_size);
	uint64_t slot;

	while ((slot = slot_load(states, place)) != 0 && (slot ^ hash) >> 32 != 0)
		place = slot_next(states, place);
	if (slot != 0)
		__builtin_prefetch(states_record(states, (uint32_t)slot - 1), 1);
	return place;
}

/* Most rows are short: calling memcmp would cost more. */
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

static inline bool is_row_of(const struct states *states, uint64_t slot, const uint8_t *bytes,
                             uint32_t size, uint64_t hash)
{
	if ((slot ^ hash) >> 32 != 0)
		return false;
	const struct state_record *record = states_record(states, (uint32_t)slot - 1);
	return record->size == size && is_same_row(record->bytes + states->extra, bytes, size);
}

/* Returns the name of the state with this row, or STATE_NONE. `place` comes from states_seek. */
static inline uint32_t states_get(const struct states *states, size_t place, const uint8_t *bytes,
                                  uint32_t size, uint64_t hash)
{
	for (;; place = slot_next(states, place)) {
		uint64_t slot = slot_load(states, place);
		if (slot == 0)
			return STATE_NONE;
		if (is_row_of(states, slot, bytes, size, hash))
			return (uint32_t)slot - 1;
	}
}

/* lane_append appends a record that is in no slot yet and returns its name; lane_take_back removes
 * the last record again. */
uint32_t lane_append(struct states *states, struct lane *lane, const uint8_t *bytes, uint32_t size,
                     uint32_t parent);
void lane_take_back(struct states *states, struct lane *lane, uint32_t name);

/* Puts a value into a slot if the slot is free. Returns true if it was; otherwise false, and in
 * *slot the value that is there. */
static inline bool slot_put(struct states *states, size_t place, uint64_t *slot, uint64_t value)
{
	if (states->lanes_count > 1)
		return __atomic_compare_exchange_n(&states->slots[place], slot, value, false,
		                                   __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
	states->slots[place] = value;
	return true;
}

/* Returns the name of the state with this row. A new state gets a record with that parent. There
 * must be room for it (states_reserve). */
static inline uint32_t states_put(struct states *states, struct lane *lane, size_t place,
                                  const uint8_t *bytes, uint32_t size, uint64_t hash,
                                  uint32_t parent, bool *ret_new)
{
	uint32_t made = STATE_NONE;

	for (;; place = slot_next(states, place)) {
		uint64_t slot = slot_load(states, place);
		if (slot == 0) {
			if (made == STATE_NONE)
				made = lane_append(states, lane, bytes, size, parent);
			*ret_new = true;
			if (slot_put(states, place, &slot, hash >> 32 << 32 | (made + 1)))
				return made;
		}
		if (is_row_of(states, slot, bytes, size, hash)) {
			if (made != STATE_NONE) /* another thread was faster */
				lane_take_back(states, lane, made);
			*ret_new = false;
			return (uint32_t)slot - 1;
		}
	}
}

/* Does the record belong to the newest level? */
static inline bool states_is_new_level(const struct states *states, uint32_t name)
{
	return (name & (CHUNK_UNITS - 1)) >= states->level_begin[name >> CHUNK_SHIFT];
}
/* States that are added from now on belong to a new level. */
void states_begin_level(struct states *states);

/* A position in the sequence of a lane's records. */
struct lane_cursor {
	size_t chunk; /* an index into the lane's own chunks */
	uint32_t unit;
};
struct lane_cursor lane_end(const struct lane *lane);
/* Writes the name of the record at the cursor and moves the cursor to the next record. Returns
 * false at `end`. */
bool lane_next(const struct states *states, const struct lane *lane, struct lane_cursor *cursor,
               const struct lane_cursor *end, uint32_t *ret_name);

#endif
