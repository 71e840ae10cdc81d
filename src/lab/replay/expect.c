#include "internal.h"
#include "json_text.h"
#include "memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static enum replay_verdict expect_phase(struct replay *replay, const struct step *step)
{
	enum world_phase phase = replay->world.phases[step->node - 1];

	if (phase == step->phase)
		return REPLAY_PASSED;
	return replay_fail(replay, replay_text("node %u %s", step->node, phase_name(step->phase)),
	                   replay_text("%s", phase_name(phase)));
}

static enum replay_verdict unknown_variable(struct replay *replay, const struct step *step,
                                            const char *name, const char *variables)
{
	struct text list = {0};
	struct json_member member;

	for (const char *at = variables; (at = json_next_member(at, &member)) != NULL;)
		text_format(&list, "%s%.*s", list.used == 0 ? "" : ", ", (int)member.name_length,
		            member.name);
	problem_set(&replay->result->problem, "unknown variable '%.40s': node %u of %s has %s",
	            name, step->node, replay->algorithm->name,
	            list.used == 0 ? "none" : list.bytes);
	text_free(&list);
	return REPLAY_BAD;
}

static bool is_equal(const struct expected_variable *expected, const struct json_member *member)
{
	return strlen(expected->value) == member->value_length &&
	       memcmp(expected->value, member->value, member->value_length) == 0;
}

/* Reports all variables that differ, and only those. */
static enum replay_verdict compare_variables(struct replay *replay, const struct step *step,
                                             const char *variables)
{
	struct text expected = {0}, found = {0};
	struct json_member member;
	bool equal = true;

	for (size_t i = 0; i < step->variables_count; i++) {
		if (!json_find_member(variables, step->variables[i].name, &member))
			return unknown_variable(replay, step, step->variables[i].name, variables);
		equal = equal && is_equal(&step->variables[i], &member);
	}
	if (equal)
		return REPLAY_PASSED;
	text_format(&expected, "node %u", step->node);
	text_format(&found, "node %u", step->node);
	for (size_t i = 0; i < step->variables_count; i++) {
		const struct expected_variable *variable = &step->variables[i];
		must(json_find_member(variables, variable->name, &member));
		if (is_equal(variable, &member))
			continue;
		text_format(&expected, " %s=%s", variable->name, variable->value);
		text_format(&found, " %s=%.*s", variable->name, (int)member.value_length,
		            member.value);
	}
	return replay_fail(replay, text_take(&expected), text_take(&found));
}

/* Describes the variables of a node, and adds `figure`, the name of its state in the paper's figure
 * if there is one. */
static char *describe_with_figure(const struct replay *replay, uint32_t node)
{
	const struct state_figure *figure = replay->algorithm->figure;
	struct site site = network_site(&replay->setup->network, node);
	char *variables = world_describe(&replay->world, node);
	struct text text = {0};

	if (figure == NULL)
		return variables;
	const char *name = figure->state(&site, world_state(&replay->world, node));
	text_add(&text, variables, strlen(variables) - 1);
	if (name != NULL)
		text_format(&text, ",\"figure\":\"%s\"}", name);
	else
		text_add_string(&text, ",\"figure\":null}");
	free(variables);
	return text_take(&text);
}

static enum replay_verdict expect_variables(struct replay *replay, const struct step *step)
{
	char *variables = describe_with_figure(replay, step->node);
	enum replay_verdict verdict = compare_variables(replay, step, variables);

	free(variables);
	return verdict;
}

static enum replay_verdict expect_flight(struct replay *replay, const struct step *step)
{
	uint64_t count = 0;

	for (size_t i = replay->envelopes_first; i < replay->envelopes_end; i++)
		count += envelope_fits(step, &replay->envelopes[i]);
	if (step->has_number ? count == step->number : count >= 1)
		return REPLAY_PASSED;
	char *number = step->has_number ? replay_text("%" PRIu64, step->number) : replay_text("a");
	char *expected = replay_text("%s %s in flight from %u to %u", number, step->name,
	                             step->node, step->to);
	free(number);
	return replay_fail(replay, expected,
	                   count == 0 ? replay_text("none") : replay_text("%" PRIu64, count));
}

