/*
 * The simulator: a deterministic discrete-event run of an algorithm in virtual time. It is one
 * loop: take the earliest event, call the algorithm's step, perform the effects.
 */
#ifndef LAB_SIM_H
#define LAB_SIM_H

#include "distribution.h"
#include "setup.h"
#include "trace.h"

#include <signal.h>

/* LOAD_ELECTION: all initiators begin at time 0, and the run lasts until no event is left. */
enum load { LOAD_LIGHT, LOAD_HEAVY, LOAD_POISSON, LOAD_WISHES, LOAD_ELECTION };

struct sim_options {
	const struct setup *setup;
	uint64_t entries; /* how many critical sections are measured */
	/* How many critical sections come before the measured ones; means and sums leave them
	 * out. */
	uint64_t warmup;
	uint64_t seed; /* the number from which all random numbers of the run follow */
	enum load load;
	/* Mean time from an exit to the next request (poisson), or between wishes. */
	uint64_t interval;
	/* The nodes that ask, in increasing order; a count of 0: all nodes ask. */
	const uint32_t *askers;
	uint32_t askers_count;
	struct distribution delay, cs; /* how long a message takes, and a critical section */
	/* Messages of this node take `slow_factor` times as long; 0: no node is slow. */
	uint32_t slow_node;
	uint64_t slow_factor;
	uint64_t bound; /* the longest message delay that timers assume */
	/* The hops at which the token is lost, by their numbers, in increasing order. */
	const uint64_t *lose_hops;
	size_t lose_hops_count;
	uint64_t lose_below; /* a message is lost if a number drawn from 0..2^32-1 is below this */
	uint64_t memory_max; /* the most bytes for states and messages in flight; 0: no limit */
	struct trace *trace; /* where the run is recorded; NULL: nowhere */
	/* The run stops once this is not 0; may be NULL. */
	const volatile sig_atomic_t *interrupted;
	/* If not NULL, the simulator calls this from time to time with the number of exits so
	 * far. */
	void (*progress)(void *context, uint64_t exits, uint64_t entries);
	void *progress_context;
};

/* In a run with N nodes, a node starves if the others enter SIM_STARVES * N times while it
 * waits. */
enum { MESSAGE_TYPES_MAX = 16, SIM_STARVES = 100 };

/* The least and the greatest of some numbers. Without any number `min` is greater than `max`. */
struct range {
	uint64_t min, max;
};

/* The numbers of messages that entries take. Only under light load is it known to which entry a
 * message belongs. */
struct sim_entry_messages {
	struct range all;   /* messages for an entry, over all entries */
	struct range asked; /* messages for an entry that took at least one message */
	/* Messages with the token for an entry that took at least one message. */
	struct range asked_token;
	/* Messages without the token for an entry that took at least one message. */
	struct range asked_others;
	/* The sum of the squares of the messages for each entry; it gives the error of the mean. */
	uint64_t squares;
};

