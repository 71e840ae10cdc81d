/*
 * All algorithms on the same work: each is simulated under light and heavy load, elections with
 * many arrangements, and what is measured is judged by what the documents claim (claims.h). The
 * work is shared among threads; the result does not depend on how many there are.
 */
#ifndef LAB_COMPARE_H
#define LAB_COMPARE_H

#include "claims.h"
#include "sim.h"

#include <jansson.h>
#include <stdio.h>

/* Beyond these a comparison takes more memory and hours than anybody has: all nodes ask all others
 * at once. */
enum { COMPARE_NODES_MAX = 1024, COMPARE_ENTRIES_MAX = 1000000 };

/* What is compared: an algorithm with at most one parameter, on a topology. */
struct compare_subject {
	const struct algorithm *algorithm;
	const char *parameter; /* NAME=VALUE, or NULL */
	const char *topology;  /* NULL: the best for the algorithm */
};

struct compare_options {
	const struct compare_subject *subjects;
	size_t subjects_count;
	const uint32_t *nodes; /* sizes, increasing */
	size_t nodes_count;
	uint32_t exclusion_nodes_max; /* larger sizes are for elections only; 0: all for all */
	bool light, heavy;
	bool means_only; /* no work that only claims ask for: extremes, first requests, losses */
	const uint64_t *rates; /* poisson, in millionths */
	size_t rates_count;
	uint32_t rates_nodes; /* the only size at which they are tried; 0: at all */
	uint64_t entries;     /* of each run */
	uint64_t seed_first, seed_last;
	uint32_t threads;
	/* Called by one thread at a time, or NULL: how much is done, from 0 to 1, and a part of what is
	 * being done, in words. */
	void (*progress)(double part, const char *doing);
	/* Called once before the work, or NULL: about how many messages it will take. */
	void (*announce)(double messages);
};

/* A mean of so many; `error` is how far it is off by chance, typically (the standard error). */
struct compare_mean {
	uint64_t count;
	double mean, error;
};

/*
 * One load. A message takes one unit of time, and so does a critical section. What happens before
 * the run has got going is left out of the means. Everything is 0 if `messages.count` is.
 */
struct compare_load {
	double rate;                  /* of poisson, else 0 */
	struct compare_mean messages; /* for an entry; the error is NAN where it is not known */
	double bytes;                 /* for an entry, mean */
	double idle;                  /* messages for an entry while nobody wanted in, mean */
	double sync_mean, sync_max;   /* in message delays; NAN if nobody waited at any exit */
	double response_mean, response_max;
	double asked_time, token_time; /* light load: see LIGHT_ASKED_TIME */
	uint64_t bypass_max;
	struct sim_entry_messages entry; /* light load: extremes, with delays that vary, too */
};

/* Elections in several arrangements; the means are those of the random ones, one for each seed. */
struct compare_elections {
	struct compare_mean messages; /* to elect */
	struct range messages_range;  /* of all arrangements */
	struct range announcement;
	double bytes; /* for an election, mean of the random ones */
	double time_mean, time_max;
};

enum claim_verdict {
	CLAIM_HELD,
	CLAIM_VIOLATED,
	CLAIM_REFUTED,    /* does not hold, and is known not to: claim->refuted says why */
	CLAIM_OTHER,      /* does not hold, but what was run is not what the document speaks of:
	                     claim->other says why */
	CLAIM_UNMEASURED, /* not by this work: another load, too few entries, sizes too close */
};

struct compare_verdict {
	const struct paper_claim *claim;
	double claimed, measured;
	enum claim_verdict verdict;
};

/* One subject at one size. */
struct compare_row {
	const struct compare_subject *subject;
	const char *topology; /* as given, or the algorithm's */
	uint32_t nodes;
	uint64_t edges;
	uint32_t committee_min, committee_max; /* 0 if no claim asks */
	double diameter;                       /* NAN if not known */
	bool fifo;
	struct compare_load light, heavy;
	struct compare_mean heavy_varied; /* messages for an entry; 0 if no claim asks */
	struct compare_load *poisson;     /* for each rate that was tried at this size */
	size_t poisson_count;
	struct compare_mean first_centre,
	        first_leaf;                /* see FIRST_CENTRE_MEAN; 0 if no claim asks */
	struct range regenerated;          /* hops; see REGENERATED_MAX */
	struct compare_elections all, one; /* all begin, one begins */
	double state_mean;                 /* bytes of a node */
	uint64_t state_max, token_bytes, request_bytes; /* token_bytes is 0 without a token */
	const char *violation;                          /* of a simulated run; or NULL */
	struct compare_verdict *verdicts;
	size_t verdicts_count;
};

struct compare_left_out {
	const struct compare_subject *subject;
	uint32_t nodes;
	enum graph_class needs; /* which the topology that was asked for is not; or GRAPH_NONE */
	char *why;
};

struct comparison {
	struct compare_options options; /* its pointers are the caller's */
	struct compare_row *rows;       /* by size, then in the order of the subjects */
	size_t rows_count;
	struct compare_left_out *left_out;
	size_t left_out_count;
	size_t verdict_counts[CLAIM_UNMEASURED + 1];
	size_t rule_counts[CLAIM_UNMEASURED + 1]; /* of these, on what no document claims */
	bool violated; /* a claim that ought to hold does not, or a run went wrong */
};

/*
 * The subjects for some algorithms: each, and each again with every parameter that a claim speaks
 * of and that is not compared apart; or, where `parameters` is not NULL and has one, with that alone. An array to be freed;
 * `topology` is that of all, or NULL.
 */
struct compare_subject *compare_subjects(const struct algorithm *const *algorithms,
                                         const char *const *parameters, size_t count,
                                         const char *topology, size_t *ret_count);

/* A subject that cannot run at a size is left out. To be freed with comparison_free. */
void compare_run(const struct compare_options *options, struct comparison *ret_comparison);
void comparison_free(struct comparison *comparison);

/* Fills in the verdicts: part of compare_run. */
void compare_judge(struct comparison *comparison);
/* NAN if it was not measured. */
double compare_measured(const struct compare_row *row, enum quantity quantity);

const char *verdict_name(enum claim_verdict verdict);

/* The verdicts of a row, on what documents claim or on what follows from the rules, by their kinds. */
void compare_count(const struct compare_row *row, bool of_documents,
                   size_t ret_counts[CLAIM_UNMEASURED + 1]);

/* A claim that failed: what it says, at which sizes it failed and why; a line to be freed. NULL if it
 * was told at a smaller size. */
char *compare_failure_text(const struct comparison *comparison, size_t row_index,
                           size_t verdict_index);
/* Who could not run, at which sizes, and why, with all that have the same reason; NULL if it was told
 * already. */
char *compare_left_out_text(const struct comparison *comparison, size_t index);

/* The whole as one object; and as a line for each row behind a line of names. */
json_t *compare_report(const struct comparison *comparison);
void compare_write_csv(const struct comparison *comparison, FILE *file);

/* What is claimed of some algorithms, whatever the network: nothing is measured. */
json_t *compare_report_claims(const struct algorithm *const *algorithms, size_t count);

#endif
