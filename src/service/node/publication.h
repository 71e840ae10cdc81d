/*
 * The leaders at other members, as far as those members have told this node.
 */
#ifndef NODE_PUBLICATION_H
#define NODE_PUBLICATION_H

#include "slice.h"

#include <sys/queue.h>

struct publication {
	LIST_ENTRY(publication) bucket;
	uint64_t hash, fence;
	uint32_t member; /* the member where the leader is */
	uint32_t value_size;
	uint8_t name_size;
	uint8_t bytes[]; /* the name, then the value */
};

struct publications {
	LIST_HEAD(publication_bucket, publication) * buckets;
	uint32_t buckets_count, count;
	uint64_t secret; /* the secret of the hashes, see name_key */
};

void publications_clear(struct publications *publications);
void publications_free(struct publications *publications);
/* Finds who leads. Returns NULL if this node knows of no leader. */
struct publication *publication_find(const struct publications *publications, struct slice name);
/* Notes who leads. Does nothing if a leader with a greater fence is known. */
void publication_set(struct publications *publications, struct slice name, uint64_t fence,
                     uint32_t member, struct slice value);
void publication_drop(struct publications *publications, struct publication *publication);

#endif
