/*
 * The faults of a run. All are drawn from the seed before it begins, each from a stream of its own,
 * and have numbers: leaving some out does not change the others.
 */
#ifndef TORTURE_MISCHIEF_H
#define TORTURE_MISCHIEF_H

#include "ordeal.h"
#include "realm.h"

struct mischief *mischief_create(const struct realm *realm);
void mischief_destroy(struct mischief *mischief);
void mischief_begin(struct realm *realm);
void mischief_on_event(struct realm *realm, const struct event *event);
/* Everything is mended. */
void mischief_heal(struct realm *realm);
/* An invitation may be lost like any proposal, and a FORBID may be committed late: to be called now and
 * then until nobody is forbidden. */
void mischief_invite(struct realm *realm);
/* The faults that have begun: how many of each kind, and a sentence for each. */
void mischief_tell(const struct realm *realm, struct ordeal_result *result);

#endif
