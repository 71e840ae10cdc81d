/*
 * The lease clock: CLOCK_MONOTONIC_RAW, which is never slewed, plus the time for which the machine
 * was suspended, which is CLOCK_BOOTTIME less CLOCK_MONOTONIC. The three clocks cannot be read at
 * the same moment. If the process is stopped or the machine suspended between two readings, the sum
 * would be in the past, and a lease that is over would look valid; so readings that took too long
 * are repeated.
 */
#ifndef BASE_LEASE_CLOCK_H
#define BASE_LEASE_CLOCK_H

#include <stdint.h>

enum lease_clock_part { LEASE_CLOCK_BOOT, LEASE_CLOCK_MONOTONIC, LEASE_CLOCK_RAW };

/* Returns the lease clock in nanoseconds, late by a millisecond at most. `read` returns one of the
 * three clocks, in nanoseconds. */
uint64_t lease_clock_read(uint64_t (*read)(void *context, enum lease_clock_part part),
                          void *context);

#endif
