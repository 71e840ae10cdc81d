#include "grow.h"
#include "internal.h"
#include "memory.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEP_TIME = 1000000 };

/* --- texts --- */

char *replay_text(const char *format, ...)
{
	char *text;
	va_list arguments;

	va_start(arguments, format);
	int length = vasprintf(&text, format, arguments);
	va_end(arguments);
	memory_must(length >= 0);
	return text;
}

enum replay_verdict replay_fail(struct replay *replay, char *expected, char *found)
{
	replay->result->expected = expected;
	replay->result->found = found;
	return REPLAY_FAILED;
}

/* --- messages in flight --- */

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
	memory_must(replay->envelopes != NULL);
}

/* Removes an envelope. Removing the oldest takes constant time. */
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

/* Is this a hop of a circulating token? Such a hop is counted only when it arrives, and only if a
 * node wants to enter. */
static bool counts_at_arrival(const struct replay *replay, uint8_t type)
{
	return replay->algorithm->circulates && replay->algorithm->messages[type].token;
}

uint64_t replay_count_messages(const struct replay *replay)
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
	uint8_t *body = malloc(effect->send.size);

	memory_must(body != NULL);
	memcpy(body, replay->world.out.bytes + effect->send.offset, effect->send.size);
	make_room(replay);
	replay->envelopes[replay->envelopes_end++] = (struct envelope){
	        .from = node,
	        .to = effect->send.to,
	        .side = effect->send.side,
	        .size = effect->send.size,
	        .number = ++replay->sent,
	        .body = body,
	};
	replay->counted +=
	        !replay->algorithm->messages[body[0]].init && !counts_at_arrival(replay, body[0]);
}

/* --- effects --- */

static void perform(struct replay *replay, uint32_t node)
{
	for (uint32_t i = 0; i < replay->world.out.effects_count; i++) {
		const struct effect *effect = &replay->world.out.effects[i];
		switch (effect->kind) {
		case EFFECT_SEND:
			send(replay, node, effect);
			break;
		case EFFECT_ELECTED:
			replay_learn(replay, node, effect->elected.identifier);
			break;
		case EFFECT_ARM:
		case EFFECT_DISARM:
			must(replay->timers != NULL);
			replay->timers[(size_t)(node - 1) * TIMERS_MAX + effect->timer.number] =
			        effect->kind == EFFECT_ARM ? (uint64_t)effect->timer.delays + 1 : 0;
			break;
		case EFFECT_ENTER: /* the world has updated the phase already */
		case EFFECT_REGENERATED:
			break;
		}
	}
}

/* Counts a step and returns its time. */
static uint64_t begin_step(struct replay *replay)
{
	replay->result->time = replay->result->steps++ * STEP_TIME;
	return replay->result->time;
}

/* Performs the effects of a step of `node`. `envelope` is the message that was delivered, or
 * NULL. */
static enum replay_verdict end_step(struct replay *replay, uint32_t node,
                                    const struct envelope *envelope)
{
	struct world *world = &replay->world;
	uint64_t first_number = replay->sent + 1;

	perform(replay, node);
	if (replay->trace != NULL)
		trace_effects(replay->trace, world, replay->result->time, node, first_number);
	if (replay->faulty && world->refused)
		world->broken = NULL;
	if (world->broken == NULL)
		return REPLAY_PASSED;
	if (envelope == NULL)
		return replay_fail(replay, NULL, replay_text("node %u %s", node, world->broken));
	char *shown = world_show(world, envelope->body, envelope->size);
	char *found =
	        replay_text("node %u %s: %s from %u", node, world->broken, shown, envelope->from);
	free(shown);
	return replay_fail(replay, NULL, found);
}

/* Loses a message: removes it before it arrives. */
static enum replay_verdict lose(struct replay *replay, size_t index)
{
	struct envelope envelope = take_envelope(replay, index);
	uint64_t time = begin_step(replay);

