#include "clock.h"

#include "lease_clock.h"

#include <stddef.h>
#include <time.h>

static uint64_t read_clock(clockid_t which)
{
	struct timespec now;

	clock_gettime(which, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t clock_boot_ns(void)
{
	return read_clock(CLOCK_BOOTTIME);
}

static uint64_t read_part(void *context, enum lease_clock_part part)
{
	static const clockid_t clocks[] = {
	        [LEASE_CLOCK_BOOT] = CLOCK_BOOTTIME,
	        [LEASE_CLOCK_MONOTONIC] = CLOCK_MONOTONIC,
	        [LEASE_CLOCK_RAW] = CLOCK_MONOTONIC_RAW,
	};

	(void)context;
	return read_clock(clocks[part]);
}

uint64_t clock_lease_ns(void)
{
	return lease_clock_read(read_part, NULL);
}

uint64_t clock_monotonic_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

uint64_t clock_real_ns(void)
{
	return read_clock(CLOCK_REALTIME);
}

double clock_seconds(void)
{
	return (double)clock_monotonic_ns() / 1e9;
}
