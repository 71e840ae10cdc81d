/*
 * The generator and the two distributions of random.h. A seed must always give the same numbers: a
 * change here would make every recorded seed worthless.
 */
#include "random.h"

#include "must.h"

#include <stdbool.h>

static uint64_t rotate_left(uint64_t x, unsigned bits)
{
	return (x << bits) | (x >> (64 - bits));
}

/* Returns the upper 64 bits of a product. It works on halves, because not every compiler has a
 * 128-bit type. */
static uint64_t multiply_high(uint64_t a, uint64_t b)
{
	uint64_t a_low = a & UINT32_MAX, a_high = a >> 32;
	uint64_t b_low = b & UINT32_MAX, b_high = b >> 32;
	uint64_t first = a_high * b_low + ((a_low * b_low) >> 32);
	uint64_t second = a_low * b_high + (first & UINT32_MAX);

	return a_high * b_high + (first >> 32) + (second >> 32);
}

static uint64_t next_splitmix(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

void random_seed(struct random *random, uint64_t seed)
{
	/* splitmix gives four different words, so they are never all zero. From a state of zeros
	 * xoshiro would only give zeros. */
	for (int i = 0; i < 4; i++)
		random->s[i] = next_splitmix(&seed);
}

uint64_t random_next(struct random *random)
{
	uint64_t *s = random->s;
	uint64_t result = rotate_left(s[1] * 5, 7) * 9;
	uint64_t t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotate_left(s[3], 45);
	return result;
}

/* Lemire, "Fast random integer generation in an interval", 2019. */
uint64_t random_below(struct random *random, uint64_t bound)
{
	must(bound > 0);

	uint64_t x = random_next(random);
	if (x * bound < bound) {
		/* The remainder of 2^64 divided by `bound`. Exactly this many values of x are
		 * refused, so that all results are equally likely. */
		uint64_t surplus = (0 - bound) % bound;
		while (x * bound < surplus)
			x = random_next(random);
	}
	return multiply_high(x, bound);
}

/*
 * Von Neumann, "Various techniques used in connection with random digits", 1951. Draw numbers while
 * each is smaller than the one before. A falling run that starts with u has an odd length with
 * probability e^-u. Runs of even length are refused. So a u that is kept has the exponential
 * distribution on the interval from 0 to one mean. A run is refused with probability 1/e, which is
 * also the probability that a whole mean passes without an event: each refusal adds one mean.
 */
uint64_t random_exponential(struct random *random, uint64_t mean)
{
	must(mean < UINT64_C(1) << 52);

	/* The sum overflows only after 4095 refusals in a row, which happens once in e^4095
	 * draws. */
	for (uint64_t refused = 0;; refused++) {
		uint64_t u = random_next(random);
		uint64_t last = u, next = random_next(random);
		bool odd = true;

		while (next < last) {
			odd = !odd;
			last = next;
			next = random_next(random);
		}
		if (odd)
			return refused * mean + multiply_high(u, mean);
	}
}
