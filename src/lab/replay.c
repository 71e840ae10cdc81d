#include "replay.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A message in flight. */
struct envelope {
	uint32_t from, to;
	enum side side; /* by which it left */
	uint32_t size;
	uint64_t number;
	uint8_t *body;
};

struct replay {
	const struct setup *setup;
	const struct algorithm *algorithm;
	struct trace *trace;
	struct replay_result *result;
	struct world world;
	uint32_t nodes;
	uint64_t run_max;

	/* The envelopes in flight, oldest first: [first] … [end - 1]. */
	struct envelope *envelopes;
	size_t envelopes_first, envelopes_end, envelopes_size;
	uint64_t sent;    /* the number of the last envelope */
	uint64_t counted; /* for `expect messages`, but for circulating hops in flight */

	uint32_t *learned; /* the identifier of the leader that a node knows, 0: none */
	/* [nodes][TIMERS_MAX]: duration + 1, 0: not armed; NULL if the algorithm has none. */
	uint64_t *timers;
};

enum { STEP_TIME = 1000000 };

/* Texts. */

__attribute__((format(printf, 1, 2))) static char *text_of(const char *format, ...)
{
	char *text;
	va_list arguments;

	va_start(arguments, format);
	int length = vasprintf(&text, format, arguments);
	va_end(arguments);
	must(length >= 0);
	return text;
}

/* Takes over both texts. */
static enum replay_verdict fail(struct replay *replay, char *expected, char *found)
{
	replay->result->expected = expected;
	replay->result->found = found;
	return REPLAY_FAILED;
}

/* A text that is written piece by piece. */
struct pieces {
	FILE *file;
	char *text;
	size_t size;
};

static void pieces_open(struct pieces *pieces)
{
	pieces->file = open_memstream(&pieces->text, &pieces->size);
	must(pieces->file != NULL);
}

static char *pieces_close(struct pieces *pieces)
{
	must(fclose(pieces->file) == 0);
	return pieces->text;
}

/* Messages in flight. */

static size_t envelopes_count(const struct replay *replay)
{
	return replay->envelopes_end - replay->envelopes_first;
}

static const char *envelope_type(const struct replay *replay, const struct envelope *envelope)
{
	return replay->algorithm->messages[envelope->body[0]].name;
}

static void make_room(struct replay *replay)
{
	size_t count = envelopes_count(replay);

	if (replay->envelopes_end < replay->envelopes_size)
		return;
	if (replay->envelopes_first > count) {
		memmove(replay->envelopes, replay->envelopes + replay->envelopes_first,
		        count * sizeof(*replay->envelopes));
		replay->envelopes_first = 0;
		replay->envelopes_end = count;
		return;
	}
	replay->envelopes_size = replay->envelopes_size == 0 ? 64 : replay->envelopes_size * 2;
	replay->envelopes =
	        realloc(replay->envelopes, replay->envelopes_size * sizeof(*replay->envelopes));
	must(replay->envelopes != NULL);
}

/* Out of the row; the oldest costs nothing. */
static struct envelope take_envelope(struct replay *replay, size_t index)
{
	struct envelope *first = replay->envelopes + replay->envelopes_first;
	struct envelope envelope = replay->envelopes[index];

	memmove(first + 1, first, (index - replay->envelopes_first) * sizeof(*first));
	replay->envelopes_first++;
	return envelope;
}

static bool anybody_wants(const struct replay *replay)
{
	return replay->world.waiting_count != 0 || replay->world.inside_count != 0;
}

/* A circulating token's hop counts when it arrives, if it counts at all. */
static bool counts_at_arrival(const struct replay *replay, uint8_t type)
{
	return replay->algorithm->circulates && replay->algorithm->messages[type].token;
}

static uint64_t count_messages(const struct replay *replay)
{
	uint64_t count = replay->counted;

	if (!replay->algorithm->circulates || !anybody_wants(replay))
		return count;
	for (size_t i = replay->envelopes_first; i < replay->envelopes_end; i++)
		count += counts_at_arrival(replay, replay->envelopes[i].body[0]);
	return count;
}

static void send(struct replay *replay, uint32_t node, const struct effect *effect)
{
	uint8_t *body = malloc(effect->size);

	must(body != NULL);
	memcpy(body, replay->world.out.bytes + effect->offset, effect->size);
	make_room(replay);
	replay->envelopes[replay->envelopes_end++] = (struct envelope){
	        .from = node,
	        .to = effect->node,
	        .side = effect->side,
	        .size = effect->size,
	        .number = ++replay->sent,
	        .body = body,
	};
	replay->counted +=
	        !replay->algorithm->messages[body[0]].init && !counts_at_arrival(replay, body[0]);
}

