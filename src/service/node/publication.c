#include "publication.h"

#include "memory.h"
#include "name.h"

#include <stdlib.h>
#include <string.h>

static struct publication_bucket *bucket_of(const struct publications *publications, uint64_t hash)
{
	return &publications->buckets[hash & (publications->buckets_count - 1)];
}

static uint64_t hash_of(const struct publications *publications, struct slice name)
{
	return name_key(name.bytes, name.size, publications->secret);
}

struct publication *publication_find(const struct publications *publications, struct slice name)
{
	struct publication *publication;

	if (publications->count == 0)
		return NULL;
	uint64_t hash = hash_of(publications, name);
	LIST_FOREACH (publication, bucket_of(publications, hash), bucket) {
		if (publication->hash == hash && publication->name_size == name.size &&
		    memcmp(publication->bytes, name.bytes, name.size) == 0)
			break;
	}
	return publication;
}

void publication_drop(struct publications *publications, struct publication *publication)
{
	LIST_REMOVE(publication, bucket);
	free(publication);
	publications->count--;
}

void publications_clear(struct publications *publications)
{
	for (uint32_t i = 0; i < publications->buckets_count; i++) {
		while (!LIST_EMPTY(&publications->buckets[i]))
			/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): clang does not see that
			 * LIST_REMOVE moves the head. */
			publication_drop(publications, LIST_FIRST(&publications->buckets[i]));
	}
}

void publications_free(struct publications *publications)
{
	publications_clear(publications);
	free(publications->buckets);
}

/* Keeps the average chain at one publication or fewer. */
static void reserve(struct publications *publications)
{
	struct publications old = *publications;

	if (publications->count < publications->buckets_count)
		return;
	publications->buckets_count = old.buckets_count == 0 ? 64 : old.buckets_count * 2;
	publications->buckets = calloc(publications->buckets_count, sizeof(*publications->buckets));
	memory_must(publications->buckets != NULL);
	for (uint32_t i = 0; i < old.buckets_count; i++) {
		while (!LIST_EMPTY(&old.buckets[i])) {
			struct publication *publication = LIST_FIRST(&old.buckets[i]);
			LIST_REMOVE(publication, bucket);
			LIST_INSERT_HEAD(bucket_of(publications, publication->hash), publication,
			                 bucket);
		}
	}
	free(old.buckets);
}

void publication_set(struct publications *publications, struct slice name, uint64_t fence,
                     uint32_t member, struct slice value)
{
	uint64_t hash = hash_of(publications, name);
	struct publication *publication = publication_find(publications, name);

	if (publication != NULL) {
		if (publication->fence > fence)
			return;
		publication_drop(publications, publication);
	}
	reserve(publications);
	publication = malloc(sizeof(*publication) + name.size + value.size);
	memory_must(publication != NULL);
	*publication = (struct publication){
	        .hash = hash,
	        .fence = fence,
	        .member = member,
	        .value_size = value.size,
	        .name_size = (uint8_t)name.size,
	};
	memcpy(publication->bytes, name.bytes, name.size);
	memcpy(publication->bytes + name.size, value.bytes, value.size);
	LIST_INSERT_HEAD(bucket_of(publications, hash), publication, bucket);
	publications->count++;
}
