/*
 * The locks that a node knows in an epoch, by name, and their memory.
 *
 * Linear probing over 32-bit tags; a removal moves what follows up, so that no place is ever marked
 * as deleted. A lock lies in the pool and never moves; all locks of an epoch go at once. The live
 * part has chunks of its own, because it outlives the epoch.
 */
#include "internal.h"
#include "memory.h"

#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

enum { LIVES_PER_CHUNK = 64 };

struct live_chunk {
	struct live_chunk *next;
	struct live lives[LIVES_PER_CHUNK];
};

uint64_t name_hash(const void *name, size_t size)
{
	return XXH3_64bits(name, size);
}

/*
 * Rendezvous hashing: the member with the greatest weight, so that a member that comes or goes
 * moves only the locks that it wins or had. The finalizer is that of splitmix64.
 */
uint32_t name_home(const struct view *view, uint64_t hash)
{
	uint64_t greatest = 0;
	uint32_t home = 1;

	for (uint32_t i = 0; i < view->count; i++) {
		uint64_t weight = hash ^ view->members[i].hash;
		weight = (weight ^ weight >> 30) * 0xbf58476d1ce4e5b9;
		weight = (weight ^ weight >> 27) * 0x94d049bb133111eb;
		weight ^= weight >> 31;
		if (weight > greatest) {
			greatest = weight;
			home = i + 1;
		}
	}
	return home;
}

struct lock *lock_find(const struct node *node, const void *name, uint32_t size, uint64_t hash)
{
	const struct table *table = &node->table;

	if (table->size == 0)
		return NULL;
	for (uint32_t i = (uint32_t)hash & (table->size - 1);; i = (i + 1) & (table->size - 1)) {
		struct lock *lock = table->locks[i];
		if (lock == NULL)
			return NULL;
		if (table->tags[i] == (uint32_t)hash && lock->name_size == size &&
		    memcmp(lock_name(node, lock).bytes, name, size) == 0)
			return lock;
	}
}

static void insert(struct table *table, struct lock *lock)
{
	uint32_t i = lock->hash & (table->size - 1);

	while (table->locks[i] != NULL)
		i = (i + 1) & (table->size - 1);
	table->locks[i] = lock;
	table->tags[i] = lock->hash;
	table->count++;
}

static void allocate(struct table *table, uint32_t size)
{
	table->size = size;
	table->count = 0;
	table->tags = malloc(size * sizeof(*table->tags));
	table->locks = calloc(size, sizeof(struct lock *));
	memory_must(table->tags != NULL && table->locks != NULL);
}

/* At most three quarters are filled, so that searches stay short. */
static void reserve(struct table *table)
{
	struct table old = *table;

	if (table->size != 0 && table->count + 1 <= table->size / 4 * 3)
		return;
	allocate(table, old.size == 0 ? 64 : old.size * 2);
	for (uint32_t i = 0; i < old.size; i++) {
		if (old.locks[i] != NULL)
			insert(table, old.locks[i]);
	}
	free(old.tags);
	free(old.locks);
}

static size_t lock_words(const struct node *node, uint32_t name_size)
{
	return words_of(node->name_offset + name_size);
}

struct lock *lock_make(struct node *node, const void *name, uint32_t size, uint64_t hash)
{
	reserve(&node->table);
	struct lock *lock = pool_take(&node->pool, lock_words(node, size));
	memset(lock, 0, node->name_offset);
	lock->hash = (uint32_t)hash;
	lock->name_size = (uint8_t)size;
	lock->home = (uint16_t)name_home(&node->view, hash);
	memcpy((uint8_t *)lock + node->name_offset, name, size);
	insert(&node->table, lock);
	return lock;
}

struct lock *lock_get(struct node *node, const void *name, uint32_t size, uint64_t hash)
{
	struct lock *lock = lock_find(node, name, size, hash);

	return lock != NULL ? lock : lock_make(node, name, size, hash);
}

static void remove_at(struct table *table, uint32_t hole)
{
	uint32_t mask = table->size - 1;

	for (uint32_t i = (hole + 1) & mask; table->locks[i] != NULL; i = (i + 1) & mask) {
		/* May it move up to the hole, or does it belong between the two? */
		if (((i - table->tags[i]) & mask) < ((i - hole) & mask))
			continue;
		table->locks[hole] = table->locks[i];
		table->tags[hole] = table->tags[i];
		hole = i;
	}
	table->locks[hole] = NULL;
	table->count--;
}

/* One that has a road, whose token is somewhere, is never dropped within an epoch. */
void lock_drop(struct node *node, struct lock *lock)
{
	uint32_t i = lock->hash & (node->table.size - 1);

	while (node->table.locks[i] != lock)
		i = (i + 1) & (node->table.size - 1);
	remove_at(&node->table, i);
	state_drop(node, lock);
	pool_give(&node->pool, lock, lock_words(node, lock->name_size));
}

static void add_lives(struct node *node)
{
	struct live_chunk *chunk = calloc(1, sizeof(*chunk));

	memory_must(chunk != NULL);
	chunk->next = node->live_chunks;
	node->live_chunks = chunk;
	for (size_t i = LIVES_PER_CHUNK; i-- > 0;) {
		chunk->lives[i].next = node->lives_free;
		node->lives_free = &chunk->lives[i];
	}
}

struct live *lock_live(struct node *node, struct lock *lock)
{
	if (lock->live != NULL)
		return lock->live;
	if (node->lives_free == NULL)
		add_lives(node);
	struct live *live = node->lives_free;
	node->lives_free = live->next;
	*live = (struct live){.lock = lock, .previous = node->lives_last};
	live->end = &live->pending;
	if (node->lives_last != NULL)
		node->lives_last->next = live;
	else
		node->lives = live;
	node->lives_last = live;
	lock->live = live;
	return live;
}

void live_drop(struct node *node, struct live *live)
{
	must(live->holder == NULL && live->first == NULL && live->pending == NULL);
	probes_forget(live);
	live->lock->live = NULL;
	if (live->previous != NULL)
		live->previous->next = live->next;
	else
		node->lives = live->next;
	if (live->next != NULL)
		live->next->previous = live->previous;
	else
		node->lives_last = live->previous;
	live->next = node->lives_free;
	node->lives_free = live;
}

void table_renew(struct node *node)
{
	struct table old_table = node->table;
	struct pool old_pool = node->pool;

	node->table = (struct table){0};
	node->pool = (struct pool){0};
	states_renew(node);
	for (struct live *live = node->lives; live != NULL; live = live->next) {
		struct slice name = lock_name(node, live->lock);
		struct lock *lock =
		        lock_make(node, name.bytes, name.size, name_hash(name.bytes, name.size));
		lock->live = live;
		live->lock = lock;
	}
	free(old_table.tags);
	free(old_table.locks);
	pool_free(&old_pool);
}

void table_free(struct node *node)
{
	free(node->table.tags);
	free(node->table.locks);
	pool_free(&node->pool);
	while (node->live_chunks != NULL) {
		struct live_chunk *next = node->live_chunks->next;
		free(node->live_chunks);
		node->live_chunks = next;
	}
}

size_t table_bytes(const struct node *node)
{
	return node->pool.bytes +
	       node->table.size * (sizeof(*node->table.tags) + sizeof(struct lock *));
}
