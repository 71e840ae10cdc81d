/*
 * Observes the hosts and clients of a realm, and tells the judge (verdict.h) what happens. The
 * trace and the diagram get the same information.
 */
#ifndef TORTURE_WITNESS_H
#define TORTURE_WITNESS_H

#include "realm.h"
#include "verdict.h"

struct actor;

struct verdict *witness_create(struct realm *realm);

void witness_committed(struct realm *realm, uint64_t index, const uint8_t *bytes, size_t size);
/* Call it when a leader has proposed an entry. `state` is the leader's. Leaders that were replaced
 * do not count. */
void witness_proposed(struct realm *realm, uint32_t place, const struct agreed_state *state,
                      const uint8_t *bytes, size_t size);
void witness_started(struct realm *realm, uint32_t place);
void witness_ended(struct realm *realm, uint32_t place);
/* Call it when a process has entered a view, or was told that it is in none. */
void witness_view(struct realm *realm, uint32_t place);
/* Checks that a host whose lease has lapsed is inside no lock any more. Call it when only time has
 * passed at the host, and nothing has arrived. */
void witness_ticked(struct realm *realm, uint32_t place);
/* Notes the lease of a host. Returns true if the lease has changed. Call it before anything that
 * follows from the change can be seen. */
bool witness_lease(struct realm *realm, uint32_t place);
/* Call it after every call of the host's resident. */
void witness_after(struct realm *realm, uint32_t place);

void witness_granted(struct realm *realm, const struct actor *actor);
/* After all faults are over: returns NULL, or what is wrong at this host. */
const char *witness_unsettled(const struct realm *realm, uint32_t place, char room[192]);

#endif
