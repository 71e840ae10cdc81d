#include "stage.h"

#include "hand.h"
#include "memory.h"
#include "registry.h"
#include "replay.h"
#include "sim_words.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A page has no files, little memory, and room for PAGE_NODES_MAX nodes. */
static const struct host page_host = {.memory_size = 256e6, .nodes_max = PAGE_NODES_MAX};

struct stage {
	bool traced;
	bool opened;
	bool finished;
	char *words; /* a copy of the words, which the setup points into */
	struct sim_words sim_words;
	struct setup setup;
	struct trace *trace; /* records the run; NULL if the stage is not traced */
	/* Either `sim` or `replay` drives the run; the other is NULL. */
	struct sim *sim;
	struct sim_result result;
	struct replay *replay;
	struct replay_result replay_result;
	struct scenario scenario;
	bool over;
};

struct stage *stage_create(bool traced)
{
	struct stage *stage = calloc(1, sizeof(*stage));

	memory_must(stage != NULL);
	stage->traced = traced;
	return stage;
}

static void close_run(struct stage *stage)
{
	if (stage->sim != NULL) {
		sim_destroy(stage->sim);
		sim_words_free(&stage->sim_words);
	}
	if (stage->replay != NULL) {
		replay_end(stage->replay);
		replay_result_free(&stage->replay_result);
		scenario_free(&stage->scenario);
	}
	if (stage->trace != NULL)
		trace_destroy(stage->trace);
	if (stage->opened)
		setup_free(&stage->setup);
	free(stage->words);
	*stage = (struct stage){.traced = stage->traced};
}

void stage_destroy(struct stage *stage)
{
	close_run(stage);
	free(stage);
}

static void add_json_string(struct text *json, const char *string)
{
	struct writer writer = {.used = 0};
	char *bytes = NULL;

	do {
		size_t size = writer.used;
		bytes = realloc(bytes, size + 1);
		memory_must(bytes != NULL);
		writer_init(&writer, bytes, size);
		writer_string(&writer, string);
	} while (writer.used > writer.size);
	text_add(json, bytes, writer.used);
	free(bytes);
}

/* Writes ,"NAME":"STRING" or ,"NAME":null. */
static void add_member(struct text *json, const char *name, const char *string)
{
	text_format(json, ",\"%s\":", name);
	if (string == NULL)
		text_add_string(json, "null");
	else
		add_json_string(json, string);
}

/* --- the catalogue --- */

static void add_messages(struct text *json, const struct algorithm *algorithm)
{
	static const char *const roles[] = {
	        [ROLE_ASKS] = "asks",           [ROLE_PERMITS] = "permits",
	        [ROLE_REFUSES] = "refuses",     [ROLE_GIVES_BACK] = "gives back",
	        [ROLE_ANNOUNCES] = "announces", [ROLE_PREPARES] = "prepares",
	};

	text_add_string(json, ",\"messages\":[");
	for (size_t i = 0; i < algorithm->messages_count; i++)
		text_format(json, "%s{\"name\":\"%s\",\"role\":\"%s\",\"token\":%s,\"init\":%s}",
		            i == 0 ? "" : ",", algorithm->messages[i].name,
		            roles[algorithm->messages[i].role],
		            algorithm->messages[i].token ? "true" : "false",
		            algorithm->messages[i].init ? "true" : "false");
	text_add_string(json, "]");
}

static void add_variables(struct text *json, const struct algorithm *algorithm)
{
	static const char *const kinds[] = {
	        [VARIABLE_PLAIN] = "plain",
	        [VARIABLE_NODE] = "node",
	        [VARIABLE_QUEUE] = "queue",
	        [VARIABLE_ROW] = "row",
	};

	text_add_string(json, ",\"variables\":[");
	for (const struct variable *v = algorithm->variables; v->name != NULL; v++)
		text_format(json, "%s{\"name\":\"%s\",\"kind\":\"%s\"}",
		            v == algorithm->variables ? "" : ",", v->name, kinds[v->kind]);
	text_add_string(json, "]");
}

