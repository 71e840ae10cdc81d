/*
 * How long something lasts: constant:D, uniform:A,B or exp:M. Times are whole millionths.
 */
#ifndef LAB_DISTRIBUTION_H
#define LAB_DISTRIBUTION_H

#include "problem.h"
#include "random.h"

#include <stdint.h>

enum distribution_kind { DISTRIBUTION_CONSTANT, DISTRIBUTION_UNIFORM, DISTRIBUTION_EXPONENTIAL };

struct distribution {
	enum distribution_kind kind;
	uint64_t a, b; /* D; or A and B; or M */
};

enum { MILLION = 1000000 };

/* A decimal with at most six digits after the point, below a thousand million, in millionths. 0,
 * or -1 without a problem. */
int parse_decimal(const char *text, uint64_t *ret_millionths);

int distribution_parse(const char *text, const char *what, struct distribution *ret_distribution,
                       struct problem *problem);
uint64_t distribution_draw(const struct distribution *distribution, struct random *random);
uint64_t distribution_mean(const struct distribution *distribution);
/* What a timer takes for the bound on a delay: the largest; of exp:M, which has none, 10 M. */
uint64_t distribution_bound(const struct distribution *distribution);

#endif
