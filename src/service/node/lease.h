/*
 * The lease: until when this node may go on without hearing from the voters.
 *
 * The driver brings deadlines, from renewals that were acknowledged; a deadline never goes back.
 * With half of the lease left the node warns; with a tenth left, the margin, it grants nothing new
 * and asks for nobody; at the deadline it has *lapsed*: every hold here is lost for good
 * (fencing.h). A node of a fixed membership has no lease, and its deadline never comes.
 */
#ifndef NODE_LEASE_H
#define NODE_LEASE_H

#include "node.h"

struct lease {
	uint64_t ttl;         /* how long a lease lasts; 0: there is none */
	uint64_t deadline;    /* whole milliseconds; NODE_NEVER: there is no lease; 0: it lapsed */
	uint64_t grant_until; /* the deadline less the margin; 0: nothing may be granted */
	uint64_t lapses;      /* how often holds were lost because a lease or a view ended */
	uint64_t warn_at, renew_at, depart_at; /* NODE_NEVER: not to be done */
	uint64_t extend_at; /* when EXTEND is proposed (again); NODE_NEVER: there are fences */
	uint64_t next;      /* the earliest of these four and the deadline */
	bool departing;     /* this incarnation grants nothing more */
	bool starved;       /* somebody waits only because nothing may be granted now */
};

void lease_init(struct lease *lease, uint64_t ttl);
/* After one of the times has changed. */
void lease_schedule(struct lease *lease);
/* Takes a later deadline; false: it is not later, or over already. */
bool lease_prolong(struct lease *lease, uint64_t deadline, uint64_t now);
/* The lease is over: the lapse counts, and nothing may be granted until there is another
 * deadline. */
void lease_end(struct lease *lease);
/* A new incarnation may grant again. */
void lease_renew_incarnation(struct lease *lease);
uint64_t lease_interval(const struct lease *lease);
/* About how long after a member's death others are let in where its clients were; 0: unknown. */
uint64_t lease_takeover(const struct lease *lease);
/* The part of the lease in which nothing new is granted. */
uint64_t lease_margin(const struct lease *lease);

/* Time left at `now`; NODE_NEVER without a lease. */
static inline uint64_t lease_left(const struct lease *lease, uint64_t now)
{
	if (lease->deadline == NODE_NEVER)
		return NODE_NEVER;
	return lease->deadline > now ? lease->deadline - now : 0;
}

static inline bool lease_may_grant(const struct lease *lease, uint64_t now)
{
	return now < lease->grant_until;
}

/* May a client be let in that needs so long to stop? */
static inline bool lease_may_grant_grace(const struct lease *lease, uint64_t now, uint64_t grace)
{
	return grace == 0 || (now < lease->grant_until && grace <= lease->grant_until - now);
}

#endif
