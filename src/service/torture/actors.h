/*
 * Clients of a realm: programs on a host that ask the process there for locks. Whoever holds a lock
 * goes on while the lease page that came with it says that it may, by the clock of its own host,
 * whether or not that process still lives.
 */
#ifndef TORTURE_ACTORS_H
#define TORTURE_ACTORS_H

#include "realm.h"

enum actor_state { ACTOR_IDLE, ACTOR_WAITS, ACTOR_ASKS, ACTOR_HOLDS };

struct actor {
	uint32_t place;
	uint64_t session; /* 0: none */
	uint64_t life;    /* of the process that the session is with */
	enum actor_state state;
	uint64_t wake;   /* the number of its event; older ones are void */
	bool must_close; /* it was told that its lease is over: the session ends */
	bool elects;     /* it is answered some time after it was let in */
	uint64_t asked;  /* when, in true time */
	uint32_t lock;
	/* While it holds: */
	uint64_t fence, lapses;
	struct lease_page *page;
	bool dead;       /* it was seen without a valid lease: it must never have one again */
	uint32_t rounds; /* in the second act: how often it still asks */
	struct chance chance;
};

struct actors {
	struct actor *list;
	uint32_t count;
	bool healing; /* the second act */
	uint64_t grants, waits_longest;
};

struct actors *actors_create(const struct realm *realm);
void actors_destroy(struct actors *actors);
void actors_begin(struct realm *realm);
void actors_on_event(struct realm *realm, const struct event *event);
void actors_effect(struct realm *realm, uint32_t place, const struct node_effect *effect);
/* The process of the host is gone; its clients learn of it some time. */
void actors_orphan(struct realm *realm, uint32_t place);
/* The host starts again: its clients are gone. */
void actors_kill(struct realm *realm, uint32_t place);
/* Nothing new is begun but a last round each. */
void actors_heal(struct realm *realm);
/* NULL, or an actor that is not done yet. */
const struct actor *actors_unserved(const struct realm *realm);
/* May the actor go on, by what it can see itself? */
bool actor_is_valid(const struct realm *realm, const struct actor *actor);

#endif
