/*
 * Which algorithm for a network and a load? Every algorithm of mutual exclusion that the network
 * allows is simulated on it, and the least product of messages for an entry and message delays
 * wins: half the messages are worth twice the delay.
 */
#ifndef LAB_CHOOSE_H
#define LAB_CHOOSE_H

#include "compare.h"

#include <jansson.h>

struct choose_options {
	uint32_t nodes;
	const char *topology; /* the links that there are; NULL: all */
	bool light, heavy;    /* neither: poisson */
	uint64_t rate;        /* of poisson, in millionths */
	uint64_t seed;
	uint32_t threads;
	void (*progress)(double part, const char *doing); /* as those of a comparison */
	void (*announce)(double messages);
};

/* What a load costs: messages for an entry, and message delays (light and poisson: from request to
 * entry; heavy: from an exit to the next entry). Hops of a token that nobody wants are messages. */
struct choose_cost {
	double messages, delay;
};

struct candidate {
	const struct compare_row *row;
	bool spanning; /* on a spanning tree of the network */
	struct choose_cost light, heavy, poisson;
	double cost;  /* the product; of light and heavy load the geometric mean */
	double bytes; /* for an entry, the sum of the loads: the fewer, of two that cost the same */
};

struct refused {
	const struct algorithm *algorithm;
	const char *why;
};

struct choice {
	struct choose_options options;
	struct comparison comparison;
	struct compare_subject *subjects;
	char *spanning_tree;          /* as a topology; NULL if nobody needs it */
	struct candidate *candidates; /* the best first */
	size_t candidates_count;
	struct refused *refused;
	size_t refused_count;
};

/* 0 and a choice to be freed, or -1 and what is wrong with the network. */
int choose_run(const struct choose_options *options, struct choice *ret_choice,
               struct problem *problem);
void choice_free(struct choice *choice);

/* Two sentences: why the first candidate, and what the second would cost. To be freed. */
char *choice_reason(const struct choice *choice);
/* What the first candidate takes for granted, a phrase each; returns how many, at most 8. */
size_t choice_assumptions(const struct choice *choice, const char *ret_phrases[8]);

json_t *choice_report(const struct choice *choice, const char *load);

#endif
