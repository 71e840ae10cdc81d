/*
 * The locks that a node knows in an epoch, by name.
 */
#ifndef NODE_TABLE_H
#define NODE_TABLE_H

#include "lock.h"
#include "slice.h"

struct table {
	/* 32 bits of the key of each name (name_key), so that a search seldom has to look at a
	 * lock. */
	uint32_t *tags;
	struct lock **locks;
	/* The number of entries, a power of two or 0; and how many of them are used. */
	uint32_t size, count;
	LIST_HEAD(, node_user) users; /* the users whose `names` is not 0 */
};

/* Finds a lock. Returns NULL if there is no such lock. */
struct lock *table_find(const struct node *node, struct slice name);
/* Adds a lock that is not there yet. The caller checks the limit (table_has_room). */
struct lock *table_add(struct node *node, struct slice name);
struct lock *table_get(struct node *node, struct slice name);
/* Forgets a lock, which then no longer counts among the names of the user `maker`; NULL: it counted
 * for nobody. */
void table_drop(struct node *node, struct lock *lock, struct node_user *maker);
/* Makes the lock, which has a live part, count among the names of this user. `user` may be NULL. */
void table_count_name(struct node *node, struct live *live, struct node_user *user);
/*
 * May this user add a lock? While more than an eighth of the table is free, always. The last eighth
 * is shared by the users at all members, because the algorithm may make each member keep the locks
 * of all. There, a user who keeps more names that it does not hold than its part of the eighth may
 * add none. Otherwise a user who takes ever new names would fill the tables and keep everybody from
 * new locks.
 */
bool table_has_room_for(const struct node *node, const struct node_user *user);
/* Begins a new epoch: drops all states, and all locks that have no live part. */
void table_renew(struct node *node);
void table_free(struct node *node);
size_t table_bytes(const struct node *node);
/* Is there room for `count` more locks? Locks that other members hold or ask for may be added
 * without regard to the limit, so the table may exceed it. */
bool table_has_room(const struct node *node, uint32_t count);
/*
 * Would a new epoch make room: are many locks not in use here? An epoch interrupts all members, so
 * it must free more than a sixteenth of the limit. Otherwise clients that keep the table full could
 * end one epoch after the other. Other members may use some of these locks. They report the locks
 * that their clients hold in the new epoch, and then these count as used here too.
 */
bool table_is_stale(const struct node *node);

#endif