static enum replay_verdict expect_messages(struct replay *replay, const struct step *step)
{
	uint64_t count = replay_count_messages(replay);

	if (count == step->number)
		return REPLAY_PASSED;
	return replay_fail(replay, replay_text("%" PRIu64 " messages", step->number),
	                   replay_text("%" PRIu64, count));
}

/* --- elections --- */

void replay_learn(struct replay *replay, uint32_t node, uint32_t leader)
{
	struct site site = network_site(&replay->setup->network, node);
	struct lesson lesson = {
	        .node = node, .leader = leader, .before = replay->learned[node - 1]};

	if (replay->first_lesson.node == 0)
		replay->first_lesson = lesson;
	else if (replay->other_lesson.node == 0 && leader != replay->first_lesson.leader)
		replay->other_lesson = lesson;
	replay->learned[node - 1] = leader;
	replay->declared[node - 1] += leader == site.identifier;
}

static char *learned_text(uint32_t identifier)
{
	return identifier == 0 ? replay_text("no leader") : replay_text("leader %u", identifier);
}

static enum replay_verdict expect_leads(struct replay *replay, const struct step *step)
{
	struct site site = network_site(&replay->setup->network, step->node);
	uint32_t learned = replay->learned[step->node - 1];

	if (learned == site.identifier)
		return REPLAY_PASSED;
	return replay_fail(replay, replay_text("node %u leader", step->node),
	                   learned_text(learned));
}

static enum replay_verdict expect_leader(struct replay *replay, const struct step *step)
{
	bool learned = false;

	for (uint32_t node = 1; node <= replay->nodes; node++) {
		uint32_t leader = replay->learned[node - 1];
		if (leader != 0 && leader != step->number)
			return replay_fail(replay, replay_text("leader %" PRIu64, step->number),
			                   replay_text("leader %u at node %u", leader, node));
		learned = learned || leader != 0;
	}
	if (learned)
		return REPLAY_PASSED;
	return replay_fail(replay, replay_text("leader %" PRIu64, step->number),
	                   replay_text("no leader"));
}

/* Returns the places that have declared themselves the leader, such as "1, 2 and 3". */
static char *declared_text(const struct replay *replay, uint32_t count)
{
	struct text list = {0};
	uint32_t written = 0;

	for (uint32_t node = 1; node <= replay->nodes; node++) {
		if (replay->declared[node - 1] == 0)
			continue;
		const char *separator = written == 0 ? "" : written + 1 == count ? " and " : ", ";
		text_format(&list, "%s%u", separator, node);
		written++;
	}
	text_add_string(&list, " declared");
	return text_take(&list);
}

static enum replay_verdict expect_unique_leader(struct replay *replay)
{
	uint32_t count = 0, last = 0;

	for (uint32_t node = 1; node <= replay->nodes; node++) {
		if (replay->declared[node - 1] == 0)
			continue;
		count++;
		last = node;
	}
	if (count > 1)
		return replay_fail(replay, replay_text("unique_leader"),
		                   declared_text(replay, count));
	if (count == 1 && replay->declared[last - 1] > 1)
		return replay_fail(
		        replay, replay_text("unique_leader"),
		        replay_text("%u declared %u times", last, replay->declared[last - 1]));
	return REPLAY_PASSED;
}

static enum replay_verdict expect_agreement(struct replay *replay)
{
	const struct lesson *first = &replay->first_lesson, *other = &replay->other_lesson;

	if (other->node == 0)
		return REPLAY_PASSED;
	if (other->before != 0)
		return replay_fail(replay, replay_text("agreement"),
		                   replay_text("node %u changed from leader %u to leader %u",
		                               other->node, other->before, other->leader));
	return replay_fail(replay, replay_text("agreement"),
	                   replay_text("leader %u at node %u, leader %u at node %u", first->leader,
	                               first->node, other->leader, other->node));
}

