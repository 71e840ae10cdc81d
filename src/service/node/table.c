/*
 * A hash table with linear probing over 32-bit tags. A removal moves later entries up, so that
 * there are no tombstones. A lock is in the pool and never moves; all locks of an epoch are freed
 * at once.
 */
#include "table.h"

#include "memory.h"
#include "name.h"
#include "whole.h"

#include <stdlib.h>
#include <string.h>

bool table_has_room(const struct node *node, uint32_t count)
{
	return node->table.count <= node->limits.locks &&
	       node->limits.locks - node->table.count >= count;
}

bool table_has_room_for(const struct node *node, const struct node_user *user)
{
	uint32_t limit = node->limits.locks;

	if (user == NULL || user->names <= user->holds || node->table.count < node_share(limit))
		return true;
	return user->names - user->holds <= limit / NODE_KEPT_ONE_IN / node->view.count;
}

enum { STALE_ONE_IN = 16 };

bool table_is_stale(const struct node *node)
{
	return node->table.count - node->lives.count > node->limits.locks / STALE_ONE_IN;
}

/* Returns 32 bits of the hash of a name. The lowest bits decide where a search begins. */
static uint32_t tag_of(const struct node *node, struct slice name)
{
	return (uint32_t)name_key(name.bytes, name.size, node->secret);
}

struct lock *table_find(const struct node *node, struct slice name)
{
	const struct table *table = &node->table;

	if (table->size == 0)
		return NULL;
	uint32_t tag = tag_of(node, name);
	for (uint32_t i = tag & (table->size - 1);; i = (i + 1) & (table->size - 1)) {
		struct lock *lock = table->locks[i];
		if (lock == NULL)
			return NULL;
		if (table->tags[i] == tag && lock->name_size == name.size &&
		    memcmp(lock_name(node, lock).bytes, name.bytes, name.size) == 0)
			return lock;
	}
}

static void insert(struct table *table, struct lock *lock, uint32_t tag)
{
	uint32_t i = tag & (table->size - 1);

	while (table->locks[i] != NULL)
		i = (i + 1) & (table->size - 1);
	table->locks[i] = lock;
	table->tags[i] = tag;
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
			insert(table, old.locks[i], old.tags[i]);
	}
	free(old.tags);
	free(old.locks);
}

static size_t lock_words(const struct node *node, uint32_t name_size)
{
	return words_of(node->name_offset + name_size);
}

struct lock *table_add(struct node *node, struct slice name)
{
	uint64_t hash = name_hash(name.bytes, name.size);

	reserve(&node->table);
	struct lock *lock = pool_take(&node->pool, lock_words(node, name.size));
	memset(lock, 0, node->name_offset);
	lock->pace = (uint8_t)pace_index(hash);
	lock->name_size = (uint8_t)name.size;
	lock->home = (uint16_t)view_home(&node->view, hash);
	memcpy((uint8_t *)lock + node->name_offset, name.bytes, name.size);
	insert(&node->table, lock, tag_of(node, name));
	return lock;
}

struct lock *table_get(struct node *node, struct slice name)
{
	struct lock *lock = table_find(node, name);

	return lock != NULL ? lock : table_add(node, name);
}

static void remove_at(struct table *table, uint32_t hole)
{
	uint32_t mask = table->size - 1;

	for (uint32_t i = (hole + 1) & mask; table->locks[i] != NULL; i = (i + 1) & mask) {
		/* An entry whose own place is after the hole must not move up to it. */
		if (((i - table->tags[i]) & mask) < ((i - hole) & mask))
			continue;
		table->locks[hole] = table->locks[i];
		table->tags[hole] = table->tags[i];
		hole = i;
	}
	table->locks[hole] = NULL;
	table->count--;
}

void table_count_name(struct node *node, struct live *live, struct node_user *user)
{
	live->maker = user;
	if (user != NULL && user->names++ == 0)
		LIST_INSERT_HEAD(&node->table.users, user, named);
}

static void uncount_name(struct node_user *user)
{
	if (--user->names == 0)
		LIST_REMOVE(user, named);
}

/* Sets the names of all users to 0, before the table is renewed or freed. */
static void forget_users(struct node *node)
{
	while (!LIST_EMPTY(&node->table.users)) {
		struct node_user *user = LIST_FIRST(&node->table.users);
		LIST_REMOVE(user, named);
		user->names = 0;
	}
}

/* A lock with a road has a token somewhere: it is never dropped within an epoch. */
void table_drop(struct node *node, struct lock *lock, struct node_user *maker)
{
	uint32_t i = tag_of(node, lock_name(node, lock)) & (node->table.size - 1);

	while (node->table.locks[i] != lock)
		i = (i + 1) & (node->table.size - 1);
	remove_at(&node->table, i);
	if (maker != NULL)
		uncount_name(maker);
	packed_drop(&node->opened, &node->pool, lock);
	pool_give(&node->pool, lock, lock_words(node, lock->name_size));
}

void table_renew(struct node *node)
{
	struct table old_table = node->table;
	struct pool old_pool = node->pool;
	struct live *live;

	forget_users(node);
	node->table = (struct table){0};
	node->pool = (struct pool){0};
	memset(node->paces, 0, sizeof(node->paces));
	packed_renew(&node->opened, node->view.state_size);
	TAILQ_FOREACH (live, &node->lives.all, all) {
		struct lock *lock = table_add(node, lock_name(node, live->lock));
		lock->live = live;
		live->lock = lock;
		const struct session *session =
		        live->holder != NULL ? live->holder : TAILQ_FIRST(&live->queue);
		table_count_name(node, live, session != NULL ? session->user : NULL);
	}
	free(old_table.tags);
	free(old_table.locks);
	pool_free(&old_pool);
}

void table_free(struct node *node)
{
	forget_users(node);
	free(node->table.tags);
	free(node->table.locks);
	pool_free(&node->pool);
}

size_t table_bytes(const struct node *node)
{
	return node->pool.bytes +
	       node->table.size * (sizeof(*node->table.tags) + sizeof(struct lock *));
}