static void add_parameters(struct text *json, const struct algorithm *algorithm)
{
	const struct parameter *parameter = algorithm->parameters;

	text_add_string(json, ",\"parameters\":[");
	for (; parameter != NULL && parameter->name != NULL; parameter++) {
		text_format(json, "%s{\"name\":\"%s\"",
		            parameter == algorithm->parameters ? "" : ",", parameter->name);
		add_member(json, "help", parameter->help);
		text_format(json,
		            ",\"least\":%" PRIu64 ",\"most\":%" PRIu64 ",\"initial\":%" PRIu64,
		            parameter->least, parameter->most, parameter->initial);
		text_add_string(json, ",\"choices\":[");
		for (const struct parameter_choice *choice = parameter->choices;
		     choice != NULL && choice->name != NULL; choice++) {
			text_add_string(json, choice == parameter->choices ? "" : ",");
			add_json_string(json, choice->name);
		}
		text_add_string(json, "]}");
	}
	text_add_string(json, "]");
}

static void add_algorithm(struct text *json, const struct algorithm *algorithm)
{
	enum graph_class needs =
	        algorithm->shape != GRAPH_NONE ? algorithm->shape : algorithm->links;

	text_format(json, "{\"name\":\"%s\",\"kind\":\"%s\",\"year\":%u", algorithm->name,
	            algorithm->kind == KIND_ELECTION ? "election" : "mutex", algorithm->year);
	add_member(json, "title", algorithm->title);
	add_member(json, "rules", algorithm->rules);
	add_member(json, "topology", algorithm->topology);
	add_member(json, "needs", graph_class_name(needs));
	add_member(json, "claim", algorithm->claim_messages);
	add_member(json, "delay", algorithm->claim_delay);
	text_format(
	        json,
	        ",\"fifo\":%s,\"token\":%s,\"circulates\":%s,\"oneWay\":%s,\"timers\":%s,"
	        "\"pauses\":%s",
	        algorithm->needs_fifo ? "true" : "false", algorithm->has_token ? "true" : "false",
	        algorithm->circulates ? "true" : "false", algorithm->one_way ? "true" : "false",
	        algorithm->expire != NULL ? "true" : "false", algorithm->pauses ? "true" : "false");
	add_messages(json, algorithm);
	add_variables(json, algorithm);
	add_parameters(json, algorithm);
	text_add_string(json, "}");
}

void stage_catalogue(struct text *json)
{
	text_add_string(json, "[");
	for (size_t i = 0; algorithms[i] != NULL; i++) {
		text_add_string(json, i == 0 ? "" : ",");
		add_algorithm(json, algorithms[i]);
	}
	text_add_string(json, "]");
}

/* --- beginning --- */

static const char *const word_names[] = {
        "topology",   "nodes",  "holder", "param",      "fifo",   "reorder", "arrangement",
        "initiators", "crash",  "seed",   "load",       "delay",  "cs",      "bound",
        "entries",    "warmup", "lose",   "lose-token", "askers", "slow",    NULL,
};

static int take_word(char *word, struct sim_words *words, struct problem *problem)
{
	char *equals = strchr(word, '=');
	const char *value = "";

	if (equals != NULL) {
		*equals = '\0';
		value = equals + 1;
	}
	if (strcmp(word, "algorithm") == 0) {
		words->setup.algorithm = value;
		return 0;
	}
	int result = sim_words_option(word, value, words, problem);
	if (result <= 0)
		return result;
	const char *nearest = nearest_name(word, word_names);
	return problem_set(problem,
	                   nearest != NULL ? "unknown option '--%.40s': did you mean '--%s'?"
	                                   : "unknown option '--%.40s'",
	                   word, nearest);
}

