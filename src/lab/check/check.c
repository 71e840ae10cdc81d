#include "check.h"

#include "counterexample.h"
#include "graph_search.h"
#include "memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct check {
	struct check_result *result;
	struct search search;
	struct state_graph graph;
	/* The actions that lead to the violation, then once around the cycle if there is one. */
	struct action *path;
};

/* Returns the action that leads from a state of a path to the next. */
static struct action find_action(struct search *search, uint32_t from, uint32_t to)
{
	struct state_row row = search_row(search, from);
	struct actions actions = {0};
	size_t k = 0;

	search_actions(search, row, &actions);
	while (k < actions.count && search_follow(search, row, &actions.list[k]) != to)
		k++;
	must(k < actions.count);
	struct action action = actions.list[k];
	actions_free(&actions);
	return action;
}

/* Finds the path by which the search reached the violation. */
static void find_path(struct check *check)
{
	struct check_result *result = check->result;
	struct search *search = &check->search;
	const struct violation *violation = &search->violation;
	size_t count = 0;
	uint32_t state, parent;

	for (state = violation->state; state != search->start; count++)
		state = states_record(&search->states, state)->parent;
	check->path = malloc((count + 1) * sizeof(*check->path));
	memory_must(check->path != NULL);
	state = violation->state;
	for (size_t i = count; i-- > 0; state = parent) {
		parent = states_record(&search->states, state)->parent;
		check->path[i] = find_action(search, parent, state);
	}
	result->path_cycle = count;
	if (violation->broke)
		check->path[count++] = violation->action;
	result->path_count = count;
}

/* Finds a shortest path to the cycle, and appends the actions of one round of the cycle. */
static void find_lasso(struct check *check, const struct liveness *liveness)
{
	struct check_result *result = check->result;
	const struct state_graph *graph = &check->graph;
	size_t count, used = 0;
	uint32_t *path = state_graph_path(graph, liveness->cycle[0], &count);

	check->path = malloc((count + liveness->cycle_count) * sizeof(*check->path));
	memory_must(check->path != NULL);
	for (size_t i = 0; i + 1 < count; i++)
		check->path[used++] = find_action(&check->search, graph->names[path[i]],
		                                  graph->names[path[i + 1]]);
	result->path_cycle = used;
	for (size_t i = 0; i + 1 < liveness->cycle_count; i++)
		check->path[used++] = find_action(&check->search, graph->names[liveness->cycle[i]],
		                                  graph->names[liveness->cycle[i + 1]]);
	result->path_count = used;
	free(path);
}

/* Writes what should have held, as the last line of a scenario. */
static void write_expectation(const struct check *check, char *text, size_t size)
{
	const struct check_result *result = check->result;
	bool waits = false, leaves = false;

	if (result->node != 0) {
		struct state_row row = search_row(&check->search, check->search.violation.state);
		uint32_t local = row_local(&check->search.model, row, result->node - 1);
		waits = check->search.model.local[local].phase == PHASE_WAITING;
		leaves = check->search.model.local[local].phase == PHASE_LEAVING;
	}

	switch (result->verdict) {
	case VERDICT_DEADLOCK:
		/* Nothing is in flight, so `run` does nothing in this replay. With a correct
		 * algorithm `run` would let the node enter, or become idle after its exit. */
		if (!waits && !leaves)
			snprintf(text, size, "fail \"node %" PRIu32 " can never ask\"",
			         result->node);
		else
			snprintf(text, size, "run\nexpect %" PRIu32 " %s", result->node,
			         waits ? "in" : "idle");
		return;
	case VERDICT_STARVATION:
		snprintf(text, size, "expect %" PRIu32 " %s", result->node, waits ? "in" : "idle");
		return;
	case VERDICT_BROKEN:
		/* A step that is not pure cannot be shown by replaying it. */
		if (strncmp(result->what, "made", 4) == 0)
			snprintf(text, size, "fail \"node %" PRIu32 " %s\"", result->node,
			         result->what);
		else
			snprintf(text, size, "expect invariant steps_are_allowed");
		return;
	case VERDICT_UNIQUE_LEADER:
		snprintf(text, size, "expect invariant unique_leader");
		return;
	case VERDICT_AGREEMENT:
		snprintf(text, size, "expect invariant agreement");
		return;
	case VERDICT_TERMINATION:
		/* In an endless run all may know the leader at some time, so no expectation would
		 * fail. If the run is not endless, nothing is in flight, as in a deadlock. */
		if (result->path_count > result->path_cycle && !check->search.violation.broke)
			snprintf(text, size, "fail \"%s\"", result->what);
		else
			snprintf(text, size, "run\nexpect invariant termination");
		return;
	case VERDICT_MUTUAL_EXCLUSION:
	case VERDICT_INVARIANT:
	case VERDICT_HOLDS:
		break;
	}
	snprintf(text, size, "expect invariant %s", result->what);
}

