#include "team.h"

#include "clock.h"
#include "memory.h"
#include "must.h"

#include <stdlib.h>

/* Spin for a while first, because most waits are shorter than it takes to fall asleep and be woken.
 * But a thread that waits longer should not keep others from the processor. */
enum { SPIN_NS = 50000, SPINS_AT_ONCE = 64 };

struct team_member {
	struct team *team;
	uint32_t number;
};

static void wait_until(struct team *team, atomic_uint *value, unsigned wanted)
{
	uint64_t end = clock_monotonic_ns() + SPIN_NS;

	do {
		for (int i = 0; i < SPINS_AT_ONCE; i++) {
			if (atomic_load_explicit(value, memory_order_acquire) == wanted)
				return;
		}
	} while (clock_monotonic_ns() < end);
	pthread_mutex_lock(&team->mutex);
	while (atomic_load(value) != wanted)
		pthread_cond_wait(&team->changed, &team->mutex);
	pthread_mutex_unlock(&team->mutex);
}

static void advance(struct team *team, atomic_uint *value)
{
	atomic_fetch_add(value, 1);
	/* Lock the mutex before the signal: a thread that has not seen the new value holds the
	 * mutex until it sleeps, so it cannot miss the signal. */
	pthread_mutex_lock(&team->mutex);
	pthread_cond_broadcast(&team->changed);
	pthread_mutex_unlock(&team->mutex);
}

static void *serve(void *argument)
{
	struct team_member *member = argument;
	struct team *team = member->team;

	for (unsigned round = 1;; round++) {
		wait_until(team, &team->begun, round);
		if (team->over)
			return NULL;
		team->work(team->context, member->number);
		advance(team, &team->ended);
	}
}

void team_init(struct team *team, uint32_t count)
{
	*team = (struct team){.count = count, .started = 1};
}

static void start(struct team *team)
{
	team->threads = calloc(team->count, sizeof(*team->threads));
	team->members = calloc(team->count, sizeof(*team->members));
	memory_must(team->threads != NULL && team->members != NULL);
	must(pthread_mutex_init(&team->mutex, NULL) == 0);
	must(pthread_cond_init(&team->changed, NULL) == 0);
	for (uint32_t i = 1; i < team->count; i++) {
		team->members[i] = (struct team_member){.team = team, .number = i};
		if (pthread_create(&team->threads[i], NULL, serve, &team->members[i]) != 0)
			break;
		team->started++;
	}
}

void team_free(struct team *team)
{
	if (team->threads == NULL)
		return;
	team->over = true;
	advance(team, &team->begun);
	for (uint32_t i = 1; i < team->started; i++)
		pthread_join(team->threads[i], NULL);
	pthread_mutex_destroy(&team->mutex);
	pthread_cond_destroy(&team->changed);
	free(team->threads);
	free(team->members);
}

void team_run(struct team *team, void (*work)(void *context, uint32_t member), void *context)
{
	if (team->count > 1 && team->threads == NULL)
		start(team);
	team->work = work;
	team->context = context;
	if (team->started > 1)
		advance(team, &team->begun);
	work(context, 0);
	for (uint32_t i = team->started; i < team->count; i++)
		work(context, i);
	if (team->started > 1) {
		team->rounds++;
		wait_until(team, &team->ended, team->rounds * (team->started - 1));
	}
}