	replay->faulty = true;
	if (replay->trace != NULL)
		trace_lose(replay->trace, time, envelope.number);
	free((void *)envelope.body);
	return REPLAY_PASSED;
}

static bool is_cut(const struct replay *replay, uint32_t from, uint32_t to)
{
	const uint32_t *ends = replay->cut_ends;

	for (size_t i = 0; i < replay->cut_ends_count; i += 2) {
		if ((ends[i] == from && ends[i + 1] == to) ||
		    (ends[i] == to && ends[i + 1] == from))
			return true;
	}
	return false;
}

static enum replay_verdict deliver(struct replay *replay, size_t index)
{
	const struct envelope *next = &replay->envelopes[index];

	if (replay->dead[next->to - 1] || is_cut(replay, next->from, next->to))
		return lose(replay, index);
	struct envelope envelope = take_envelope(replay, index);
	uint64_t time = begin_step(replay);

	if (counts_at_arrival(replay, envelope.body[0]))
		replay->counted += anybody_wants(replay);
	if (replay->trace != NULL)
		trace_deliver(replay->trace, time, envelope.number, envelope.from, envelope.to,
		              envelope_type(replay, &envelope));
	world_deliver(&replay->world, envelope.to, envelope.side, envelope.body, envelope.size);
	enum replay_verdict verdict = end_step(replay, envelope.to, &envelope);
	free((void *)envelope.body);
	return verdict;
}

static enum replay_verdict expire(struct replay *replay, uint32_t node, uint32_t timer)
{
	uint64_t time = begin_step(replay);

	if (replay->trace != NULL)
		trace_expire(replay->trace, time, node);
	replay->timers[(size_t)(node - 1) * TIMERS_MAX + timer] = 0;
	world_expire(&replay->world, node, timer);
	return end_step(replay, node, NULL);
}

/* Finds the armed timer with the shortest duration among the nodes from `first` to `last`. */
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

/* --- steps --- */

/* Reports why a node may not ask. */
static enum replay_verdict cannot_ask(struct replay *replay, uint32_t node)
{
	enum world_phase phase = replay->world.phases[node - 1];

	if (replay->dead[node - 1])
		problem_set(&replay->result->problem, "node %u is dead: it cannot %s", node,
		            replay->algorithm->kind == KIND_ELECTION ? "initiate" : "ask");
	else if (phase == PHASE_IDLE)
		problem_set(&replay->result->problem, "node %u is not ready to ask yet", node);
	else
		problem_set(&replay->result->problem, "node %u is %s: only an idle node can ask",
		            node, phase_name(phase));
	return REPLAY_BAD;
}

static enum replay_verdict step_request(struct replay *replay, const struct step *step)
{
	if (replay->dead[step->node - 1] || !world_may_request(&replay->world, step->node))
		return cannot_ask(replay, step->node);
	uint64_t time = begin_step(replay);
	if (replay->trace != NULL)
		trace_request(replay->trace, time, step->node);
	world_request(&replay->world, step->node);
	return end_step(replay, step->node, NULL);
}

static enum replay_verdict step_release(struct replay *replay, const struct step *step)
{
	enum world_phase phase = replay->world.phases[step->node - 1];

	if (phase != PHASE_INSIDE) {
		problem_set(&replay->result->problem,
		            "node %u is %s: only a node that is inside can leave", step->node,
		            phase_name(phase));
		return REPLAY_BAD;
	}
	uint64_t time = begin_step(replay);
	if (replay->trace != NULL)
		trace_exit(replay->trace, time, step->node);
	world_release(&replay->world, step->node);
	return end_step(replay, step->node, NULL);
}

bool envelope_fits(const struct step *step, const struct envelope *envelope)
{
	return envelope->from == step->node && envelope->to == step->to &&
	       (step->name == NULL || envelope->body[0] == step->type);
}

/* Sets the problem for a step whose message is not in flight. `found` is how many messages fit the
 * step; if none does, the problem lists what is in flight. */
