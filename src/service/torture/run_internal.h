/*
 * What the files of a random run share.
 *
 *	run.c      the two acts                 clients.c  what clients do
 *	faults.c   stalls, crashes, views       judge.c    what clients must see of locks
 *	faults_members.c  … of members          judge_answers.c  … and of leaders and status
 *	                                        judge_events.c   … and of events
 */
#ifndef TORTURE_RUN_INTERNAL_H
#define TORTURE_RUN_INTERNAL_H

#include "run.h"

/* --- clients --- */

enum command_kind {
	COMMAND_NONE,
	COMMAND_LOCK,
	COMMAND_ELECT,
	COMMAND_LEADER,
	COMMAND_BREAK,
	COMMAND_STATUS,
	COMMAND_SUBSCRIBE,
};

enum { HOLDS_MAX = 3, SUBSCRIPTIONS_MAX = 3, NOBODY = -1 };

struct hold {
	uint32_t lock;
	uint64_t fence;
	uint64_t asked;   /* when it began to wait … */
	bool firm;        /* … and did not say NOWAIT */
	int32_t campaign; /* NOBODY: it does not lead */
};

/* What an event told last: the fence times 4 plus 0 granted, 1 leader, 2 released or lost. */
struct subscription {
	bool pattern;
	const char *text; /* a lock's name, or a pattern that is always there */
	uint64_t *last;   /* of each lock */
	uint64_t since;   /* when all members were asked to tell; NODE_NEVER: not yet answered */
};

struct client {
	uint32_t place;
	uint64_t session; /* 0: none */
	uint64_t wake;    /* the number of the event that lets it act; older ones are void */

	enum command_kind command; /* not answered yet */
	uint32_t lock;
	enum node_patience patience;
	uint64_t asked;      /* when … */
	uint64_t order;      /* … and before or after whom */
	uint64_t timeout;    /* … and for how long */
	const char *pattern; /* STATUS: NULL, all */
	uint64_t fence;      /* BREAK */
	int32_t campaign;    /* ELECT */
	bool lost;           /* ELECT: it was let in, and has lost the lock again */
	uint64_t epoch;      /* of its node, when it asked */

	struct hold holds[HOLDS_MAX];
	uint32_t holds_count;
	struct subscription subscriptions[SUBSCRIPTIONS_MAX];
	uint32_t subscriptions_count;
};

/* --- what the judge remembers --- */

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

/* --- the run --- */

enum act { ACT_FAULTS, ACT_HEAL, ACT_PROBE, ACT_END };

struct run {
	const struct plan *plan;
	struct cluster cluster;
	struct random random;
	struct client clients[PLAN_CLIENTS_MAX + PLAN_NODES_MAX];
	uint32_t clients_count;
	struct lock_record *locks;
	struct judge judge;
	enum act act;
	uint64_t actions; /* of clients so far */
	struct run_result *result;
};

enum {
	EVENT_CLIENT = CLUSTER_EVENTS,
	EVENT_STALL,
	EVENT_VIEW,
	EVENT_CRASH,
	EVENT_BUMP,
	EVENT_SPITE,
	/* With members: */
	EVENT_CUT,
	EVENT_PAUSE,
	EVENT_RESTART,
	EVENT_START,
	EVENT_KILL
};

/* Something is broken: the run ends. */
__attribute__((format(printf, 2, 3))) void run_wrong(struct run *run, const char *format, ...);

static inline bool run_chance(struct run *run, uint32_t percent)
{
	return random_below(&run->random, 100) < percent;
}

static inline uint32_t run_draw(struct run *run, uint32_t count)
{
	return (uint32_t)random_below(&run->random, count);
}

static inline bool place_lives(const struct run *run, uint32_t place)
{
	return run->cluster.places[place].node != NULL;
}

/* Its clients cannot reach it, and it does nothing. */
static inline bool place_paused(const struct run *run, uint32_t place)
{
	return run->cluster.places[place].paused_until > run->cluster.now;
}

/* --- clients.c --- */

