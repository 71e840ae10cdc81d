#include "lease_clock.h"

uint64_t lease_clock_read(uint64_t (*read)(void *context, enum lease_clock_part part),
                          void *context)
{
	const uint64_t apart_max = 1000000;

	for (;;) {
		uint64_t before = read(context, LEASE_CLOCK_BOOT);
		uint64_t monotonic = read(context, LEASE_CLOCK_MONOTONIC);
		uint64_t raw = read(context, LEASE_CLOCK_RAW);
		uint64_t after = read(context, LEASE_CLOCK_BOOT);
		if (after - before <= apart_max)
			return raw + before - monotonic;
	}
}
