/*
 * Names of locks and members, and patterns: 1 to NODE_NAME_MAX bytes of any value.
 */
#ifndef NODE_NAME_H
#define NODE_NAME_H

#include "node.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns a hash that is the same at all members. A client can choose many names with the same
 * hash, so the hash decides only on what has few values: homes and paces. */
uint64_t name_hash(const void *name, size_t size);
/* Returns the hash for tables of this node. Without the secret, nobody can choose names that would
 * make searches in a table slow. */
uint64_t name_key(const void *name, size_t size, uint64_t secret);

static inline bool name_is_good(const void *name, size_t size)
{
	return name != NULL && size >= 1 && size <= NODE_NAME_MAX;
}

#endif