struct sim_result {
	uint64_t entries; /* critical sections completed after the warm-up */
	/* the warm-up has ended; otherwise the sums below mean nothing */
	bool measured;
	uint64_t entries_all;      /* critical sections completed, including the warm-up */
	uint32_t askers;           /* how many nodes ask under this load, or have entered anyway */
	struct range entries_each; /* how often one of the askers entered: the least and the most */
	double entries_squares;    /* sum over the nodes of the squares of their entries */
	/* The nodes that still wait at the end of the run, in order. The array belongs to the
	 * simulator and is valid until the next run. */
	const uint32_t *waiting;
	uint32_t waiting_count;
	uint32_t waiting_first;   /* the node that has waited longest, among those that wait */
	uint64_t waiting_longest; /* how long waiting_first has waited */
	/* A node that may starve, but the run was too short to tell; 0 if there is none. Such a
	 * node still waits; either it has never entered, or (with N nodes) the others together have
	 * entered at least N times since it asked. If there are several, this is the one that was
	 * passed most often. */
	uint32_t undecided;
	uint64_t undecided_passed; /* how often others entered since `undecided` asked */
	/* The nodes that starve, in order; valid until the next run. A node starves if it waits and
	 * nothing can happen any more. With N nodes, a node also starves if, since it asked, the
	 * others have entered SIM_STARVES * N times, and as many mean message delays have
	 * passed. */
	const uint32_t *starved;
	uint32_t starved_count;
	uint64_t messages, messages_idle, messages_init, messages_by_type[MESSAGE_TYPES_MAX];
	struct sim_entry_messages entry;
	uint64_t bytes, bytes_largest[MESSAGE_TYPES_MAX];
	/* Times from an exit to the next entry, if a node waited at that exit: after the warm-up,
	 * and in the whole run. */
	uint64_t sync_count, sync_sum;
	uint64_t sync_count_all, sync_max;
	/* Times from request to entry, over the entries after the warm-up. */
	uint64_t response_sum, response_p50, response_p99, response_count;
	/* The longest time from request to entry in the whole run, including nodes that still
	 * wait. */
	uint64_t response_max;
	/* Light load: the longest time until a request has reached every node that it concerns, and
	 * the longest time from the token's departure to the entry. */
	uint64_t asked_time_max, token_time_max;
	uint64_t bypass_max;           /* most entries of others between a request and its entry */
	uint64_t state_sum, state_max; /* bytes of the nodes' states: the sum, and the largest */
	uint64_t lost;                 /* messages that were lost */
	uint64_t token_hops;           /* messages sent that carry the token */
	/* How often a lost token was replaced, and after how many hops. */
	uint64_t regenerated, regenerated_hops_sum, regenerated_hops_max;
	uint32_t leader;       /* elections: the identifier that was declared first, or 0 */
	uint32_t learned;      /* elections: how many places know that `leader` leads */
	uint64_t elected;      /* elections: when the leader was declared */
	bool disputed;         /* elections: another leader was declared too */
	uint64_t time, events; /* when the last event happened, and how many there were */
	bool endless;          /* the run was stopped: virtual time would overflow */
	bool interrupted;      /* the run was stopped: options.interrupted was set */
	bool exhausted;        /* the run was stopped: it reached options.memory_max */
	uint64_t violations;
	const char *violation; /* the first violation, or NULL */
};

struct sim;

/* Makes a simulator for one setup. It can run many times. */
struct sim *sim_create(const struct setup *setup);
void sim_destroy(struct sim *sim);
void sim_run(struct sim *sim, const struct sim_options *options, struct sim_result *ret_result);

/*
 * Runs one event at a time: sim_begin, then sim_step while it returns true, then sim_end, which
 * completes the result. The result must not move until then. Between two events a user may
 * interfere (hand.h).
 */
void sim_begin(struct sim *sim, const struct sim_options *options, struct sim_result *ret_result);
bool sim_step(struct sim *sim);
void sim_end(struct sim *sim);

/* Returns the sum of one node's times from request to entry, over its entries after the warm-up,
 * and the number of these entries. Valid until the next run. */
uint64_t sim_node_response(const struct sim *sim, uint32_t node, uint64_t *ret_count);

/* Returns a lower bound on the memory that a run will take: the states, and the messages that
 * are sent at time 0 (under heavy load by all nodes, in an election by the initiators). */
uint64_t sim_memory_foreseen(const struct setup *setup, enum load load);

/* Returns the size of the largest message, among those that carry the token, among those that do
 * not, or among all. */
enum carries { CARRIES_TOKEN, CARRIES_NO_TOKEN, CARRIES_ANY };
uint64_t sim_largest_message(const struct algorithm *algorithm, const struct sim_result *result,
                             enum carries carries);

/* Returns Jain's index of fairness: 1 if all nodes that ask entered equally often, 1/N if only one
 * of N entered; NAN if none did. */
double sim_jain(const struct sim_result *result);

#endif
