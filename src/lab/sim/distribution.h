/*
 * The distribution of a duration: constant:D, uniform:A,B or exp:M. Times are whole numbers of
 * millionths.
 */
#ifndef LAB_DISTRIBUTION_H
#define LAB_DISTRIBUTION_H

#include "problem.h"
#include "random.h"

#include <stdint.h>

enum distribution_kind { DISTRIBUTION_CONSTANT, DISTRIBUTION_UNIFORM, DISTRIBUTION_EXPONENTIAL };

struct distribution {
	enum distribution_kind kind;
	uint64_t a, b; /* the parameters: D, or A and B, or M */
};

enum { MILLION = 1000000 };

/* Parses a decimal below 10^9 with at most six digits after the point; *ret_millionths gets it in
 * millionths. Returns 0, or -1 if the text is no such decimal. */
int parse_decimal(const char *text, uint64_t *ret_millionths);

int distribution_parse(const char *text, const char *what, struct distribution *ret_distribution,
                       struct problem *problem);
uint64_t distribution_draw(const struct distribution *distribution, struct random *random);
uint64_t distribution_mean(const struct distribution *distribution);
/* Returns the delay that algorithms assume to be the longest when they set timers: the largest
 * possible value; or 10 M for exp:M, whose values are unbounded. */
uint64_t distribution_bound(const struct distribution *distribution);

#endif
