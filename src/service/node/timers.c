#include "timers.h"

#include "grow.h"
#include "node.h"

static bool before(const struct timer *a, const struct timer *b)
{
	return a->deadline < b->deadline || (a->deadline == b->deadline && a->id < b->id);
}

static void put(struct timers *timers, uint32_t place, struct timer *timer)
{
	timers->heap[place] = timer;
	timer->place = place;
}

/* Moves the timer from place i, which is empty, to where it belongs. */
static void sift(struct timers *timers, uint32_t i, struct timer *timer)
{
	for (; i > 1 && before(timer, timers->heap[i / 2]); i /= 2)
		put(timers, i, timers->heap[i / 2]);
	for (uint32_t child = 2 * i; child <= timers->count; child = 2 * i) {
		if (child < timers->count && before(timers->heap[child + 1], timers->heap[child]))
			child++;
		if (!before(timers->heap[child], timer))
			break;
		put(timers, i, timers->heap[child]);
		i = child;
	}
	put(timers, i, timer);
}

void timer_set(struct timers *timers, struct timer *timer, uint64_t deadline)
{
	timer_clear(timers, timer);
	if (deadline == NODE_NEVER)
		return;
	timer->deadline = deadline;
	timers->heap =
	        grow(timers->heap, &timers->heap_size, timers->count + 2UL, sizeof(struct timer *));
	sift(timers, ++timers->count, timer);
}

void timer_clear(struct timers *timers, struct timer *timer)
{
	if (timer->place == 0)
		return;
	struct timer *last = timers->heap[timers->count--];
	if (last != timer)
		sift(timers, timer->place, last);
	timer->place = 0;
	timer->deadline = NODE_NEVER;
}

void timers_free(struct timers *timers)
{
	free(timers->heap);
}
