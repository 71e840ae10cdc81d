/*
 * A histogram of times. Adding to it costs a few comparisons: no memory and no clock.
 */
#ifndef NODE_HISTOGRAM_H
#define NODE_HISTOGRAM_H

#include <stdint.h>

enum { HISTOGRAM_BOUNDS = 18 };

struct histogram {
	/* counts[i] is the number of times of at most histogram_bounds_us[i] microseconds and more
	 * than the bound before it. The last element counts all longer times. */
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
