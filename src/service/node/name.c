/*
 * The hashes of a name. Which names are good is decided in name.h.
 */
#include "name.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t name_hash(const void *name, size_t size)
{
	return XXH3_64bits(name, size);
}

uint64_t name_key(const void *name, size_t size, uint64_t secret)
{
	return XXH3_64bits_withSeed(name, size, secret);
}
