/*
 * What the judge of a random run remembers, and what can be asked of it.
 */
#ifndef TORTURE_JUDGE_MEMORY_H
#define TORTURE_JUDGE_MEMORY_H

#include "node.h"

struct run;

struct grant {
	uint64_t fence;
	uint32_t place;
	uint64_t time;
	uint64_t ended; /* NODE_NEVER: not yet */
	uint64_t order; /* in which its client asked */
};

struct lock_record {
	char name[NODE_NAME_MAX + 1];
	uint32_t name_size;
	int32_t inside; /* the client, or NOBODY */
	struct grant *grants;
	size_t grants_count, grants_size;
	/* Clients that are inside, or wait and did not say NOWAIT; when the last of them ceased to. */
	uint32_t interested;
	uint64_t interested_end;
	uint32_t row; /* grants in a row at one place while somebody waited elsewhere */
};

/* A fence that somebody asked to break. */
struct broken {
	uint32_t lock;
	uint64_t fence;
};

/* Somebody who wants to lead. */
struct campaign {
	uint32_t client, place, lock;
	uint64_t asked;
	uint64_t answered; /* NODE_NEVER: not yet */
	uint64_t ended;    /* NODE_NEVER: not yet */
	uint64_t fence;    /* 0: unknown */
	uint64_t epoch;    /* of its node, when it was answered */
};

/* What an event told; it must be true by the end of what happens now. */
struct rumour {
	uint32_t lock;
	uint64_t fence;
	uint32_t place;
	enum node_event_kind kind;
};

/* What a subscriber must be told soon, if all stays calm. */
struct expectation {
	uint32_t client;
	uint64_t session;
	bool pattern;
	const char *text;
	uint32_t lock;
	uint64_t rank; /* as in `last` of a subscription */
	uint64_t time; /* when it happened */
};

/* A time in which something went wrong. */
struct disturbance {
	uint64_t from, until;
};

struct judge {
	struct disturbance *disturbances; /* one after the other */
	size_t disturbances_count, disturbances_size;
	bool unsettled;      /* something still is wrong … */
	uint64_t looked;     /* … or was then, when last looked at */
	uint64_t asks;       /* commands so far */
	uint32_t tokens_max; /* of a lock: as many as there are types of them */
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

/* Something was wrong from then until then. */
void judge_disturb(struct judge *judge, uint64_t from, uint64_t until);
/* Something is wrong from now until then. */
void judge_disturbed(struct run *run, uint64_t until);
/* The longest time that something takes from one member to all others when all is calm. */
uint64_t judge_flood(const struct run *run);
/* Was all calm at that time, and has been since? Or until another? */
bool judge_calm_since(const struct run *run, uint64_t time);
bool judge_calm_between(const struct run *run, uint64_t from, uint64_t until);
int32_t judge_find_lock(const struct run *run, struct node_bytes name);
struct grant *judge_grant(const struct run *run, uint32_t lock, uint64_t fence);

static inline uint64_t judge_fence_epoch(uint64_t fence)
{
	return fence >> NODE_COUNTER_BITS;
}

/* The campaign with that value, or NULL: nobody has campaigned there with it. */
const struct campaign *judge_find_campaign(const struct run *run, uint32_t lock,
                                           struct node_bytes member, struct node_bytes value,
                                           uint64_t fence);
bool judge_is_name_of(const struct run *run, uint32_t place, struct node_bytes name);
bool judge_matches(const char *pattern, const char *name);

#endif
