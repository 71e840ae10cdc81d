/*
 * The judge of a cluster with leases and views. The judge is told what happens, in order: which
 * entries are committed (it applies them itself), which views processes enter, how long their
 * leases last, and which locks clients get and lose. It asks nobody, so a history can be made by
 * hand, as its unit tests do. Whether a client still holds a lock is judged by the client's own
 * clock.
 */
#ifndef TORTURE_VERDICT_H
#define TORTURE_VERDICT_H

#include "state.h"

enum { VERDICT_HOSTS_MAX = 17, VERDICT_LOCKS_MAX = 64 };

struct verdict_world {
	void *context;
	/* Returns what a clock shows now. A host's clock has the host's number; a client names the
	 * clock that it reads. */
	uint64_t (*clock)(const void *context, uint32_t clock);
	/* Called when an invariant is broken. */
	void (*wrong)(void *context, const char *text);
};

struct verdict_options {
	struct state_settings settings;
	struct verdict_world world;
	uint32_t clients_max;
	/* How many tokens a lock may have in an epoch; 0: the algorithm has none. */
	uint32_t tokens_max;
};

struct verdict;

struct verdict *verdict_create(const struct verdict_options *options);
void verdict_destroy(struct verdict *verdict);

/* --- events --- */

/* Sets the true time, which nobody in the cluster knows. Call it after every event. */
void verdict_passed(struct verdict *verdict, uint64_t now);
void verdict_committed(struct verdict *verdict, uint64_t index, const uint8_t *bytes, size_t size);

/* Note that a process starts on a host, is asked to leave, or is gone. Its clients may live on. */
void verdict_started(struct verdict *verdict, uint32_t place, const char *name, uint64_t process);
void verdict_departs(struct verdict *verdict, uint32_t place);
/* Notes that an operator has removed the process' name, and that this incarnation knows it and
 * leaves. */
void verdict_removed(struct verdict *verdict, uint32_t place, uint64_t incarnation);
void verdict_ended(struct verdict *verdict, uint32_t place);

/* A view of which the process of a host has learned. The process need not be in it. */
struct verdict_view {
	uint64_t epoch, base;
	const struct seat *seats;
	uint32_t seats_count;
};
void verdict_entered(struct verdict *verdict, uint32_t place, const struct verdict_view *view);
/* Notes that a host is suspended, while its clocks go on, or that it runs again. */
void verdict_suspended(struct verdict *verdict, uint32_t place, bool suspended);
/* Notes that the process of a host lets clients in, in this epoch. */
void verdict_serves(struct verdict *verdict, uint32_t place, uint64_t epoch);
/* Notes that the lease of a host's process ends at `deadline` (0: it has none), and that the
 * process publishes this word (node_lease_word). */
void verdict_lease(struct verdict *verdict, uint32_t place, uint64_t deadline, uint64_t word);
/* Notes that `count` tokens of a lock were seen in an epoch. */
void verdict_tokens(struct verdict *verdict, uint32_t lock, uint64_t epoch, uint32_t count);

/* The ways in which a client knows that it may go on. */
enum hold_proof {
	/* The client reads the lease word of the process that granted the lock, which may be
	 * dead. */
	HOLD_READS,
	/* The client cannot read the word, and has a deadline of its own: a sub-lease. */
	HOLD_ASKS,
	HOLD_RUNS, /* the client does not know about leases: it goes on until others stop it */
};

struct verdict_grant {
	uint32_t client, place, lock;
	uint64_t fence, lapses;
	enum hold_proof proof;
	uint32_t clock; /* the clock that the client reads */
	uint64_t until; /* HOLD_ASKS: the end of the client's sub-lease by that clock */
	uint64_t needs; /* how long the client needs to stop: this much of its lease must be left */
	/* The answer came some time after the grant, so the process may have begun to leave in
	 * between. */
	bool elected;
};

/* Note that a client begins to wait for a lock, or stops waiting without having got it. */
void verdict_waits(struct verdict *verdict, uint32_t client, uint32_t place, uint32_t lock);
void verdict_waits_no_more(struct verdict *verdict, uint32_t client);
void verdict_granted(struct verdict *verdict, const struct verdict_grant *grant);
/* Sets the end of the sub-lease of a client that holds something. */
void verdict_told(struct verdict *verdict, uint32_t client, uint64_t until);
/* Notes that the client has stopped using what it held, by its own will or because it was
 * stopped. */
void verdict_finished(struct verdict *verdict, uint32_t client);
/* Notes that the client's process says that the client has lost its lock, and why. */
void verdict_lost(struct verdict *verdict, uint32_t client, const char *why, size_t why_size);

/* Notes that a client has a new session: its subscriptions are over. */
void verdict_session(struct verdict *verdict, uint32_t client);
/* Notes that the client was told that it is subscribed to a lock. */
void verdict_subscribed(struct verdict *verdict, uint32_t client, uint32_t lock);
/* Note that the client is told an event, or that events of the lock were dropped. The `part` of an
 * event is 0 for granted, 1 for leader, and 2 for released or lost. */
void verdict_event(struct verdict *verdict, uint32_t client, uint32_t lock, uint64_t fence,
                   uint32_t part);
void verdict_dropped(struct verdict *verdict, uint32_t client, uint32_t lock);

/* --- queries --- */

/* Returns NULL, or which subscriber was not told of a grant long after it should have been. Ignores
 * grants within the last `recent` nanoseconds, and those around a change of the view. */
const char *verdict_untold(const struct verdict *verdict, uint64_t recent, char room[128]);

/* After all faults are over: returns NULL if this host serves and all its clients are served, or
 * else what is wrong. */
const char *verdict_unsettled(const struct verdict *verdict, uint32_t place, char room[128]);
/* May the client go on, as far as the client itself can know? */
bool verdict_valid(const struct verdict *verdict, uint32_t client);
/* Do the committed entries forbid this name? */
bool verdict_forbids(const struct verdict *verdict, const char *name);
/* Has an operator expressed a wish about the vote of this name? */
bool verdict_wishes(const struct verdict *verdict, const char *name);
/* Returns the state after all committed entries. */
const struct agreed_state *verdict_state(const struct verdict *verdict);
uint64_t verdict_epochs(const struct verdict *verdict);
uint64_t verdict_lapses(const struct verdict *verdict);

#endif
