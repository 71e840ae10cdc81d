/*
 * The judge of a realm. It applies the committed entries by itself. It sees what every client sees,
 * and judges that by the clock of the client's host. It asks the nodes only what any observer could
 * ask.
 */
#ifndef TORTURE_VERDICT_H
#define TORTURE_VERDICT_H

#include "realm.h"

struct actor;

struct verdict *verdict_create(const struct realm *realm);
void verdict_destroy(struct verdict *verdict);

void verdict_committed(struct realm *realm, uint64_t index, const uint8_t *bytes, size_t size);
/* A process has entered a view, or was told that it is in none. */
void verdict_view(struct realm *realm, uint32_t place);
/* The lease word of a process is about to change, or has changed. */
void verdict_word_before(struct realm *realm, uint32_t place);
void verdict_word(struct realm *realm, uint32_t place);
void verdict_granted(struct realm *realm, const struct actor *actor);
void verdict_lost(struct realm *realm, const struct actor *actor, const struct node_effect *effect);
/* Call it after every event of a host. */
void verdict_after(struct realm *realm, uint32_t place);
/* After all faults are over: returns NULL if every host is a serving member, or else which one is
 * not, and why. */
const char *verdict_unsettled(const struct realm *realm, char room[128]);

/* True if the committed entries forbid this name. */
bool verdict_forbids(const struct realm *realm, const char *name);
/* The state after all that is committed. */
const struct agreed_state *verdict_state(const struct realm *realm);
uint64_t verdict_epochs(const struct realm *realm);
uint64_t verdict_lapses(const struct realm *realm);

#endif
