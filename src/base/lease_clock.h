/*
 * The clock of leases: CLOCK_MONOTONIC_RAW, which nobody slews, and the time for which the machine
 * was suspended, which is what CLOCK_BOOTTIME is ahead of CLOCK_MONOTONIC. The three cannot be read
 * at once, and the process may be stopped, or the machine suspended, between two of them: then the
 * sum would be in the past, and a lease that is over would look valid.
 */
#ifndef BASE_LEASE_CLOCK_H
#define BASE_LEASE_CLOCK_H

#include <stdint.h>

enum lease_clock_part { LEASE_CLOCK_BOOT, LEASE_CLOCK_MONOTONIC, LEASE_CLOCK_RAW };

/* Returns the lease clock in nanoseconds, at most a millisecond behind. `read` returns one of the
 * clocks, in nanoseconds. */
uint64_t lease_clock_read(uint64_t (*read)(void *context, enum lease_clock_part part),
                          void *context);

#endif
