/*
 * A random run of a whole cluster, in four acts. In the first, clients act at random while links
 * stall, members come and go, and processes crash. In the second, all faults end, clients release
 * their locks, and every client that waits must be served. In the third, new clients ask for some
 * of the locks. In the last, a new epoch begins while nobody wants anything, and nothing may be
 * left over from the old one. A judge watches what clients see; it knows nothing of the inside of
 * nodes.
 */
#ifndef TORTURE_RUN_H
#define TORTURE_RUN_H

#include "plan.h"

enum { RUN_WRONG_MAX = 400 };

struct run_result {
	bool failed;
	char wrong[RUN_WRONG_MAX]; /* what broke first, and when */
	uint64_t hash;             /* the hash of the journal */
	uint64_t events, grants, views;
	uint64_t refusals; /* how often a node refused a frame for the moment */
};

/* Writes the journal to `text`, unless it is NULL. */
void run_plan(const struct plan *plan, FILE *text, struct run_result *ret_result);

#endif
