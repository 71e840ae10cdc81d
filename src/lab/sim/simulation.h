/*
 * The inside of a simulator, for its own files: sim.c makes the run, hand.c lets a user interfere
 * with it, and outcome.c completes the result.
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

/* The simulator's own data about a node, beside the node's state. */
struct asking {
	uint64_t time;    /* when the node asked last */
	uint64_t entries; /* how many entries of all nodes had begun when the node asked */
	uint64_t heard;   /* light load: the number of the last request that reached the node */
	uint64_t exits;   /* how often the node has left the critical section */
	/* After the warm-up: the sum of the times from request to entry, and how many there
	 * were. */
	uint64_t response_sum, response_count;
	bool starved; /* the node waited too long at least once */
};

struct sim {
	const struct setup *setup;
	struct world world;
	struct queue *queue;
	struct arena *arena;       /* bodies of messages too long for an event */
	struct channels *channels; /* FIFO: when the last message of each channel arrives */
	struct samples *responses; /* times from request to entry */
	/* The times at which nodes wish to enter; NULL until a run has the load wishes:RATE. */
	struct wishes *wishes;
	/* Gives delays, losses and everything else that is random, except wishes. */
	struct random random;
	struct asking *asking;       /* [node - 1]: what is kept for each node */
	uint32_t *starved, *waiting; /* [nodes]: arrays that the result points to */
	uint32_t *learned; /* elections: [nodes], the leader that a place knows, or 0; else NULL */
	uint8_t *dead;     /* elections: [nodes], the place has crashed; else NULL */
	uint8_t *deferred; /* [nodes]: the node will ask once it is ready; NULL: always ready */
	/* [nodes][TIMERS_MAX]: how often each timer was set, was stopped or has expired; NULL if
	 * the algorithm has no timers. */
	uint32_t *timers;
	struct sim_options options;
	struct sim_result *result;
	uint64_t now;
	uint64_t happened;     /* when the last event happened that did something */
	uint64_t number;       /* the number of the message sent last */
	uint64_t entered;      /* how many entries have begun */
	uint64_t exit_time;    /* if exit_pending: when a node left while another waited */
	uint64_t token_hops;   /* messages sent that carry the token */
	uint64_t lose_next;    /* the index of the next element of options.lose_hops */
	uint64_t lost_hops;    /* the value of token_hops when a token was lost last */
	uint64_t lost_pending; /* how many tokens were lost and not replaced yet */
	/* Light load: how many messages, and how many with the token, were sent for earlier
	 * entries. */
	uint64_t counted_from, counted_token_from;
	uint64_t requests; /* light load: how many requests were made */
	uint64_t asked_at; /* light load: when the last request was made */
	/* Light load, if token_moving: when the token was sent for the last request. */
	uint64_t token_left;
	uint64_t futile_max;  /* after more futile hops than this the token will never come */
	uint64_t futile_hops; /* deliveries since the last entry or request, while a node waits */
	uint64_t silent;      /* events that did nothing, such as a timer that was stopped */
	/* Light load, circulating token: the number of exits when a node was last made to ask. */
	uint64_t exits_seen;
	uint64_t states_memory; /* bytes of all states */
	uint64_t weighed;       /* the value of `number` when the use of memory was checked last */
	bool exit_pending;      /* a node waited at the last exit, and none has entered since */
	bool counting;          /* light load: the messages of an entry are being counted */
	bool stuck;             /* the run ends: nothing can happen, or it was stopped */
	bool warming;           /* the run is in its warm-up */
	bool token_moving;      /* light load: the token was sent for the current request */
	bool touched; /* a user has interfered, so that requests need not follow the load */
};

/* Counts a violation; the text of the first one is kept. */
void sim_violate(struct sim *sim, const char *what);

/* Makes an event happen, at its time. */
void sim_handle(struct sim *sim, const struct event *event);

/* Returns the bytes of a message, which are in the event or in the arena. */
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

/* Has the node waited too long? That is, have the others entered many times since it asked, and
 * has more time passed than a single slow message can explain? */
static inline bool sim_waits_too_long(const struct sim *sim, uint32_t node)
{
	const struct asking *asking = &sim->asking[node - 1];
	uint64_t much = (uint64_t)SIM_STARVES * sim->setup->network.graph.nodes;

	return sim->entered - asking->entries >= much &&
	       sim->now - asking->time >= much * distribution_mean(&sim->options.delay);
}

/* Ends the warm-up: sums and means start from zero. Minima and maxima go on, because they are about
 * the whole run. */
void sim_begin_count(struct sim *sim);
/* Light load: counts the messages since the last request as those of one entry. */
void sim_count_entry(struct sim *sim);

#endif