/* What a step causes. */

static void perform(struct replay *replay, uint32_t node)
{
	for (uint32_t i = 0; i < replay->world.out.effects_count; i++) {
		const struct effect *effect = &replay->world.out.effects[i];
		switch (effect->kind) {
		case EFFECT_SEND:
			send(replay, node, effect);
			break;
		case EFFECT_ELECTED:
			replay->learned[node - 1] = effect->node;
			break;
		case EFFECT_ARM:
		case EFFECT_DISARM:
			must(replay->timers != NULL);
			replay->timers[(size_t)(node - 1) * TIMERS_MAX + effect->node] =
			        effect->kind == EFFECT_ARM ? (uint64_t)effect->size + 1 : 0;
			break;
		case EFFECT_ENTER: /* the world has seen to it */
		case EFFECT_REGENERATED:
			break;
		}
	}
}

/* The time of a step that happens now. */
static uint64_t begin_step(struct replay *replay)
{
	replay->result->time = replay->result->steps++ * STEP_TIME;
	return replay->result->time;
}

/* `envelope`: what was delivered, or NULL. */
static enum replay_verdict end_step(struct replay *replay, uint32_t node,
                                    const struct envelope *envelope)
{
	struct world *world = &replay->world;
	uint64_t first_number = replay->sent + 1;

	perform(replay, node);
	if (replay->trace != NULL)
		trace_effects(replay->trace, world, replay->result->time, node, first_number);
	if (world->broken == NULL)
		return REPLAY_PASSED;
	if (envelope == NULL)
		return fail(replay, NULL, text_of("node %u %s", node, world->broken));
	char *shown = world_show(world, envelope->body, envelope->size);
	char *found = text_of("node %u %s: %s from %u", node, world->broken, shown, envelope->from);
	free(shown);
	return fail(replay, NULL, found);
}

static enum replay_verdict deliver(struct replay *replay, size_t index)
{
	struct envelope envelope = take_envelope(replay, index);
	uint64_t time = begin_step(replay);

	if (counts_at_arrival(replay, envelope.body[0]))
		replay->counted += anybody_wants(replay);
	if (replay->trace != NULL)
		trace_deliver(replay->trace, time, envelope.number, envelope.from, envelope.to,
		              envelope_type(replay, &envelope));
	world_deliver(&replay->world, envelope.to, envelope.side, envelope.body, envelope.size);
	enum replay_verdict verdict = end_step(replay, envelope.to, &envelope);
	free(envelope.body);
	return verdict;
}

static enum replay_verdict expire(struct replay *replay, uint32_t node, uint32_t timer)
{
	begin_step(replay);
	replay->timers[(size_t)(node - 1) * TIMERS_MAX + timer] = 0;
	world_expire(&replay->world, node, timer);
	return end_step(replay, node, NULL);
}

/* The armed timer with the smallest duration among those of the nodes from `first` to `last`. */
static bool find_timer(const struct replay *replay, uint32_t first, uint32_t last,
                       uint32_t *ret_node, uint32_t *ret_timer)
{
	uint64_t smallest = UINT64_MAX;

	if (replay->timers == NULL)
		return false;
	for (uint32_t node = first; node <= last; node++) {
		for (uint32_t timer = 0; timer < TIMERS_MAX; timer++) {
			uint64_t duration = replay->timers[(size_t)(node - 1) * TIMERS_MAX + timer];
			if (duration == 0 || duration >= smallest)
				continue;
			smallest = duration;
			*ret_node = node;
			*ret_timer = timer;
		}
	}
	return smallest != UINT64_MAX;
}

/* Steps. */

/* Why a node may not ask. */
static enum replay_verdict cannot_ask(struct replay *replay, uint32_t node)
{
	enum phase phase = replay->world.phases[node - 1];

	if (phase == PHASE_IDLE)
		problem_set(&replay->result->problem, "node %u is not ready to ask yet", node);
	else
		problem_set(&replay->result->problem, "node %u is %s: only an idle node can ask",
		            node, phase_name(phase));
	return REPLAY_BAD;
}

static enum replay_verdict step_request(struct replay *replay, const struct step *step)
{
	if (!world_may_request(&replay->world, step->node))
		return cannot_ask(replay, step->node);
	uint64_t time = begin_step(replay);
	if (replay->trace != NULL)
		trace_request(replay->trace, time, step->node);
	world_request(&replay->world, step->node);
	return end_step(replay, step->node, NULL);
}