static void explain_absence(struct replay *replay, const struct step *step, uint64_t found)
{
	struct text others = {0};
	const char *type = step->name != NULL ? step->name : "message";

	if (found != 0) {
		problem_set(&replay->result->problem,
		            "no %s #%" PRIu64 " is in flight from %u to %u: there %s only %" PRIu64,
		            type, step->number, step->node, step->to, found == 1 ? "is" : "are",
		            found);
		return;
	}
	for (size_t i = replay->envelopes_first, count = 0; i < replay->envelopes_end && count < 8;
	     i++, count++) {
		const struct envelope *envelope = &replay->envelopes[i];
		text_format(&others, "%s %s from %u to %u", count == 0 ? "" : ",",
		            envelope_type(replay, envelope), envelope->from, envelope->to);
	}
	if (envelopes_count(replay) > 8)
		text_format(&others, ", … (%zu)", envelopes_count(replay));
	else if (envelopes_count(replay) == 0)
		text_add_string(&others, " nothing");
	char *text = text_take(&others);
	problem_set(&replay->result->problem, "no %s is in flight from %u to %u; in flight:%s",
	            type, step->node, step->to, text);
	free(text);
}

/* Returns the index of the message to which the step refers. If it is not in flight, returns the
 * end of the array and sets a problem. */
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
		problem_set(&replay->result->problem,
		            "under fifo this %s must wait: an older message, %s, is still in "
		            "flight from %u to %u",
		            envelope_type(replay, envelope), envelope_type(replay, older),
		            step->node, step->to);
		return REPLAY_BAD;
	}
	return deliver(replay, index);
}

static enum replay_verdict step_drop(struct replay *replay, const struct step *step)
{
	size_t index = find_envelope(replay, step);

	return index == replay->envelopes_end ? REPLAY_BAD : lose(replay, index);
}

/* Duplicates a message. The copy becomes the newest message in flight. */
static enum replay_verdict step_duplicate(struct replay *replay, const struct step *step)
{
	size_t index = find_envelope(replay, step);

	if (index == replay->envelopes_end)
		return REPLAY_BAD;
	struct envelope copy = replay->envelopes[index];
	uint64_t of = copy.number, time = begin_step(replay);
	uint8_t *body = malloc(copy.size);

	memory_must(body != NULL);
	memcpy(body, copy.body, copy.size);
	copy.body = body;
	copy.number = ++replay->sent;
	make_room(replay);
	replay->envelopes[replay->envelopes_end++] = copy;
	replay->faulty = true;
	if (replay->trace != NULL)
		trace_duplicate(replay->trace, &replay->world, time, of, &copy);
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

static uint32_t first_in_phase(const struct replay *replay, enum world_phase phase)
{
	uint32_t node = 1;
	while (node <= replay->nodes && replay->world.phases[node - 1] != phase)
		node++;
	return node;
}

static enum replay_verdict runs_on(struct replay *replay)
{
	if (replay->algorithm->circulates)
		return replay_fail(replay, replay_text("nobody waiting in the end"),
		                   replay_text("node %u waiting after %" PRIu64 " deliveries",
		                               first_in_phase(replay, PHASE_WAITING),
		                               replay->run_max));
	return replay_fail(replay, replay_text("nothing in flight in the end"),
	                   replay_text("%zu in flight after %" PRIu64 " deliveries",
	                               envelopes_count(replay), replay->run_max));
}

/* Performs one delivery or timer of a `run`. replay->running tells whether another may follow. */
static enum replay_verdict step_run(struct replay *replay)
{
	bool flight = envelopes_count(replay) != 0;
	uint32_t node, timer;

