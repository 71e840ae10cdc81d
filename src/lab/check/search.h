/*
 * The checker's search: every state that can be reached, breadth first.
 *
 * If every step leads to the next level, breadth-first order visits each state after all its
 * predecessors. Then this one pass also finds the numbers of messages and of bypasses of all runs.
 * Otherwise, if every run ends, a second pass visits the states in such an order.
 *
 * Both passes go in rounds. In a round each thread lists the steps that are possible in some states
 * of the level, its own states first, and then looks up the states they lead to. Looking up many at
 * once allows prefetching. All threads share one set of states. What only one thread may do, such
 * as enlarging the table of that set, happens between rounds.
 */
#ifndef LAB_SEARCH_H
#define LAB_SEARCH_H

#include "check.h"
#include "model.h"
#include "states.h"
#include "team.h"

struct violation {
	enum verdict_kind verdict; /* the property that is violated; VERDICT_HOLDS: none is */
	const char *what;          /* what was violated, as in struct check_result */
	uint32_t node;
	uint32_t state;       /* the last state of the path to the violation */
	bool broke;           /* the state itself is right, but a step from it is wrong */
	struct action action; /* the wrong step, if `broke` */
};

/* Scratch memory for invariants about the whole system. */
struct sight {
	const void **states;
	struct flight *flights;
	size_t flights_size;
};

/* A step from a state, found in a round. */
struct found {
	uint64_t hash;       /* the hash of the row that the step leads to */
	uint32_t from;       /* the state that the step begins in */
	uint32_t transition; /* the number of the step's transition; 0: a message is lost */
	uint32_t place;      /* where the message that the step takes is in the row */
	bool passes;         /* this step or an earlier one bypasses a node */
};

struct missing {
	uint32_t from;
	struct action action;
};

/* A state that is going to be expanded. */
struct pending {
	uint32_t state;
	struct state_row row;
	struct actions actions;
	bool bypassed; /* a node was bypassed on the way to this state */
};

enum { PENDING_MAX = 16 };
/* For a level with fewer states, several threads would cost more than they gain. */
enum { TOGETHER_LEAST = 512 };

struct worker {
	alignas(APART) uint32_t number;
	struct found *found; /* steps whose target has to be looked up */
	size_t found_count, found_size;
	uint32_t spent; /* how many actions this thread followed in this round */
	struct pending pending[PENDING_MAX];
	uint8_t *next; /* buffer for the row after a step */
	struct sight sight;
	/* The part of the lane's level that no thread has taken yet. Any thread may take some of
	 * it. */
	pthread_mutex_t level_mutex;
	struct lane_cursor cursor, level_end;
	/* Steps that were not computed yet; only one thread may compute them. */
	struct missing *missing;
	size_t missing_count, missing_size;
	struct violation violation;
	uint64_t transitions;
	bool graded;     /* every step so far led to the next level */
	uint32_t *ready; /* second pass: states all of whose predecessors are done */
	size_t ready_count, ready_size;
	uint64_t done; /* how many states this thread has finished */
	/* Extremes over all runs whose end this thread has seen. */
	uint32_t messages_max, messages_min, bypass_max;
};

struct search {
	const struct check_options *options;
	struct model model;
	struct states states;
	struct team team;
	struct worker *workers;
	uint32_t start;        /* the first state */
	uint32_t bypass_width; /* bytes of a bypass counter in a record; 0: none are kept */
	uint32_t budget;       /* how many actions a thread may follow in this round */
	uint64_t level_count;  /* how many states there were when the level began */
	uint64_t level_states; /* how many states the level has */
	uint64_t depth;        /* the number of the level */
	double begin;          /* when the search began, in seconds */
	const char *limit;     /* the limit that was reached, or NULL */
	bool full;             /* a state beyond --max-states was found */
	bool graded;           /* every step so far led to the next level */
	bool ordering;         /* the search is in its second pass */
	bool together;         /* all threads, not only the first, are at work in this round */
	struct violation violation;
};

void search_init(struct search *search, const struct check_options *options);
void search_free(struct search *search);
uint64_t search_memory(const struct search *search);
uint64_t search_transitions(const struct search *search);
double search_seconds(const struct search *search);

/* Returns true if every state was reached and none is wrong. Otherwise there is a violation or a
 * limit. */
bool search_explore(struct search *search);

/* Tells whether all runs end and, if so, the minima and maxima over all runs. Call search_bounds
 * after search_explore; it overwrites the states' parents and returns false if a limit was
 * reached. */
struct run_bounds {
	bool bounded;
	uint64_t messages_max, messages_min, bypass_max;
};
bool search_bounds(struct search *search, struct run_bounds *ret_bounds);

/* Functions of the second pass. worker_put_ready adds a state all of whose predecessors are done;
 * search_order_some is a round that expands some of these states. */
void worker_put_ready(struct worker *worker, uint32_t state);
void search_order_some(struct search *search);

struct state_row search_row(const struct search *search, uint32_t state);
/* Lists the actions that are possible in a state, except those that a reduction leaves out. */
void search_actions(const struct search *search, struct state_row row, struct actions *ret_actions);
/* Returns the state that an action of this list leads to, or STATE_NONE if that state has not been
 * found yet. */
uint32_t search_follow(struct search *search, struct state_row row, const struct action *action);

/* Returns the limit that the search has reached or would exceed with `more_bytes` more, or NULL.
 * Returns search_interrupt if it was interrupted. */
extern const char search_interrupt[];
const char *search_limit(const struct search *search, uint64_t more_bytes);

/* Reports progress; called from time to time. */
void search_progress(const struct search *search, const char *doing);

/* Returns true and the violation if something is wrong with a state. (verdict.c) */
bool check_state(const struct model *model, struct state_row row, struct sight *sight,
                 struct violation *ret_violation);

#endif
