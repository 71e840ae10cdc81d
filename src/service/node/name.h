/*
 * Names of locks and members, and patterns: 1 to NODE_NAME_MAX bytes of any value.
 */
#ifndef NODE_NAME_H
#define NODE_NAME_H

#include "node.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

uint64_t name_hash(const void *name, size_t size);

static inline bool name_is_good(const void *name, size_t size)
{
	return name != NULL && size >= 1 && size <= NODE_NAME_MAX;
}

#endif
