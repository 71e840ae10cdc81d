/*
 * Checks an election: each arrangement with each set of initiators is one check, and the figures
 * are added up.
 */
#include "check.h"
#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ARRANGED_MAX = ELECTIONS_ARRANGED_MAX, SETS_MAX = ELECTIONS_SETS_MAX };

struct tally {
	const struct check_options *options;
	struct setup_words words;
	struct check_result *result;
	struct problem *problem;
	/* Bit i: place i + 1 is dead; there are bits for the first SETS_MAX places only. */
	uint32_t dead;
};

/* Keeps the violation with the shortest counterexample. */
static void take_violation(struct check_result *sum, struct check_result *one)
{
	if (one->verdict == VERDICT_HOLDS ||
	    (sum->verdict != VERDICT_HOLDS && one->path_count >= sum->path_count)) {
		check_result_free(one);
		return;
	}
	check_result_free(sum);
	sum->verdict = one->verdict;
	sum->what = one->what;
	sum->node = one->node;
	sum->path_count = one->path_count;
	sum->path_cycle = one->path_cycle;
	sum->scenario = one->scenario;
}

static void add_up(struct check_result *sum, struct check_result *one)
{
	sum->states += one->states;
	sum->transitions += one->transitions;
	sum->seconds += one->seconds;
	sum->depth = one->depth > sum->depth ? one->depth : sum->depth;
	sum->runs++;
	if (one->memory > sum->memory) {
		sum->memory = one->memory;
		sum->memory_states = one->states;
	}
	sum->bounded = sum->bounded && one->bounded;
	if (one->bounded && one->messages_max > sum->messages_max)
		sum->messages_max = one->messages_max;
	if (one->bounded && one->messages_min < sum->messages_min)
		sum->messages_min = one->messages_min;
	sum->complete = sum->complete && one->complete && one->verdict == VERDICT_HOLDS;
	sum->limit = one->limit;
	sum->interrupted = one->interrupted;
	take_violation(sum, one);
}

/* Runs one check and adds its result to the sum. Returns 1 to go on, 0 if a limit was reached,
 * or -1 and a problem. */
static int check_one(struct tally *tally)
{
	const struct check_options *limits = tally->options;
	struct check_result *sum = tally->result, one;
	struct check_options options = *limits;
	struct setup setup;

	if (setup_make(&tally->words, &setup, tally->problem) != 0)
		return -1;
	uint32_t *entries = calloc(setup.network.graph.nodes, sizeof(*entries));
	memory_must(entries != NULL);
	for (uint32_t i = 0; i < setup.electorate.initiators_count; i++)
		entries[setup.electorate.initiators[i] - 1] = 1;
	options.setup = &setup;
	options.entries = entries;
	/* The limit may become 0; then even the first state exceeds it. */
	options.states_max -= sum->states;
	if (options.seconds_max > 0)
		options.seconds_max -= sum->seconds;
	check_run(&options, &one);
	add_up(sum, &one);
	free(entries);
	setup_free(&setup);
	/* A limit may be reached exactly when a check ends. */
	if (sum->limit == NULL && sum->states > limits->states_max)
		sum->limit = "--max-states";
	else if (sum->limit == NULL && limits->seconds_max > 0 &&
	         sum->seconds >= limits->seconds_max)
		sum->limit = "--timeout";
	if (sum->limit == NULL)
		return 1;
	sum->complete = false;
	return 0;
}

/* Checks every non-empty set of initiators that are alive; or only the set that was given or, with
 * more than SETS_MAX nodes, the default. */
static int check_sets(struct tally *tally, uint32_t nodes)
{
	char list[SETS_MAX * 3 + 1];

	if (tally->words.initiators != NULL || nodes > SETS_MAX)
		return check_one(tally);
	for (uint32_t set = 1; set < 1u << nodes; set++) {
		size_t used = 0;
		if (set & tally->dead)
			continue;
		for (uint32_t i = 0; i < nodes; i++) {
			if (set & 1u << i)
				used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%u",
				                         used == 0 ? "" : ",", i + 1);
		}
		tally->words.initiators = list;
		int decided = check_one(tally);
		tally->words.initiators = NULL;
		if (decided != 1)
			return decided;
	}
	return 1;
}

/* Makes the next permutation in lexicographic order. Returns false after the last. */
static bool permute(uint32_t *numbers, uint32_t count)
{
	uint32_t i = count - 1, j = count - 1;

	while (i > 0 && numbers[i - 1] > numbers[i])
		i--;
	if (i == 0)
		return false;
	while (numbers[j] < numbers[i - 1])
		j--;
	uint32_t moved = numbers[j];
	numbers[j] = numbers[i - 1];
	numbers[i - 1] = moved;
	for (j = count - 1; i < j; i++, j--) {
		moved = numbers[i];
		numbers[i] = numbers[j];
		numbers[j] = moved;
	}
	return true;
}

/* Checks every arrangement up to rotation: identifier 1 stays at place 1. Checks only the one that
 * was given or, with more than ARRANGED_MAX nodes, the default. */
static int check_arrangements(struct tally *tally, uint32_t nodes)
{
	uint32_t numbers[ARRANGED_MAX] = {1, 2, 3, 4, 5};
	char list[ARRANGED_MAX * 3];

	if (tally->words.arrangement != NULL || nodes > ARRANGED_MAX)
		return check_sets(tally, nodes);
	do {
		size_t used = 0;
		for (uint32_t i = 0; i < nodes; i++)
			used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%u",
			                         i == 0 ? "" : ",", numbers[i]);
		tally->words.arrangement = list;
		int decided = check_sets(tally, nodes);
		tally->words.arrangement = NULL;
		if (decided != 1)
			return decided;
	} while (nodes > 2 && permute(numbers + 1, nodes - 1));
	return 1;
}

int check_elections(const struct setup_words *words, const struct check_options *options,
                    struct check_result *ret_result, struct problem *problem)
{
	struct tally tally = {
	        .options = options, .words = *words, .result = ret_result, .problem = problem};
	struct setup setup;

	if (setup_make(words, &setup, problem) != 0)
		return -1;
	uint32_t nodes = setup.network.graph.nodes;
	for (uint32_t i = 0; i < setup.electorate.crashed_count; i++) {
		if (setup.electorate.crashed[i] <= SETS_MAX)
			tally.dead |= 1u << (setup.electorate.crashed[i] - 1);
	}
	setup_free(&setup);
	*ret_result = (struct check_result){
	        .complete = true, .bounded = true, .messages_min = UINT64_MAX};
	return check_arrangements(&tally, nodes) < 0 ? -1 : 0;
}
