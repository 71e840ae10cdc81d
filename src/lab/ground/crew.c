#include "crew.h"

#include "clock.h"
#include "memory.h"
#include "must.h"

#include <stdlib.h>

/* Most waits are shorter than it takes to fall asleep and be woken; but who waits longer should not
 * keep others from the processor. */
enum { SPIN_NS = 50000, SPINS_AT_ONCE = 64 };

struct crew_member {
	struct crew *crew;
	uint32_t number;
};

static void wait_until(struct crew *crew, atomic_uint *value, unsigned wanted)
{
	uint64_t end = clock_monotonic_ns() + SPIN_NS;

	do {
		for (int i = 0; i < SPINS_AT_ONCE; i++) {
			if (atomic_load_explicit(value, memory_order_acquire) == wanted)
				return;
		}
	} while (clock_monotonic_ns() < end);
	pthread_mutex_lock(&crew->mutex);
	while (atomic_load(value) != wanted)
		pthread_cond_wait(&crew->changed, &crew->mutex);
	pthread_mutex_unlock(&crew->mutex);
}

static void advance(struct crew *crew, atomic_uint *value)
{
	atomic_fetch_add(value, 1);
	/* Whoever has not seen it holds the mutex until it sleeps. */
	pthread_mutex_lock(&crew->mutex);
	pthread_cond_broadcast(&crew->changed);
	pthread_mutex_unlock(&crew->mutex);
}

static void *serve(void *argument)
{
	struct crew_member *member = argument;
	struct crew *crew = member->crew;

	for (unsigned round = 1;; round++) {
		wait_until(crew, &crew->begun, round);
		if (crew->over)
			return NULL;
		crew->work(crew->context, member->number);
		advance(crew, &crew->ended);
	}
}

void crew_init(struct crew *crew, uint32_t count)
{
	*crew = (struct crew){.count = count, .started = 1};
}

static void start(struct crew *crew)
{
	crew->threads = calloc(crew->count, sizeof(*crew->threads));
	crew->members = calloc(crew->count, sizeof(*crew->members));
	memory_must(crew->threads != NULL && crew->members != NULL);
	must(pthread_mutex_init(&crew->mutex, NULL) == 0);
	must(pthread_cond_init(&crew->changed, NULL) == 0);
	for (uint32_t i = 1; i < crew->count; i++) {
		crew->members[i] = (struct crew_member){.crew = crew, .number = i};
		if (pthread_create(&crew->threads[i], NULL, serve, &crew->members[i]) != 0)
			break;
		crew->started++;
	}
}

void crew_free(struct crew *crew)
{
	if (crew->threads == NULL)
		return;
	crew->over = true;
	advance(crew, &crew->begun);
	for (uint32_t i = 1; i < crew->started; i++)
		pthread_join(crew->threads[i], NULL);
	pthread_mutex_destroy(&crew->mutex);
	pthread_cond_destroy(&crew->changed);
	free(crew->threads);
	free(crew->members);
}

void crew_run(struct crew *crew, void (*work)(void *context, uint32_t member), void *context)
{
	if (crew->count > 1 && crew->threads == NULL)
		start(crew);
	crew->work = work;
	crew->context = context;
	if (crew->started > 1)
		advance(crew, &crew->begun);
	work(context, 0);
	for (uint32_t i = crew->started; i < crew->count; i++)
		work(context, i);
	if (crew->started > 1) {
		crew->rounds++;
		wait_until(crew, &crew->ended, crew->rounds * (crew->started - 1));
	}
}
