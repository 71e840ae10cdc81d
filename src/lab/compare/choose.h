/*
 * Chooses an algorithm for a network and a load. Every mutual exclusion algorithm that can run on
 * the network is simulated on it. The one with the lowest product of messages for an entry and
 * message delays wins: half as many messages make up for twice the delay.
 */
#ifndef LAB_CHOOSE_H
#define LAB_CHOOSE_H

#include "compare.h"

#include <jansson.h>

struct choose_options {
	uint32_t nodes;
	const char *topology; /* the links that exist; NULL: all nodes are linked */
	bool light, heavy;    /* the loads to measure; neither: poisson */
	uint64_t rate;        /* the rate of poisson load, in millionths */
	uint64_t seed;
	uint32_t threads;
	void (*progress)(double part, const char *doing); /* called as in struct compare_options */
	void (*announce)(double messages);
};

/* The cost under one load: messages for an entry, and message delays (light and poisson: from
 * request to entry; heavy: from an exit to the next entry). Hops of a circulating token count as
 * messages even while nobody wants to enter. */
struct choose_cost {
	double messages, delay;
};

struct candidate {
	const struct compare_row *row;
	bool spanning; /* the algorithm runs on a spanning tree of the network */
	struct choose_cost light, heavy, poisson;
	/* The number of messages times the delay. If both light and heavy load are measured, the
	 * geometric mean of the two. */
	double cost;
	double bytes; /* bytes for an entry, summed over the loads; decides between equal costs */
};

struct refused {
	const struct algorithm *algorithm;
	const char *why;
};

struct choice {
	struct choose_options options;
	struct comparison comparison;
	struct compare_subject *subjects;
	char *spanning_tree; /* the spanning tree as a topology; NULL if no candidate needs it */
	struct candidate *candidates; /* sorted by cost, the best first */
	size_t candidates_count;
	struct refused *refused;
	size_t refused_count;
};

/* Returns 0 and a choice for choice_free, or -1 and what is wrong with the network. */
int choose_run(const struct choose_options *options, struct choice *ret_choice,
               struct problem *problem);
void choice_free(struct choice *choice);

/* Returns two sentences, which the caller frees: why the first candidate was chosen, and what
 * the second would cost. */
char *choice_reason(const struct choice *choice);
/* Lists what the first candidate assumes, as phrases. Returns how many there are, at most 8. */
size_t choice_assumptions(const struct choice *choice, const char *ret_phrases[8]);

json_t *choice_report(const struct choice *choice, const char *load);

#endif
