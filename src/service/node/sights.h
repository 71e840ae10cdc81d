/*
 * The patterns of the locks that the asker of a STATUS may see: does one of them match a name?
 * There may be a thousand patterns and a hundred thousand names. So the patterns are sorted by
 * their literals, the bytes before the first wildcard, and a name is compared only with the few
 * whose literals it begins with.
 */
#ifndef NODE_SIGHTS_H
#define NODE_SIGHTS_H

#include "slice.h"

#include <stdbool.h>
#include <stdint.h>

struct sight;

struct sights {
	struct sight *list;
	uint32_t count;
	bool all; /* one of the patterns is "*" */
};

/* Reads patterns, each encoded as a name in frame.h. The bytes must stay valid until
 * sights_free. */
struct sights sights_read(struct slice patterns);
void sights_free(struct sights *sights);
bool sights_match(const struct sights *sights, struct slice name);

#endif
