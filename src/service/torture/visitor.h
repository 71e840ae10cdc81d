/*
 * A client of a random run: what it holds, what it has asked for, what it has subscribed to, and
 * what it does.
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
	uint64_t asked;   /* when the client began to wait */
	bool firm;        /* the client waited without NOWAIT */
	int32_t campaign; /* the client's campaign; NOBODY: the client does not lead */
};

/* A subscription. The rank of an event is its fence times 4, plus 0 for granted, 1 for leader, 2
 * for released or lost. */
struct visitor_subscription {
	bool pattern;
	const char *text; /* the name of a lock, or a pattern; must stay valid */
	uint64_t *last;   /* the rank of the last event of each lock */
	/* When the subscription was asked for; NODE_NEVER: it is not answered yet. */
	uint64_t since;
};

struct visitor {
	uint32_t place;
	uint64_t session; /* the client's session; 0: it has none */
	/* The number of the event that lets the client act next; events with older numbers are
	 * void. */
	uint64_t wake;

	enum command_kind command; /* the command that is not answered yet */
	uint32_t lock;
	enum node_patience patience;
	uint64_t asked;      /* when the client asked */
	uint64_t order;      /* the sequence number of the command among all commands */
	uint64_t timeout;    /* how long the client wants to wait */
	const char *pattern; /* STATUS: the pattern of the locks; NULL: all locks */
	uint64_t fence;      /* BREAK: the fence of the hold to end */
	int32_t campaign;    /* ELECT: the client's campaign */
	bool lost;           /* ELECT: the client was let in, but has already lost the lock */
	uint64_t epoch;      /* the epoch of the client's node when the client asked */

	struct visitor_hold holds[HOLDS_MAX];
	uint32_t holds_count;
	struct visitor_subscription subscriptions[SUBSCRIPTIONS_MAX];
	uint32_t subscriptions_count;
};

void visitor_on_event(struct run *run, const struct event *event);
/* Lets the client act after that time. */
void visitor_wake(struct run *run, uint32_t number, uint64_t delay);
/* Call it when the client's process is gone. */
void visitor_orphan(struct run *run, uint32_t number);
void visitor_close(struct run *run, uint32_t number);
/* Forgets the client's subscriptions. */
void visitor_forget(struct visitor *client);
void visitor_open(struct run *run, uint32_t number, uint32_t place);
void visitor_lock(struct run *run, uint32_t number, uint32_t lock, enum node_patience patience,
                  uint64_t timeout);
void visitor_ask_leader(struct run *run, uint32_t number, uint32_t lock);
/* Subscribes, unless the client has that subscription already or has SUBSCRIPTIONS_MAX. */
void visitor_subscribe(struct run *run, uint32_t number, const struct visitor_subscription *wanted);
void visitor_unlock(struct run *run, uint32_t number, uint32_t hold);
void visitor_effect(struct run *run, uint32_t place, const struct node_effect *effect);

#endif