static enum replay_verdict step_release(struct replay *replay, const struct step *step)
{
	enum phase phase = replay->world.phases[step->node - 1];

	if (phase != PHASE_INSIDE) {
		problem_set(&replay->result->problem,
		            "node %u is %s: only a node that is in can leave", step->node,
		            phase_name(phase));
		return REPLAY_BAD;
	}
	uint64_t time = begin_step(replay);
	if (replay->trace != NULL)
		trace_exit(replay->trace, time, step->node);
	world_release(&replay->world, step->node);
	return end_step(replay, step->node, NULL);
}

static bool envelope_fits(const struct step *step, const struct envelope *envelope)
{
	return envelope->from == step->node && envelope->to == step->to &&
	       (step->name == NULL || envelope->body[0] == step->type);
}

/* No K-th message: what is there. */
static void explain_absence(struct replay *replay, const struct step *step, uint64_t found)
{
	struct pieces others;
	const char *type = step->name != NULL ? step->name : "message";

	if (found != 0) {
		problem_set(&replay->result->problem,
		            "no %s #%" PRIu64 " is in flight from %u to %u: there %s only %" PRIu64,
		            type, step->number, step->node, step->to, found == 1 ? "is" : "are",
		            found);
		return;
	}
	pieces_open(&others);
	for (size_t i = replay->envelopes_first, count = 0; i < replay->envelopes_end && count < 8;
	     i++, count++) {
		const struct envelope *envelope = &replay->envelopes[i];
		fprintf(others.file, "%s %s from %u to %u", count == 0 ? "" : ",",
		        envelope_type(replay, envelope), envelope->from, envelope->to);
	}
	if (envelopes_count(replay) > 8)
		fprintf(others.file, ", … (%zu)", envelopes_count(replay));
	else if (envelopes_count(replay) == 0)
		fputs(" nothing", others.file);
	char *text = pieces_close(&others);
	problem_set(&replay->result->problem, "no %s is in flight from %u to %u; in flight:%s",
	            type, step->node, step->to, text);
	free(text);
}

/* Where the step's message is; the end and a problem if it is not in flight. */
static size_t find_envelope(struct replay *replay, const struct step *step)
{
	uint64_t found = 0;

	for (size_t i = replay->envelopes_first; i < replay->envelopes_end; i++) {
		found += envelope_fits(step, &replay->envelopes[i]);
		if (found == step->number)
			return i;
	}
	explain_absence(replay, step, found);
	return replay->envelopes_end;
}

static enum replay_verdict step_deliver(struct replay *replay, const struct step *step)
{
	size_t index = find_envelope(replay, step);

	if (index == replay->envelopes_end)
		return REPLAY_BAD;
	const struct envelope *envelope = &replay->envelopes[index];
	for (size_t i = replay->envelopes_first; replay->setup->fifo && i < index; i++) {
		const struct envelope *older = &replay->envelopes[i];
		if (older->from != envelope->from || older->to != envelope->to ||
		    older->side != envelope->side)
			continue;
		problem_set(
		        &replay->result->problem,
		        "under fifo this %s comes after a %s that is still in flight from %u to %u",
		        envelope_type(replay, envelope), envelope_type(replay, older), step->node,
		        step->to);
		return REPLAY_BAD;
	}
	return deliver(replay, index);
}

static enum replay_verdict step_drop(struct replay *replay, const struct step *step)
{
	size_t index = find_envelope(replay, step);

	if (index == replay->envelopes_end)
		return REPLAY_BAD;
	struct envelope envelope = take_envelope(replay, index);
	uint64_t time = begin_step(replay);
	if (replay->trace != NULL)
		trace_lose(replay->trace, time, envelope.number);
	free(envelope.body);
	return REPLAY_PASSED;
}

static enum replay_verdict step_expire(struct replay *replay, const struct step *step)
{
	uint32_t node, timer = (uint32_t)step->number;
	bool armed = replay->timers != NULL &&
	             (step->has_number
	                      ? replay->timers[(size_t)(step->node - 1) * TIMERS_MAX + timer] != 0
	                      : find_timer(replay, step->node, step->node, &node, &timer));

	if (armed)
		return expire(replay, step->node, timer);
	if (step->has_number)
		problem_set(&replay->result->problem, "timer %u of node %u is not armed", timer,
		            step->node);
	else
		problem_set(&replay->result->problem, "node %u has no armed timer", step->node);
	return REPLAY_BAD;
}