	replay->running = false;
	/* A circulating token never stops. While nobody waits, it need not be delivered. While a
	 * node is inside, no delivery helps those that wait: they need a release. */
	if (replay->algorithm->circulates &&
	    (replay->world.waiting_count == 0 || replay->world.inside_count != 0))
		return REPLAY_PASSED;
	if (!flight && !find_timer(replay, 1, replay->nodes, &node, &timer))
		return REPLAY_PASSED;
	if (replay->run_count++ == replay->run_max)
		return runs_on(replay);
	replay->running = true;
	return flight ? deliver(replay, replay->envelopes_first) : expire(replay, node, timer);
}

/* Makes a node dead, and stops its timers. */
static enum replay_verdict step_crash(struct replay *replay, const struct step *step)
{
	if (replay->dead[step->node - 1]) {
		problem_set(&replay->result->problem, "node %u is dead already", step->node);
		return REPLAY_BAD;
	}
	uint64_t time = begin_step(replay);
	if (replay->trace != NULL)
		trace_crash(replay->trace, time, step->node);
	replay->dead[step->node - 1] = true;
	replay->faulty = true;
	world_crash(&replay->world, step->node);
	if (replay->timers != NULL)
		memset(&replay->timers[(size_t)(step->node - 1) * TIMERS_MAX], 0,
		       TIMERS_MAX * sizeof(*replay->timers));
	return REPLAY_PASSED;
}

static enum replay_verdict step_restart(struct replay *replay, const struct step *step)
{
	if (!replay->dead[step->node - 1]) {
		problem_set(&replay->result->problem,
		            "node %u is not dead: only a node that has crashed can restart",
		            step->node);
		return REPLAY_BAD;
	}
	uint64_t time = begin_step(replay);
	if (replay->trace != NULL)
		trace_restart(replay->trace, time, step->node);
	replay->dead[step->node - 1] = false;
	world_restart(&replay->world, step->node);
	return end_step(replay, step->node, NULL);
}

/* --- changes of the network --- */

static bool needs_link(const struct replay *replay, uint32_t node, uint32_t neighbour)
{
	struct site site = network_site(replay->world.network, node);

	return replay->algorithm->needs_link(&site, world_state(&replay->world, node), neighbour);
}

/* Is the network still connected without this link? */
static bool is_connected_without(struct replay *replay, uint32_t a, uint32_t b)
{
	uint32_t *scratch = malloc(replay->nodes * sizeof(*scratch));

	memory_must(scratch != NULL);
	world_rewire(&replay->world, a, b, false);
	bool connected = graph_is(&replay->world.network->graph, GRAPH_CONNECTED, scratch);
	world_rewire(&replay->world, a, b, true);
	free(scratch);
	return connected;
}

/* Returns why the link cannot be removed now, or NULL. */
static const char *why_linked(struct replay *replay, uint32_t a, uint32_t b)
{
	for (size_t i = replay->envelopes_first; i < replay->envelopes_end; i++) {
		const struct envelope *envelope = &replay->envelopes[i];
		if ((envelope->from == a && envelope->to == b) ||
		    (envelope->from == b && envelope->to == a))
			return "a message is in flight on it";
	}
	if (needs_link(replay, a, b) || needs_link(replay, b, a))
		return "an answer may still have to go over it";
	return is_connected_without(replay, a, b) ? NULL : "the network would fall apart";
}

/* Makes or removes a link. The node with the lower number learns of it first. */
static enum replay_verdict step_link(struct replay *replay, const struct step *step)
{
	uint32_t a = step->node < step->to ? step->node : step->to;
	uint32_t b = step->node < step->to ? step->to : step->node;
	bool makes = step->kind == STEP_LINK;

