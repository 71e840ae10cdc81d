/*
 * Deadlines: a binary heap, the earliest first, and the smaller id first among equal ones, so that
 * the order is the same in every run.
 */
#ifndef NODE_TIMERS_H
#define NODE_TIMERS_H

#include <stddef.h>
#include <stdint.h>

/* A timer is embedded in the struct that it belongs to. While the timer is not set, its deadline is
 * NODE_NEVER. */
struct timer {
	uint64_t deadline;
	uint64_t id;
	uint32_t place; /* the index of this timer in the heap, from 1; 0: the timer is not set */
};

struct timers {
	struct timer **heap; /* the timers that are set, earliest first; indexed from 1 */
	size_t heap_size;
	uint32_t count;
};

/* Sets the timer, or changes its time; NODE_NEVER clears it. */
void timer_set(struct timers *timers, struct timer *timer, uint64_t deadline);
void timer_clear(struct timers *timers, struct timer *timer);
void timers_free(struct timers *timers);

/* Returns the earliest timer, or NULL. */
static inline struct timer *timers_first(const struct timers *timers)
{
	return timers->count != 0 ? timers->heap[1] : NULL;
}

#endif
