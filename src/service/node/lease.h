/*
 * The lease: until when this node may go on without hearing from the voters.
 *
 * The driver passes in deadlines from acknowledged renewals; a deadline never goes back. With half
 * of the lease left the node warns. With a tenth left (the margin) it grants nothing new and does
 * not ask for locks. At the deadline it has *lapsed*: every hold here is lost for good (fencing.h).
 * A node of a fixed membership has no lease, and its deadline never comes.
 */
#ifndef NODE_LEASE_H
#define NODE_LEASE_H

#include "node.h"

struct lease {
	uint64_t ttl; /* how long a lease lasts; 0: there are no leases */
	/* The end of the lease, rounded down to a whole millisecond; NODE_NEVER: there are no
	 * leases; 0: the node has no lease now. */
	uint64_t deadline;
	/* Clients may be let in until this time, which is the deadline less the margin; 0: none may
	 * be. */
	uint64_t grant_until;
	uint64_t lapses; /* how often holds were lost because a lease or a view ended */
	/* When to warn, renew and propose LEAVE; NODE_NEVER: not at all. */
	uint64_t warn_at, renew_at, depart_at;
	/* When to propose EXTEND (again); NODE_NEVER: there are enough fences. */
	uint64_t extend_at;
	/* The earliest of warn_at, renew_at, depart_at and the deadline. extend_at is checked only
	 * when one of these is due. */
	uint64_t next;
	bool departing; /* this incarnation is leaving and grants nothing more */
	bool starved;   /* a client waits only because nothing may be granted now */
};

void lease_init(struct lease *lease, uint64_t ttl);
/* Computes `next`. Call it after one of the times has changed. */
void lease_schedule(struct lease *lease);
/* Takes a new deadline. Returns false if it is not later than the last one, or has already
 * passed. */
bool lease_prolong(struct lease *lease, uint64_t deadline, uint64_t now);
/* Ends the lease and counts the lapse. Nothing may be granted until there is a new deadline. */
void lease_end(struct lease *lease);
/* Lets a new incarnation grant again. */
void lease_renew_incarnation(struct lease *lease);
uint64_t lease_interval(const struct lease *lease);
/* Returns about how long after a member's death others can get the locks of its clients; 0:
 * unknown. */
uint64_t lease_takeover(const struct lease *lease);
/* Returns how long the margin is: the last part of the lease, in which nothing new is granted. */
uint64_t lease_margin(const struct lease *lease);

/* Returns the time left at `now`; NODE_NEVER: no lease is needed; 0: there is no lease now. */
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

/* Is enough of the lease left for a client that needs `grace` nanoseconds to stop? Call it only if
 * lease_may_grant is true. */
static inline bool lease_may_grant_grace(const struct lease *lease, uint64_t now, uint64_t grace)
{
	return grace == 0 || (now < lease->grant_until && grace <= lease->grant_until - now);
}

#endif
