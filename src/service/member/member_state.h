/*
 * The parts of a member. They have headers of their own: peer.h, connection.h, outcome.h.
 */
#ifndef MEMBER_STATE_H
#define MEMBER_STATE_H

#include "connection.h"
#include "member.h"
#include "outcome.h"
#include "peer.h"

#define MS UINT64_C(1000000)
enum { REDIAL_MS_FIRST = 20 /* the first back-off */ };

struct member {
	char *cluster; /* the name of the cluster */
	uint64_t cluster_hash;
	uint64_t setup; /* a digest of what must be the same at all members */
	uint32_t self, peers_count;
	struct peer *peers; /* sorted by name; this member is among them */
	uint64_t incarnation;
	struct node *node;
	struct engine *engine;
	uint64_t now;         /* the greatest time that was passed in */
	uint64_t quiet_until; /* no view is entered before this time */
	uint64_t timers_at;   /* no timer of the member itself is due before this time */
	/* When to acknowledge frames that no other output has acknowledged by then. */
	uint64_t acknowledge_at;
	bool leaving;
	/* The last complaint about a stranger, and when it was logged. */
	uint64_t stranger_hash, stranger_at;
	char *missing; /* the text that member_missing returned last */
	LIST_HEAD(, connection) connections;
	STAILQ_HEAD(, connection) changed; /* connections that member_changed has yet to return */
	struct outcomes outcomes;
	struct outcome *taken; /* the effect that was taken last: its pointers are still in use */
};

/* A timer of the member itself is set to that time. */
static inline void member_due(struct member *member, uint64_t at)
{
	if (at < member->timers_at)
		member->timers_at = at;
}

#endif
