/*
 * Interning: each distinct string of bytes is kept once and gets a small number, 0, 1, 2, … in the
 * order of arrival. The bytes never move.
 */
#ifndef LAB_INTERN_H
#define LAB_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct interned {
	const uint8_t *bytes;
	size_t size;
};

struct intern {
	struct interned *strings; /* [number]: the bytes that have this number */
	uint32_t count;
	size_t strings_size;
	uint32_t *slots; /* hash table: a number + 1, or 0 if the slot is free */
	size_t slots_size;
	uint8_t **blocks; /* chunks of memory that hold the bytes */
	size_t blocks_count, blocks_size;
	size_t block_used, block_size; /* bytes used of the last chunk */
	size_t bytes_count;            /* bytes of all chunks */
};

void intern_init(struct intern *intern);
void intern_free(struct intern *intern);
/* Returns the number of these bytes. *ret_new tells whether they are new; ret_new may be NULL. */
uint32_t intern_put(struct intern *intern, const void *bytes, size_t size, bool *ret_new);
/* Returns the bytes with that number, aligned to 8. */
static inline const uint8_t *intern_get(const struct intern *intern, uint32_t number,
                                        size_t *ret_size)
{
	*ret_size = intern->strings[number].size;
	return intern->strings[number].bytes;
}
size_t intern_memory(const struct intern *intern);

#endif
