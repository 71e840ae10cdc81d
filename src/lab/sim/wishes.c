#include "wishes.h"

#include "memory.h"
#include "random.h"

#include <stdlib.h>

struct wisher {
	struct random random;
	uint64_t time; /* the time of the last wish that was taken */
};

struct wishes {
	uint64_t interval;
	uint32_t nodes;
	struct wisher wishers[];
};

struct wishes *wishes_create(uint32_t nodes)
{
	struct wishes *wishes = calloc(1, sizeof(*wishes) + nodes * sizeof(*wishes->wishers));

	memory_must(wishes != NULL);
	wishes->nodes = nodes;
	return wishes;
}

void wishes_destroy(struct wishes *wishes)
{
	free(wishes);
}

/* Each node's generator is seeded with the node's number plus a number drawn from the seed. If
 * the seed itself were used, node 2 of seed 1 would have the same wishes as node 1 of seed 2. */
void wishes_start(struct wishes *wishes, uint64_t seed, uint64_t interval)
{
	struct random random;

	random_seed(&random, seed);
	uint64_t mixed = random_next(&random);
	wishes->interval = interval;
	for (uint32_t i = 0; i < wishes->nodes; i++) {
		random_seed(&wishes->wishers[i].random, mixed + i);
		wishes->wishers[i].time = 0;
	}
}

uint64_t wishes_take(struct wishes *wishes, uint32_t node)
{
	struct wisher *wisher = &wishes->wishers[node - 1];

	wisher->time += random_exponential(&wisher->random, wishes->interval);
	return wisher->time;
}
