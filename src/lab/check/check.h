/*
 * The checker tries every interleaving of a small system, breadth first. Each request, exit and
 * delivery is one step; entering is part of the step that makes it possible. The search is exact:
 * states are compared whole, not by their hashes.
 */
#ifndef LAB_CHECK_H
#define LAB_CHECK_H

#include "model.h"
#include "states.h"

#include <jansson.h>
#include <signal.h>

/* Up to these numbers of nodes the checker tries all arrangements of an election, and all sets
 * of initiators. */
enum { ELECTIONS_ARRANGED_MAX = 5, ELECTIONS_SETS_MAX = 16 };

struct check_options {
	const struct setup *setup;
	const uint32_t *entries; /* [nodes]: how often a node may enter, or ENTRIES_UNLIMITED */
	/* Messages with the token may be lost. If there were several tokens at the start, one is
	 * always left. */
	bool lose_token;
	struct faults faults; /* the faults that may happen, besides the loss of a token */
	enum sought sought;   /* mutual exclusion: which violations end the search */
	uint64_t states_max;
	uint64_t memory_max; /* how much memory the search may use, in bytes */
	double seconds_max;  /* how long the search may take; 0: no limit */
	uint32_t threads;    /* how many threads search, 1 to LANES_MAX */
	bool reduce;         /* elections: leave out steps that commute with those that remain */
	/* The search stops once this is not 0; may be NULL. */
	const volatile sig_atomic_t *interrupted;
	/* Called from time to time; may be NULL. */
	void (*progress)(const char *doing, uint64_t states, uint64_t depth, uint64_t memory,
	                 double seconds);
};

enum verdict_kind {
	VERDICT_HOLDS,
	VERDICT_MUTUAL_EXCLUSION, /* two nodes are inside */
	VERDICT_DEADLOCK,         /* a node waits, or is stuck leaving, and nothing can happen */
	VERDICT_STARVATION,       /* there is a fair cycle in which a node waits without end */
	VERDICT_INVARIANT,        /* an invariant of the algorithm, or one_token, is broken */
	VERDICT_BROKEN,           /* a step broke the contract between algorithm and driver */
	/* elections: two places declare themselves the leader, or one does so twice. */
	VERDICT_UNIQUE_LEADER,
	VERDICT_AGREEMENT, /* elections: two places know different leaders */
	/* elections: a run may go on without end, or ends before all know the leader */
	VERDICT_TERMINATION,
};

struct check_result {
	uint64_t states, transitions, depth;
	bool lowered; /* states that differ by a shift of all numbers count as one */
	/* Elections: how many pairs of an arrangement and a set of initiators were tried. */
	uint64_t runs;
	uint64_t memory_states; /* how many states were found in the search that needed `memory` */
	bool complete;          /* every state was reached */
	const char *limit;      /* the limit that ended the search, or NULL */
	bool interrupted;       /* options.interrupted ended the search, and not a limit */
	enum verdict_kind verdict;
	const char *what; /* the name of what is violated; VERDICT_BROKEN: what the step did */
	uint32_t node;    /* the node that waits or broke the invariant; 0: no single node */
	/* Every run ends; otherwise messages_max and messages_min are not set. */
	bool bounded;
	uint64_t messages_max, messages_min; /* most and fewest messages of a whole run */
	/* There is a greatest bypass. If not, others may enter any number of times. */
	bool bypass_bounded;
	/* The most entries of other nodes between the moment when a node's request is known and the
	 * node's own entry. */
	uint64_t bypass_max;
	double seconds;
	uint64_t memory;   /* how many bytes the search needed; elections: the largest search */
	size_t path_count; /* how many steps the counterexample has */
	/* If a part of the counterexample repeats without end: the index of its first step. */
	size_t path_cycle;
	char *scenario; /* the counterexample as a scenario; NULL if nothing is violated */
	/* Bit t: the faults concern messages of type t, but no such message was ever sent. */
	uint64_t never_sent;
};

void check_run(const struct check_options *options, struct check_result *ret_result);
/*
 * Checks an election. Up to ELECTIONS_SETS_MAX nodes, tries every non-empty set of initiators; up
 * to ELECTIONS_ARRANGED_MAX nodes, also every arrangement up to rotation. If the words name a set
 * or an arrangement, only that one is tried. The figures are sums over all of these. options->setup
 * and options->entries are ignored. Returns 0, or -1 and a problem.
 */
int check_elections(const struct setup_words *words, const struct check_options *options,
                    struct check_result *ret_result, struct problem *problem);

void check_result_free(struct check_result *result);

/* A finding is what a result says about one property. A search that ended early, because of a limit
 * or a violation, has shown nothing about the other properties. */
enum finding { FINDING_UNDECIDED, FINDING_HOLDS, FINDING_VIOLATED };
/* VERDICT_STARVATION is decided only if no node's entries are bounded: nodes without entries left
 * cannot keep others waiting. */
enum finding check_finding(const struct check_options *options, const struct check_result *result,
                           enum verdict_kind property);

/*
 * Some invariants claim to be exact: they hold in all states that can be reached and in no others.
 * Writes in how many states such an invariant holds. Returns false if the invariant does not claim
 * that, or if this search cannot decide it, because it is not complete, entries are bounded, tokens
 * may be lost, or states were left out or merged.
 */
bool check_permitted(const struct check_options *options, const struct check_result *result,
                     const struct invariant *invariant, uint64_t *ret_permitted);

json_t *check_report(const struct check_options *options, const struct check_result *result);

#endif
