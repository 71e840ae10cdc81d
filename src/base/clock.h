/*
 * The clocks of the system, in nanoseconds. All code that reads a clock uses these.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

/* Reads CLOCK_BOOTTIME, which goes on while the machine is suspended. */
uint64_t clock_boot_ns(void);
/* Reads the clock that members and voters use; see lease_clock.h. */
uint64_t clock_lease_ns(void);
/* Reads CLOCK_MONOTONIC, which stands still while the machine is suspended. It measures how long
 * work took. */
uint64_t clock_monotonic_ns(void);
/* Returns the time since 1970, which may jump. */
uint64_t clock_real_ns(void);

/* Returns the monotonic clock in seconds. */
double clock_seconds(void);

#endif