static int take_words(char *text, struct sim_words *words, struct problem *problem)
{
	while (*text != '\0') {
		char *end = text + strcspn(text, "\n");
		bool last = *end == '\0';
		*end = '\0';
		if (*text != '\0' && take_word(text, words, problem) != 0)
			return -1;
		text = last ? end : end + 1;
	}
	if (words->setup.algorithm == NULL)
		return problem_set(problem, "which algorithm? 'baton algorithms' lists them");
	return sim_words_check(words, problem);
}

static int begin_sim(struct stage *stage, struct problem *problem)
{
	struct sim_options options;

	if (take_words(stage->words, &stage->sim_words, problem) != 0 ||
	    setup_make(&stage->sim_words.setup, &stage->setup, problem) != 0)
		return -1;
	stage->opened = true;
	if (sim_words_options(&stage->sim_words, &stage->setup, &options, problem) != 0)
		return -1;
	if (stage->traced)
		stage->trace = trace_create(true, true);
	options.trace = stage->trace;
	stage->sim = sim_create(&stage->setup);
	sim_begin(stage->sim, &options, &stage->result);
	return 0;
}

int stage_open(struct stage *stage, const char *words, struct text *wrong)
{
	struct problem problem;

	close_run(stage);
	stage->words = strdup(words);
	memory_must(stage->words != NULL);
	sim_words_init(&stage->sim_words, &page_host);
	if (begin_sim(stage, &problem) == 0)
		return 0;
	text_add_string(wrong, problem.text);
	sim_words_free(&stage->sim_words);
	close_run(stage);
	return -1;
}

int stage_open_scenario(struct stage *stage, const char *scenario, size_t size, struct text *wrong)
{
	struct problem problem;
	uint32_t line;

	close_run(stage);
	if (scenario_parse(scenario, size, &stage->scenario, &line, &problem) != 0) {
		text_format(wrong, "%" PRIu32 ": %s", line, problem.text);
		return -1;
	}
	stage->scenario.words.host = &page_host;
	if (scenario_setup(&stage->scenario, &stage->setup, &line, &problem) != 0) {
		text_format(wrong, "%" PRIu32 ": %s", line, problem.text);
		scenario_free(&stage->scenario);
		return -1;
	}
	stage->opened = true;
	if (stage->traced)
		stage->trace = trace_create(true, true);
	stage->replay = replay_begin(&stage->scenario, &stage->setup, stage->trace, REPLAY_RUN_MAX,
	                             &stage->replay_result);
	return 0;
}

/* --- steps and acts --- */

static uint64_t count_steps(const struct stage *stage)
{
	return stage->sim != NULL ? sim_steps(stage->sim) : stage->replay_result.steps;
}

uint32_t stage_step(struct stage *stage, uint32_t count, void (*forget)(void))
{
	uint64_t before = count_steps(stage);

	while (!stage->over && count_steps(stage) < before + count) {
		if (forget != NULL)
			forget();
		stage->over =
		        stage->sim != NULL ? !sim_step(stage->sim) : !replay_step(stage->replay);
	}
	return (uint32_t)(count_steps(stage) - before);
}

static bool act_on_sim(struct sim *sim, enum stage_act act, uint64_t what, uint64_t by)
{
	switch (act) {
	case STAGE_REQUEST:
		return hand_request(sim, (uint32_t)what);
	case STAGE_RELEASE:
		return hand_release(sim, (uint32_t)what);
	case STAGE_DELIVER:
		return hand_deliver(sim, what);
	case STAGE_LOSE:
		return hand_lose(sim, what);
	case STAGE_DELAY:
		return hand_delay(sim, what, by);
	case STAGE_EXPIRE:
		return hand_expire(sim, (uint32_t)what);
	case STAGE_CRASH:
		return hand_crash(sim, (uint32_t)what);
	}
	return false;
}

/* Finds the message with this number and writes its channel, and its place in that channel, into
 * the step. */
