/*
 * Two times: how often a member renews its lease, and how long the voters gather renewals. Both
 * grow with the lease, but not beyond a limit. So with a lease of minutes, nodes join, leave and
 * learn of each other as fast as with a lease of seconds; only a silent member keeps its locks for
 * longer.
 */
#ifndef BASE_RHYTHM_H
#define BASE_RHYTHM_H

#include <stdint.h>

#define RHYTHM_INTERVAL_NS_MAX UINT64_C(1000000000)

/* The time between two renewals. */
static inline uint64_t rhythm_interval(uint64_t lease_ns)
{
	return lease_ns / 6 < RHYTHM_INTERVAL_NS_MAX ? lease_ns / 6 : RHYTHM_INTERVAL_NS_MAX;
}

/* The time for which the voters gather renewals for one entry of the log. */
static inline uint64_t rhythm_beat(uint64_t lease_ns)
{
	return rhythm_interval(lease_ns) / 2;
}

#endif