static uint32_t first_in_phase(const struct replay *replay, enum phase phase)
{
	uint32_t node = 1;
	while (node <= replay->nodes && replay->world.phases[node - 1] != phase)
		node++;
	return node;
}

static enum replay_verdict runs_on(struct replay *replay)
{
	if (replay->algorithm->circulates)
		return fail(replay, text_of("nobody waiting in the end"),
		            text_of("node %u waiting after %" PRIu64 " deliveries",
		                    first_in_phase(replay, PHASE_WAITING), replay->run_max));
	return fail(replay, text_of("nothing in flight in the end"),
	            text_of("%zu in flight after %" PRIu64 " deliveries", envelopes_count(replay),
	                    replay->run_max));
}

static enum replay_verdict step_run(struct replay *replay)
{
	for (uint64_t count = 0;; count++) {
		bool flight = envelopes_count(replay) != 0;
		uint32_t node, timer;

		if (replay->algorithm->circulates && replay->world.waiting_count == 0)
			return REPLAY_PASSED;
		if (!flight && !find_timer(replay, 1, replay->nodes, &node, &timer))
			return REPLAY_PASSED;
		if (count == replay->run_max)
			return runs_on(replay);
		enum replay_verdict verdict = flight ? deliver(replay, replay->envelopes_first)
		                                     : expire(replay, node, timer);
		if (verdict != REPLAY_PASSED)
			return verdict;
	}
}

/* Expectations. */

static enum replay_verdict expect_phase(struct replay *replay, const struct step *step)
{
	enum phase phase = replay->world.phases[step->node - 1];

	if (phase == step->phase)
		return REPLAY_PASSED;
	return fail(replay, text_of("node %u %s", step->node, phase_name(step->phase)),
	            text_of("%s", phase_name(phase)));
}

static enum replay_verdict unknown_variable(struct replay *replay, const struct step *step,
                                            const char *name, json_t *variables)
{
	struct pieces list;
	const char *key;
	json_t *value;
	bool first = true;

	pieces_open(&list);
	json_object_foreach (variables, key, value) {
		fprintf(list.file, "%s%s", first ? "" : ", ", key);
		first = false;
	}
	char *text = pieces_close(&list);
	problem_set(&replay->result->problem, "unknown variable '%.40s': node %u of %s has %s",
	            name, step->node, replay->algorithm->name, first ? "none" : text);
	free(text);
	return REPLAY_BAD;
}

static void write_variable(struct pieces *pieces, const char *name, const json_t *value)
{
	char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
	must(text != NULL);
	fprintf(pieces->file, " %s=%s", name, text);
	free(text);
}

/* All that differ are told, and no other. */
static enum replay_verdict compare_variables(struct replay *replay, const struct step *step,
                                             json_t *variables)
{
	struct pieces expected, found;
	const char *name;
	json_t *value;
	bool equal = true;

	json_object_foreach (step->variables, name, value) {
		if (json_object_get(variables, name) == NULL)
			return unknown_variable(replay, step, name, variables);
		equal = equal && json_equal(value, json_object_get(variables, name));
	}
	if (equal)
		return REPLAY_PASSED;
	pieces_open(&expected);
	pieces_open(&found);
	fprintf(expected.file, "node %u", step->node);
	fprintf(found.file, "node %u", step->node);
	json_object_foreach (step->variables, name, value) {
		if (json_equal(value, json_object_get(variables, name)))
			continue;
		write_variable(&expected, name, value);
		write_variable(&found, name, json_object_get(variables, name));
	}
	char *text = pieces_close(&expected);
	return fail(replay, text, pieces_close(&found));
}

static enum replay_verdict expect_variables(struct replay *replay, const struct step *step)
{
	char *text = world_describe(&replay->world, step->node);
	json_t *variables = json_loads(text, 0, NULL);

	must(variables != NULL);
	free(text);
	enum replay_verdict verdict = compare_variables(replay, step, variables);
	json_decref(variables);
	return verdict;
}

static enum replay_verdict expect_flight(struct replay *replay, const struct step *step)
{
	uint64_t count = 0;

	for (size_t i = replay->envelopes_first; i < replay->envelopes_end; i++)
		count += envelope_fits(step, &replay->envelopes[i]);
	if (step->has_number ? count == step->number : count >= 1)
		return REPLAY_PASSED;
	char *number = step->has_number ? text_of("%" PRIu64, step->number) : text_of("a");
	char *expected =
	        text_of("%s %s in flight from %u to %u", number, step->name, step->node, step->to);
	free(number);
	return fail(replay, expected, count == 0 ? text_of("none") : text_of("%" PRIu64, count));
}

