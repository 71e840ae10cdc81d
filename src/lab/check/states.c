#include "states.h"

#include "grow.h"
#include "memory.h"

#include <string.h>
#include <sys/mman.h>

enum { CHUNKS_MAX = 1 << (32 - CHUNK_SHIFT) };
enum { SLOTS_AT_FIRST = 1 << 10, FULL_PERCENT = 75, RESERVED_LEAST = 1 << 17 };

void states_free(struct states *states)
{
	munmap(states->slots, states->slots_reserved);
	for (uint32_t i = 0; i < states->lanes_count; i++)
		free(states->lanes[i].chunks);
	for (uint32_t i = 0; i < states->chunks_count; i++)
		free(states->chunks[i]);
	free(states->lanes);
	free(states->chunks);
	free(states->level_begin);
	pthread_mutex_destroy(&states->chunks_mutex);
}

uint64_t states_count(const struct states *states)
{
	uint64_t count = 0;
	for (uint32_t i = 0; i < states->lanes_count; i++)
		count += states->lanes[i].count;
	return count;
}

uint64_t states_memory(const struct states *states)
{
	uint64_t memory = states->slots_size * sizeof(uint64_t);

	/* The unwritten part of a lane's first chunk takes no memory. Later chunks can use large
	 * pages, which are allocated whole. */
	for (uint32_t i = 0; i < states->lanes_count; i++) {
		const struct lane *lane = &states->lanes[i];
		if (lane->chunks_count > 0)
			memory +=
			        lane->chunks[0].used * sizeof(uint32_t) +
			        (lane->chunks_count - 1) * (uint64_t)CHUNK_UNITS * sizeof(uint32_t);
	}
	return memory;
}

/* Reserves addresses for the largest table at once, so that the slots can grow in place.
 * Addresses cost nothing until they are used. */
static void reserve_slots(struct states *states, uint64_t bytes)
{
	const uint64_t least = RESERVED_LEAST;

	for (bytes = bytes > least ? bytes : least; bytes >= least; bytes /= 2) {
		void *range = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (range == MAP_FAILED)
			continue;
		states->slots = range;
		states->slots_reserved = bytes;
		states->slots_size = SLOTS_AT_FIRST;
		return;
	}
	must(false);
}

void *apart_alloc(size_t count, size_t size)
{
	size_t whole = (count * size + APART - 1) / APART * APART;
	void *memory = aligned_alloc(APART, whole);
	memory_must(memory != NULL);
	return memset(memory, 0, whole);
}

void states_init(struct states *states, uint32_t lanes_count, uint32_t extra, uint64_t memory_max)
{
	*states = (struct states){.lanes_count = lanes_count, .extra = extra};
	states->lanes = apart_alloc(lanes_count, sizeof(*states->lanes));
	states->chunks = calloc(CHUNKS_MAX, sizeof(*states->chunks));
	states->level_begin = calloc(CHUNKS_MAX, sizeof(*states->level_begin));
	memory_must(states->chunks != NULL && states->level_begin != NULL);
	must(pthread_mutex_init(&states->chunks_mutex, NULL) == 0);
	reserve_slots(states, memory_max / 2);
	for (uint32_t i = 0; i < lanes_count; i++) {
		states->lanes[i].chunks = calloc(CHUNKS_MAX, sizeof(struct states_chunk));
		memory_must(states->lanes[i].chunks != NULL);
	}
}

static void insert_slot(struct states *states, uint64_t slot)
{
	size_t place = slot_home(slot, states->slots_size);
	while (states->slots[place] != 0)
		place = slot_next(states, place);
	states->slots[place] = slot;
}

/* Moves the slots to their new places in the same memory, the last slot first. A slot's home only
 * moves up, to a place whose old slots have been moved already. A few slots, which were displaced
 * near the beginning or past the end, would land among those that have not been moved. They are
 * moved last. */
static void enlarge_slots(struct states *states, size_t new_size)
{
	size_t waiting_count = 0, waiting_size = 0;
	uint64_t *slots = states->slots, *waiting = NULL;

	for (size_t i = states->slots_size; i-- > 0;) {
		uint64_t slot = slots[i];
		size_t place = slot_home(slot, new_size);
		slots[i] = 0;
		if (slot == 0)
			continue;
		while (place > i && place < new_size && slots[place] != 0)
			place++;
		if (place > i && place < new_size) {
			slots[place] = slot;
			continue;
		}
		waiting = grow(waiting, &waiting_size, waiting_count + 1, sizeof(*waiting));
		waiting[waiting_count++] = slot;
	}
	states->slots_size = new_size;
	for (size_t i = 0; i < waiting_count; i++)
		insert_slot(states, waiting[i]);
	free(waiting);
}

