/*
 * How a leader changes the voters: it asks the electorate what should change next, and asks the log
 * to change it.
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
