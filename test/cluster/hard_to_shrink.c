/*
 * A cluster with a seeded bug that shows only by coincidence: the cluster does not heal if an epoch
 * has an unlucky number. In a run of it, soon no fault can be left out alone. Still the run must be
 * shrunk to a dozen faults.
 *
 * Any change of the engine gives a seed another run. So the first seed is taken, from SEED on, whose
 * run fails.
 *
 * 	hard_to_shrink atomic|raft SEED
 */
#include "candidates.h"
#include "must.h"
#include "registry.h"
#include "shrink.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* NOLINTBEGIN(bugprone-reserved-identifier): the linker's option --wrap makes these names. */
bool __real_candidates_choose(struct candidates *candidates, const struct agreed_state *state,
                              struct petitioners *petitioners, const struct wiring *wiring,
                              uint64_t now);
bool __wrap_candidates_choose(struct candidates *candidates, const struct agreed_state *state,
                              struct petitioners *petitioners, const struct wiring *wiring,
                              uint64_t now);

static bool is_unlucky(const struct agreed_state *state, const struct petitioner *petitioner)
{
	const struct name_record *record = state_name(state, entry_text_of(petitioner->name));

	return record != NULL && record->strikes >= 3 && record->strikes == state->epoch % 8;
}

/* The linker puts this function in the place of candidates_choose. It does not choose a name whose
 * count of removals equals the epoch modulo 8. */
bool __wrap_candidates_choose(struct candidates *candidates, const struct agreed_state *state,
                              struct petitioners *petitioners, const struct wiring *wiring,
                              uint64_t now)
{
	uint64_t aside[64];
	uint32_t count = petitioners->count;

	must(count <= 64);
	for (uint32_t i = 0; i < count; i++) {
		aside[i] = petitioners->list[i].aside_until;
		if (is_unlucky(state, &petitioners->list[i]))
			petitioners->list[i].aside_until = UINT64_MAX;
	}
	bool changed = __real_candidates_choose(candidates, state, petitioners, wiring, now);
	must(petitioners->count == count);
	for (uint32_t i = 0; i < count; i++) {
		if (petitioners->list[i].aside_until == UINT64_MAX)
			petitioners->list[i].aside_until = aside[i];
	}
	return changed;
}
/* NOLINTEND(bugprone-reserved-identifier) */

enum { SEEDS_MAX = 300 }; /* one in about 20 fails */

static void run(void *context, const struct ordeal_plan *plan, struct ordeal_result *ret_result)
{
	(void)context;
	ordeal_run(plan, ret_result);
}

int main(int argc, char **argv)
{
	static volatile sig_atomic_t interrupted;
	static struct ordeal_result result;
	struct shrink_options options = {.run = run, .threads = 1, .interrupted = &interrupted};

	if (argc != 3)
		return 2;
	struct ordeal_plan plan = {.seed = strtoull(argv[2], NULL, 10),
	                           .engine = strcmp(argv[1], "raft") == 0 ? ENGINE_RAFT
	                                                                  : ENGINE_ATOMIC,
	                           .algorithm = algorithm_find("neilsen"),
	                           .nodes = 5,
	                           .locks = 3,
	                           .time = UINT64_C(60000000000),
	                           .lease_ns = UINT64_C(3000000000),
	                           .kinds = FAULTS_USUAL};
	uint64_t end = plan.seed + SEEDS_MAX;
	ordeal_run(&plan, &result);
	while (!result.failed && ++plan.seed < end)
		ordeal_run(&plan, &result);
	if (!result.failed) {
		printf("no seed of %d fails\n", SEEDS_MAX);
		return 1;
	}
	uint32_t before = result.stories_count;
	uint32_t runs = shrink(&plan, &options, &result);
	printf("seed %" PRIu64 ": %s\n%" PRIu32 " of %" PRIu32 " faults are enough, after %" PRIu32
	       " runs\n",
	       plan.seed, result.wrong, result.stories_count, before, runs);
	return result.stories_count <= SHRINK_GOAL ? 0 : 1;
}