static size_t slots_for(const struct states *states, uint64_t more)
{
	size_t needed = (states_count(states) + more) * 100 / FULL_PERCENT + 1;
	if (needed <= states->slots_size)
		return states->slots_size;
	size_t larger = states->slots_size + states->slots_size / 2;
	return larger > needed ? larger : needed;
}

uint64_t states_reserve_cost(const struct states *states, uint64_t more)
{
	size_t needed = slots_for(states, more);
	return needed * sizeof(uint64_t) <= states->slots_reserved
	               ? (needed - states->slots_size) * sizeof(uint64_t)
	               : UINT64_MAX / 2;
}

void states_reserve(struct states *states, uint64_t more)
{
	size_t needed = slots_for(states, more);
	if (needed > states->slots_size)
		enlarge_slots(states, needed);
}

static uint32_t record_units(const struct states *states, uint32_t size)
{
	return (uint32_t)(sizeof(struct state_record) + states->extra + size + 3) / 4;
}

static void add_chunk(struct states *states, struct lane *lane)
{
	uint32_t *units = malloc(CHUNK_UNITS * sizeof(*units));
	memory_must(units != NULL);
	pthread_mutex_lock(&states->chunks_mutex);
	must(states->chunks_count < CHUNKS_MAX);
	uint32_t number = states->chunks_count++;
	states->chunks[number] = units;
	pthread_mutex_unlock(&states->chunks_mutex);
	lane->chunks[lane->chunks_count++] = (struct states_chunk){.number = number};
}

uint32_t lane_append(struct states *states, struct lane *lane, const uint8_t *bytes, uint32_t size,
                     uint32_t parent)
{
	uint32_t units = record_units(states, size);

	if (lane->chunks_count == 0 ||
	    CHUNK_UNITS - lane->chunks[lane->chunks_count - 1].used < units + ROW_SLACK / 4)
		add_chunk(states, lane);
	struct states_chunk *chunk = &lane->chunks[lane->chunks_count - 1];
	uint32_t name = chunk->number << CHUNK_SHIFT | chunk->used;
	chunk->used += units;
	struct state_record *record = states_record(states, name);
	*record = (struct state_record){
	        .parent = parent, .fewest_so_far = UINT16_MAX, .size = (uint16_t)size};
	memset(record->bytes, 0, states->extra);
	memcpy(record->bytes + states->extra, bytes, size);
	lane->count++;
	return name;
}

void lane_take_back(struct states *states, struct lane *lane, uint32_t name)
{
	struct states_chunk *chunk = &lane->chunks[lane->chunks_count - 1];

	chunk->used -= record_units(states, states_record(states, name)->size);
	must(name == (chunk->number << CHUNK_SHIFT | chunk->used));
	lane->count--;
}

void states_begin_level(struct states *states)
{
	for (uint32_t i = 0; i < states->lanes_count; i++) {
		const struct lane *lane = &states->lanes[i];
		for (size_t k = 0; k < lane->chunks_count; k++)
			states->level_begin[lane->chunks[k].number] =
			        k + 1 < lane->chunks_count ? CHUNK_UNITS : lane->chunks[k].used;
	}
}

struct lane_cursor lane_end(const struct lane *lane)
{
	if (lane->chunks_count == 0)
		return (struct lane_cursor){0};
	size_t last = lane->chunks_count - 1;
	return (struct lane_cursor){.chunk = last, .unit = lane->chunks[last].used};
}

bool lane_next(const struct states *states, const struct lane *lane, struct lane_cursor *cursor,
               const struct lane_cursor *end, uint32_t *ret_name)
{
	if (cursor->chunk < end->chunk && cursor->unit == lane->chunks[cursor->chunk].used)
		*cursor = (struct lane_cursor){.chunk = cursor->chunk + 1};
	if (cursor->chunk == end->chunk && cursor->unit == end->unit)
		return false;
	*ret_name = lane->chunks[cursor->chunk].number << CHUNK_SHIFT | cursor->unit;
	cursor->unit += record_units(states, states_record(states, *ret_name)->size);
	return true;
}
