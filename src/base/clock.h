/*
 * The clocks of the system, in nanoseconds. Everything that reads one reads it here, except libbaton,
 * which stands alone.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

/* Counts while the machine is suspended: for leases, graces and every deadline of the service. */
uint64_t clock_boot_ns(void);
/* Stands still while the machine is suspended: how long work took. */
uint64_t clock_monotonic_ns(void);
/* Since 1970; may jump. */
uint64_t clock_real_ns(void);

/* The monotonic one. */
double clock_seconds(void);

#endif