static enum replay_verdict expect_messages(struct replay *replay, const struct step *step)
{
	uint64_t count = count_messages(replay);

	if (count == step->number)
		return REPLAY_PASSED;
	return fail(replay, text_of("%" PRIu64 " messages", step->number),
	            text_of("%" PRIu64, count));
}

static char *learned_text(uint32_t identifier)
{
	return identifier == 0 ? text_of("no leader") : text_of("leader %u", identifier);
}

static enum replay_verdict expect_leads(struct replay *replay, const struct step *step)
{
	struct site site = network_site(&replay->setup->network, step->node);
	uint32_t learned = replay->learned[step->node - 1];

	if (learned == site.identifier)
		return REPLAY_PASSED;
	return fail(replay, text_of("node %u leader", step->node), learned_text(learned));
}

static enum replay_verdict expect_leader(struct replay *replay, const struct step *step)
{
	bool learned = false;

	for (uint32_t node = 1; node <= replay->nodes; node++) {
		uint32_t leader = replay->learned[node - 1];
		if (leader != 0 && leader != step->number)
			return fail(replay, text_of("leader %" PRIu64, step->number),
			            text_of("leader %u at node %u", leader, node));
		learned = learned || leader != 0;
	}
	if (learned)
		return REPLAY_PASSED;
	return fail(replay, text_of("leader %" PRIu64, step->number), text_of("no leader"));
}

static enum replay_verdict expect_mutual_exclusion(struct replay *replay)
{
	struct pieces list;

	if (replay->world.inside_count <= 1)
		return REPLAY_PASSED;
	pieces_open(&list);
	fputs("nodes", list.file);
	for (uint32_t node = 1; node <= replay->nodes; node++) {
		if (replay->world.phases[node - 1] == PHASE_INSIDE)
			fprintf(list.file, " %u", node);
	}
	fputs(" in", list.file);
	return fail(replay, text_of("mutual_exclusion"), pieces_close(&list));
}

static enum replay_verdict expect_one_token(struct replay *replay)
{
	const struct algorithm *algorithm = replay->algorithm;
	struct pieces list;
	uint64_t count = 0;

	pieces_open(&list);
	for (uint32_t node = 1; algorithm->has_privilege != NULL && node <= replay->nodes; node++) {
		struct site site = network_site(&replay->setup->network, node);
		if (algorithm->has_privilege(&site, world_state(&replay->world, node)))
			fprintf(list.file, "%s at node %u", count++ == 0 ? "" : ",", node);
	}
	for (size_t i = replay->envelopes_first; i < replay->envelopes_end; i++) {
		const struct envelope *envelope = &replay->envelopes[i];
		if (algorithm->messages[envelope->body[0]].token)
			fprintf(list.file, "%s from %u to %u", count++ == 0 ? "" : ",",
			        envelope->from, envelope->to);
	}
	char *places = pieces_close(&list);
	enum replay_verdict verdict = REPLAY_PASSED;
	if (count != 1)
		verdict = fail(replay, text_of("one_token"),
		               count == 0 ? text_of("none")
		                          : text_of("%" PRIu64 ":%s", count, places));
	free(places);
	return verdict;
}

/* All of the system at this moment, as an invariant wants it. */
static bool holds_globally(const struct replay *replay, const struct invariant *invariant)
{
	size_t count = envelopes_count(replay);
	const void **states = malloc(replay->nodes * sizeof(*states));
	struct flight *flights = malloc((count + 1) * sizeof(*flights));

	must(states != NULL && flights != NULL);
	for (uint32_t node = 1; node <= replay->nodes; node++)
		states[node - 1] = world_state(&replay->world, node);
	for (size_t i = 0; i < count; i++) {
		const struct envelope *envelope = &replay->envelopes[replay->envelopes_first + i];
		flights[i] = (struct flight){
		        .to = envelope->to,
		        .message = {.side = side_opposite(envelope->side),
		                    .size = envelope->size,
		                    .body = envelope->body},
		};
	}
	struct snapshot snapshot = {
	        .network = &replay->setup->network,
	        .states = states,
	        .flights = flights,
	        .flights_count = count,
	};
	bool holds = invariant->global(&snapshot);
	free(states);
	free(flights);
	return holds;
}

