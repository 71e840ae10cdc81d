/*
 * One client of a realm: a program that asks the process of a host for locks. There are three
 * kinds, which differ in how they know that they still hold a lock (enum hold_proof): programs on
 * the host, which read the lease word; programs on other hosts, which ask and have clocks of their
 * own (guests.h); and commands, which know nothing of leases and are stopped by others (guards.h).
 */
#ifndef TORTURE_ACTOR_H
#define TORTURE_ACTOR_H

#include "realm.h"
#include "verdict.h"

enum actor_state { ACTOR_IDLE, ACTOR_WAITS, ACTOR_ASKS, ACTOR_HOLDS };

/* The two processes that can stop a command: `baton run` and its guardian. */
enum { WATCHER_GUARDIAN, WATCHER_RUNNER, WATCHERS };

struct actor {
	enum hold_proof proof;
	uint32_t place;
	uint64_t session; /* the client's session; 0: it has none */
	uint64_t life;    /* the number of the process that the session is with */
	enum actor_state state;
	/* The number of this client's next event; events with older numbers are void. */
	uint64_t wake;
	uint64_t paused_until; /* the client is stopped, and does nothing before this time */
	bool must_close; /* the client was told that its lease is over and must end the session */
	bool elects;     /* the client uses ELECT, which is answered some time after the grant */
	bool subscribes; /* the client's last request was SUBSCRIBE */
	uint64_t asked;  /* when the client asked, in true time */
	uint32_t lock;
	/* The fence of the lock that the client holds, and the lapses at its grant. */
	uint64_t fence, lapses;
	uint32_t rounds; /* in the second act: how many more times the client asks for a lock */
	struct chance chance;

	/* The fields below are for a guest only. */
	int64_t drift_ppm;   /* by how many millionths the guest's clock runs too fast */
	uint64_t clock_base; /* what the guest's clock showed when the run began */
	/* The number of the guest's last question; answers to older questions are void. */
	uint64_t lease_wake;
	uint64_t lease_asked; /* what the guest's clock showed before its last question */
	/* The answer that is on its way to the guest: what is left of the lease, and the lapses so
	 * far. */
	uint64_t left, left_lapses;
	/* The end of the guest's sub-lease, and the lapses that its process reported with that
	 * end. */
	uint64_t until, until_lapses;
	bool told; /* the guest has got an answer in this session */

	/* The fields below are for a command only. */
	uint64_t word; /* the lease word of the process that granted the lock */
	uint64_t guard_wake;
	uint64_t watcher_paused_until[WATCHERS];
};

uint32_t actor_number(const struct realm *realm, const struct actor *actor);
struct node *actor_node(const struct realm *realm, const struct actor *actor);
/* Returns the time of the clock that the client reads, and the number by which the judge knows that
 * clock. */
uint64_t actor_clock(const struct realm *realm, const struct actor *actor);
uint32_t actor_clock_number(const struct realm *realm, const struct actor *actor);
/* Is the client's session with the process that now runs on its host? */
bool actor_is_connected(const struct realm *realm, const struct actor *actor);

void actor_wake(struct realm *realm, struct actor *actor, uint64_t delay);
/* Lets the client act again after a while. */
void actor_rest(struct realm *realm, struct actor *actor);
/* Ends the client's hold and wait: it has stopped using what it held. */
void actor_end_hold(struct realm *realm, struct actor *actor, const char *how);

#endif
