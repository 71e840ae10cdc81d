#include "intern.h"

#include "must.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* Each string is preceded by its size, so that it can start at a multiple of 8. */
void intern_init(struct intern *intern)
{
	*intern = (struct intern){.bytes_size = 4096, .offsets_size = 64, .slots_size = 128};
	intern->bytes = malloc(intern->bytes_size);
	intern->offsets = malloc(intern->offsets_size * sizeof(*intern->offsets));
	intern->slots = calloc(intern->slots_size, sizeof(*intern->slots));
	must(intern->bytes != NULL && intern->offsets != NULL && intern->slots != NULL);
}

void intern_free(struct intern *intern)
{
	free(intern->bytes);
	free(intern->offsets);
	free(intern->slots);
}

const uint8_t *intern_get(const struct intern *intern, uint32_t number, size_t *ret_size)
{
	const uint8_t *start = intern->bytes + intern->offsets[number];
	memcpy(ret_size, start, sizeof(*ret_size));
	return start + sizeof(size_t);
}

static uint32_t *find(const struct intern *intern, const void *bytes, size_t size)
{
	size_t slot = (size_t)XXH3_64bits(bytes, size) & (intern->slots_size - 1);

	for (;; slot = (slot + 1) & (intern->slots_size - 1)) {
		if (intern->slots[slot] == 0)
			return &intern->slots[slot];
		size_t known_size;
		const uint8_t *known = intern_get(intern, intern->slots[slot] - 1, &known_size);
		if (known_size == size && memcmp(known, bytes, size) == 0)
			return &intern->slots[slot];
	}
}

static void enlarge_slots(struct intern *intern)
{
	free(intern->slots);
	intern->slots_size *= 2;
	intern->slots = calloc(intern->slots_size, sizeof(*intern->slots));
	must(intern->slots != NULL);
	for (uint32_t i = 0; i < intern->count; i++) {
		size_t size;
		const uint8_t *bytes = intern_get(intern, i, &size);
		*find(intern, bytes, size) = i + 1;
	}
}

static void append(struct intern *intern, const void *bytes, size_t size)
{
	size_t whole = sizeof(size_t) + (size + 7) / 8 * 8;

	while (intern->bytes_size - intern->bytes_count < whole) {
		intern->bytes_size *= 2;
		intern->bytes = realloc(intern->bytes, intern->bytes_size);
		must(intern->bytes != NULL);
	}
	if (intern->count == intern->offsets_size) {
		intern->offsets_size *= 2;
		intern->offsets =
		        realloc(intern->offsets, intern->offsets_size * sizeof(*intern->offsets));
		must(intern->offsets != NULL);
	}
	uint8_t *start = intern->bytes + intern->bytes_count;
	memcpy(start, &size, sizeof(size));
	memcpy(start + sizeof(size), bytes, size);
	intern->offsets[intern->count++] = intern->bytes_count;
	intern->bytes_count += whole;
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
	append(intern, bytes, size);
	*slot = intern->count;
	if (intern->count > intern->slots_size / 2)
		enlarge_slots(intern);
	return intern->count - 1;
}

size_t intern_memory(const struct intern *intern)
{
	return intern->bytes_size + intern->offsets_size * sizeof(*intern->offsets) +
	       intern->slots_size * sizeof(*intern->slots);
}