static bool name_message(struct replay *replay, uint64_t number, struct step *step)
{
	const struct envelope *flights;
	size_t count = replay_flights(replay, &flights), i = 0;

	while (i < count && flights[i].number != number)
		i++;
	if (i == count)
		return false;
	step->node = flights[i].from;
	step->to = flights[i].to;
	for (size_t k = 0; k <= i; k++)
		step->number += flights[k].from == step->node && flights[k].to == step->to;
	return true;
}

/* Performs an act in a replay. A scenario has no times, so a message cannot be delayed; it is
 * simply not delivered yet. */
static bool act_on_replay(struct stage *stage, enum stage_act act, uint64_t what)
{
	const struct algorithm *algorithm = stage->setup.network.algorithm;
	bool election = algorithm->kind == KIND_ELECTION;
	struct step step = {.node = (uint32_t)what};

	switch (act) {
	case STAGE_REQUEST:
		step.kind = STEP_REQUEST;
		break;
	case STAGE_RELEASE:
		step.kind = STEP_RELEASE;
		break;
	case STAGE_DELIVER:
	case STAGE_LOSE:
		step.kind = act == STAGE_DELIVER ? STEP_DELIVER : STEP_DROP;
		if (!name_message(stage->replay, what, &step))
			return false;
		break;
	case STAGE_EXPIRE:
		step.kind = STEP_EXPIRE;
		break;
	case STAGE_CRASH:
		if (algorithm->expire == NULL || !election)
			return false;
		step.kind = STEP_CRASH;
		break;
	case STAGE_DELAY:
		return false;
	}
	return replay_act(stage->replay, &step);
}

bool stage_do(struct stage *stage, enum stage_act act, uint64_t what, uint64_t by)
{
	bool of_node = act == STAGE_REQUEST || act == STAGE_RELEASE || act == STAGE_EXPIRE ||
	               act == STAGE_CRASH;

	if (!stage->opened || (of_node && (what == 0 || what > stage->setup.network.graph.nodes)) ||
	    (act == STAGE_RELEASE && stage->setup.network.algorithm->kind == KIND_ELECTION))
		return false;
	bool done = stage->sim != NULL ? act_on_sim(stage->sim, act, what, by)
	                               : act_on_replay(stage, act, what);
	if (done && stage->sim != NULL)
		stage->over = false;
	return done;
}

static uint64_t time_now(const struct stage *stage)
{
	return stage->sim != NULL ? sim_time(stage->sim) : stage->replay_result.time;
}

void stage_finish(struct stage *stage)
{
	if (stage->finished)
		return;
	stage->finished = true;
	if (stage->sim != NULL)
		sim_end(stage->sim);
	if (stage->trace != NULL)
		trace_end(stage->trace, time_now(stage));
}

/* --- the state of the run --- */

void stage_lines(struct stage *stage, struct text *lines)
{
	if (stage->trace == NULL)
		return;
	const struct text *all = trace_lines(stage->trace);
	if (all->used != 0)
		text_add(lines, all->bytes, all->used);
	text_clear(trace_lines(stage->trace));
}

static const struct world *world_of(const struct stage *stage)
{
	return stage->sim != NULL ? sim_world(stage->sim) : replay_world(stage->replay);
}

static bool is_dead(const struct stage *stage, uint32_t node)
{
	if (stage->replay != NULL)
		return replay_dead(stage->replay)[node - 1];
	const uint8_t *dead = sim_dead(stage->sim);
	return dead != NULL && dead[node - 1];
}

static void add_state(struct stage *stage, uint32_t node, const uint64_t *timers, struct text *json)
{
	const struct world *world = world_of(stage);
	const struct algorithm *algorithm = world->algorithm;
	struct site site = network_site(world->network, node);
	const void *state = world_state(world, node);
	char *variables = world_describe(world, node);
	char time[32];

	text_format(json, "{\"phase\":\"%s\",\"ready\":%s,\"token\":%s,\"dead\":%s",
	            phase_name((enum world_phase)world->phases[node - 1]),
	            world_may_request(world, node) ? "true" : "false",
	            algorithm->has_privilege != NULL && algorithm->has_privilege(&site, state)
	                    ? "true"
	                    : "false",
	            is_dead(stage, node) ? "true" : "false");
	if (timers != NULL && timers[node - 1] != UINT64_MAX)
		text_format(json, ",\"timer\":%s", time_text(timers[node - 1], time));
	text_format(json, ",\"vars\":%s}", variables);
	free(variables);
}

