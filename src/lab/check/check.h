/*
 * The checker: every interleaving of a small system, breadth first. Each request, exit and delivery
 * is one step; entering is part of the step that makes it possible. Exact: a state is kept whole.
 */
#ifndef LAB_CHECK_H
#define LAB_CHECK_H

#include "model.h"
#include "states.h"

#include <jansson.h>
#include <signal.h>

/* Up to so many nodes all arrangements of an election are tried, and all sets of initiators. */
enum { ELECTIONS_ARRANGED_MAX = 5, ELECTIONS_SETS_MAX = 16 };

struct check_options {
	const struct setup *setup;
	const uint32_t *entries; /* [nodes]: how often a node may enter, or ENTRIES_UNLIMITED */
	bool lose_token;         /* any one token message at a time may be lost */
	uint64_t states_max;
	uint64_t memory_max; /* bytes */
	double seconds_max;  /* 0: no limit */
	uint32_t threads;    /* 1 to LANES_MAX */
	bool reduce;         /* elections: leave out steps that commute with those that remain */
	/* The search stops once this is not 0; may be NULL. */
	const volatile sig_atomic_t *interrupted;
	/* Called from time to time; may be NULL. */
	void (*progress)(const char *doing, uint64_t states, uint64_t depth, uint64_t memory,
	                 double seconds);
};

enum verdict_kind {
	VERDICT_HOLDS,
	VERDICT_MUTUAL_EXCLUSION, /* two are inside */
	VERDICT_DEADLOCK,         /* somebody waits, or is stuck leaving, and nothing can happen */
	VERDICT_STARVATION,       /* a fair cycle in which somebody waits for ever */
	VERDICT_INVARIANT,        /* of the algorithm, or one_token */
	VERDICT_BROKEN,           /* a step did what no step may do */
	VERDICT_UNIQUE_LEADER,    /* elections: two declare themselves, or one twice */
	VERDICT_AGREEMENT,        /* two know different leaders */
	VERDICT_TERMINATION,      /* it can go on for ever, or ends before all know the leader */
};

struct check_result {
	uint64_t states, transitions, depth;
	bool lowered;  /* states that differ by a shift of all numbers count as one */
	uint64_t runs; /* elections: arrangements times sets of initiators that were tried */
	uint64_t memory_states; /* how many states `memory` was needed for */
	bool complete;          /* every state was reached */
	const char *limit;      /* the limit that ended the search, or NULL */
	bool interrupted;       /* options.interrupted ended the search, and not a limit */
	enum verdict_kind verdict;
	const char *what; /* the violated invariant, or what the forbidden step did */
	uint32_t node;    /* the node that waits or broke the invariant; 0: no single node */
	bool bounded;     /* every run ends; otherwise the next two are not set */
	uint64_t messages_max, messages_min; /* most and fewest messages of a whole run */
	bool bypass_bounded;                 /* otherwise others may enter any number of times */
	uint64_t bypass_max; /* most entries of others from when a request is known to its entry */
	double seconds;
	uint64_t memory;
	size_t path_count; /* steps of the counterexample */
	size_t path_cycle; /* where the part of it begins that repeats for ever */
	char *scenario;    /* the counterexample as a scenario; NULL if nothing is violated */
};

void check_run(const struct check_options *options, struct check_result *ret_result);
/*
 * An election: every non-empty set of initiators and, up to five nodes, every arrangement up to
 * rotation, unless the words name one. The figures are sums. options->setup and options->entries
 * are ignored. 0, or -1 and a problem.
 */
int check_elections(const struct setup_words *words, const struct check_options *options,
                    struct check_result *ret_result, struct problem *problem);

void check_result_free(struct check_result *result);

/* What a result says about one property. A search that ended early, because of a limit or a
 * violation, has shown nothing about the other properties. */
enum finding { FINDING_UNDECIDED, FINDING_HOLDS, FINDING_VIOLATED };
/* VERDICT_STARVATION is decided only if no node's entries are bounded: nodes without entries left
 * cannot keep others waiting. */
enum finding check_finding(const struct check_options *options, const struct check_result *result,
                           enum verdict_kind property);

/*
 * Of an invariant that claims to be exact: in how many states it holds. False if it makes no such
 * claim, or the search says nothing about it: it is not complete, entries are bounded, tokens are
 * lost, or states were left out or taken together.
 */
bool check_permitted(const struct check_options *options, const struct check_result *result,
                     const struct invariant *invariant, uint64_t *ret_permitted);

json_t *check_report(const struct check_options *options, const struct check_result *result);

#endif