	if (graph_adjacent(&replay->world.network->graph, a, b) == makes) {
		problem_set(&replay->result->problem,
		            makes ? "%u and %u are linked already" : "%u and %u are not linked", a,
		            b);
		return REPLAY_BAD;
	}
	const char *why = makes ? NULL : why_linked(replay, a, b);
	if (why != NULL) {
		problem_set(&replay->result->problem,
		            "the link between %u and %u cannot be removed: %s", a, b, why);
		return REPLAY_BAD;
	}
	uint64_t time = begin_step(replay);
	world_rewire(&replay->world, a, b, makes);
	if (replay->trace != NULL)
		trace_link(replay->trace, time, a, b, makes);
	if (!makes) {
		/* The algorithm makes no step here, but variables that describe neighbours may have
		 * changed. */
		if (replay->trace != NULL) {
			trace_variables(replay->trace, &replay->world, time, a);
			trace_variables(replay->trace, &replay->world, time, b);
		}
		return REPLAY_PASSED;
	}
	world_linked(&replay->world, a, b);
	enum replay_verdict verdict = end_step(replay, a, NULL);
	if (verdict != REPLAY_PASSED)
		return verdict;
	world_linked(&replay->world, b, a);
	return end_step(replay, b, NULL);
}

/* Cuts a link. Nobody is told: messages on it are lost from now on. */
static enum replay_verdict step_cut(struct replay *replay, const struct step *step)
{
	if (is_cut(replay, step->node, step->to)) {
		problem_set(&replay->result->problem, "the link between %u and %u is cut already",
		            step->node, step->to);
		return REPLAY_BAD;
	}
	uint64_t time = begin_step(replay);
	if (replay->trace != NULL)
		trace_cut_link(replay->trace, time, step->node, step->to);
	replay->cut_ends = grow(replay->cut_ends, &replay->cut_ends_size,
	                        replay->cut_ends_count + 2, sizeof(*replay->cut_ends));
	replay->cut_ends[replay->cut_ends_count++] = step->node;
	replay->cut_ends[replay->cut_ends_count++] = step->to;
	replay->faulty = true;
	return REPLAY_PASSED;
}

/* --- the whole replay --- */

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
	case STEP_DUPLICATE:
		return step_duplicate(replay, step);
	case STEP_EXPIRE:
		return step_expire(replay, step);
	case STEP_CRASH:
		return step_crash(replay, step);
	case STEP_RESTART:
		return step_restart(replay, step);
	case STEP_LINK:
	case STEP_UNLINK:
		return step_link(replay, step);
	case STEP_CUT:
		return step_cut(replay, step);
	case STEP_RUN:
		return step_run(replay);
	case STEP_LOOP:
		violation_loop(replay);
		if (replay->trace != NULL)
			trace_loop(replay->trace, replay->result->steps * STEP_TIME);
		return REPLAY_PASSED;
	case STEP_FAIL:
		return replay_fail(replay, NULL, replay_text("%s", step->name));
	case STEP_EXPECT_PHASE:
	case STEP_EXPECT_LEADS:
	case STEP_EXPECT_VARIABLES:
	case STEP_EXPECT_FLIGHT:
	case STEP_EXPECT_MESSAGES:
	case STEP_EXPECT_QUEUE:
	case STEP_EXPECT_LEADER:
	case STEP_EXPECT_INVARIANT:
	case STEP_EXPECT_MUTUAL_EXCLUSION:
	case STEP_EXPECT_ONE_TOKEN:
	case STEP_EXPECT_UNIQUE_LEADER:
	case STEP_EXPECT_AGREEMENT:
	case STEP_EXPECT_TERMINATION:
	case STEP_EXPECT_STEPS_ALLOWED:
		return replay_expect(replay, step);
	}
	return REPLAY_PASSED;
}