static enum replay_verdict expect_invariant(struct replay *replay, const struct step *step)
{
	const struct invariant *invariant = step->invariant;

	if (invariant->global != NULL) {
		if (holds_globally(replay, invariant))
			return REPLAY_PASSED;
		return fail(replay, text_of("%s", invariant->name), text_of("it broken"));
	}
	for (uint32_t node = 1; node <= replay->nodes; node++) {
		struct site site = network_site(&replay->setup->network, node);
		if (invariant->local(&site, world_state(&replay->world, node)))
			continue;
		char *variables = world_describe(&replay->world, node);
		char *found = text_of("it broken at node %u, %s", node, variables);
		free(variables);
		return fail(replay, text_of("%s", invariant->name), found);
	}
	return REPLAY_PASSED;
}

/* The whole. */

static enum replay_verdict perform_step(struct replay *replay, const struct step *step)
{
	switch (step->kind) {
	case STEP_REQUEST:
	case STEP_INITIATE:
		return step_request(replay, step);
	case STEP_RELEASE:
		return step_release(replay, step);
	case STEP_DELIVER:
		return step_deliver(replay, step);
	case STEP_DROP:
		return step_drop(replay, step);
	case STEP_EXPIRE:
		return step_expire(replay, step);
	case STEP_RUN:
		return step_run(replay);
	case STEP_FAIL:
		return fail(replay, NULL, text_of("%s", step->name));
	case STEP_EXPECT_PHASE:
		return expect_phase(replay, step);
	case STEP_EXPECT_LEADS:
		return expect_leads(replay, step);
	case STEP_EXPECT_VARIABLES:
		return expect_variables(replay, step);
	case STEP_EXPECT_FLIGHT:
		return expect_flight(replay, step);
	case STEP_EXPECT_MESSAGES:
		return expect_messages(replay, step);
	case STEP_EXPECT_LEADER:
		return expect_leader(replay, step);
	case STEP_EXPECT_INVARIANT:
		return expect_invariant(replay, step);
	case STEP_EXPECT_MUTUAL_EXCLUSION:
		return expect_mutual_exclusion(replay);
	case STEP_EXPECT_ONE_TOKEN:
		return expect_one_token(replay);
	}
	return REPLAY_PASSED;
}

static void start(struct replay *replay)
{
	replay->learned = calloc(replay->nodes, sizeof(*replay->learned));
	must(replay->learned != NULL);
	if (replay->algorithm->expire != NULL) {
		replay->timers = calloc(replay->nodes, TIMERS_MAX * sizeof(*replay->timers));
		must(replay->timers != NULL);
	}
	world_init(&replay->world, &replay->setup->network);
	world_reset(&replay->world);
	if (replay->trace != NULL)
		trace_start(replay->trace, replay->setup);
	for (uint32_t node = 1; node <= replay->nodes; node++) {
		uint64_t first_number = replay->sent + 1;
		world_start(&replay->world, node);
		perform(replay, node);
		if (replay->trace != NULL)
			trace_sends(replay->trace, &replay->world, 0, node, first_number);
	}
	if (replay->trace != NULL)
		trace_started(replay->trace, &replay->world);
}

static void finish(struct replay *replay)
{
	replay->result->messages = count_messages(replay);
	for (size_t i = replay->envelopes_first; i < replay->envelopes_end; i++)
		free(replay->envelopes[i].body);
	free(replay->envelopes);
	free(replay->learned);
	free(replay->timers);
	world_free(&replay->world);
}

void replay_run(const struct scenario *scenario, const struct setup *setup, struct trace *trace,
                uint64_t run_max, struct replay_result *ret_result)
{
	struct replay replay = {
	        .setup = setup,
	        .algorithm = setup->network.algorithm,
	        .trace = trace,
	        .result = ret_result,
	        .nodes = setup->network.graph.nodes,
	        .run_max = run_max,
	};

	*ret_result = (struct replay_result){.verdict = REPLAY_PASSED};
	start(&replay);
	for (size_t i = 0; i < scenario->steps_count && ret_result->verdict == REPLAY_PASSED; i++) {
		const struct step *step = &scenario->steps[i];
		ret_result->expectations += step_expects(step);
		ret_result->verdict = perform_step(&replay, step);
		if (ret_result->verdict != REPLAY_PASSED)
			ret_result->line = step->line;
	}
	finish(&replay);
}

void replay_result_free(struct replay_result *result)
{
	free(result->expected);
	free(result->found);
}
