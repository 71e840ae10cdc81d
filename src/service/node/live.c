#include "live.h"

#include "lock.h"
#include "memory.h"
#include "must.h"

#include <stdlib.h>
#include <string.h>

/* A lock remembers at most PROBES_MAX members that asked whether it is busy. Further members may
 * learn that it is busy only at their timeout. */
enum { LIVES_PER_CHUNK = 64, PROBES_MAX = 64 };

struct live_chunk {
	SLIST_ENTRY(live_chunk) chunks;
	struct live lives[LIVES_PER_CHUNK];
};

void lives_init(struct lives *lives)
{
	TAILQ_INIT(&lives->all);
	LIST_INIT(&lives->places);
	SLIST_INIT(&lives->free);
	SLIST_INIT(&lives->chunks);
}

void lives_free(struct lives *lives)
{
	struct live *live;
	struct parcel *parcel;

	TAILQ_FOREACH (live, &lives->all, all) {
		free(live->value);
		live_forget_probes(live);
		while ((parcel = live_take_parcel(live)) != NULL)
			free(parcel);
	}
	while (!SLIST_EMPTY(&lives->chunks)) {
		struct live_chunk *chunk = SLIST_FIRST(&lives->chunks);
		SLIST_REMOVE_HEAD(&lives->chunks, chunks);
		free(chunk);
	}
}

static void add_chunk(struct lives *lives)
{
	struct live_chunk *chunk = calloc(1, sizeof(*chunk));

	memory_must(chunk != NULL);
	SLIST_INSERT_HEAD(&lives->chunks, chunk, chunks);
	for (size_t i = LIVES_PER_CHUNK; i-- > 0;)
		SLIST_INSERT_HEAD(&lives->free, &chunk->lives[i], free);
}

struct live *live_get(struct lives *lives, struct lock *lock)
{
	if (lock->live != NULL)
		return lock->live;
	if (SLIST_EMPTY(&lives->free))
		add_chunk(lives);
	struct live *live = SLIST_FIRST(&lives->free);
	SLIST_REMOVE_HEAD(&lives->free, free);
	*live = (struct live){.lock = lock};
	TAILQ_INIT(&live->queue);
	STAILQ_INIT(&live->pending);
	TAILQ_INSERT_TAIL(&lives->all, live, all);
	lives->count++;
	lock->live = live;
	return live;
}

void live_drop(struct lives *lives, struct live *live)
{
	must(live->holder == NULL && TAILQ_EMPTY(&live->queue) && STAILQ_EMPTY(&live->pending));
	if (!SLIST_EMPTY(&live->probes))
		live_forget_probes(live);
	live->lock->live = NULL;
	struct live_place *place;
	LIST_FOREACH (place, &lives->places, entry) {
		if (place->next == live)
			place->next = TAILQ_NEXT(live, all);
	}
	TAILQ_REMOVE(&lives->all, live, all);
	lives->count--;
	SLIST_INSERT_HEAD(&lives->free, live, free);
}

size_t parcel_bytes(const struct parcel *parcel)
{
	return sizeof(*parcel) + parcel->size;
}

struct letter parcel_letter(const struct parcel *parcel)
{
	return (struct letter){parcel->counter, (enum side)parcel->side, parcel->size,
	                       parcel->body};
}

size_t live_add_parcel(struct live *live, const struct letter *letter)
{
	struct parcel *parcel = malloc(sizeof(*parcel) + letter->size);

	memory_must(parcel != NULL);
	*parcel = (struct parcel){
	        .counter = letter->counter, .size = letter->size, .side = (uint8_t)letter->side};
	memcpy(parcel->body, letter->body, letter->size);
	STAILQ_INSERT_TAIL(&live->pending, parcel, parcels);
	return parcel_bytes(parcel);
}

struct parcel *live_take_parcel(struct live *live)
{
	struct parcel *parcel = STAILQ_FIRST(&live->pending);

	if (parcel != NULL)
		STAILQ_REMOVE_HEAD(&live->pending, parcels);
	return parcel;
}

void live_add_probe(struct live *live, uint64_t question, uint32_t origin)
{
	if (live->probes_count == PROBES_MAX)
		return;
	struct probe *probe = malloc(sizeof(*probe));
	memory_must(probe != NULL);
	*probe = (struct probe){.question = question, .origin = origin};
	SLIST_INSERT_HEAD(&live->probes, probe, probes);
	live->probes_count++;
}

void live_forget_probes(struct live *live)
{
	while (!SLIST_EMPTY(&live->probes)) {
		struct probe *probe = SLIST_FIRST(&live->probes);
		SLIST_REMOVE_HEAD(&live->probes, probes);
		free(probe);
	}
	live->probes_count = 0;
}