static void start(struct replay *replay)
{
	const struct electorate *electorate = &replay->setup->electorate;

	replay->dead = calloc(replay->nodes, sizeof(*replay->dead));
	replay->learned = calloc(replay->nodes, sizeof(*replay->learned));
	replay->declared = calloc(replay->nodes, sizeof(*replay->declared));
	memory_must(replay->dead != NULL && replay->learned != NULL && replay->declared != NULL);
	for (uint32_t i = 0; i < electorate->crashed_count; i++)
		replay->dead[electorate->crashed[i] - 1] = true;
	if (replay->algorithm->expire != NULL) {
		replay->timers = calloc(replay->nodes, TIMERS_MAX * sizeof(*replay->timers));
		memory_must(replay->timers != NULL);
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

struct replay *replay_begin(const struct scenario *scenario, const struct setup *setup,
                            struct trace *trace, uint64_t run_max, struct replay_result *ret_result)
{
	struct replay *replay = calloc(1, sizeof(*replay));

	memory_must(replay != NULL);
	*replay = (struct replay){
	        .setup = setup,
	        .algorithm = setup->network.algorithm,
	        .trace = trace,
	        .result = ret_result,
	        .scenario = scenario,
	        .nodes = setup->network.graph.nodes,
	        .run_max = run_max,
	};
	*ret_result = (struct replay_result){.verdict = REPLAY_PASSED};
	start(replay);
	return replay;
}

/* Reports a step that broke the contract, at the line of the expectation that follows it, if there
 * is one. */
static void tell_forbidden(struct replay *replay, const struct step *step)
{
	const struct scenario *scenario = replay->scenario;
	struct replay_result *result = replay->result;
	bool told = step + 1 < scenario->steps + scenario->steps_count &&
	            step[1].kind == STEP_EXPECT_STEPS_ALLOWED;

	if (result->verdict == REPLAY_FAILED && replay->world.broken != NULL && told) {
		result->expected = replay_text("steps_are_allowed");
		result->line = step[1].line;
	}
}

bool replay_step(struct replay *replay)
{
	struct replay_result *result = replay->result;

	if (replay->next == replay->scenario->steps_count || result->verdict != REPLAY_PASSED)
		return false;
	const struct step *step = &replay->scenario->steps[replay->next];
	if (!replay->running) {
		replay->run_count = 0;
		result->expectations += step_expects(step);
	}
	replay->line = step->line;
	result->verdict = perform_step(replay, step);
	if (result->verdict != REPLAY_PASSED)
		result->line = step->line;
	tell_forbidden(replay, step);
	if (!replay->running)
		replay->next++;
	return true;
}

bool replay_act(struct replay *replay, const struct step *step)
{
	struct replay_result *result = replay->result;
	enum replay_verdict verdict = perform_step(replay, step);

	if (verdict == REPLAY_BAD)
		return false;
	if (verdict == REPLAY_FAILED)
		result->verdict = verdict;
	replay->line = 0;
	return true;
}

void replay_end(struct replay *replay)
{
	replay->result->messages = replay_count_messages(replay);
	violation_tell(replay);
	for (size_t i = replay->envelopes_first; i < replay->envelopes_end; i++)
		free((void *)replay->envelopes[i].body);
	free(replay->envelopes);
	free(replay->dead);
	free(replay->cut_ends);
	free(replay->learned);
	free(replay->declared);
	free(replay->timers);
	free(replay->loop);
	world_free(&replay->world);
	free(replay);
}

void replay_run(const struct scenario *scenario, const struct setup *setup, struct trace *trace,
                uint64_t run_max, struct replay_result *ret_result)
{
	struct replay *replay = replay_begin(scenario, setup, trace, run_max, ret_result);

	while (replay_step(replay))
		;
	replay_end(replay);
}

uint32_t replay_line(const struct replay *replay)
{
	return replay->line;
}

const struct world *replay_world(const struct replay *replay)
{
	return &replay->world;
}

const uint32_t *replay_learned(const struct replay *replay)
{
	return replay->learned;
}

const bool *replay_dead(const struct replay *replay)
{
	return replay->dead;
}

size_t replay_cut_ends(const struct replay *replay, const uint32_t **ret_ends)
{
	*ret_ends = replay->cut_ends;
	return replay->cut_ends_count;
}

size_t replay_flights(const struct replay *replay, const struct envelope **ret_flights)
{
	*ret_flights = replay->envelopes + replay->envelopes_first;
	return envelopes_count(replay);
}

void replay_result_free(struct replay_result *result)
{
	free(result->expected);
	free(result->found);
}
