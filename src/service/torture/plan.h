/*
 * The plan of a random run. It is drawn from the run's seed, except for what the command line sets.
 * The same words and the same seed give the same plan.
 */
#ifndef TORTURE_PLAN_H
#define TORTURE_PLAN_H

#include "cluster.h"

enum { PLAN_NODES_MAX = 9, PLAN_LOCKS_MAX = 50, PLAN_CLIENTS_MAX = 32, PLAN_TOPOLOGY_MAX = 64 };

struct plan_words {
	uint64_t seed;
	const char *algorithm; /* the algorithm's name; NULL: it is drawn */
	/* The topology as text; NULL: it is drawn from those that suit the algorithm. */
	const char *topology;
	uint32_t nodes, locks; /* how many nodes and locks; 0: the number is drawn */
};

struct plan {
	uint64_t seed;
	const struct algorithm *algorithm;
	char topology[PLAN_TOPOLOGY_MAX];
	uint32_t fixed; /* how many members the topology needs; 0: any number */
	uint64_t parameters[PARAMETERS_MAX];
	uint32_t places_count, locks_count, clients_count;
	uint32_t turns;
	uint64_t idle_hop;
	struct node_limits limits;
	uint64_t epoch; /* the first epoch */
	/* Where counters begin; sometimes near the greatest number that they can have. */
	uint64_t floor;

	struct distribution delay;
	uint64_t delay_max;
	uint64_t tick_late_max;
	uint32_t forget_percent;
	/* How long clients wait before they ask, and how long they hold. */
	struct distribution think, hold;
	uint64_t actions;           /* how many things all clients do before the healing */
	uint32_t one_place_percent; /* how many percent of the clients are at one place */
	uint32_t one_lock_percent;  /* how often, in percent, clients want the same lock */
	uint32_t others_percent;    /* how many percent of the commands are not LOCK or UNLOCK */

	/* Mean times between faults; 0: never. */
	uint64_t stall_every, view_every, crash_every;
	uint64_t stall_mean;
	struct distribution tell; /* how long it takes a member to learn of a view */
};

/* Returns 0, or -1 and what is wrong with the words. */
int plan_make(const struct plan_words *words, struct plan *ret_plan, struct problem *problem);

#endif
