/*
 * The faults of a run. All are drawn from the seed before the run begins. Each has a number and a
 * random stream of its own, so leaving some out does not change the others.
 */
#ifndef TORTURE_MISCHIEF_H
#define TORTURE_MISCHIEF_H

#include "ordeal.h"
#include "realm.h"

struct mischief *mischief_create(const struct realm *realm);
void mischief_destroy(struct mischief *mischief);
void mischief_begin(struct realm *realm);
void mischief_on_event(struct realm *realm, const struct event *event);
/* Two hosts that have no link. */
struct mischief_pair {
	uint32_t a, b;
};
/* Ends all faults. Returns true if one pair stays without a link. */
bool mischief_heal(struct realm *realm, struct mischief_pair *ret_pair);
void mischief_heal_pair(struct realm *realm);
/* Invites all forbidden names, and withdraws an operator's wishes about votes. These proposals may
 * be lost like any other, and a FORBID may be committed late, so call this repeatedly. */
void mischief_invite(struct realm *realm);
/* Tells how many faults of each kind have begun, and a sentence for each. */
void mischief_tell(const struct realm *realm, struct ordeal_result *result);

#endif