void client_on_event(struct run *run, const struct event *event);
/* Lets it act after a while. */
void client_wake(struct run *run, uint32_t number, uint64_t delay);
/* Its process is gone. */
void client_orphan(struct run *run, uint32_t number);
void client_close(struct run *run, uint32_t number);
/* Its subscriptions are over. */
void clients_forget(struct client *client);
void client_open(struct run *run, uint32_t number, uint32_t place);
void client_lock(struct run *run, uint32_t number, uint32_t lock, enum node_patience patience,
                 uint64_t timeout);
void client_ask_leader(struct run *run, uint32_t number, uint32_t lock);
/* What it has not subscribed to yet, and fewer than SUBSCRIPTIONS_MAX are there. */
void client_subscribe(struct run *run, uint32_t number, const struct subscription *wanted);
void client_unlock(struct run *run, uint32_t number, uint32_t hold);
void client_effect(struct run *run, uint32_t place, const struct node_effect *effect);

/* --- faults.c --- */

void faults_begin(struct run *run);
void faults_on_event(struct run *run, const struct event *event);
/* A process ends. `leaves`: a member that says goodbye. */
void faults_crash(struct run *run, uint32_t place, bool leaves);
void faults_bump(struct run *run, uint64_t epoch);
/* Everything that went wrong is mended; all that live are members. */
void faults_heal(struct run *run);
/* Somebody leads now, or no more: another client soon asks who does, perhaps while the leader's node is
 * silent, perhaps when all members have heard of it. */
void faults_spite(struct run *run, uint32_t place, uint32_t lock);
/* Somebody wants to lead: a member may hear of it late. */
void faults_campaign(struct run *run, uint32_t place);

/* --- faults_members.c --- */

void members_begin(struct run *run);
void members_on_event(struct run *run, const struct event *event);
void members_heal(struct run *run);

/* --- judge.c --- */

void judge_init(struct run *run);
void judge_free(struct run *run);
void judge_disturbed(struct run *run, uint64_t until);
/* The longest time that something takes from one member to all others when all is calm. */
uint64_t judge_flood(const struct run *run);
/* Was all calm at that time, and has been since? Or until another? */
bool judge_calm_since(const struct run *run, uint64_t time);
bool judge_calm_between(const struct run *run, uint64_t from, uint64_t until);
void judge_asked(struct run *run, uint32_t number);
void judge_unlock(struct run *run, uint32_t number, uint32_t hold, int result);
/* Before the session is closed, or after its process died. */
void judge_closed(struct run *run, uint32_t number);
void judge_reply(struct run *run, uint32_t number, const struct node_effect *effect);
void judge_lost(struct run *run, uint32_t number, const struct node_effect *effect);
/* The place has just been told of a view. */
void judge_told(struct run *run, uint32_t place);
void judge_after_event(struct run *run);
void judge_served(struct run *run);
void judge_quiet(struct run *run);
void judge_empty(struct run *run);
int32_t judge_find_lock(const struct run *run, struct node_bytes name);
struct grant *judge_grant(const struct run *run, uint32_t lock, uint64_t fence);

static inline uint64_t judge_fence_epoch(uint64_t fence)
{
	return fence >> NODE_COUNTER_BITS;
}

/* --- judge_answers.c --- */

void judge_leader(struct run *run, uint32_t number, const struct node_effect *effect);
void judge_elected(struct run *run, uint32_t number, uint64_t fence);
void judge_campaign_ended(struct run *run, int32_t campaign);
void judge_break(struct run *run, uint32_t number, const struct node_effect *effect);
void judge_status(struct run *run, uint32_t number, const struct node_effect *effect);
/* The campaign with that value, or NULL: nobody has campaigned there with it. */
const struct campaign *judge_find_campaign(const struct run *run, uint32_t lock,
                                           struct node_bytes member, struct node_bytes value,
                                           uint64_t fence);
bool judge_is_name_of(const struct run *run, uint32_t place, struct node_bytes name);
bool judge_matches(const char *pattern, const char *name);

/* --- judge_events.c --- */

void judge_subscribed(struct run *run, uint32_t number, uint64_t count);
void judge_event(struct run *run, uint32_t number, const struct node_effect *effect);
/* Somebody was let in, or is inside no more: whoever wants to know must be told. */
void judge_happened(struct run *run, uint32_t lock, uint64_t fence, enum node_event_kind kind);
/* What events told of must have happened, and what must have been told by now was. `quiet`: nothing
 * will come any more. */
void judge_events(struct run *run, bool quiet);

#endif
