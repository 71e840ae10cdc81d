/*
 * A random run: its cluster, its clients and its judge.
 */
#ifndef TORTURE_RANDOM_RUN_H
#define TORTURE_RANDOM_RUN_H

#include "judge_memory.h"
#include "run.h"
#include "visitor.h"

enum act { ACT_FAULTS, ACT_HEAL, ACT_PROBE, ACT_END };

struct run {
	const struct plan *plan;
	struct cluster cluster;
	struct random random;
	struct visitor clients[PLAN_CLIENTS_MAX + PLAN_NODES_MAX];
	uint32_t clients_count;
	struct lock_record *locks;
	struct judge judge;
	enum act act;
	uint64_t actions; /* how many things clients have done so far */
	struct run_result *result;
};

enum {
	EVENT_CLIENT = CLUSTER_EVENTS,
	EVENT_STALL,
	EVENT_VIEW,
	EVENT_CRASH,
	EVENT_BUMP,
	EVENT_SPITE
};

/* Reports that something is broken. The run ends. */
__attribute__((format(printf, 2, 3))) void run_wrong(struct run *run, const char *format, ...);

static inline bool run_chance(struct run *run, uint32_t percent)
{
	return random_below(&run->random, 100) < percent;
}

static inline uint32_t run_draw(struct run *run, uint32_t count)
{
	return (uint32_t)random_below(&run->random, count);
}

static inline bool place_lives(const struct run *run, uint32_t place)
{
	return run->cluster.places[place].node != NULL;
}

#endif
