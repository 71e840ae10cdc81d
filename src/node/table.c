/*
 * The locks that a node knows in an epoch, by name, and their memory.
 *
 * Linear probing over 32-bit tags; a removal moves what follows up, so that no place is ever marked
 * as deleted. A lock lies in a chunk and never moves; all locks of an epoch go at once. The live
 * part comes from a pool of its own, because it outlives the epoch.
 */
#include "internal.h"

#include "grow.h"

#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

enum { CHUNK_SIZE = 1 << 16, LIVES_PER_CHUNK = 64 };

struct chunk {
	struct chunk *next;
	uint64_t bytes[];
};

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
		if (table->tags[i] == (uint32_t)hash && lock->hash == hash &&
		    lock->name_size == size && memcmp(lock_name(node, lock).bytes, name, size) == 0)
			return lock;
	}
}

static void insert(struct table *table, struct lock *lock)
{
	uint32_t i = (uint32_t)lock->hash & (table->size - 1);

	while (table->locks[i] != NULL)
		i = (i + 1) & (table->size - 1);
	table->locks[i] = lock;
	table->tags[i] = (uint32_t)lock->hash;
	table->count++;
}

static void allocate(struct table *table, uint32_t size)
{
	table->size = size;
	table->count = 0;
	table->tags = malloc(size * sizeof(*table->tags));
	table->locks = calloc(size, sizeof(struct lock *));
	must(table->tags != NULL && table->locks != NULL);
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

static uint32_t name_class(uint32_t name_size)
{
	return (name_size + 7) / 8;
}

static struct lock *take(struct node *node, uint32_t name_size)
{
	struct arena *arena = &node->arena;
	void **free_list = &arena->free[name_class(name_size)];
	size_t size = node->view.name_offset + 8 * (size_t)name_class(name_size);

	if (*free_list != NULL) {
		void *memory = *free_list;
		memcpy(free_list, memory, sizeof(void *));
		return memory;
	}
	if (arena->left < size) {
		size_t room = CHUNK_SIZE - sizeof(struct chunk);
		if (room < size)
			room = size;
		struct chunk *chunk = malloc(sizeof(*chunk) + room);
		must(chunk != NULL);
		chunk->next = arena->chunks;
		arena->chunks = chunk;
		arena->next = (uint8_t *)chunk->bytes;
		arena->left = room;
		arena->bytes += sizeof(*chunk) + room;
	}
	void *memory = arena->next;
	arena->next += size;
	arena->left -= size;
	return memory;
}

struct lock *lock_make(struct node *node, const void *name, uint32_t size, uint64_t hash)
{
	reserve(&node->table);
	struct lock *lock = take(node, size);
	memset(lock, 0, node->view.name_offset);
	lock->hash = hash;
	lock->name_size = (uint8_t)size;
	lock->home = name_home(&node->view, hash);
	memcpy((uint8_t *)lock + node->view.name_offset, name, size);
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

void lock_drop(struct node *node, struct lock *lock)
{
	void **free_list = &node->arena.free[name_class(lock->name_size)];
	uint32_t i = (uint32_t)lock->hash & (node->table.size - 1);

	while (node->table.locks[i] != lock)
		i = (i + 1) & (node->table.size - 1);
	remove_at(&node->table, i);
	road_free(node, lock);
	memcpy(lock, free_list, sizeof(void *));
	*free_list = lock;
}

static void add_lives(struct node *node)
{
	struct live_chunk *chunk = calloc(1, sizeof(*chunk));

	must(chunk != NULL);
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

static void free_chunks(struct arena *arena)
{
	while (arena->chunks != NULL) {
		struct chunk *next = arena->chunks->next;
		free(arena->chunks);
		arena->chunks = next;
	}
}

void table_renew(struct node *node, size_t old_name_offset)
{
	struct table old_table = node->table;
	struct arena old_arena = node->arena;

	node->table = (struct table){0};
	node->arena = (struct arena){0};
	for (struct live *live = node->lives; live != NULL; live = live->next) {
		struct lock *old = live->lock;
		const uint8_t *name = (const uint8_t *)old + old_name_offset;
		struct lock *lock = lock_make(node, name, old->name_size, old->hash);
		lock->live = live;
		live->lock = lock;
	}
	free(old_table.tags);
	free(old_table.locks);
	free_chunks(&old_arena);
}

void table_free(struct node *node)
{
	free(node->table.tags);
	free(node->table.locks);
	free_chunks(&node->arena);
	while (node->live_chunks != NULL) {
		struct live_chunk *next = node->live_chunks->next;
		free(node->live_chunks);
		node->live_chunks = next;
	}
}

size_t table_bytes(const struct node *node)
{
	return node->arena.bytes +
	       node->table.size * (sizeof(*node->table.tags) + sizeof(struct lock *));
}
