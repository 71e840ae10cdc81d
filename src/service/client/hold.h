/*
 * A lock that is held, wanted or lost.
 */
#ifndef CLIENT_HOLD_H
#define CLIENT_HOLD_H

#include "word.h"

#include <baton/baton.h>
#include <sys/queue.h>

struct hold {
	LIST_ENTRY(hold) entry;
	uint64_t fence;
	char why[BATON_NAME_MAX + 64]; /* why the lock was lost, in the node's words */
	/* When the node sent the message about the loss, on its lease clock; 0: not known. */
	uint64_t told_ms;
	/* The lock's name with a terminating 0; its bytes follow this struct. */
	struct word name;
};

/* A list of holds, the latest first. */
LIST_HEAD(holds, hold);

struct hold *hold_new(const char *name); /* NULL: no memory */
/* Finds a hold by the name of its lock. Returns NULL if it is not in the list. */
struct hold *hold_find(const struct holds *holds, struct word name);
/* Removes the hold from its list and frees it. */
void hold_drop(struct hold *hold);
void holds_free(struct holds *holds);

#endif
