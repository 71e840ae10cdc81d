/*
 * Arrays that grow by half of their size each time: appending stays cheap on average, and a large
 * array does not double.
 */
#ifndef BASE_GROW_H
#define BASE_GROW_H

#include "memory.h"

#include <stddef.h>
#include <stdlib.h>

/* Returns the array with room for `needed` elements of `element` bytes; *size is the number of
 * elements that fit. */
static inline void *grow(void *array, size_t *size, size_t needed, size_t element)
{
	if (needed <= *size)
		return array;
	*size += *size / 2 + 64;
	if (*size < needed)
		*size = needed;
	array = realloc(array, *size * element);
	memory_must(array != NULL);
	return array;
}

#endif
