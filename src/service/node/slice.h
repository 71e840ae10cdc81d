/*
 * A piece of text or bytes that belongs to another object.
 */
#ifndef NODE_SLICE_H
#define NODE_SLICE_H

#include <stddef.h>
#include <stdint.h>

struct slice {
	const uint8_t *bytes;
	uint32_t size;
};

static inline struct slice slice_of(const void *bytes, size_t size)
{
	return (struct slice){bytes, (uint32_t)size};
}

#endif
