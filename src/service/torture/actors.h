/*
 * The clients of a realm. Each asks for a lock, holds it for a while, and releases it or goes away.
 * Some wait and some do not; some want to lead, or break another client's lock.
 */
#ifndef TORTURE_ACTORS_H
#define TORTURE_ACTORS_H

#include "actor.h"

struct actors {
	struct actor *list;
	uint32_t count;
	bool healing; /* the second act has begun */
	uint64_t grants, waits_longest;
	uint64_t grants_at[REALM_HOSTS_MAX]; /* how many grants the clients of each host have got */
};

struct actors *actors_create(const struct realm *realm);
void actors_destroy(struct actors *actors);
void actors_begin(struct realm *realm);
void actors_on_event(struct realm *realm, const struct event *event);
void actors_effect(struct realm *realm, uint32_t place, const struct node_effect *effect);
/* Call it when the process of the host is gone. Its clients notice that after some time. */
void actors_orphan(struct realm *realm, uint32_t place);
/* Ends the clients on a host that reboots. */
void actors_kill(struct realm *realm, uint32_t place);
/* Does a client of the host wait for a lock? */
bool actors_wait(const struct realm *realm, uint32_t place);
/* Stops clients of the host for a while. */
void actors_pause(struct realm *realm, uint32_t place, uint64_t until);
/* Lets each client do a last round and begin nothing else. */
void actors_heal(struct realm *realm);
/* Returns a client of the host that has not finished its last round, or NULL. */
const struct actor *actors_unserved(const struct realm *realm, uint32_t place);

#endif
