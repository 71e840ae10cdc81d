/*
 * A leader's care for the voters: it asks the electorate which change should come next, and submits
 * that change to the log.
 */
#ifndef VOTER_TENDING_H
#define VOTER_TENDING_H

#include "electorate.h"
#include "replica.h"
#include "warden.h"

/* Looks at the servers and proposes the next change of voters, if there is one. `self` must lead. A
 * change that the log refuses now is proposed again by the next call. */
void tending_look(struct electorate_memory *electorate, struct replica *replica,
                  const struct warden *warden, uint64_t self, uint64_t now);

#endif
