/*
 * A client of a random run: what it holds, what it has asked, what it is subscribed to, and what it does.
 */
#ifndef TORTURE_VISITOR_H
#define TORTURE_VISITOR_H

#include "node.h"
#include "queue.h"

struct run;

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

struct visitor_hold {
	uint32_t lock;
	uint64_t fence;
	uint64_t asked;   /* when it began to wait … */
	bool firm;        /* … and did not say NOWAIT */
	int32_t campaign; /* NOBODY: it does not lead */
};

/* What an event told last: the fence times 4 plus 0 granted, 1 leader, 2 released or lost. */
struct visitor_subscription {
	bool pattern;
	const char *text; /* a lock's name, or a pattern that is always there */
	uint64_t *last;   /* of each lock */
	uint64_t since;   /* when all members were asked to tell; NODE_NEVER: not yet answered */
};

struct visitor {
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

	struct visitor_hold holds[HOLDS_MAX];
	uint32_t holds_count;
	struct visitor_subscription subscriptions[SUBSCRIPTIONS_MAX];
	uint32_t subscriptions_count;
};

void visitor_on_event(struct run *run, const struct event *event);
/* Lets it act after a while. */
void visitor_wake(struct run *run, uint32_t number, uint64_t delay);
/* Its process is gone. */
void visitor_orphan(struct run *run, uint32_t number);
void visitor_close(struct run *run, uint32_t number);
/* Its subscriptions are over. */
void visitor_forget(struct visitor *client);
void visitor_open(struct run *run, uint32_t number, uint32_t place);
void visitor_lock(struct run *run, uint32_t number, uint32_t lock, enum node_patience patience,
                  uint64_t timeout);
void visitor_ask_leader(struct run *run, uint32_t number, uint32_t lock);
/* What it has not subscribed to yet, and fewer than SUBSCRIPTIONS_MAX are there. */
void visitor_subscribe(struct run *run, uint32_t number, const struct visitor_subscription *wanted);
void visitor_unlock(struct run *run, uint32_t number, uint32_t hold);
void visitor_effect(struct run *run, uint32_t place, const struct node_effect *effect);

#endif
