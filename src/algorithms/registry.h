/*
 * Every algorithm there is.
 */
#ifndef ALGORITHMS_REGISTRY_H
#define ALGORITHMS_REGISTRY_H

#include "algorithm.h"

/* In the order in which they are listed; NULL at the end. */
extern const struct algorithm *const algorithms[];

/* NULL if there is none of that name. */
const struct algorithm *algorithm_find(const char *name);

#endif
