#include "internal.h"
#include "memory.h"

#include <inttypes.h>
#include <stdlib.h>

static enum replay_verdict expect_phase(struct replay *replay, const struct step *step)
{
	enum world_phase phase = replay->world.phases[step->node - 1];

	if (phase == step->phase)
		return REPLAY_PASSED;
	return replay_fail(replay, replay_text("node %u %s", step->node, phase_name(step->phase)),
	                   replay_text("%s", phase_name(phase)));
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
	memory_must(text != NULL);
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
	return replay_fail(replay, text, pieces_close(&found));
}

static enum replay_verdict expect_variables(struct replay *replay, const struct step *step)
{
	char *text = world_describe(&replay->world, step->node);
	json_t *variables = json_loads(text, 0, NULL);

	memory_must(variables != NULL);
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

/* Elections. */

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

/* The places that have declared themselves, as "1, 2 and 3". */
static char *declared_text(const struct replay *replay, uint32_t count)
{
	struct pieces list;
	uint32_t written = 0;

	pieces_open(&list);
	for (uint32_t node = 1; node <= replay->nodes; node++) {
		if (replay->declared[node - 1] == 0)
			continue;
		const char *separator = written == 0 ? "" : written + 1 == count ? " and " : ", ";
		fprintf(list.file, "%s%u", separator, node);
		written++;
	}
	fputs(" declared", list.file);
	return pieces_close(&list);
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

/* Invariants. */

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
	return replay_fail(replay, replay_text("mutual_exclusion"), pieces_close(&list));
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
		const struct flying *envelope = &replay->envelopes[i];
		if (algorithm->messages[envelope->body[0]].token)
			fprintf(list.file, "%s from %u to %u", count++ == 0 ? "" : ",",
			        envelope->from, envelope->to);
	}
	char *places = pieces_close(&list);
	enum replay_verdict verdict = REPLAY_PASSED;
	if (count != 1)
		verdict = replay_fail(replay, replay_text("one_token"),
		                      count == 0 ? replay_text("none")
		                                 : replay_text("%" PRIu64 ":%s", count, places));
	free(places);
	return verdict;
}

/* All of the system at this moment, as an invariant wants it. */
static bool holds_globally(const struct replay *replay, const struct invariant *invariant)
{
	size_t count = envelopes_count(replay);
	const void **states = malloc(replay->nodes * sizeof(*states));
	struct flight *flights = malloc((count + 1) * sizeof(*flights));

	memory_must(states != NULL && flights != NULL);
	for (uint32_t node = 1; node <= replay->nodes; node++)
		states[node - 1] = world_state(&replay->world, node);
	for (size_t i = 0; i < count; i++) {
		const struct flying *envelope = &replay->envelopes[replay->envelopes_first + i];
		const struct algorithm *algorithm = replay->setup->network.algorithm;
		struct message message = {.side = side_opposite(envelope->side),
		                          .size = envelope->size,
		                          .body = envelope->body};
		flights[i] = (struct flight){
		        .to = envelope->to,
		        .origin = algorithm->origin != NULL ? algorithm->origin(&message) : 0,
		        .message = message,
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
		return replay_fail(replay, replay_text("%s", invariant->name),
		                   replay_text("it broken"));
	}
	for (uint32_t node = 1; node <= replay->nodes; node++) {
		struct site site = network_site(&replay->setup->network, node);
		if (invariant->local(&site, world_state(&replay->world, node)))
			continue;
		char *variables = world_describe(&replay->world, node);
		char *found = replay_text("it broken at node %u, %s", node, variables);
		free(variables);
		return replay_fail(replay, replay_text("%s", invariant->name), found);
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
		/* A step that was not has ended the replay. */
		return REPLAY_PASSED;
	case STEP_REQUEST:
	case STEP_INITIATE:
	case STEP_RELEASE:
	case STEP_DELIVER:
	case STEP_DROP:
	case STEP_EXPIRE:
	case STEP_RUN:
	case STEP_FAIL:
		break;
	}
	must(false);
	return REPLAY_BAD;
}
