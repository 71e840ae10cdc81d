/*
 * Random numbers: xoshiro256** (Blackman and Vigna), seeded by splitmix64. Only integers are used,
 * so that every build on every machine draws the same numbers.
 */
#ifndef CORE_RANDOM_H
#define CORE_RANDOM_H

#include <stdint.h>

struct random {
	uint64_t s[4];
};

void random_seed(struct random *random, uint64_t seed);
uint64_t random_next(struct random *random);

/* Returns a number that is uniform in 0..bound-1, without bias. `bound` must not be 0. */
uint64_t random_below(struct random *random, uint64_t bound);

/* Returns a number with an exponential distribution of the given mean, rounded down. The mean
 * must be below 2^52. Von Neumann's method needs comparisons only. */
uint64_t random_exponential(struct random *random, uint64_t mean);

#endif
