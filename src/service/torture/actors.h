/*
 * Clients of a realm: programs on a host that ask the process there for locks. A client that holds
 * a lock goes on while the lease word of that process says that it may, by the clock of its own
 * host, whether or not that process still lives.
 */
#ifndef TORTURE_ACTORS_H
#define TORTURE_ACTORS_H

#include "realm.h"

enum actor_state { ACTOR_IDLE, ACTOR_WAITS, ACTOR_ASKS, ACTOR_HOLDS };

struct actor {
	uint32_t place;
	uint64_t session; /* 0: the client has no session */
	uint64_t life;    /* the number of the process that the session is with */
	enum actor_state state;
	/* The number of this client's next event; events with older numbers are void. */
	uint64_t wake;
	bool must_close; /* the client was told that its lease is over and must end the session */
	bool elects;     /* the client uses ELECT, which is answered some time after the grant */
	uint64_t asked;  /* when the client asked, in true time */
	uint32_t lock;
	/* Only while the client holds a lock: */
	uint64_t fence, lapses;
	uint32_t rounds; /* in the second act: how many more times the client asks */
	struct chance chance;
};

struct actors {
	struct actor *list;
	uint32_t count;
	bool healing; /* the second act has begun */
	uint64_t grants, waits_longest;
};

struct actors *actors_create(const struct realm *realm);
void actors_destroy(struct actors *actors);
void actors_begin(struct realm *realm);
void actors_on_event(struct realm *realm, const struct event *event);
void actors_effect(struct realm *realm, uint32_t place, const struct node_effect *effect);
/* The process of the host is gone. Its clients notice after some time. */
void actors_orphan(struct realm *realm, uint32_t place);
/* The host reboots: its clients are gone. */
void actors_kill(struct realm *realm, uint32_t place);
/* Each client does a last round and begins nothing else. */
void actors_heal(struct realm *realm);
/* Returns an actor that has not finished its last round, or NULL. */
const struct actor *actors_unserved(const struct realm *realm);
uint32_t actor_number(const struct realm *realm, const struct actor *actor);

#endif
