#include "intern.h"

#include "grow.h"
#include "memory.h"
#include "must.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { BLOCK_AT_FIRST = 4096, BLOCK_MAX = 1 << 20 };

void intern_init(struct intern *intern)
{
	*intern = (struct intern){.slots_size = 128};
	intern->slots = calloc(intern->slots_size, sizeof(*intern->slots));
	memory_must(intern->slots != NULL);
}

void intern_free(struct intern *intern)
{
	for (size_t i = 0; i < intern->blocks_count; i++)
		free(intern->blocks[i]);
	free(intern->blocks);
	free(intern->strings);
	free(intern->slots);
}

static uint32_t *find(const struct intern *intern, const void *bytes, size_t size)
{
	size_t slot = (size_t)XXH3_64bits(bytes, size) & (intern->slots_size - 1);

	for (;; slot = (slot + 1) & (intern->slots_size - 1)) {
		if (intern->slots[slot] == 0)
			return &intern->slots[slot];
		const struct interned *known = &intern->strings[intern->slots[slot] - 1];
		if (known->size == size && memcmp(known->bytes, bytes, size) == 0)
			return &intern->slots[slot];
	}
}

static void enlarge_slots(struct intern *intern)
{
	free(intern->slots);
	intern->slots_size *= 2;
	intern->slots = calloc(intern->slots_size, sizeof(*intern->slots));
	memory_must(intern->slots != NULL);
	for (uint32_t i = 0; i < intern->count; i++)
		*find(intern, intern->strings[i].bytes, intern->strings[i].size) = i + 1;
}

/* Allocates bytes that never move. */
static uint8_t *take_room(struct intern *intern, size_t size)
{
	size_t whole = (size + 7) / 8 * 8;

	if (intern->block_size - intern->block_used < whole) {
		size_t larger = intern->block_size == 0 ? BLOCK_AT_FIRST : intern->block_size * 2;
		intern->block_size = larger < BLOCK_MAX ? larger : BLOCK_MAX;
		if (intern->block_size < whole)
			intern->block_size = whole;
		intern->block_used = 0;
		intern->blocks = grow(intern->blocks, &intern->blocks_size,
		                      intern->blocks_count + 1, sizeof(*intern->blocks));
		uint8_t *block = malloc(intern->block_size);
		memory_must(block != NULL);
		intern->blocks[intern->blocks_count++] = block;
		intern->bytes_count += intern->block_size;
	}
	uint8_t *room = intern->blocks[intern->blocks_count - 1] + intern->block_used;
	intern->block_used += whole;
	return room;
}

uint32_t intern_put(struct intern *intern, const void *bytes, size_t size, bool *ret_new)
{
	uint32_t *slot = find(intern, bytes, size);
	bool new = *slot == 0;

	if (ret_new != NULL)
		*ret_new = new;
	if (!new)
		return *slot - 1;
	must(intern->count < UINT32_MAX / 4);
	uint8_t *kept = take_room(intern, size);
	memcpy(kept, bytes, size);
	intern->strings = grow(intern->strings, &intern->strings_size, (size_t)intern->count + 1,
	                       sizeof(*intern->strings));
	intern->strings[intern->count++] = (struct interned){.bytes = kept, .size = size};
	*slot = intern->count;
	if (intern->count > intern->slots_size / 2)
		enlarge_slots(intern);
	return intern->count - 1;
}

size_t intern_memory(const struct intern *intern)
{
	return intern->bytes_count + intern->strings_size * sizeof(*intern->strings) +
	       intern->slots_size * sizeof(*intern->slots);
}
