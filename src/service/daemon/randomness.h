/*
 * Random numbers that nobody can guess, from the system.
 */
#ifndef DAEMON_RANDOMNESS_H
#define DAEMON_RANDOMNESS_H

#include "must.h"

#include <stdint.h>
#include <sys/random.h>

/* Returns a number that is not 0. The context is not used. */
static inline uint64_t randomness_draw(void *context)
{
	uint64_t number = 0;

	(void)context;
	while (number == 0)
		must(getrandom(&number, sizeof(number), 0) == sizeof(number));
	return number;
}

#endif
