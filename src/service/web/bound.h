/*
 * Computes the most messages that an entry takes, as the documents claim for an algorithm.
 */
#ifndef WEB_BOUND_H
#define WEB_BOUND_H

#include <stdint.h>

/* Returns a negative number if it is not known. */
double bound_messages(const char *algorithm, const char *topology, uint64_t members);

#endif
