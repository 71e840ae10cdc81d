/*
 * A histogram of times. Adding a time costs a few comparisons, no allocation and no reading of a
 * clock.
 */
#ifndef NODE_HISTOGRAM_H
#define NODE_HISTOGRAM_H

#include <stdint.h>

enum { HISTOGRAM_BOUNDS = 18 };

struct histogram {
	/* counts[i] counts the times of at most histogram_bounds_us[i] microseconds that are longer
	 * than the bound before it. The last element counts all that are longer than the last
	 * bound. */
	uint64_t counts[HISTOGRAM_BOUNDS + 1];
	uint64_t sum_ns;
};

/* The bounds, in microseconds, from 100 us to an hour. */
extern const uint64_t histogram_bounds_us[HISTOGRAM_BOUNDS];

static inline void histogram_add(struct histogram *histogram, uint64_t ns)
{
	unsigned i = 0;

	while (i < HISTOGRAM_BOUNDS && ns > histogram_bounds_us[i] * 1000)
		i++;
	histogram->counts[i]++;
	histogram->sum_ns += ns;
}

#endif
