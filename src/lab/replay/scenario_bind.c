/*
 * Binds a scenario to its network: finds the messages and invariants that the scenario names and,
 * if the network cannot be made, the line that is to blame.
 */
#include "must.h"
#include "scenario.h"
#include "scenario_words.h"

#include <stdio.h>
#include <string.h>

const struct scenario_built_in scenario_built_in[] = {
        {"mutual_exclusion", STEP_EXPECT_MUTUAL_EXCLUSION, KIND_MUTEX},
        {"one_token", STEP_EXPECT_ONE_TOKEN, KIND_MUTEX},
        {"unique_leader", STEP_EXPECT_UNIQUE_LEADER, KIND_ELECTION},
        {"agreement", STEP_EXPECT_AGREEMENT, KIND_ELECTION},
        {"termination", STEP_EXPECT_TERMINATION, KIND_ELECTION},
        {NULL, 0, 0},
};

int scenario_unknown_word(struct problem *problem, const char *what, const char *word,
                          const char *const *names, const char *otherwise)
{
	const char *nearest = nearest_name(word, names);

	if (nearest != NULL)
		return problem_set(problem, "unknown %s '%.40s': did you mean '%s'?", what, word,
		                   nearest);
	return problem_set(problem, "unknown %s '%.40s': %s", what, word, otherwise);
}

/* Finds the line with the wrong word. setup_make does not know line numbers, so this function gives
 * it the words one after the other, until it reports a problem. */
static uint32_t blame_line(const struct scenario *scenario, struct problem *problem)
{
	const struct setup_words *all = &scenario->words;
	struct setup_words words = {.host = all->host,
	                            .algorithm = all->algorithm,
	                            .order = all->order,
	                            .seed = all->seed};
	struct setup setup;

	if (setup_make(&words, &setup, problem) != 0)
		return scenario->lines[HEADER_ALGORITHM];
	setup_free(&setup);
	words.topology = all->topology;
	words.nodes = all->nodes;
	if (setup_make(&words, &setup, problem) != 0)
		return scenario->lines[all->topology != NULL ? HEADER_TOPOLOGY : HEADER_NODES];
	setup_free(&setup);
	/* The arrangement may determine the number of nodes, so words that depend on that number
	 * come later. */
	words.arrangement = all->arrangement;
	if (setup_make(&words, &setup, problem) != 0)
		return scenario->lines[HEADER_ARRANGEMENT];
	setup_free(&setup);
	for (size_t i = 0; i < all->parameters_count; i++) {
		words.parameters[words.parameters_count++] = all->parameters[i];
		if (setup_make(&words, &setup, problem) != 0)
			return scenario->parameter_lines[i];
		setup_free(&setup);
	}
	words.holder = all->holder;
	if (setup_make(&words, &setup, problem) != 0)
		return scenario->lines[HEADER_HOLDER];
	setup_free(&setup);
	words.crash = all->crash;
	if (setup_make(&words, &setup, problem) != 0)
		return scenario->lines[HEADER_CRASH];
	/* Nothing was wrong this time: a file of edges may have changed since. */
	setup_free(&setup);
	return scenario->lines[HEADER_ALGORITHM];
}

int scenario_setup(struct scenario *scenario, struct setup *ret_setup, uint32_t *ret_line,
                   struct problem *problem)
{
	struct setup setup;

	if (setup_make(&scenario->words, &setup, problem) != 0) {
		*ret_line = blame_line(scenario, problem);
		return -1;
	}
	if (scenario_bind(scenario, &setup.network, ret_line, problem) != 0) {
		setup_free(&setup);
		return -1;
	}
	*ret_setup = setup;
	return 0;
}

enum { NAMES_MAX = 64 };

/* Reports an unknown name, with a list of the names that the algorithm has. */
static int unknown_name(struct problem *problem, const char *what, const char *name,
                        const char *const *names)
{
	char list[256] = "";

	for (size_t i = 0; names[i] != NULL; i++) {
		size_t used = strlen(list);
		snprintf(list + used, sizeof(list) - used, "%s%s", i == 0 ? "there is " : ", ",
		         names[i]);
	}
	return scenario_unknown_word(problem, what, name, names, list);
}

static int bind_type(struct step *step, const struct algorithm *algorithm, struct problem *problem)
{
	const char *names[NAMES_MAX + 1] = {NULL};

	must(algorithm->messages_count <= NAMES_MAX);
	for (size_t i = 0; step->name != NULL && i < algorithm->messages_count; i++) {
		names[i] = algorithm->messages[i].name;
		if (strcmp(names[i], step->name) == 0) {
			step->type = (uint8_t)i;
			return 0;
		}
	}
	return step->name == NULL ? 0 : unknown_name(problem, "message type", step->name, names);
}

