/*
 * Finds faults that can be left out. It tries large parts of them first, then smaller ones, then
 * single faults.
 *
 * This is not enough, because every fault that is left out changes the rest of the run. If a
 * violation needs a rare coincidence, it goes away with any fault before it. Then no fault can be
 * left out alone, although most are not needed. But every other set of faults is another chance for
 * the coincidence. So, when no part can be left out, sets of faults are drawn at random.
 */
#include "shrink.h"

#include "chance.h"
#include "memory.h"
#include "realm.h"
#include "team.h"

#include <stdlib.h>
#include <string.h>

enum {
	RUNS_MAX = 3000,
	/* How many random sets are tried in a row for each fault that is left, if few are left. */
	DRAWN_MAX = 10,
};

/* A run with some of the faults. */
struct trial {
	uint32_t only[ORDEAL_FAULTS_MAX];
	uint32_t only_count;
	struct ordeal_result result;
};

struct shrinking {
	struct ordeal_plan plan;
	const struct shrink_options *options;
	/* The result of the smallest set of faults so far with which the run fails. */
	struct ordeal_result *result;
	struct team team;
	struct trial *trials; /* the runs that are done at once: one for each thread */
	uint32_t trials_count;
	uint32_t runs;
};

static bool is_over(const struct shrinking *shrinking)
{
	return shrinking->runs == RUNS_MAX || *shrinking->options->interrupted;
}

/* Returns how many runs may be done at once, if `most` are wanted. */
static uint32_t room_for(const struct shrinking *shrinking, uint32_t most)
{
	uint32_t room = shrinking->options->threads;

	if (room > RUNS_MAX - shrinking->runs)
		room = RUNS_MAX - shrinking->runs;
	return room < most ? room : most;
}

static void do_trial(void *context, uint32_t member)
{
	struct shrinking *shrinking = context;
	struct ordeal_plan plan = shrinking->plan;

	if (member >= shrinking->trials_count)
		return;
	plan.only = shrinking->trials[member].only;
	plan.only_count = shrinking->trials[member].only_count;
	shrinking->options->run(shrinking->options->context, &plan,
	                        &shrinking->trials[member].result);
}

/* Does the first `count` trials. If some fail, takes the first of these, so that the result does
 * not depend on the number of threads. Returns its index, or `count` if none fails. */
static uint32_t do_trials(struct shrinking *shrinking, uint32_t count)
{
	const struct shrink_options *options = shrinking->options;
	uint32_t place = 0;

	shrinking->trials_count = count;
	team_run(&shrinking->team, do_trial, shrinking);
	while (place < count && !shrinking->trials[place].result.failed)
		place++;
	if (place < count)
		*shrinking->result = shrinking->trials[place].result;
	shrinking->runs += place < count ? place + 1 : count;
	if (options->progress != NULL)
		options->progress(options->context, shrinking->runs, RUNS_MAX,
		                  shrinking->result->stories_count);
	return place;
}

/* --- parts --- */

static void leave_out(const struct shrinking *shrinking, uint32_t first, uint32_t many,
                      struct trial *trial)
{
	const struct ordeal_result *result = shrinking->result;

	trial->only_count = 0;
	for (uint32_t i = 0; i < result->stories_count; i++) {
		if (i < first || i >= first + many)
			trial->only[trial->only_count++] = result->numbers[i];
	}
}

/* Leaves out parts of `many` faults wherever the run still fails without them. Returns true if any
 * was left out. */
static bool leave_out_parts(struct shrinking *shrinking, uint32_t many)
{
	const struct ordeal_result *result = shrinking->result;
	bool smaller = false;

	for (uint32_t first = 0; first < result->stories_count && !is_over(shrinking);) {
		uint32_t parts = (result->stories_count - first + many - 1) / many;
		uint32_t count = room_for(shrinking, parts);
		for (uint32_t i = 0; i < count; i++)
			leave_out(shrinking, first + i * many, many, &shrinking->trials[i]);
		uint32_t place = do_trials(shrinking, count);
		smaller |= place < count;
		first += place * many;
	}
	return smaller;
}

/* --- random sets --- */

/* Draws up to half of the faults, and leaves them out. */
static void leave_out_some(const struct shrinking *shrinking, uint32_t run, struct trial *trial)
{
	const struct ordeal_result *result = shrinking->result;
	struct chance chance = chance_stream(shrinking->plan.seed, STREAM_SHRINKING, run);
	uint32_t count = result->stories_count;
	uint32_t kept = count - (uint32_t)chance_between(&chance, 1, (count + 1) / 2);

	trial->only_count = 0;
	for (uint32_t i = 0; i < count; i++) {
		/* Keep this fault with the probability that gives `kept` faults in the end. */
		if (chance_below(&chance, count - i) < kept - trial->only_count)
			trial->only[trial->only_count++] = result->numbers[i];
	}
}

static bool leave_out_at_random(struct shrinking *shrinking)
{
	uint32_t faults = shrinking->result->stories_count;
	uint32_t left = faults > SHRINK_GOAL ? RUNS_MAX : faults * DRAWN_MAX;

	while (faults > 1 && left > 0 && !is_over(shrinking)) {
		uint32_t count = room_for(shrinking, left);
		for (uint32_t i = 0; i < count; i++)
			leave_out_some(shrinking, shrinking->runs + i, &shrinking->trials[i]);
		if (do_trials(shrinking, count) < count)
			return true;
		left -= count;
	}
	return false;
}

uint32_t shrink(const struct ordeal_plan *plan, const struct shrink_options *options,
                struct ordeal_result *result)
{
	struct shrinking shrinking = {.plan = *plan, .options = options, .result = result};
	bool smaller = true;

	shrinking.plan.trace = NULL;
	shrinking.plan.drawing = NULL;
	shrinking.trials = calloc(options->threads, sizeof(*shrinking.trials));
	memory_must(shrinking.trials != NULL);
	team_init(&shrinking.team, options->threads);
	/* After a pass that left something out, begin again with the largest parts. Two faults may
	 * cancel each other: then both can be left out together, but neither alone. */
	while (smaller) {
		smaller = false;
		for (uint32_t many = result->stories_count; many > 0; many /= 2)
			smaller |= leave_out_parts(&shrinking, many);
		if (!smaller)
			smaller = leave_out_at_random(&shrinking);
	}
	team_free(&shrinking.team);
	free(shrinking.trials);
	return shrinking.runs;
}
