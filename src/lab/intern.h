/*
 * Interning: each distinct string of bytes is kept once and gets a small number, 0, 1, 2, … in the
 * order of arrival.
 */
#ifndef LAB_INTERN_H
#define LAB_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct intern {
	uint8_t *bytes;
	size_t bytes_count, bytes_size;
	size_t *offsets; /* where the size of number i, and then its bytes, stand */
	uint32_t count, offsets_size;
	uint32_t *slots; /* a number + 1, or 0 */
	size_t slots_size;
};

void intern_init(struct intern *intern);
void intern_free(struct intern *intern);
/* The number of these bytes; *ret_new tells whether they are new (may be NULL). */
uint32_t intern_put(struct intern *intern, const void *bytes, size_t size, bool *ret_new);
/* The bytes of a number, valid until the next intern_put; aligned to 8. */
const uint8_t *intern_get(const struct intern *intern, uint32_t number, size_t *ret_size);
size_t intern_memory(const struct intern *intern);

#endif
