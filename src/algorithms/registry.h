/*
 * The list of all algorithms.
 */
#ifndef ALGORITHMS_REGISTRY_H
#define ALGORITHMS_REGISTRY_H

#include "algorithm.h"

/* All algorithms, in the order in which they are listed. NULL at the end. */
extern const struct algorithm *const algorithms[];

/* Returns NULL if there is no algorithm of that name. */
const struct algorithm *algorithm_find(const char *name);

#endif
