/*
 * A random run of a whole cluster, in two acts. First clients do what they like while links stall,
 * members come and go and processes crash; then everything heals, clients finish what they hold, and
 * every one that waits must be served. A judge who knows nothing of the insides of the nodes watches
 * what clients see.
 */
#ifndef TORTURE_RUN_H
#define TORTURE_RUN_H

#include "plan.h"

enum { RUN_WRONG_MAX = 400 };

struct run_result {
	bool failed;
	char wrong[RUN_WRONG_MAX]; /* what broke first, and when */
	uint64_t hash;             /* of the journal */
	uint64_t events, grants, views;
	uint64_t refusals;                 /* frames that a node would not take yet */
	uint64_t connections, cuts, bytes; /* of members */
};

/* `text` gets the journal, or is NULL. */
void run_plan(const struct plan *plan, FILE *text, struct run_result *ret_result);

#endif
