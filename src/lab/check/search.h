/*
 * The checker's search: every state that can be reached, breadth first.
 *
 * If every step leads to the next level, that order has each state after all that lead to it, and the
 * numbers of messages and of bypasses of all runs are known at once. Else, if every run ends, a second
 * pass goes through the states in such an order.
 *
 * Both passes go in rounds. Again and again each thread lists what can happen in some states of the
 * level, its own first, and then looks up what it found: many look-ups at once can be fetched from
 * memory ahead of time. All threads share one set of states; what they have to do alone, such as to
 * make its table larger, is done between rounds.
 */
#ifndef LAB_SEARCH_H
#define LAB_SEARCH_H

#include "check.h"
#include "model.h"
#include "states.h"
#include "team.h"

/* What is wrong, where. */
struct violation {
	enum verdict_kind verdict; /* VERDICT_HOLDS: nothing is */
	const char *what;
	uint32_t node;
	uint32_t state;       /* the last of the path */
	bool broke;           /* a step from there did it */
	struct action action; /* that step */
};

/* Room to look at a state as a whole. */
struct sight {
	const void **states;
	struct flight *flights;
	size_t flights_size;
};

/* Found in a round: a step from a state leads to a row with this hash. */
struct found {
	uint64_t hash;
	uint32_t from;
	uint32_t transition; /* its number; 0: a loss */
	uint32_t place;      /* of the message that it takes */
	bool passes;         /* somebody was bypassed on the way, or is by this step */
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
	bool bypassed; /* somebody, on the way there */
};

enum { PENDING_MAX = 16 };
/* Fewer states are not worth the while of several threads. */
enum { TOGETHER_LEAST = 512 };

struct worker {
	alignas(APART) uint32_t number;
	struct found *found; /* what is to be looked up */
	size_t found_count, found_size;
	uint32_t spent; /* actions that were followed in this round */
	struct pending pending[PENDING_MAX];
	uint8_t *next; /* a row */
	struct sight sight;
	/* Of its lane, what is left of the level; any thread may claim some. */
	pthread_mutex_t level_mutex;
	struct lane_cursor cursor, level_end;
	struct missing *missing; /* steps that have to be learned, which only one thread may do */
	size_t missing_count, missing_size;
	struct violation violation;
	uint64_t transitions;
	bool graded; /* every step so far led to the next level */
	/* What is learned of all runs. */
	uint32_t *ready; /* states all of whose predecessors are done */
	size_t ready_count, ready_size;
	uint64_t done;
	uint32_t messages_max, messages_min, bypass_max;
};

struct search {
	const struct check_options *options;
	struct model model;
	struct states states;
	struct team team;
	struct worker *workers;
	uint32_t start;
	uint32_t bypass_width; /* bytes of a counter of bypasses in a record */
	uint32_t budget;       /* how much a thread may follow in this round */
	uint64_t level_count;  /* states when the level began */
	uint64_t level_states; /* of the level itself */
	uint64_t depth;
	double begin;
	const char *limit; /* which one was reached */
	bool full;         /* a state beyond --max-states was found */
	bool graded;       /* every step so far led to the next level */
	bool ordering;     /* in the second pass */
	bool together;     /* all threads, not only the first, are at work in this round */
	struct violation violation;
};

void search_init(struct search *search, const struct check_options *options);
void search_free(struct search *search);
uint64_t search_memory(const struct search *search);
uint64_t search_transitions(const struct search *search);
double search_seconds(const struct search *search);

/* True: every state was seen, and nothing is wrong with any. Else there is a violation or a limit. */
bool search_explore(struct search *search);

/* Of all runs: do they end, and if so with how many messages, with how much bypass? After
 * search_explore; parents are gone afterwards. False: a limit was reached. */
struct run_bounds {
	bool bounded;
	uint64_t messages_max, messages_min, bypass_max;
};
bool search_bounds(struct search *search, struct run_bounds *ret_bounds);

/* For the second pass: a state all of whose predecessors are done; and a round that expands some of
 * these. */
void worker_put_ready(struct worker *worker, uint32_t state);
void search_order_some(struct search *search);

struct state_row search_row(const struct search *search, uint32_t state);
/* What can happen in a state, less what a reduction leaves out. */
void search_actions(const struct search *search, struct state_row row, struct actions *ret_actions);
/* The state behind one of these actions, or STATE_NONE if it was not yet found. */
uint32_t search_follow(struct search *search, struct state_row row, const struct action *action);

/* The limit that is reached if so many bytes more are taken, or NULL; search_interrupt if it is no
 * limit but ^C. */
extern const char search_interrupt[];
const char *search_limit(const struct search *search, uint64_t more_bytes);

/* Called now and then. */
void search_progress(const struct search *search, const char *doing);

/* Is something wrong with a state? (verdict.c) */
bool check_state(const struct model *model, struct state_row row, struct sight *sight,
                 struct violation *ret_violation);

#endif
