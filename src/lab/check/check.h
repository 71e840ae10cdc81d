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
	const uint32_t *entries; /* of each node, or ENTRIES_UNLIMITED */
	bool lose_token;
	uint64_t states_max;
	uint64_t memory_max; /* bytes */
	double seconds_max;
	uint32_t threads; /* 1 to LANES_MAX */
	bool reduce;      /* elections: leave out steps that commute with those that remain */
	const volatile sig_atomic_t *interrupted; /* not 0: enough; NULL: never */
	/* Called now and then, or NULL. */
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
	bool lowered;           /* numbers count by their differences only */
	uint64_t runs;          /* elections: arrangements and sets of initiators that were tried */
	uint64_t memory_states; /* the states that `memory` is for */
	bool complete;
	const char *limit; /* which one ended it, if it is not complete and nothing is violated */
	bool interrupted;  /* no limit, but ^C */
	enum verdict_kind verdict;
	const char *what;                    /* the invariant, or what was done */
	uint32_t node;                       /* who waits, or broke it */
	bool bounded;                        /* every run ends: the next two make sense */
	uint64_t messages_max, messages_min; /* of a complete run */
	bool bypass_bounded;
	uint64_t bypass_max;
	double seconds;
	uint64_t memory;
	size_t path_count; /* steps of the counterexample */
	size_t path_cycle; /* where the part of it begins that repeats for ever */
	char *scenario;    /* the counterexample as a scenario, to be freed; NULL if nothing is
	                      violated */
};

void check_run(const struct check_options *options, struct check_result *ret_result);
/*
 * An election: every non-empty set of initiators and, up to five nodes, every arrangement up to
 * rotation, unless the words say which. The figures are sums; setup and entries of the options are
 * not looked at. 0, or -1 and a problem.
 */
int check_elections(const struct setup_words *words, const struct check_options *options,
                    struct check_result *ret_result, struct problem *problem);

void check_result_free(struct check_result *result);

/*
 * A search that was cut short, by a limit or by something wrong, has shown nothing about the rest:
 * what a verdict says of a property.
 */
enum finding { FINDING_UNDECIDED, FINDING_HOLDS, FINDING_VIOLATED };
/* VERDICT_STARVATION is decided only where nobody's entries are bounded: who has no entries left
 * bypasses nobody. */
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
