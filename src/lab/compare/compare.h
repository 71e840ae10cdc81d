/*
 * Compares all algorithms on the same work. Each is simulated under light and heavy load, elections
 * with many arrangements, and the measurements are compared with what the documents claim
 * (claims.h). Threads share the work; the result does not depend on their number.
 */
#ifndef LAB_COMPARE_H
#define LAB_COMPARE_H

#include "claims.h"
#include "sim.h"

#include <jansson.h>
#include <stdio.h>

/* Beyond these limits a comparison would take too much memory and time: under heavy load all
 * nodes ask all others at once. */
enum { COMPARE_NODES_MAX = 1024, COMPARE_ENTRIES_MAX = 1000000 };

/* One thing to compare: an algorithm, with at most one parameter, on a topology. */
struct compare_subject {
	const struct algorithm *algorithm;
	const char *parameter; /* a parameter of the algorithm as NAME=VALUE, or NULL */
	const char *topology;  /* the topology as text; NULL: the best for the algorithm */
};

struct compare_options {
	const struct compare_subject *subjects;
	size_t subjects_count;
	const uint32_t *nodes; /* the numbers of nodes to compare at, increasing */
	size_t nodes_count;
	/* Sizes above this one are for elections only; 0: all sizes are for all algorithms. */
	uint32_t exclusion_nodes_max;
	bool light, heavy;
	/* Leave out work that only claims need: extremes, first requests, losses. */
	bool means_only;
	const uint64_t *rates; /* rates of poisson load to try, in millionths */
	size_t rates_count;
	uint32_t rates_nodes; /* the only size at which rates are tried; 0: at all sizes */
	uint64_t entries;     /* how many critical sections each run has */
	uint64_t seed_first, seed_last;
	uint32_t threads;
	/* Called by one thread at a time; may be NULL. `part` is how much is done, from 0 to 1;
	 * `doing` names one of the jobs that are running. */
	void (*progress)(double part, const char *doing);
	/* Called once before the work with an estimate of the messages that it will take; may be
	 * NULL. */
	void (*announce)(double messages);
};

/* A mean over `count` samples, and its standard error. */
struct compare_mean {
	uint64_t count;
	double mean, error;
};

/* The measurements under one load. A message takes one unit of time, and so does a critical
 * section. The means leave out a warm-up. If `messages.count` is 0, so is everything else. */
struct compare_load {
	double rate; /* the rate of poisson load, otherwise 0 */
	/* Messages for an entry; the error is NAN if it is not known. */
	struct compare_mean messages;
	double bytes; /* bytes for an entry, mean */
	double idle;  /* messages for an entry while no node wanted to enter, mean */
	/* Times from an exit to the next entry, in message delays; NAN if no node waited at any
	 * exit. */
	double sync_mean, sync_max;
	double response_mean, response_max;
	double asked_time, token_time; /* light load: see LIGHT_ASKED_TIME and LIGHT_TOKEN_TIME */
	uint64_t bypass_max;
	/* Light load: fewest and most messages for an entry, including runs in which delays
	 * vary. */
	struct sim_entry_messages entry;
};

/* The measurements of an election over several arrangements. Means are over the random ones, one
 * for each seed. */
struct compare_elections {
	struct compare_mean messages; /* messages to elect, mean over random arrangements */
	struct range messages_range;  /* fewest and most messages to elect, over all arrangements */
	struct range announcement;
	double bytes; /* bytes for an election, mean over the random arrangements */
	double time_mean, time_max;
};

enum claim_verdict {
	CLAIM_HELD,
	CLAIM_VIOLATED,
	CLAIM_REFUTED, /* the claim is known to be wrong: claim->refuted says why */
	/* The claim does not hold, but the document means something else: claim->other says why. */
	CLAIM_OTHER,
	/* This comparison cannot decide the claim: the claim is about another load, there were too
	 * few entries, or the sizes are too close together. */
	CLAIM_UNMEASURED,
};

struct compare_verdict {
	const struct paper_claim *claim;
	double claimed, measured;
	enum claim_verdict verdict;
};