static int bind_invariant(struct step *step, const struct network *network, struct problem *problem)
{
	const struct algorithm *algorithm = network->algorithm;
	const char *names[NAMES_MAX + 1] = {NULL};
	size_t count = 0;

	for (const struct invariant *i = algorithm->invariants; i != NULL && i->name != NULL; i++) {
		must(count < NAMES_MAX);
		names[count++] = i->name;
		if (strcmp(i->name, step->name) == 0) {
			step->invariant = i;
			if (invariant_applies(i, network))
				return 0;
			return problem_set(problem,
			                   "the invariant %s says nothing about %s with these "
			                   "parameters",
			                   i->name, algorithm->name);
		}
	}
	for (size_t i = 0; scenario_built_in[i].name != NULL; i++) {
		must(count < NAMES_MAX);
		if (scenario_built_in[i].kind == algorithm->kind)
			names[count++] = scenario_built_in[i].name;
	}
	return unknown_name(problem, "invariant", step->name, names);
}

static int need_kind(const struct algorithm *algorithm, enum kind kind, const char *instead,
                     struct problem *problem)
{
	if (algorithm->kind == kind)
		return 0;
	return problem_set(problem, "%s is %s: %s", algorithm->name,
	                   kind == KIND_MUTEX ? "an election" : "not an election", instead);
}

static int bind_step(struct step *step, const struct network *network, struct problem *problem)
{
	const struct algorithm *algorithm = network->algorithm;
	uint32_t nodes = network->graph.nodes;

	if (step->node > nodes || step->to > nodes)
		return problem_set(problem, "node %u: there are only %u nodes",
		                   step->node > nodes ? step->node : step->to, nodes);
	switch (step->kind) {
	case STEP_REQUEST:
	case STEP_RELEASE:
		return need_kind(algorithm, KIND_MUTEX, "its nodes 'initiate'", problem);
	case STEP_INITIATE:
		return need_kind(algorithm, KIND_ELECTION, "its nodes 'request'", problem);
	case STEP_DELIVER:
	case STEP_DROP:
	case STEP_DUPLICATE:
	case STEP_EXPECT_FLIGHT:
		return bind_type(step, algorithm, problem);
	case STEP_RESTART:
		return need_kind(algorithm, KIND_MUTEX, "its nodes do not begin again", problem);
	case STEP_CRASH:
		return algorithm->expire != NULL || algorithm->kind == KIND_MUTEX
		               ? 0
		               : problem_set(problem, "%s assumes that nobody fails",
		                             algorithm->name);
	case STEP_LINK:
	case STEP_UNLINK:
		return algorithm->linked != NULL
		               ? 0
		               : problem_set(problem, "%s runs in a network that does not change",
		                             algorithm->name);
	case STEP_EXPIRE:
		return algorithm->expire != NULL
		               ? 0
		               : problem_set(problem, "%s has no timers", algorithm->name);
	case STEP_EXPECT_QUEUE:
		return algorithm->queue != NULL
		               ? 0
		               : problem_set(problem,
		                             "the states of %s do not tell in which order the "
		                             "nodes that wait will be served",
		                             algorithm->name);
	case STEP_EXPECT_LEADS:
	case STEP_EXPECT_LEADER:
		return need_kind(algorithm, KIND_ELECTION, "it has no leader", problem);
	case STEP_EXPECT_UNIQUE_LEADER:
	case STEP_EXPECT_AGREEMENT:
	case STEP_EXPECT_TERMINATION:
		return need_kind(algorithm, KIND_ELECTION, "it elects nobody", problem);
	case STEP_EXPECT_INVARIANT:
		return bind_invariant(step, network, problem);
	case STEP_EXPECT_MUTUAL_EXCLUSION:
		return need_kind(algorithm, KIND_MUTEX, "it excludes nobody", problem);
	case STEP_EXPECT_ONE_TOKEN:
		return algorithm->has_token
		               ? 0
		               : problem_set(problem, "%s has no token", algorithm->name);
	case STEP_CUT:
	case STEP_RUN:
	case STEP_LOOP:
	case STEP_FAIL:
	case STEP_EXPECT_PHASE:
	case STEP_EXPECT_VARIABLES:
	case STEP_EXPECT_MESSAGES:
	case STEP_EXPECT_STEPS_ALLOWED:
		return 0;
	}
	return 0;
}

int scenario_bind(struct scenario *scenario, const struct network *network, uint32_t *ret_line,
                  struct problem *problem)
{
	for (size_t i = 0; i < scenario->steps_count; i++) {
		*ret_line = scenario->steps[i].line;
		if (bind_step(&scenario->steps[i], network, problem) != 0)
			return -1;
	}
	return 0;
}
