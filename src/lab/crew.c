#include "crew.h"

#include "must.h"

#include <stdlib.h>

struct crew_member {
	struct crew *crew;
	uint32_t number;
};

static void *serve(void *argument)
{
	struct crew_member *member = argument;
	struct crew *crew = member->crew;

	for (;;) {
		pthread_barrier_wait(&crew->begin);
		if (crew->over)
			return NULL;
		crew->work(crew->context, member->number);
		pthread_barrier_wait(&crew->end);
	}
}

void crew_init(struct crew *crew, uint32_t count)
{
	*crew = (struct crew){.count = 1};
	if (count == 1)
		return;
	crew->threads = calloc(count, sizeof(*crew->threads));
	crew->members = calloc(count, sizeof(*crew->members));
	must(crew->threads != NULL && crew->members != NULL);
	must(pthread_barrier_init(&crew->begin, NULL, count) == 0);
	must(pthread_barrier_init(&crew->end, NULL, count) == 0);
	for (uint32_t i = 1; i < count; i++) {
		crew->members[i] = (struct crew_member){.crew = crew, .number = i};
		must(pthread_create(&crew->threads[i], NULL, serve, &crew->members[i]) == 0);
	}
	crew->count = count;
}

void crew_free(struct crew *crew)
{
	if (crew->count == 1)
		return;
	crew->over = true;
	pthread_barrier_wait(&crew->begin);
	for (uint32_t i = 1; i < crew->count; i++)
		pthread_join(crew->threads[i], NULL);
	pthread_barrier_destroy(&crew->begin);
	pthread_barrier_destroy(&crew->end);
	free(crew->threads);
	free(crew->members);
}

void crew_run(struct crew *crew, void (*work)(void *context, uint32_t member), void *context)
{
	crew->work = work;
	crew->context = context;
	if (crew->count > 1)
		pthread_barrier_wait(&crew->begin);
	work(context, 0);
	if (crew->count > 1)
		pthread_barrier_wait(&crew->end);
}
