/*
 * The judge of a cluster with leases and views. It is told what happened, in the order in which it
 * happened, and asks nobody: what is committed (it applies that by itself), which views processes
 * enter, what their leases say, what clients are granted and lose. Every client is judged by its own
 * clock. A history can therefore be made by hand, and the unit tests of the judge do so.
 */
#ifndef TORTURE_VERDICT_H
#define TORTURE_VERDICT_H

#include "state.h"

enum { VERDICT_HOSTS_MAX = 17, VERDICT_LOCKS_MAX = 64 };

struct verdict_world {
	void *context;
	/* What a clock says now. A host's clock has the host's number; a client names the clock that
	 * it reads. */
	uint64_t (*clock)(const void *context, uint32_t clock);
	/* An invariant is broken. */
	void (*wrong)(void *context, const char *text);
};

struct verdict_options {
	struct state_settings settings;
	struct verdict_world world;
	uint32_t clients_max;
	uint32_t tokens_max; /* of a lock in an epoch; 0: the algorithm has none */
};

struct verdict;

struct verdict *verdict_create(const struct verdict_options *options);
void verdict_destroy(struct verdict *verdict);

/* --- what happens --- */

/* True time has come to this; nobody in the cluster knows it. To be told after every event. */
void verdict_passed(struct verdict *verdict, uint64_t now);
void verdict_committed(struct verdict *verdict, uint64_t index, const uint8_t *bytes, size_t size);

/* A process begins on a host, is asked to leave, or is gone. Its clients may live on. */
void verdict_started(struct verdict *verdict, uint32_t place, const char *name, uint64_t process);
void verdict_departs(struct verdict *verdict, uint32_t place);
void verdict_ended(struct verdict *verdict, uint32_t place);

/* The process of a host has learned of a view, which it need not be in. */
struct verdict_view {
	uint64_t epoch, base;
	const struct seat *seats;
	uint32_t seats_count;
};
void verdict_entered(struct verdict *verdict, uint32_t place, const struct verdict_view *view);
/* Nothing on a host runs any more, its clocks go on; or it runs again. */
void verdict_suspended(struct verdict *verdict, uint32_t place, bool suspended);
/* It lets clients in, in this epoch. */
void verdict_serves(struct verdict *verdict, uint32_t place, uint64_t epoch);
/* Its lease is over at `deadline` (0: it has none), and it publishes this word (node_lease_word). */
void verdict_lease(struct verdict *verdict, uint32_t place, uint64_t deadline, uint64_t word);
/* So many tokens of a lock were counted in an epoch. */
void verdict_tokens(struct verdict *verdict, uint32_t lock, uint64_t epoch, uint32_t count);

/* How a client knows that it may go on. */
enum hold_proof {
	HOLD_READS, /* it reads the word of the process that granted it, which may be dead */
	HOLD_ASKS,  /* it cannot, and has a deadline of its own: a sub-lease */
	HOLD_RUNS,  /* it does not know: it is stopped by others, and goes on until then */
};

struct verdict_grant {
	uint32_t client, place, lock;
	uint64_t fence, lapses;
	enum hold_proof proof;
	uint32_t clock; /* that it reads */
	uint64_t until; /* HOLD_ASKS: the end of its sub-lease by that clock */
	uint64_t needs; /* how long it needs to stop before its lease ends */
	bool elected;   /* answered later than it was let in: its process may have begun to leave */
};

/* A client waits for a lock; or no more, without having got it. */
void verdict_waits(struct verdict *verdict, uint32_t client, uint32_t place, uint32_t lock);
void verdict_waits_no_more(struct verdict *verdict, uint32_t client);
void verdict_granted(struct verdict *verdict, const struct verdict_grant *grant);
/* The sub-lease of a client that holds something ends then. */
void verdict_told(struct verdict *verdict, uint32_t client, uint64_t until);
/* It has stopped using what it held, by its own will or because it was stopped. */
void verdict_finished(struct verdict *verdict, uint32_t client);
/* Its process says that it has lost its lock, and why. */
void verdict_lost(struct verdict *verdict, uint32_t client, const char *why, size_t why_size);

/* A client has a new session: what it was subscribed to is over. */
void verdict_session(struct verdict *verdict, uint32_t client);
/* It is answered that it is subscribed to a lock. */
void verdict_subscribed(struct verdict *verdict, uint32_t client, uint32_t lock);
/* It is told of an event: the `part` of a grant, 0 granted, 1 leader, 2 released or lost; or that
 * events of the lock were dropped. */
void verdict_event(struct verdict *verdict, uint32_t client, uint32_t lock, uint64_t fence,
                   uint32_t part);
void verdict_dropped(struct verdict *verdict, uint32_t client, uint32_t lock);

/* --- what is known --- */

/* NULL, or which subscriber was not told of a grant, long after it must have been. Grants of the
 * last `recent` are not looked at, nor those around a change of the view. */
const char *verdict_untold(const struct verdict *verdict, uint64_t recent, char room[128]);

/* Everything has been mended: NULL if this host serves and all its clients are served, or what is not as it
 * must be. */
const char *verdict_unsettled(const struct verdict *verdict, uint32_t place, char room[128]);
/* May the client go on, by all that it can know itself? */
bool verdict_valid(const struct verdict *verdict, uint32_t client);
/* The name may be no member, by what is committed. */
bool verdict_forbids(const struct verdict *verdict, const char *name);
/* The state after all that is committed. */
const struct agreed_state *verdict_state(const struct verdict *verdict);
uint64_t verdict_epochs(const struct verdict *verdict);
uint64_t verdict_lapses(const struct verdict *verdict);

#endif
