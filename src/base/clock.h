/*
 * The clocks of the system, in nanoseconds. All code that reads a clock uses these, except
 * libbaton, which depends on nothing else here.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

/* Goes on while the machine is suspended: for leases, graces and every deadline of the service. */
uint64_t clock_boot_ns(void);
/* What members and voters go by: see lease_clock.h. */
uint64_t clock_lease_ns(void);
/* Stands still while the machine is suspended: for measuring how long work took. */
uint64_t clock_monotonic_ns(void);
/* The time since 1970; may jump. */
uint64_t clock_real_ns(void);

/* The monotonic clock, in seconds. */
double clock_seconds(void);

#endif
