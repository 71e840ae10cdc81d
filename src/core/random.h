/*
 * Chance, by integers only, so that every build and every machine draws the same: xoshiro256**
 * (Blackman and Vigna), seeded by splitmix64.
 */
#ifndef CORE_RANDOM_H
#define CORE_RANDOM_H

#include <stdint.h>

struct random {
	uint64_t s[4];
};

void random_seed(struct random *random, uint64_t seed);
uint64_t random_next(struct random *random);

/* Uniform in 0..bound-1, without bias; bound > 0. */
uint64_t random_below(struct random *random, uint64_t bound);

/* Exponential with the given mean, rounded down; the mean is below 2^52. Von Neumann's method:
 * comparisons only. */
uint64_t random_exponential(struct random *random, uint64_t mean);

#endif
