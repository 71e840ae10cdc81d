#include "electorate.h"

#include "memory.h"
#include "random.h"

#include <stdlib.h>
#include <string.h>

static int compare_numbers(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

static int are_distinct(const uint32_t *numbers, uint32_t count, struct problem *problem)
{
	uint32_t *sorted = malloc(count * sizeof(*sorted));
	int result = 0;

	memory_must(sorted != NULL);
	memcpy(sorted, numbers, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), compare_numbers);
	for (uint32_t i = 1; i < count && result == 0; i++) {
		if (sorted[i] == sorted[i - 1])
			result = problem_set(problem, "arrangement: the identifier %u occurs twice",
			                     sorted[i]);
	}
	free(sorted);
	return result;
}

/* Assigns the identifiers to the places of an election. */
static int arrange(const struct setup_words *words, struct setup *setup, struct problem *problem)
{
	struct electorate *electorate = &setup->electorate;
	const char *text = words->arrangement != NULL ? words->arrangement : "increasing";
	uint32_t nodes = setup->network.graph.nodes;

	bool decreasing = strcmp(text, "decreasing") == 0, mixed = strcmp(text, "random") == 0;
	if (decreasing || mixed || strcmp(text, "increasing") == 0) {
		struct random random;
		electorate->identifiers = malloc(nodes * sizeof(*electorate->identifiers));
		memory_must(electorate->identifiers != NULL);
		for (uint32_t i = 0; i < nodes; i++)
			electorate->identifiers[i] = decreasing ? nodes - i : i + 1;
		random_seed(&random, words->seed);
		for (uint32_t i = nodes; i > 1 && mixed; i--) {
			uint32_t k = (uint32_t)random_below(&random, i),
			         moved = electorate->identifiers[i - 1];
			electorate->identifiers[i - 1] = electorate->identifiers[k];
			electorate->identifiers[k] = moved;
		}
	} else {
		uint32_t count;
		if (text[0] < '0' || text[0] > '9')
			return problem_set(problem,
			                   "arrangement '%.40s': increasing, decreasing, random or "
			                   "a list such as 3,1,2 is needed",
			                   text);
		if (parse_numbers(text, 1, INT32_MAX, "arrangement", nodes,
		                  &electorate->identifiers, &count, problem) != 0 ||
		    are_distinct(electorate->identifiers, nodes, problem) != 0)
			return -1;
	}
	setup->network.identifiers = electorate->identifiers;
	return 0;
}

/* Parses a list of places into an array in increasing order, each place once. */
static int parse_places(const char *text, const char *what, uint32_t nodes, uint32_t **ret_places,
                        uint32_t *ret_count, struct problem *problem)
{
	if (parse_numbers(text, 1, nodes, what, 0, ret_places, ret_count, problem) != 0)
		return -1;
	qsort(*ret_places, *ret_count, sizeof(**ret_places), compare_numbers);
	for (uint32_t i = 1; i < *ret_count; i++) {
		if ((*ret_places)[i] == (*ret_places)[i - 1])
			return problem_set(problem, "%s '%.40s': place %u occurs twice", what, text,
			                   (*ret_places)[i]);
	}
	return 0;
}

static bool is_dead(const struct electorate *electorate, uint32_t place)
{
	for (uint32_t i = 0; i < electorate->crashed_count; i++) {
		if (electorate->crashed[i] == place)
			return true;
	}
	return false;
}

/* Returns all places that are alive. */
static uint32_t *list_alive(const struct electorate *electorate, uint32_t nodes,
                            uint32_t *ret_count)
{
	uint32_t *places = malloc(nodes * sizeof(*places));

	memory_must(places != NULL);
	*ret_count = 0;
	for (uint32_t place = 1; place <= nodes; place++) {
		if (!is_dead(electorate, place))
			places[(*ret_count)++] = place;
	}
	return places;
}

/* Moves `count` places, drawn from the seed, to the front of the array, in increasing order. */
static void draw_places(uint32_t *places, uint32_t places_count, uint32_t count, uint64_t seed)
{
	struct random random;

	/* Use the complement of the seed, so that the numbers differ from those of the
	 * arrangement. */
	random_seed(&random, ~seed);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t k = i + (uint32_t)random_below(&random, places_count - i),
		         place = places[k];
		places[k] = places[i];
		places[i] = place;
	}
	qsort(places, count, sizeof(*places), compare_numbers);
}

static int choose_initiators(const struct setup_words *words, struct setup *setup,
                             struct problem *problem)
{
	struct electorate *electorate = &setup->electorate;
	const char *text = words->initiators != NULL ? words->initiators : "all";
	uint32_t nodes = setup->network.graph.nodes, alive;
	uint64_t count;

	if (text[0] >= '0' && text[0] <= '9') {
		if (parse_places(text, "initiators", nodes, &electorate->initiators,
		                 &electorate->initiators_count, problem) != 0)
			return -1;
		for (uint32_t i = 0; i < electorate->initiators_count; i++) {
			if (is_dead(electorate, electorate->initiators[i]))
				return problem_set(problem, "initiators '%.40s': place %u is dead",
				                   text, electorate->initiators[i]);
		}
		return 0;
	}
	electorate->initiators = list_alive(electorate, nodes, &alive);
	if (alive == 0)
		return problem_set(problem, "crash '%.40s': nobody is left who could initiate",
		                   words->crash);
	if (strcmp(text, "all") == 0) {
		count = alive;
	} else if (strcmp(text, "one") == 0) {
		count = 1;
	} else if (strncmp(text, "random:", 7) == 0) {
		if (parse_number(text + 7, 1, alive, "initiators random:", &count, problem) != 0)
			return -1;
		draw_places(electorate->initiators, alive, (uint32_t)count, words->seed);
	} else {
		return problem_set(
		        problem,
		        "initiators '%.40s': all, one, random:K or places such as 2,5 are needed",
		        text);
	}
	electorate->initiators_count = (uint32_t)count;
	return 0;
}

int electorate_make(const struct setup_words *words, struct setup *setup, struct problem *problem)
{
	struct electorate *electorate = &setup->electorate;
	const char *given = words->arrangement != NULL  ? "arrangement"
	                    : words->initiators != NULL ? "initiators"
	                                                : "crash";

	if (setup->network.algorithm->kind != KIND_ELECTION) {
		if (words->arrangement == NULL && words->initiators == NULL && words->crash == NULL)
			return 0;
		return problem_set(problem, "%s: %s is not an election", given,
		                   setup->network.algorithm->name);
	}
	if (words->crash != NULL &&
	    parse_places(words->crash, "crash", setup->network.graph.nodes, &electorate->crashed,
	                 &electorate->crashed_count, problem) != 0)
		return -1;
	if (electorate->crashed_count != 0 && setup->network.algorithm->expire == NULL)
		return problem_set(problem, "crash '%.40s': %s assumes that nobody fails",
		                   words->crash, setup->network.algorithm->name);
	if (arrange(words, setup, problem) != 0 || choose_initiators(words, setup, problem) != 0)
		return -1;
	return 0;
}

void electorate_free(struct electorate *electorate)
{
	free(electorate->identifiers);
	free(electorate->initiators);
	free(electorate->crashed);
}
