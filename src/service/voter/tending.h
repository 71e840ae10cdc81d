/*
 * A leader's care for who votes: it asks the electorate what should change next and the log to change it.
 */
#ifndef VOTER_TENDING_H
#define VOTER_TENDING_H

#include "electorate.h"
#include "replica.h"
#include "warden.h"

/* `self` leads. A change that the log refuses now is wished for again at the next call. */
void tending_look(struct electorate_memory *electorate, struct replica *replica,
                  const struct warden *warden, uint64_t self, uint64_t now);

#endif
