/*
 * What the judge (verdict.h) is told of a realm, gathered from its hosts and clients. Of the nodes
 * only what an observer could see is looked at. A trace and a diagram are told the same.
 */
#ifndef TORTURE_WITNESS_H
#define TORTURE_WITNESS_H

#include "realm.h"
#include "verdict.h"

struct actor;

struct verdict *witness_create(struct realm *realm);

void witness_committed(struct realm *realm, uint64_t index, const uint8_t *bytes, size_t size);
/* The leader at that place, with this state, has proposed an entry. Stale leaders do not count. */
void witness_proposed(struct realm *realm, uint32_t place, const struct agreed_state *state,
                      const uint8_t *bytes, size_t size);
void witness_started(struct realm *realm, uint32_t place);
void witness_ended(struct realm *realm, uint32_t place);
/* A process has entered a view, or been told that it is in none. */
void witness_view(struct realm *realm, uint32_t place);
/* Time alone has passed at a host, and nothing has come: its lease may have lapsed by that. */
void witness_ticked(struct realm *realm, uint32_t place);
/* True if its lease has changed: the word is stored before anything that follows from it can be seen. */
bool witness_lease(struct realm *realm, uint32_t place);
/* After every call with the resident of a host. */
void witness_after(struct realm *realm, uint32_t place);

void witness_granted(struct realm *realm, const struct actor *actor);
/* NULL, or what is not as it must be at this host after everything was mended. */
const char *witness_unsettled(const struct realm *realm, uint32_t place, char room[192]);

#endif
