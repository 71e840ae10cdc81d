/*
 * The inside of a simulator, for its own files: sim.c lets a run happen, hand.c reaches into it, and
 * outcome.c says in the end what came of it.
 */
#ifndef LAB_SIMULATION_H
#define LAB_SIMULATION_H

#include "arena.h"
#include "channels.h"
#include "queue.h"
#include "samples.h"
#include "sim.h"
#include "wishes.h"

enum sim_event_kind { EVENT_REQUEST, EVENT_EXIT, EVENT_DELIVER, EVENT_LOSE, EVENT_EXPIRE };

enum { BODY_INLINE_MAX = sizeof(((struct event *)0)->body) };

/* What the simulator knows of a node beside its state. */
struct asking {
	uint64_t time;    /* of the request */
	uint64_t entries; /* of all, at the request */
	uint64_t heard;   /* light load: the number of the last request that reached the node */
	uint64_t exits;   /* of the node */
	bool starved;
};

struct sim {
	const struct setup *setup;
	struct world world;
	struct queue *queue;
	struct arena *arena;       /* messages too long for an event */
	struct channels *channels; /* FIFO: when the last message of each arrives */
	struct samples *responses;
	struct wishes *wishes; /* NULL until a run has such a load */
	struct random random;
	struct asking *asking;
	uint32_t *starved; /* lists for the result */
	uint32_t *waiting;
	uint32_t *learned; /* elections: the leader that each place knows, or 0; else NULL */
	uint8_t *dead;     /* elections: crashed; else NULL */
	uint8_t *deferred; /* wants to ask, is not ready; NULL if the algorithm always is */
	uint32_t *timers;  /* [nodes][TIMERS_MAX]: how often set or stopped; NULL without timers */
	struct sim_options options;
	struct sim_result *result;
	uint64_t now;
	uint64_t happened;  /* when something did last: a stopped timer is nothing */
	uint64_t number;    /* of the message sent last */
	uint64_t entered;   /* entries begun */
	uint64_t exit_time; /* of the exit at which somebody waited, if exit_pending */
	uint64_t token_hops, lose_next;
	uint64_t lost_hops;    /* the token's hops when one was lost last */
	uint64_t counted_from; /* light load: messages before the current entry */
	uint64_t counted_token_from;
	uint64_t requests;   /* light load: so many were made */
	uint64_t asked_at;   /* … when the last was */
	uint64_t token_left; /* … and its token set out, if token_moving */
	uint64_t futile_max;
	uint64_t futile_hops; /* deliveries while somebody waits and nobody enters */
	uint64_t silent;      /* events that were nothing after all: a timer stopped since */
	uint64_t exits_seen; /* light load, circulating token: when somebody was last made to ask */
	uint64_t states_memory;
	uint64_t weighed; /* messages that had been sent when memory was looked at last */
	bool exit_pending, counting, lost_pending, stuck, warming, token_moving;
	bool touched; /* a hand has reached into the run: it may not go as its load has it */
};

/* Something that must not be has happened; the first is kept. */
void sim_violate(struct sim *sim, const char *what);

/* Lets an event happen, at its time. */
void sim_handle(struct sim *sim, const struct event *event);

/* A message's bytes, wherever they are. */
static inline const uint8_t *event_body(const struct event *event)
{
	const uint8_t *copy;

	if (event->size <= BODY_INLINE_MAX)
		return event->body;
	memcpy(&copy, event->body, sizeof(copy));
	return copy;
}

static inline void range_widen(struct range *range, uint64_t number)
{
	if (number < range->min)
		range->min = number;
	if (number > range->max)
		range->max = number;
}

/* Has it waited for longer than anybody should: while all the others could have entered many times,
 * and for more than an unlucky message? */
static inline bool sim_waits_too_long(const struct sim *sim, uint32_t node)
{
	const struct asking *asking = &sim->asking[node - 1];
	uint64_t much = (uint64_t)SIM_STARVES * sim->setup->network.graph.nodes;

	return sim->entered - asking->entries >= much &&
	       sim->now - asking->time >= much * distribution_mean(&sim->options.delay);
}

/* From now on sums and means count. What was the least or the most stays: it must hold from the
 * start. */
void sim_begin_count(struct sim *sim);
/* Light load: the messages since the last request belong to one entry. */
void sim_count_entry(struct sim *sim);

#endif