static bool takes_part(const struct replay *replay, uint32_t node)
{
	struct site site = network_site(&replay->setup->network, node);
	return replay->algorithm->ready != NULL &&
	       !replay->algorithm->ready(&site, world_state(&replay->world, node));
}

static enum replay_verdict expect_termination(struct replay *replay)
{
	for (uint32_t node = 1; node <= replay->nodes; node++) {
		if (replay->dead[node - 1])
			continue;
		if (replay->learned[node - 1] == 0)
			return replay_fail(replay, replay_text("termination"),
			                   replay_text("node %u without a leader", node));
		if (takes_part(replay, node))
			return replay_fail(replay, replay_text("termination"),
			                   replay_text("node %u still takes part", node));
	}
	return REPLAY_PASSED;
}

/* --- invariants --- */

static enum replay_verdict expect_mutual_exclusion(struct replay *replay)
{
	struct text list = {0};

	if (replay->world.inside_count <= 1)
		return REPLAY_PASSED;
	text_add_string(&list, "nodes");
	for (uint32_t node = 1; node <= replay->nodes; node++) {
		if (replay->world.phases[node - 1] == PHASE_INSIDE)
			text_format(&list, " %u", node);
	}
	text_add_string(&list, " in");
	return replay_fail(replay, replay_text("mutual_exclusion"), text_take(&list));
}

static enum replay_verdict expect_one_token(struct replay *replay)
{
	const struct algorithm *algorithm = replay->algorithm;
	struct text list = {0};
	uint64_t count = 0;

	for (uint32_t node = 1; algorithm->has_privilege != NULL && node <= replay->nodes; node++) {
		struct site site = network_site(&replay->setup->network, node);
		if (algorithm->has_privilege(&site, world_state(&replay->world, node)))
			text_format(&list, "%s at node %u", count++ == 0 ? "" : ",", node);
	}
	for (size_t i = replay->envelopes_first; i < replay->envelopes_end; i++) {
		const struct envelope *envelope = &replay->envelopes[i];
		if (algorithm->messages[envelope->body[0]].token)
			text_format(&list, "%s from %u to %u", count++ == 0 ? "" : ",",
			            envelope->from, envelope->to);
	}
	char *places = text_take(&list);
	enum replay_verdict verdict = REPLAY_PASSED;
	if (count != 1)
		verdict = replay_fail(replay, replay_text("one_token"),
		                      count == 0 ? replay_text("none")
		                                 : replay_text("%" PRIu64 ":%s", count, places));
	free(places);
	return verdict;
}

/* Takes a snapshot of the whole system, which the caller frees. */
static struct snapshot take_snapshot(const struct replay *replay)
{
	const struct algorithm *algorithm = replay->setup->network.algorithm;
	size_t count = envelopes_count(replay);
	const void **states = malloc(replay->nodes * sizeof(*states));
	struct flight *flights = malloc((count + 1) * sizeof(*flights));

	memory_must(states != NULL && flights != NULL);
	for (uint32_t node = 1; node <= replay->nodes; node++)
		states[node - 1] = world_state(&replay->world, node);
	for (size_t i = 0; i < count; i++) {
		const struct envelope *envelope = &replay->envelopes[replay->envelopes_first + i];
		struct message message = {.side = side_opposite(envelope->side),
		                          .size = envelope->size,
		                          .body = envelope->body};
		flights[i] = (struct flight){
		        .to = envelope->to,
		        .origin = algorithm->origin != NULL ? algorithm->origin(&message) : 0,
		        .message = message,
		};
	}
	return (struct snapshot){
	        .network = &replay->setup->network,
	        .states = states,
	        .flights = flights,
	        .flights_count = count,
	};
}

static void give_snapshot_back(const struct snapshot *snapshot)
{
	free((void *)snapshot->states);
	free((void *)snapshot->flights);
}

