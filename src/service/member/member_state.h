/*
 * What a member consists of. Its parts have headers of their own: peer.h, connection.h, outcome.h.
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
	char *cluster; /* its name */
	uint64_t cluster_hash;
	uint64_t setup; /* a digest of what must be the same at all members */
	uint32_t self, peers_count;
	struct peer *peers; /* sorted by name, this member among them */
	uint64_t incarnation;
	struct node *node;
	struct engine *engine;
	uint64_t now;         /* the greatest time that it was given */
	uint64_t quiet_until; /* no view is entered before this time */
	uint64_t timers_at;   /* no timer of the member's own is due before this */
	/* When frames are acknowledged that nothing else has acknowledged. */
	uint64_t acknowledge_at;
	bool leaving;
	uint64_t stranger_hash, stranger_at; /* the last complaint about a stranger, and when */
	char *missing;                       /* what member_missing returned last */
	LIST_HEAD(, connection) connections;
	STAILQ_HEAD(, connection) changed; /* member_changed has yet to tell of them */
	struct outcomes outcomes;
	struct outcome *taken; /* the effect that was taken last: its pointers are still in use */
};

/* A timer of the member's own is set for then. */
static inline void member_due(struct member *member, uint64_t at)
{
	if (at < member->timers_at)
		member->timers_at = at;
}

#endif
