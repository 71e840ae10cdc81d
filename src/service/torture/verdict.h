/*
 * The judge of a realm. It sees what is committed, and applies it by itself; it sees what every
 * client sees, and judges it by the clock of that client's host; of the nodes it asks only what an
 * observer could.
 */
#ifndef TORTURE_VERDICT_H
#define TORTURE_VERDICT_H

#include "realm.h"

struct actor;

struct verdict *verdict_create(const struct realm *realm);
void verdict_destroy(struct verdict *verdict);

void verdict_committed(struct realm *realm, uint64_t index, const uint8_t *bytes, size_t size);
/* A process has entered a view, or been told that it is in none. */
void verdict_view(struct realm *realm, uint32_t place);
/* The word of a process is about to change, or has. */
void verdict_word_before(struct realm *realm, uint32_t place);
void verdict_word(struct realm *realm, uint32_t place);
void verdict_granted(struct realm *realm, const struct actor *actor);
void verdict_lost(struct realm *realm, const struct actor *actor, const struct node_effect *effect);
/* After every event of a host. */
void verdict_after(struct realm *realm, uint32_t place);
/* Everything has been mended: is everybody a member that serves? NULL, or who is not, and why. */
const char *verdict_unsettled(const struct realm *realm, char room[128]);

/* May the name be no member, by what is committed? */
bool verdict_forbids(const struct realm *realm, const char *name);
uint64_t verdict_epochs(const struct realm *realm);
uint64_t verdict_lapses(const struct realm *realm);

#endif