static bool holds_globally(const struct replay *replay, const struct invariant *invariant)
{
	struct snapshot snapshot = take_snapshot(replay);
	bool holds = invariant->global(&snapshot);

	give_snapshot_back(&snapshot);
	return holds;
}

/* The report also names waiting nodes whose place is not certain yet. These are not compared. */
static enum replay_verdict expect_queue(struct replay *replay, const struct step *step)
{
	struct snapshot snapshot = take_snapshot(replay);
	uint32_t *queue = malloc(replay->nodes * sizeof(*queue));
	struct text found = {0};

	memory_must(queue != NULL);
	uint32_t count = replay->algorithm->queue(&snapshot, queue);
	must(count <= replay->nodes);
	for (uint32_t k = 0; k < count; k++)
		text_format(&found, "%s%u", k == 0 ? "" : ",", queue[k]);
	text_add_string(&found, count == 0 ? "nobody" : "");
	bool equal = strcmp(found.bytes, step->name) == 0;
	if (count < replay->world.waiting_count)
		text_format(&found, " (%u more wait%s, in an order that is not certain yet)",
		            replay->world.waiting_count - count,
		            replay->world.waiting_count - count == 1 ? "s" : "");
	free(queue);
	give_snapshot_back(&snapshot);
	if (!equal)
		return replay_fail(replay, replay_text("queue %s", step->name), text_take(&found));
	text_free(&found);
	return REPLAY_PASSED;
}

static char *invariant_text(const struct invariant *invariant)
{
	return replay_text("%s (%s)", invariant->name, invariant->meaning);
}

static enum replay_verdict expect_invariant(struct replay *replay, const struct step *step)
{
	const struct invariant *invariant = step->invariant;

	if (invariant->global != NULL) {
		if (holds_globally(replay, invariant))
			return REPLAY_PASSED;
		return replay_fail(replay, invariant_text(invariant), replay_text("it broken"));
	}
	for (uint32_t node = 1; node <= replay->nodes; node++) {
		struct site site = network_site(&replay->setup->network, node);
		if (invariant->local(&site, world_state(&replay->world, node)))
			continue;
		char *variables = world_describe(&replay->world, node);
		char *found = replay_text("it broken at node %u, %s", node, variables);
		free(variables);
		return replay_fail(replay, invariant_text(invariant), found);
	}
	return REPLAY_PASSED;
}

enum replay_verdict replay_expect(struct replay *replay, const struct step *step)
{
	switch (step->kind) {
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
	case STEP_EXPECT_QUEUE:
		return expect_queue(replay, step);
	case STEP_EXPECT_LEADER:
		return expect_leader(replay, step);
	case STEP_EXPECT_INVARIANT:
		return expect_invariant(replay, step);
	case STEP_EXPECT_MUTUAL_EXCLUSION:
		return expect_mutual_exclusion(replay);
	case STEP_EXPECT_ONE_TOKEN:
		return expect_one_token(replay);
	case STEP_EXPECT_UNIQUE_LEADER:
		return expect_unique_leader(replay);
	case STEP_EXPECT_AGREEMENT:
		return expect_agreement(replay);
	case STEP_EXPECT_TERMINATION:
		return expect_termination(replay);
	case STEP_EXPECT_STEPS_ALLOWED:
		/* If a step were not allowed, the replay would have ended there. */
		return REPLAY_PASSED;
	case STEP_REQUEST:
	case STEP_INITIATE:
	case STEP_RELEASE:
	case STEP_DELIVER:
	case STEP_DROP:
	case STEP_DUPLICATE:
	case STEP_EXPIRE:
	case STEP_CRASH:
	case STEP_RESTART:
	case STEP_LINK:
	case STEP_UNLINK:
	case STEP_CUT:
	case STEP_RUN:
	case STEP_LOOP:
	case STEP_FAIL:
		break;
	}
	must(false);
	return REPLAY_BAD;
}
