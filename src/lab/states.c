#include "states.h"

#include "grow.h"

#include <string.h>
#include <sys/mman.h>

enum { CHUNKS_MAX = 1 << (32 - CHUNK_SHIFT) };
enum { SLOTS_AT_FIRST = 1 << 10, FULL_PERCENT = 75, RESERVED_LEAST = 1 << 17 };

void states_free(struct states *states)
{
	for (uint32_t i = 0; i < states->shards_count; i++) {
		munmap(states->shards[i].slots, states->shards[i].slots_reserved);
		free(states->shards[i].chunks);
	}
	for (uint32_t i = 0; i < states->chunks_count; i++)
		free(states->chunks[i]);
	free(states->shards);
	free(states->chunks);
	pthread_mutex_destroy(&states->chunks_mutex);
}

uint64_t states_count(const struct states *states)
{
	uint64_t count = 0;
	for (uint32_t i = 0; i < states->shards_count; i++)
		count += states->shards[i].count;
	return count;
}

uint64_t states_memory(const struct states *states)
{
	uint64_t memory = 0;

	/* Of a shard's first chunk, what was never written takes no memory; the others may be large
	 * pages, which are given whole. */
	for (uint32_t i = 0; i < states->shards_count; i++) {
		const struct shard *shard = &states->shards[i];
		if (shard->chunks_count > 0)
			memory += shard->chunks[0].used * sizeof(uint32_t) +
			          (shard->chunks_count - 1) * (uint64_t)CHUNK_UNITS *
			                  sizeof(uint32_t);
	}
	for (uint32_t i = 0; i < states->shards_count; i++)
		memory += states->shards[i].slots_size * sizeof(uint64_t);
	return memory;
}

/*
 * The slots of a shard stand in a range of addresses that is reserved at once and costs nothing until
 * it is used, so that they can grow where they are.
 */
static void reserve_slots(struct shard *shard, uint64_t bytes)
{
	const uint64_t least = RESERVED_LEAST;

	for (bytes = bytes > least ? bytes : least; bytes >= least; bytes /= 2) {
		void *range = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (range == MAP_FAILED)
			continue;
		shard->slots = range;
		shard->slots_reserved = bytes;
		shard->slots_size = SLOTS_AT_FIRST;
		return;
	}
	must(false);
}

void *apart_alloc(size_t count, size_t size)
{
	size_t whole = (count * size + APART - 1) / APART * APART;
	void *memory = aligned_alloc(APART, whole);
	must(memory != NULL);
	return memset(memory, 0, whole);
}

void states_init(struct states *states, uint32_t shards_count, uint32_t extra, uint64_t memory_max)
{
	*states = (struct states){.shards_count = shards_count, .extra = extra};
	states->shards = apart_alloc(shards_count, sizeof(*states->shards));
	states->chunks = calloc(CHUNKS_MAX, sizeof(*states->chunks));
	must(states->chunks != NULL);
	must(pthread_mutex_init(&states->chunks_mutex, NULL) == 0);
	for (uint32_t i = 0; i < shards_count; i++) {
		reserve_slots(&states->shards[i], memory_max / 2 / shards_count);
	}
}

static void insert_slot(struct shard *shard, uint64_t slot)
{
	size_t place = slot_home(slot, shard->slots_size);
	while (shard->slots[place] != 0)
		place = place + 1 < shard->slots_size ? place + 1 : 0;
	shard->slots[place] = slot;
}

/*
 * In place, the last first: a home only moves up, where everything has been moved already. The few
 * that would land among those that have not (displaced near the beginning, or past the end) wait
 * until all are.
 */
static void enlarge_slots(struct shard *shard, size_t new_size)
{
	size_t waiting_count = 0, waiting_size = 0;
	uint64_t *slots = shard->slots, *waiting = NULL;

	for (size_t i = shard->slots_size; i-- > 0;) {
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
	shard->slots_size = new_size;
	for (size_t i = 0; i < waiting_count; i++)
		insert_slot(shard, waiting[i]);
	free(waiting);
}

static size_t slots_for(const struct shard *shard, uint32_t more)
{
	size_t needed = ((size_t)shard->count + more) * 100 / FULL_PERCENT + 1;
	if (needed <= shard->slots_size)
		return shard->slots_size;
	size_t larger = shard->slots_size + shard->slots_size / 2;
	return larger > needed ? larger : needed;
}

uint64_t shard_reserve_cost(const struct shard *shard, uint32_t more)
{
	size_t needed = slots_for(shard, more);
	return needed * sizeof(uint64_t) <= shard->slots_reserved
	               ? (needed - shard->slots_size) * sizeof(uint64_t)
	               : UINT64_MAX / 2;
}

void shard_reserve(struct shard *shard, uint32_t more)
{
	size_t needed = slots_for(shard, more);
	if (needed > shard->slots_size)
		enlarge_slots(shard, needed);
}

static uint32_t record_units(const struct states *states, uint32_t size)
{
	return (uint32_t)(sizeof(struct record) + states->extra + size + 3) / 4;
}

static void add_chunk(struct states *states, struct shard *shard)
{
	uint32_t *units = malloc(CHUNK_UNITS * sizeof(*units));
	must(units != NULL);
	pthread_mutex_lock(&states->chunks_mutex);
	must(states->chunks_count < CHUNKS_MAX);
	uint32_t number = states->chunks_count++;
	states->chunks[number] = units;
	pthread_mutex_unlock(&states->chunks_mutex);
	shard->chunks = grow(shard->chunks, &shard->chunks_size, shard->chunks_count + 1,
	                     sizeof(*shard->chunks));
	shard->chunks[shard->chunks_count++] = (struct chunk){.number = number};
}

uint32_t shard_append(struct states *states, struct shard *shard, const uint8_t *bytes,
                      uint32_t size, uint32_t parent)
{
	uint32_t units = record_units(states, size);

	if (shard->chunks_count == 0 ||
	    CHUNK_UNITS - shard->chunks[shard->chunks_count - 1].used < units + ROW_SLACK / 4)
		add_chunk(states, shard);
	struct chunk *chunk = &shard->chunks[shard->chunks_count - 1];
	uint32_t name = chunk->number << CHUNK_SHIFT | chunk->used;
	chunk->used += units;
	struct record *record = states_record(states, name);
	*record = (struct record){.parent = parent, .size = (uint16_t)size};
	memset(record->bytes, 0, states->extra);
	memcpy(record->bytes + states->extra, bytes, size);
	shard->count++;
	return name;
}

struct cursor shard_end(const struct shard *shard)
{
	if (shard->chunks_count == 0)
		return (struct cursor){0};
	size_t last = shard->chunks_count - 1;
	return (struct cursor){.chunk = last, .unit = shard->chunks[last].used};
}

uint32_t shard_name(const struct shard *shard, const struct cursor *cursor)
{
	return shard->chunks_count > 0
	               ? (shard->chunks[cursor->chunk].number << CHUNK_SHIFT) + cursor->unit
	               : 0;
}

bool shard_next(const struct states *states, const struct shard *shard, struct cursor *cursor,
                const struct cursor *end, uint32_t *ret_name)
{
	if (cursor->chunk < end->chunk && cursor->unit == shard->chunks[cursor->chunk].used)
		*cursor = (struct cursor){.chunk = cursor->chunk + 1};
	if (cursor->chunk == end->chunk && cursor->unit == end->unit)
		return false;
	*ret_name = shard->chunks[cursor->chunk].number << CHUNK_SHIFT | cursor->unit;
	cursor->unit += record_units(states, states_record(states, *ret_name)->size);
	return true;
}
