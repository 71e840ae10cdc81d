/*
 * What a random run is like, drawn from its seed as far as the command line leaves it open. The
 * same words and the same seed give the same plan.
 */
#ifndef TORTURE_PLAN_H
#define TORTURE_PLAN_H

#include "cluster.h"

enum { PLAN_NODES_MAX = 9, PLAN_LOCKS_MAX = 50, PLAN_CLIENTS_MAX = 32, PLAN_TOPOLOGY_MAX = 64 };

struct plan_words {
	uint64_t seed;
	const char *algorithm; /* NULL: drawn */
	const char *topology;  /* NULL: drawn from those that suit the algorithm */
	uint32_t nodes, locks; /* 0: drawn */
	bool members;          /* not bare nodes */
};

struct plan {
	uint64_t seed;
	const struct algorithm *algorithm;
	char topology[PLAN_TOPOLOGY_MAX];
	uint32_t fixed; /* how many members the topology needs, 0: any number */
	uint64_t parameters[PARAMETERS_MAX];
	uint32_t places_count, locks_count, clients_count;
	uint32_t turns;
	uint64_t idle_hop;
	struct node_limits limits;
	uint64_t epoch; /* the first */
	uint64_t floor; /* where counters begin; near their end, some times */

	struct distribution delay;
	uint64_t delay_max;
	uint64_t tick_late_max;
	uint32_t forget_percent;
	struct distribution think, hold; /* of clients */
	uint64_t actions;                /* of clients, in all, before the healing */
	uint32_t one_place_percent;      /* how many clients crowd at one place … */
	uint32_t one_lock_percent;       /* … and how often they want the same lock */
	uint32_t others_percent;         /* commands that are not about having a lock */

	/* Mean times between what goes wrong; 0: never. */
	uint64_t stall_every, view_every, crash_every;
	uint64_t stall_mean;
	struct distribution tell; /* how long it takes until a member learns of a view */

	/* Processes are members, with connections. Views are their own business. */
	bool members;
	struct cluster_wiring wiring;
	uint64_t cut_every, pause_every, restart_every;
};

/* 0, or -1 and what is wrong with the words. */
int plan_make(const struct plan_words *words, struct plan *ret_plan, struct problem *problem);

#endif
