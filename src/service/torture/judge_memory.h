/*
 * The memory of the judge of a random run, and queries on it.
 */
#ifndef TORTURE_JUDGE_MEMORY_H
#define TORTURE_JUDGE_MEMORY_H

#include "node.h"

struct run;

struct grant {
	uint64_t fence;
	uint32_t place;
	uint64_t time;
	uint64_t ended; /* when the hold ended; NODE_NEVER: not yet */
	uint64_t order; /* the sequence number of the command that asked for the lock */
};

struct lock_record {
	char name[NODE_NAME_MAX + 1];
	uint32_t name_size;
	int32_t inside; /* the client that is inside, or NOBODY */
	struct grant *grants;
	size_t grants_count, grants_size;
	/* How many clients are inside, or wait without NOWAIT; and when the last of them
	 * stopped. */
	uint32_t interested;
	uint64_t interested_end;
	uint32_t row; /* how many grants in a row one place got while a client waited elsewhere */
};

/* A fence that a client asked to break. */
struct broken {
	uint32_t lock;
	uint64_t fence;
};

/* A client that wants to lead. */
struct campaign {
	uint32_t client, place, lock;
	uint64_t asked;
	uint64_t answered; /* when the client's ELECT was answered; NODE_NEVER: not yet */
	uint64_t ended;    /* when the campaign ended; NODE_NEVER: not yet */
	uint64_t fence;    /* the fence of the grant; 0: not known yet */
	uint64_t epoch;    /* the epoch of the client's node when the ELECT was answered */
};

/* Something that an event reported. It must turn out to be true by the end of the present step. */
struct rumour {
	uint32_t lock;
	uint64_t fence;
	uint32_t place;
	enum node_event_kind kind;
};

/* An event that a subscriber must be told soon, if no fault comes in between. */
struct expectation {
	uint32_t client;
	uint64_t session;
	bool pattern;
	const char *text;
	uint32_t lock;
	uint64_t rank; /* the rank of the event, which is compared with `last` of a subscription */
	uint64_t time; /* when the event happened */
};

/* A period in which something was wrong. */
struct disturbance {
	uint64_t from, until;
};

struct judge {
	/* The periods in which something was wrong, oldest first. */
	struct disturbance *disturbances;
	size_t disturbances_count, disturbances_size;
	bool unsettled;      /* something was wrong when the judge last looked */
	uint64_t looked;     /* when the judge last looked */
	uint64_t asks;       /* how many commands were given so far */
	uint32_t tokens_max; /* how many tokens a lock may have: one of each type */
	struct campaign *campaigns;
	size_t campaigns_count, campaigns_size;
	struct rumour *rumours;
	size_t rumours_count, rumours_size;
	struct expectation *expectations;
	size_t expectations_count, expectations_size;
	struct broken *broken;
	size_t broken_count, broken_size;
	uint32_t next_token; /* the lock whose tokens are counted next */
};

/* Notes that something was wrong from `from` until `until`. */
void judge_disturb(struct judge *judge, uint64_t from, uint64_t until);
/* Notes that something is wrong from now until `until`. */
void judge_disturbed(struct run *run, uint64_t until);
/* Returns the longest time in which a message reaches all members when nothing is wrong. */
uint64_t judge_flood(const struct run *run);
/* Was nothing wrong from that time until now, or until another time? */
bool judge_calm_since(const struct run *run, uint64_t time);
bool judge_calm_between(const struct run *run, uint64_t from, uint64_t until);
int32_t judge_find_lock(const struct run *run, struct node_bytes name);
struct grant *judge_grant(const struct run *run, uint32_t lock, uint64_t fence);

static inline uint64_t judge_fence_epoch(uint64_t fence)
{
	return fence >> NODE_COUNTER_BITS;
}

/* Returns the campaign with that value, or NULL if nobody there has campaigned with it. */
const struct campaign *judge_find_campaign(const struct run *run, uint32_t lock,
                                           struct node_bytes member, struct node_bytes value,
                                           uint64_t fence);
bool judge_is_name_of(const struct run *run, uint32_t place, struct node_bytes name);
bool judge_matches(const char *pattern, const char *name);

#endif