void stage_states(struct stage *stage, struct text *json)
{
	uint64_t *timers = stage->sim != NULL ? sim_timers(stage->sim) : NULL;

	text_add_string(json, "[");
	for (uint32_t node = 1; node <= stage->setup.network.graph.nodes; node++) {
		text_add_string(json, node == 1 ? "" : ",");
		add_state(stage, node, timers, json);
	}
	text_add_string(json, "]");
	free(timers);
}

/* Lists the messages in flight, from the simulator or the replay. The caller frees *ret_owned. */
static size_t list_flights(const struct stage *stage, const struct envelope **ret_flights,
                           struct envelope **ret_owned)
{
	*ret_owned = NULL;
	if (stage->replay != NULL)
		return replay_flights(stage->replay, ret_flights);
	size_t count = sim_flights(stage->sim, ret_owned);
	*ret_flights = *ret_owned;
	return count;
}

void stage_flights(struct stage *stage, struct text *json)
{
	const struct world *world = world_of(stage);
	const struct envelope *flights;
	struct envelope *owned;
	size_t count = list_flights(stage, &flights, &owned);
	char time[32];

	text_add_string(json, "[");
	for (size_t i = 0; i < count; i++)
		text_format(json,
		            "%s{\"msg\":%" PRIu64 ",\"from\":%" PRIu32 ",\"to\":%" PRIu32
		            ",\"type\":\"%s\",\"at\":%s,\"lost\":%s}",
		            i == 0 ? "" : ",", flights[i].number, flights[i].from, flights[i].to,
		            world->algorithm->messages[flights[i].body[0]].name,
		            time_text(flights[i].time, time), flights[i].lost ? "true" : "false");
	text_add_string(json, "]");
	free(owned);
}

static void add_property(struct text *json, const char *name, bool holds)
{
	text_format(json, "%s{\"name\":\"%s\",\"holds\":%s}", json->used <= 1 ? "" : ",", name,
	            holds ? "true" : "false");
}

static bool is_one_token(const struct stage *stage, const struct envelope *flights, size_t count)
{
	const struct world *world = world_of(stage);
	uint32_t tokens = 0;

	for (uint32_t node = 1; node <= world->network->graph.nodes; node++) {
		struct site site = network_site(world->network, node);
		tokens += world->algorithm->has_privilege != NULL &&
		          world->algorithm->has_privilege(&site, world_state(world, node));
	}
	for (size_t i = 0; i < count; i++)
		tokens += world->algorithm->messages[flights[i].body[0]].token;
	return tokens == 1;
}

/* Writes the properties of an election: at most one place has declared itself the leader, and all
 * places that know a leader know the same one. */
static void add_election(const struct stage *stage, struct text *json)
{
	const uint32_t *learned =
	        stage->sim != NULL ? sim_learned(stage->sim) : replay_learned(stage->replay);
	const struct network *network = &stage->setup.network;
	uint32_t leader = 0, declared = 0;
	bool agreed = true;

	for (uint32_t i = 0; i < network->graph.nodes; i++) {
		if (learned[i] == 0)
			continue;
		declared += learned[i] == network->identifiers[i];
		agreed = agreed && (leader == 0 || learned[i] == leader);
		leader = learned[i];
	}
	add_property(json, "unique_leader", declared <= 1);
	add_property(json, "agreement", agreed);
}

static bool holds(const struct stage *stage, const struct invariant *invariant,
                  const struct snapshot *snapshot)
{
	const struct world *world = world_of(stage);

	if (invariant->global != NULL)
		return invariant->global(snapshot);
	for (uint32_t node = 1; node <= world->network->graph.nodes; node++) {
		struct site site = network_site(world->network, node);
		if (!is_dead(stage, node) && !invariant->local(&site, world_state(world, node)))
			return false;
	}
	return true;
}

