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
	uint64_t entries; /* critical sections that are measured */
	uint64_t warmup;  /* critical sections before those; means and sums leave them out */
	uint64_t seed;    /* all random numbers of the run follow from it */
	enum load load;
	/* Mean time from an exit to the next request (poisson), or between wishes. */
	uint64_t interval;
	struct distribution delay, cs; /* how long a message takes, and a critical section */
	uint64_t bound;                /* the longest message delay that timers assume */
	const uint64_t *lose_hops;     /* the token is lost at these of its hops; increasing */
	size_t lose_hops_count;
	uint64_t lose_below; /* a message is lost if a number drawn from 0..2^32-1 is below this */
	uint64_t memory_max; /* most bytes for states and messages in flight; 0: no limit */
	struct trace *trace; /* NULL: none is wanted */
	/* The run stops once this is not 0; may be NULL. */
	const volatile sig_atomic_t *interrupted;
	/* Called from time to time with the number of exits so far; may be NULL. */
	void (*progress)(void *context, uint64_t exits, uint64_t entries);
	void *progress_context;
};

/* A node starves if the others enter SIM_STARVES times for each node while it waits. */
enum { MESSAGE_TYPES_MAX = 16, SIM_STARVES = 100 };

/* The least and the greatest of some numbers. Without any number `min` is greater than `max`. */
struct range {
	uint64_t min, max;
};

/* How many messages one entry takes. Only under light load can messages be told apart by entry. */
struct sim_entry_messages {
	struct range all;          /* over all entries */
	struct range asked;        /* over entries that took at least one message */
	struct range asked_token;  /* over the same; only messages that carry the token */
	struct range asked_others; /* over the same; only messages that do not */
	uint64_t squares; /* sum of the squares over all entries, for the error of the mean */
};

struct sim_result {
	uint64_t entries;          /* critical sections completed after the warm-up */
	bool measured;             /* the warm-up ended, so that the sums below mean something */
	uint64_t entries_all;      /* critical sections completed, including the warm-up */
	struct range entries_each; /* how often a node entered: the least and the most */
	double entries_squares;    /* sum over the nodes of the squares of their entries */
	/* The nodes that still wait at the end of the run, in order. The array belongs to the
	 * simulator and is valid until the next run. */
	const uint32_t *waiting;
	uint32_t waiting_count;
	uint32_t waiting_first;   /* the node of these that has waited longest */
	uint64_t waiting_longest; /* how long it has waited */
	/* A node that may starve, but the run was too short to tell; 0 if there is none. Such a
	 * node waits and never got in, or the others have entered more than once each since it
	 * asked. Of several it is the one that others passed most often. */
	uint32_t undecided;
	uint64_t undecided_passed; /* how often others entered since that node asked */
	/* The nodes that starve: they wait and nothing can happen any more; or the others entered
	 * SIM_STARVES times for each node since they asked, and as many mean message delays have
	 * passed. In order; valid until the next run. */
	const uint32_t *starved;
	uint32_t starved_count;
	uint64_t messages, messages_idle, messages_init, messages_by_type[MESSAGE_TYPES_MAX];
	struct sim_entry_messages entry;
	uint64_t bytes, bytes_largest[MESSAGE_TYPES_MAX];
	/* Times from an exit at which somebody waited to the next entry: after the warm-up, and
	 * in the whole run. */
	uint64_t sync_count, sync_sum;
	uint64_t sync_count_all, sync_max;
	/* Times from request to entry, over the entries after the warm-up. */
	uint64_t response_sum, response_p50, response_p99, response_count;
	uint64_t response_max; /* over the whole run, including nodes that still wait */
	/* Light load: the longest time until a request has reached everybody that it concerns, and
	 * the longest time from the token's departure to the entry. */
	uint64_t asked_time_max, token_time_max;
	uint64_t bypass_max;           /* most entries of others between a request and its entry */
	uint64_t state_sum, state_max; /* bytes of the nodes' states */
	uint64_t lost;                 /* messages that were lost */
	uint64_t token_hops;           /* messages sent that carry the token */
	/* How often a lost token was replaced, and after how many hops. */
	uint64_t regenerated, regenerated_hops_sum, regenerated_hops_max;
	uint32_t leader;       /* elections: the identifier that was declared first, or 0 */
	uint32_t learned;      /* elections: how many places know that leader */
	uint64_t elected;      /* elections: when it was declared */
	bool disputed;         /* elections: another leader was declared too */
	uint64_t time, events; /* when the last event happened, and how many there were */
	bool endless;          /* the run was stopped: virtual time would overflow */
	bool interrupted;      /* the run was stopped: options.interrupted was set */
	bool exhausted;        /* the run was stopped: it reached options.memory_max */
	uint64_t violations;
	const char *violation; /* the first violation, or NULL */
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

/* A lower bound on the memory that a run takes, computed before it starts: the states, and the
 * messages that are sent at once at the beginning (by all nodes under heavy load, by the initiators
 * of an election). */
uint64_t sim_memory_foreseen(const struct setup *setup, enum load load);

/* The largest message of one kind: those that carry the token, those that do not, or any. */
enum carries { CARRIES_TOKEN, CARRIES_NO_TOKEN, CARRIES_ANY };
uint64_t sim_largest_message(const struct algorithm *algorithm, const struct sim_result *result,
                             enum carries carries);

/* Jain's index of fairness: 1 if all nodes entered equally often, 1/N if only one node entered;
 * NAN if none did. */
double sim_jain(const struct sim_result *result, uint32_t nodes);

#endif
