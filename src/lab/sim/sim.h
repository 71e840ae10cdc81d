/*
 * The simulator: a deterministic discrete-event run of an algorithm in virtual time. One loop: take
 * the earliest event, call the step, perform its effects.
 */
#ifndef LAB_SIM_H
#define LAB_SIM_H

#include "distribution.h"
#include "setup.h"
#include "trace.h"

#include <signal.h>

/* LOAD_ELECTION: the initiators initiate at once, and the run lasts until all is quiet. */
enum load { LOAD_LIGHT, LOAD_HEAVY, LOAD_POISSON, LOAD_WISHES, LOAD_ELECTION };

struct sim_options {
	const struct setup *setup;
	uint64_t entries;
	uint64_t warmup; /* entries before those: means and sums leave them out, extremes do not */
	uint64_t seed;
	enum load load;
	uint64_t interval; /* poisson: the mean time before a node asks; wishes: between two */
	struct distribution delay, cs;
	uint64_t bound;            /* what timers take for the longest delay of a message */
	const uint64_t *lose_hops; /* the token's hops at which it is lost, increasing */
	size_t lose_hops_count;
	uint64_t lose_below; /* a message is lost if a number drawn from 0..2^32-1 is below */
	uint64_t memory_max; /* bytes of states and messages in flight; 0: as there are */
	struct trace *trace; /* or NULL */
	const volatile sig_atomic_t *interrupted; /* not 0: enough; NULL: never */
	/* Called now and then with the exits so far, or NULL. */
	void (*progress)(void *context, uint64_t exits, uint64_t entries);
	void *progress_context;
};

enum { MESSAGE_TYPES_MAX = 16, SIM_STARVES = 100 };

/* The least and the most of something; `min` is greater than `max` as long as there was none. */
struct range {
	uint64_t min, max;
};

/* Messages for one entry, which can be told apart under light load only. */
struct sim_entry_messages {
	struct range all;
	struct range asked;        /* of entries that took any message at all */
	struct range asked_token;  /* of these, messages that carry the token */
	struct range asked_others; /* and those that do not */
	uint64_t squares;          /* the sum of the squares of all: how much the mean may be off */
};

struct sim_result {
	uint64_t entries;     /* completed after the warm-up */
	bool measured;        /* the warm-up ended: there are sums, and means if anybody entered */
	uint64_t entries_all; /* with those of the warm-up */
	struct range entries_each; /* of the node that entered least often, and most often */
	double entries_squares;    /* the sum over the nodes of the squares of their entries */
	/* Who still waits at the end of the run, in order; the simulator's until it runs again. */
	const uint32_t *waiting;
	uint32_t waiting_count;
	uint32_t waiting_first;   /* the one of them that asked first */
	uint64_t waiting_longest; /* how long that one has waited */
	/* Whether somebody starves was not decided: a node that still waits never got in, or the
	 * others have entered more often than once each since it asked; but not as often as it
	 * takes to say that it starves. Of those, the one that was passed most often; or 0. */
	uint32_t undecided;
	uint64_t undecided_passed; /* how often the others entered meanwhile */
	/* Who waits and nothing can happen any more; and who has waited while others entered
	 * SIM_STARVES times for each node, and as many mean message delays. In order; the simulator's
	 * until it runs again. */
	const uint32_t *starved;
	uint32_t starved_count;
	uint64_t messages, messages_idle, messages_init, messages_by_type[MESSAGE_TYPES_MAX];
	struct sim_entry_messages entry;
	uint64_t bytes, bytes_largest[MESSAGE_TYPES_MAX];
	uint64_t sync_count, sync_sum;     /* after the warm-up */
	uint64_t sync_count_all, sync_max; /* with the warm-up */
	uint64_t response_sum, response_p50, response_p99,
	        response_count; /* of those that entered */
	uint64_t response_max;  /* of those that still wait, too */
	/* Light load: from a request until the last of those whom it reaches is reached; and from
	 * the token's leaving to the entry. */
	uint64_t asked_time_max, token_time_max;
	uint64_t bypass_max;
	uint64_t state_sum, state_max; /* bytes, over the nodes */
	uint64_t lost;
	uint64_t token_hops; /* messages sent that carry the token, in the whole run */
	uint64_t regenerated, regenerated_hops_sum, regenerated_hops_max;
	uint32_t leader;  /* elections: the identifier that was declared first, or 0 */
	uint32_t learned; /* how many places know it */
	uint64_t elected; /* when it was */
	bool disputed;    /* another was declared too */
	uint64_t time, events;
	bool endless;     /* given up: time came to its end */
	bool interrupted; /* given up: that was asked for */
	bool exhausted;   /* given up: memory_max was reached */
	uint64_t violations;
	const char *violation; /* the first, or NULL */
};

struct sim;

/* A simulator for one setup; it can run many times. */
struct sim *sim_create(const struct setup *setup);
void sim_destroy(struct sim *sim);
void sim_run(struct sim *sim, const struct sim_options *options, struct sim_result *ret_result);

/*
 * The same one event at a time: sim_begin, then sim_step as long as it returns true, then sim_end,
 * which completes the result. The result must stay until then. Between two events a hand may reach
 * in (hand.h).
 */
void sim_begin(struct sim *sim, const struct sim_options *options, struct sim_result *ret_result);
bool sim_step(struct sim *sim);
void sim_end(struct sim *sim);

/* The memory that a run takes at least, as far as that can be told before it: the states, and under
 * heavy load, or in an election, what all who begin at once send at once. */
uint64_t sim_memory_foreseen(const struct setup *setup, enum load load);

/* Of messages that carry the token, of the others, or of all. */
enum carries { CARRIES_TOKEN, CARRIES_NO_TOKEN, CARRIES_ANY };
uint64_t sim_largest_message(const struct algorithm *algorithm, const struct sim_result *result,
                             enum carries carries);

/* Jain's index of fairness: 1 if all have entered as often, 1/N if one has and the others never; NAN
 * if nobody has. */
double sim_jain(const struct sim_result *result, uint32_t nodes);

#endif
