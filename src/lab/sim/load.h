/*
 * Parses the name of a load on the command line.
 */
#ifndef LAB_LOAD_H
#define LAB_LOAD_H

#include "sim.h"

/* Parses light, heavy, poisson:RATE or wishes:RATE. The rate is in millionths, and 0 for light
 * and heavy. Returns 0, or -1 and a problem. */
int parse_load(const char *text, enum load *ret_load, uint64_t *ret_rate, struct problem *problem);
/* Parses the load of a comparison in the same way, but refuses "wishes" and rates close to 0. */
int parse_compared_load(const char *text, enum load *ret_load, uint64_t *ret_rate,
                        struct problem *problem);

#endif