/* Writes the invariants about the whole system. Messages that will be lost are left out, because
 * only their type is known. */
static void add_invariants(const struct stage *stage, const struct envelope *flights, size_t count,
                           struct text *json)
{
	const struct world *world = world_of(stage);
	const struct algorithm *algorithm = world->algorithm;
	uint32_t nodes = world->network->graph.nodes;
	const void **states = malloc(nodes * sizeof(*states));
	struct flight *seen = malloc((count + 1) * sizeof(*seen));
	size_t seen_count = 0;

	memory_must(states != NULL && seen != NULL);
	for (uint32_t node = 1; node <= nodes; node++)
		states[node - 1] = world_state(world, node);
	for (size_t i = 0; i < count; i++) {
		struct message message = {.side = side_opposite(flights[i].side),
		                          .size = flights[i].size,
		                          .body = flights[i].body};
		if (flights[i].lost)
			continue;
		seen[seen_count++] = (struct flight){
		        .to = flights[i].to,
		        .origin = algorithm->origin != NULL ? algorithm->origin(&message) : 0,
		        .message = message,
		};
	}
	struct snapshot snapshot = {.network = world->network,
	                            .states = states,
	                            .flights = seen,
	                            .flights_count = seen_count};
	for (const struct invariant *i = algorithm->invariants; i != NULL && i->name != NULL; i++) {
		if (invariant_applies(i, world->network))
			add_property(json, i->name, holds(stage, i, &snapshot));
	}
	free(states);
	free(seen);
}

void stage_properties(struct stage *stage, struct text *json)
{
	const struct world *world = world_of(stage);
	const struct algorithm *algorithm = world->algorithm;
	const struct envelope *flights;
	struct envelope *owned;
	size_t count = list_flights(stage, &flights, &owned);
	struct text list = {0};

	text_add_string(&list, "[");
	if (algorithm->kind == KIND_ELECTION)
		add_election(stage, &list);
	else
		add_property(&list, "mutual_exclusion", world->inside_count <= 1);
	if (algorithm->has_token && !algorithm->regenerates)
		add_property(&list, "one_token", is_one_token(stage, flights, count));
	add_invariants(stage, flights, count, &list);
	text_add_string(&list, "]");
	text_add(json, list.bytes, list.used);
	text_free(&list);
	free(owned);
}

static void add_verdict(const struct stage *stage, struct text *json)
{
	static const char *const verdicts[] = {
	        [REPLAY_PASSED] = "passed",
	        [REPLAY_FAILED] = "failed",
	        [REPLAY_BAD] = "bad",
	};
	const struct replay_result *result = &stage->replay_result;

	text_format(json,
	            ",\"line\":%" PRIu32 ",\"verdict\":\"%s\",\"failed\":%" PRIu32
	            ",\"expectations\":%" PRIu64,
	            replay_line(stage->replay), verdicts[result->verdict], result->line,
	            result->expectations);
	add_member(json, "expected", result->expected);
	add_member(json, "found",
	           result->verdict == REPLAY_BAD ? result->problem.text : result->found);
}

void stage_status(struct stage *stage, struct text *json)
{
	char time[32];

	text_format(json, "{\"steps\":%" PRIu64 ",\"time\":%s,\"over\":%s", count_steps(stage),
	            time_text(time_now(stage), time), stage->over ? "true" : "false");
	if (stage->sim != NULL) {
		text_format(json, ",\"violations\":%" PRIu64, stage->result.violations);
		add_member(json, "violation", stage->result.violation);
	} else {
		add_verdict(stage, json);
	}
	text_add_string(json, "}");
}

void stage_diagram(struct stage *stage, struct text *svg)
{
	if (stage->trace != NULL)
		trace_draw(stage->trace, time_now(stage), svg);
}
