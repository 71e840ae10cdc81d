#include "check.h"

#include "counterexample.h"
#include "graph_search.h"
#include "grow.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct search {
	const struct check_options *options;
	struct check_result *result;
	struct model model;
	struct states states;
	uint32_t *parent; /* of each state, the state from which it was found */
	size_t parent_size;
	uint64_t *first; /* the edges of each state: struct state_graph */
	size_t first_size;
	uint32_t *to;
	size_t to_count, to_size;
	struct actions actions;
	struct row row;
	const void **snapshot_states;
	struct flight *flights;
	size_t flights_size;
	double begin;
	uint32_t last;             /* the last state of the path to a violation */
	struct action last_action; /* and what is done there, if a step broke something */
	bool broke;
	struct action *path; /* to it, and then round the cycle */
};

static double seconds_now(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static uint64_t memory_of(const struct search *search)
{
	return states_memory(&search->states) + model_memory(&search->model) +
	       search->parent_size * sizeof(*search->parent) +
	       search->first_size * sizeof(*search->first) + search->to_size * sizeof(*search->to);
}

static bool violate(struct search *search, enum verdict_kind verdict, const char *what,
                    uint32_t node, uint32_t state)
{
	search->result->verdict = verdict;
	search->result->what = what;
	search->result->node = node;
	search->last = state;
	return true;
}

static const char *broken_global(struct search *search, const uint32_t *row, uint32_t count)
{
	const struct model *model = &search->model;
	const struct invariant *invariant = model->algorithm->invariants;
	size_t flights_count = count - model->nodes;

	for (; invariant != NULL && invariant->name != NULL; invariant++) {
		if (invariant->global == NULL)
			continue;
		search->flights = grow(search->flights, &search->flights_size, flights_count,
		                       sizeof(*search->flights));
		for (uint32_t i = 0; i < model->nodes; i++)
			search->snapshot_states[i] = model_state(model, row[i]);
		for (size_t k = 0; k < flights_count; k++) {
			uint32_t number = row[model->nodes + k], size;
			const uint8_t *body = model_body(model, number, &size);
			search->flights[k] = (struct flight){
			        .to = model->letter[number].to,
			        .message = {.side = side_opposite(model->letter[number].side),
			                    .size = size,
			                    .body = body},
			};
		}
		struct snapshot snapshot = {
		        .network = &model->setup->network,
		        .states = search->snapshot_states,
		        .flights = search->flights,
		        .flights_count = flights_count,
		};
		if (!invariant->global(&snapshot))
			return invariant->name;
	}
	return NULL;
}

/* Somebody waits, or cannot get ready, while nobody is inside, nothing is under way and no timer
 * runs: only requests are possible, and nobody has to ask. */
static uint32_t stuck_node(const struct search *search, const uint32_t *row, uint32_t count)
{
	const struct model *model = &search->model;
	uint32_t stuck = 0;

	if (count > model->nodes)
		return 0;
	for (uint32_t i = 1; i <= model->nodes; i++) {
		const struct local *local = &model->local[row[i - 1]];
		if (local->phase == PHASE_INSIDE || local->armed)
			return 0;
		if (stuck == 0 && (local->phase == PHASE_WAITING || !local->may_request))
			stuck = i;
	}
	return stuck;
}

static bool is_election(const struct search *search)
{
	return search->model.algorithm->kind == KIND_ELECTION;
}

/* Elections: at most one has declared itself, and all who know a leader know the same. */
static bool examine_leaders(struct search *search, const uint32_t *row, uint32_t state)
{
	const struct model *model = &search->model;
	uint32_t leader = 0, declared = 0;

	for (uint32_t i = 1; i <= model->nodes; i++) {
		uint32_t learned = model->local[row[i - 1]].leader;
		if (learned == model->setup->network.identifiers[i - 1] && declared++ > 0)
			return violate(search, VERDICT_UNIQUE_LEADER, "two leaders", i, state);
	}
	for (uint32_t i = 1; i <= model->nodes; i++) {
		uint32_t learned = model->local[row[i - 1]].leader;
		if (learned != 0 && leader != 0 && learned != leader)
			return violate(search, VERDICT_AGREEMENT, "two leaders are known", i,
			               state);
		leader = learned != 0 ? learned : leader;
	}
	return false;
}

/* Elections: nothing can happen any more, so everybody alive must know the leader, and nobody take
 * part. */
static bool examine_end(struct search *search, const uint32_t *row, uint32_t state)
{
	const struct model *model = &search->model;

	for (uint32_t i = 1; i <= model->nodes; i++) {
		const struct local *local = &model->local[row[i - 1]];
		if (model->dead[i - 1])
			continue;
		if (local->leader == 0)
			return violate(search, VERDICT_TERMINATION,
			               "it ends and somebody knows no leader", i, state);
		if (local->takes_part)
			return violate(search, VERDICT_TERMINATION,
			               "it ends and somebody still takes part", i, state);
	}
	return false;
}

/* Is something wrong with a new state? */
static bool examine(struct search *search, uint32_t state)
{
	const struct model *model = &search->model;
	const struct algorithm *algorithm = model->algorithm;
	uint32_t count, inside = 0;
	const uint32_t *row = states_get(&search->states, state, &count);

	for (uint32_t i = 1; i <= model->nodes; i++) {
		const struct local *local = &model->local[row[i - 1]];
		if (local->phase == PHASE_INSIDE && inside++ > 0)
			return violate(search, VERDICT_MUTUAL_EXCLUSION, "mutual_exclusion", i,
			               state);
	}
	for (uint32_t i = 1; i <= model->nodes; i++) {
		const char *broken = model->local[row[i - 1]].broken_invariant;
		if (broken != NULL)
			return violate(search, VERDICT_INVARIANT, broken, i, state);
	}
	if (algorithm->has_token && !algorithm->regenerates && !model->lose_token &&
	    model_tokens(model, row, count) != 1)
		return violate(search, VERDICT_INVARIANT, "one_token", 0, state);
	const char *broken = broken_global(search, row, count);
	if (broken != NULL)
		return violate(search, VERDICT_INVARIANT, broken, 0, state);
	if (is_election(search))
		return examine_leaders(search, row, state);
	uint32_t stuck = stuck_node(search, row, count);
	if (stuck != 0)
		return violate(search, VERDICT_DEADLOCK, "deadlock", stuck, state);
	return false;
}

/* An election has its own words for what a step may not do. */
static enum verdict_kind verdict_of(const char *broken)
{
	if (strncmp(broken, "declared", 8) == 0)
		return VERDICT_UNIQUE_LEADER;
	if (strncmp(broken, "changed", 7) == 0)
		return VERDICT_AGREEMENT;
	return VERDICT_BROKEN;
}

/* All that can happen in a state. True: something is wrong with what happens. */
static bool expand(struct search *search, uint32_t state)
{
	uint32_t count;
	const uint32_t *row = states_get(&search->states, state, &count);

	model_actions(&search->model, row, count, &search->actions);
	if (search->actions.count == 0 && is_election(search) && examine_end(search, row, state))
		return true;
	search->to = grow(search->to, &search->to_size, search->to_count + search->actions.count,
	                  sizeof(*search->to));
	for (size_t k = 0; k < search->actions.count; k++) {
		const struct action *action = &search->actions.list[k];
		const struct transition *transition =
		        model_step(&search->model, row, count, action, &search->row);
		bool new;

		if (transition != NULL && transition->broken != NULL) {
			search->last_action = *action;
			search->broke = true;
			return violate(search, verdict_of(transition->broken), transition->broken,
			               action->node, state);
		}
		uint32_t to =
		        states_put(&search->states, search->row.numbers, search->row.count, &new);
		search->to[search->to_count++] = to;
		if (!new)
			continue;
		search->parent =
		        grow(search->parent, &search->parent_size, to + 1, sizeof(*search->parent));
		search->parent[to] = state;
		if (examine(search, to))
			return true;
	}
	return false;
}

static const char *reached_limit(const struct search *search)
{
	const struct check_options *options = search->options;

	if (search->states.count >= options->states_max)
		return "--max-states";
	if (memory_of(search) >= options->memory_max)
		return "--max-memory";
	if (options->seconds_max > 0 && seconds_now() - search->begin >= options->seconds_max)
		return "--timeout";
	return NULL;
}

/* Breadth first; the states found are their own queue. True: everything was seen. */
static bool explore(struct search *search)
{
	enum { LOOK_EVERY = 1024 };
	struct check_result *result = search->result;
	uint32_t level_end = 1;
	uint32_t state;

	for (state = 0; state < search->states.count; state++) {
		if (state == level_end) {
			result->depth++;
			level_end = search->states.count;
		}
		if (state % LOOK_EVERY == 0 ||
		    search->states.count >= search->options->states_max) {
			result->limit = reached_limit(search);
			if (result->limit != NULL)
				return false;
			if (search->options->progress != NULL)
				search->options->progress(search->states.count, result->depth,
				                          memory_of(search),
				                          seconds_now() - search->begin);
		}
		search->first = grow(search->first, &search->first_size, (size_t)state + 2,
		                     sizeof(*search->first));
		search->first[state] = search->to_count;
		if (expand(search, state))
			return false;
	}
	search->first[state] = search->to_count;
	return true;
}

/* The action that leads from a state to the next of a path. */
static struct action find_action(struct search *search, uint32_t from, uint32_t to)
{
	uint32_t count;
	const uint32_t *row = states_get(&search->states, from, &count);

	model_actions(&search->model, row, count, &search->actions);
	for (size_t k = 0; k < search->actions.count; k++) {
		if (search->to[search->first[from] + k] == to)
			return search->actions.list[k];
	}
	must(false);
	return (struct action){.kind = ACTION_REQUEST};
}

static void find_path(struct search *search, const struct liveness *liveness)
{
	struct check_result *result = search->result;
	size_t count = 0, cycle_count = liveness->cycle_count > 0 ? liveness->cycle_count - 1 : 0;

	for (uint32_t state = search->last; state != 0; state = search->parent[state])
		count++;
	search->path = malloc((count + cycle_count + 1) * sizeof(*search->path));
	must(search->path != NULL);
	uint32_t state = search->last;
	for (size_t i = count; i-- > 0; state = search->parent[state])
		search->path[i] = find_action(search, search->parent[state], state);
	result->path_cycle = count;
	for (size_t i = 0; i < cycle_count; i++)
		search->path[count++] =
		        find_action(search, liveness->cycle[i], liveness->cycle[i + 1]);
	if (search->broke)
		search->path[count++] = search->last_action;
	result->path_count = count;
}

/* What should have held, as the last line of a scenario. */
static void write_expectation(const struct search *search, char *text, size_t size)
{
	const struct check_result *result = search->result;
	uint32_t count;
	const uint32_t *row = states_get(&search->states, search->last, &count);
	bool waits = result->node != 0 &&
	             search->model.local[row[result->node - 1]].phase == PHASE_WAITING;

	switch (result->verdict) {
	case VERDICT_DEADLOCK:
		/* Nothing is in flight: running on does nothing, but a mended algorithm would get
		 * there. */
		snprintf(text, size, "run\nexpect %" PRIu32 " %s", result->node,
		         waits ? "in" : "idle");
		return;
	case VERDICT_STARVATION:
		snprintf(text, size, "expect %" PRIu32 " %s", result->node, waits ? "in" : "idle");
		return;
	case VERDICT_BROKEN:
		/* A step that is not pure cannot be seen by replaying it. */
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
		/* All may know the leader by then, and nobody take part. */
		if (result->path_count > result->path_cycle && !search->broke)
			snprintf(text, size, "fail \"%s\"", result->what);
		else
			snprintf(text, size, "expect invariant termination");
		return;
	case VERDICT_MUTUAL_EXCLUSION:
	case VERDICT_INVARIANT:
	case VERDICT_HOLDS:
		break;
	}
	snprintf(text, size, "expect invariant %s", result->what);
}

static void write_scenario(struct search *search)
{
	struct check_result *result = search->result;
	bool endless = result->path_count > result->path_cycle && !search->broke;
	char note[256], expectation[128], node[32] = "", more[64] = "";

	if (result->node != 0)
		snprintf(node, sizeof(node), ", node %" PRIu32, result->node);
	if (endless)
		snprintf(more, sizeof(more), ", then %zu for ever",
		         result->path_count - result->path_cycle);
	snprintf(note, sizeof(note), "baton check: %s%s; %zu steps%s", result->what, node,
	         endless ? result->path_cycle : result->path_count, more);
	write_expectation(search, expectation, sizeof(expectation));
	result->scenario =
	        counterexample_text(&search->model, search->path, result->path_count,
	                            endless ? result->path_cycle : SIZE_MAX, note, expectation);
}

static void examine_graph(struct search *search, struct liveness *liveness)
{
	struct check_result *result = search->result;
	struct state_graph graph = {.model = &search->model,
	                            .states = &search->states,
	                            .first = search->first,
	                            .to = search->to};

	graph_search(&graph, liveness);
	result->bounded = liveness->bounded;
	result->messages_max = liveness->messages_max;
	result->messages_min = liveness->messages_min;
	result->bypass_bounded = liveness->bypass_bounded && liveness->starved == 0;
	result->bypass_max = liveness->bypass_max;
	if (is_election(search) && !liveness->bounded)
		violate(search, VERDICT_TERMINATION, "it can go on for ever", 0,
		        liveness->cycle[0]);
	if (liveness->starved != 0)
		violate(search, VERDICT_STARVATION, "starvation", liveness->starved,
		        liveness->cycle[0]);
}

void check_run(const struct check_options *options, struct check_result *ret_result)
{
	struct search search = {.options = options, .result = ret_result, .begin = seconds_now()};
	struct liveness liveness = {0};
	bool new;

	*ret_result = (struct check_result){.verdict = VERDICT_HOLDS};
	model_init(&search.model, options->setup, options->entries, options->lose_token);
	states_init(&search.states);
	search.snapshot_states = malloc(search.model.nodes * sizeof(*search.snapshot_states));
	must(search.snapshot_states != NULL);
	model_start(&search.model, &search.row);
	uint32_t start = states_put(&search.states, search.row.numbers, search.row.count, &new);
	if (!examine(&search, start))
		ret_result->complete = explore(&search);
	if (ret_result->complete)
		examine_graph(&search, &liveness);
	if (ret_result->verdict != VERDICT_HOLDS) {
		find_path(&search, &liveness);
		write_scenario(&search);
	}
	ret_result->states = search.states.count;
	ret_result->transitions = search.to_count;
	ret_result->memory = memory_of(&search);
	ret_result->memory_states = ret_result->states;
	ret_result->seconds = seconds_now() - search.begin;
	free(liveness.cycle);
	free(search.snapshot_states);
	free(search.flights);
	free(search.path);
	free(search.parent);
	free(search.first);
	free(search.to);
	actions_free(&search.actions);
	row_free(&search.row);
	states_free(&search.states);
	model_free(&search.model);
}

void check_result_free(struct check_result *result)
{
	free(result->scenario);
}