static void write_scenario(struct check *check)
{
	struct check_result *result = check->result;
	bool endless = result->path_count > result->path_cycle && !check->search.violation.broke;
	char note[256], expectation[128], node[32] = "", more[64] = "";

	if (result->node != 0)
		snprintf(node, sizeof(node), ", node %" PRIu32, result->node);
	size_t before = counterexample_steps(check->path,
	                                     endless ? result->path_cycle : result->path_count);
	if (endless)
		snprintf(more, sizeof(more), ", then %zu for ever",
		         counterexample_steps(check->path, result->path_count) - before);
	snprintf(note, sizeof(note), "baton check: %s%s; %zu step%s%s", result->what, node, before,
	         before == 1 ? "" : "s", more);
	write_expectation(check, expectation, sizeof(expectation));
	result->scenario =
	        counterexample_text(&check->search.model, check->path, result->path_count,
	                            endless ? result->path_cycle : SIZE_MAX, note, expectation);
}

/* If there are runs without end, looks for a fair cycle in which a node waits. Returns false if a
 * limit was reached. */
static bool check_cycles(struct check *check)
{
	struct check_result *result = check->result;
	struct search *search = &check->search;
	struct liveness liveness = {0};

	if (!state_graph_make(search, &check->graph))
		return false;
	graph_search(&check->graph, &liveness);
	if (search->limit != NULL) {
		free(liveness.cycle);
		return false;
	}
	result->bypass_bounded = liveness.bypass_bounded && liveness.starved == 0;
	result->bypass_max = liveness.bypass_max;
	if (liveness.endless)
		search->violation = (struct violation){.verdict = VERDICT_TERMINATION,
		                                       .what = "a run can go on for ever"};
	if (liveness.starved != 0)
		search->violation = (struct violation){.verdict = VERDICT_STARVATION,
		                                       .what = "starvation",
		                                       .node = liveness.starved};
	if (search->violation.verdict != VERDICT_HOLDS) {
		search->violation.state = check->graph.names[liveness.cycle[0]];
		find_lasso(check, &liveness);
	}
	free(liveness.cycle);
	return true;
}

/* Returns the types among these of which no message was ever sent. */
static uint64_t find_never_sent(const struct model *model, uint64_t types)
{
	for (uint32_t i = 0; i < model->letters.count; i++)
		types &= ~((uint64_t)1 << model->letter[i].type);
	return types;
}

static void check_once(const struct check_options *options, struct check_result *ret_result)
{
	struct check check = {.result = ret_result};
	struct search *search = &check.search;
	struct run_bounds bounds = {0};

	*ret_result = (struct check_result){.verdict = VERDICT_HOLDS};
	search_init(search, options);
	bool complete = search_explore(search);
	if (search->violation.verdict != VERDICT_HOLDS)
		find_path(&check);
	complete = complete && search_bounds(search, &bounds);
	ret_result->bounded = bounds.bounded;
	ret_result->messages_max = bounds.messages_max;
	ret_result->messages_min = bounds.messages_min;
	ret_result->bypass_bounded = bounds.bounded;
	ret_result->bypass_max = bounds.bypass_max;
	if (complete && !bounds.bounded && options->sought == SOUGHT_ANY)
		complete = check_cycles(&check);
	ret_result->complete = complete;
	ret_result->limit = search->limit;
	ret_result->interrupted = search->limit == search_interrupt;
	ret_result->verdict = search->violation.verdict;
	ret_result->what = search->violation.what;
	ret_result->node = search->violation.node;
	if (ret_result->verdict != VERDICT_HOLDS)
		write_scenario(&check);
	ret_result->states = states_count(&search->states);
	ret_result->transitions = search_transitions(search);
	ret_result->depth = search->depth;
	ret_result->never_sent =
	        find_never_sent(&search->model, options->faults.lose | options->faults.duplicate);
	ret_result->lowered = search->model.lowers;
	ret_result->memory = search_memory(search) + state_graph_memory(&check.graph);
	ret_result->memory_states = ret_result->states;
	ret_result->seconds = search_seconds(search);
	free(check.path);
	state_graph_free(&check.graph);
	search_free(search);
}

/* If a search with several threads finds a violation, one thread searches again, if there is time.
 * So the counterexample does not depend on the number of threads. */
void check_run(const struct check_options *options, struct check_result *ret_result)
{
	struct check_options alone = *options;
	struct check_result again;

	check_once(options, ret_result);
	if (options->threads == 1 || ret_result->verdict == VERDICT_HOLDS)
		return;
	alone.threads = 1;
	alone.seconds_max -= options->seconds_max > 0 ? ret_result->seconds : 0;
	if (options->seconds_max > 0 && alone.seconds_max <= 0)
		return;
	check_once(&alone, &again);
	if (again.verdict == VERDICT_HOLDS) {
		check_result_free(&again);
		return;
	}
	again.seconds += ret_result->seconds;
	check_result_free(ret_result);
	*ret_result = again;
}

void check_result_free(struct check_result *result)
{
	free(result->scenario);
}