/* The measurements of one subject at one size. */
struct compare_row {
	const struct compare_subject *subject;
	const char *topology; /* the topology as given, or the algorithm's default */
	uint32_t nodes;
	uint64_t edges;
	/* The sizes of the smallest and the largest committee; 0 if no claim needs them. */
	uint32_t committee_min, committee_max;
	double diameter; /* the diameter of the graph; NAN if it is not known */
	bool fifo;
	struct compare_load light, heavy;
	/* Messages for an entry under heavy load with delays that vary; 0 if no claim needs it. */
	struct compare_mean heavy_varied;
	/* The measurements for each rate that was tried at this size. */
	struct compare_load *poisson;
	size_t poisson_count;
	struct compare_mean first_centre,
	        first_leaf;       /* see FIRST_CENTRE_MEAN; 0 if no claim needs it */
	struct range regenerated; /* hops until a lost token is replaced; see REGENERATED_MAX */
	/* Elections in which all begin, and in which one begins. */
	struct compare_elections all, one;
	double state_mean;  /* the size of a node's state in bytes, mean over the nodes */
	uint64_t state_max; /* the size of the largest state of a node, in bytes */
	/* The size of the largest message that carries the token (0: there is no token), and of the
	 * largest that does not. */
	uint64_t token_bytes, request_bytes;
	const char *violation; /* the violation that a run found, or NULL */
	struct compare_verdict *verdicts;
	size_t verdicts_count;
};

struct compare_left_out {
	const struct compare_subject *subject;
	uint32_t nodes;
	/* The kind of graph that the algorithm needs, if the topology is not of this kind; or
	 * GRAPH_NONE. */
	enum graph_class needs;
	char *why;
};

struct comparison {
	/* A copy of the options; the caller owns what it points to. */
	struct compare_options options;
	/* The measurements, sorted by size, then in the order of the subjects. */
	struct compare_row *rows;
	size_t rows_count;
	struct compare_left_out *left_out;
	size_t left_out_count;
	/* The number of claims with each verdict: of all claims, and of our own among them. */
	size_t verdict_counts[CLAIM_UNMEASURED + 1];
	size_t rule_counts[CLAIM_UNMEASURED + 1];
	bool violated; /* a claim that ought to hold does not, or a run went wrong */
};

/* Returns the subjects for some algorithms, in an array that the caller frees. Each algorithm
 * gives a subject, and another one for every parameter that a claim is about, unless that
 * variant is compared only on request. If `parameters` has a parameter for an algorithm, that
 * variant is its only subject. `topology` applies to all subjects and may be NULL. */
struct compare_subject *compare_subjects(const struct algorithm *const *algorithms,
                                         const char *const *parameters, size_t count,
                                         const char *topology, size_t *ret_count);

/* Runs the comparison. It leaves out subjects at sizes at which they cannot run. The caller
 * frees the result with comparison_free. */
void compare_run(const struct compare_options *options, struct comparison *ret_comparison);
void comparison_free(struct comparison *comparison);

/* Fills in the verdicts. compare_run calls this. */
void compare_judge(struct comparison *comparison);
/* Returns the measured value of a quantity, or NAN if it was not measured. */
double compare_measured(const struct compare_row *row, enum quantity quantity);

const char *verdict_name(enum claim_verdict verdict);

/* Counts the verdicts of a row by kind, either for the claims of documents or for our own. */
void compare_count(const struct compare_row *row, bool of_documents,
                   size_t ret_counts[CLAIM_UNMEASURED + 1]);

/* Returns a line about a claim that failed: what it says, at which sizes it failed, and why. The
 * caller frees it. Returns NULL if the line for a smaller size has said so already. */
char *compare_failure_text(const struct comparison *comparison, size_t row_index,
                           size_t verdict_index);
/* Returns a line about the subjects that could not run for the same reason, and at which sizes.
 * The caller frees it. Returns NULL if an earlier line has said so already. */
char *compare_left_out_text(const struct comparison *comparison, size_t index);

/* Return the comparison as one JSON object, and write it as CSV: a line of column names, then a
 * line for each row. */
json_t *compare_report(const struct comparison *comparison);
void compare_write_csv(const struct comparison *comparison, FILE *file);

/* Returns the claims about some algorithms as JSON. Nothing is measured. */
json_t *compare_report_claims(const struct algorithm *const *algorithms, size_t count);

#endif
