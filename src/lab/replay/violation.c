/*
 * Writes what failed at the end of a replay, as a sentence for its picture. Readers of the picture
 * do not have the scenario, so the sentence names the property and not the expectation.
 */
#include "internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Adds the nodes that are in a phase, such as "1, 2 and 3". Returns how many there are. */
static uint32_t add_nodes(const struct replay *replay, enum world_phase phase, struct text *text)
{
	uint32_t all = 0, added = 0;

	for (uint32_t i = 0; i < replay->nodes; i++)
		all += replay->world.phases[i] == phase && !replay->dead[i];
	for (uint32_t i = 0; i < replay->nodes; i++) {
		if (replay->world.phases[i] != phase || replay->dead[i])
			continue;
		const char *before = added == 0 ? "" : added + 1 == all ? " and " : ", ";
		text_format(text, "%s%" PRIu32, before, i + 1);
		added++;
	}
	return all;
}

/* Is the run stuck: can nothing happen any more, although a node waits or cannot leave? */
static bool is_stuck(const struct replay *replay)
{
	bool waits = false, armed = false;

	for (uint32_t i = 0; i < replay->nodes; i++)
		waits = waits || (!replay->dead[i] && (replay->world.phases[i] == PHASE_WAITING ||
		                                       replay->world.phases[i] == PHASE_LEAVING));
	for (size_t i = 0; replay->timers != NULL && i < (size_t)replay->nodes * TIMERS_MAX; i++)
		armed = armed || replay->timers[i] != 0;
	return waits && !armed && replay->world.inside_count == 0 && envelopes_count(replay) == 0;
}

/* Adds where the token is. No message is in flight. */
static void add_token(const struct replay *replay, struct text *text)
{
	for (uint32_t node = 1; node <= replay->nodes; node++) {
		struct site site = network_site(replay->world.network, node);
		if (replay->dead[node - 1] ||
		    !replay->algorithm->has_privilege(&site, world_state(&replay->world, node)))
			continue;
		text_format(text, "; node %" PRIu32 " has the token", node);
		return;
	}
	text_add_string(text, "; there is no token any more");
}

static void add_deadlock(const struct replay *replay, struct text *text)
{
	struct text waiting = {0}, leaving = {0};
	uint32_t waiting_count = add_nodes(replay, PHASE_WAITING, &waiting);
	uint32_t leaving_count = add_nodes(replay, PHASE_LEAVING, &leaving);

	text_add_string(text, "Deadlock: no message is in flight and nobody is inside, but ");
	if (waiting_count != 0)
		text_format(text, "%s %s wait%s", waiting_count == 1 ? "node" : "nodes",
		            waiting.bytes, waiting_count == 1 ? "s" : "");
	if (leaving_count != 0)
		text_format(text, "%s%s %s cannot finish leaving",
		            waiting_count != 0 ? " and " : "",
		            leaving_count == 1 ? "node" : "nodes", leaving.bytes);
	text_free(&waiting);
	text_free(&leaving);
	if (replay->algorithm->has_token)
		add_token(replay, text);
}

static void add_leaders(const struct replay *replay, struct text *text)
{
	const char *before = "More than one leader: ";

	for (uint32_t i = 0; i < replay->nodes; i++) {
		if (replay->declared[i] == 0)
			continue;
		text_format(text, "%snode %" PRIu32 " has declared itself", before, i + 1);
		if (replay->declared[i] > 1)
			text_format(text, " %" PRIu32 " times", replay->declared[i]);
		before = ", ";
	}
}

/* Adds the state of an election that should be over by now: what is still missing. */
static void add_undecided(const struct replay *replay, struct text *text)
{
	bool stopped = is_stuck(replay) || envelopes_count(replay) == 0;
	uint32_t alive = 0, ignorant = 0;

	for (uint32_t i = 0; i < replay->nodes; i++) {
		alive += !replay->dead[i];
		ignorant += !replay->dead[i] && replay->learned[i] == 0;
	}
	text_format(text, "The election %s: ",
	            !stopped        ? "is not over"
	            : ignorant != 0 ? "has stopped and is not decided"
	                            : "has stopped and is not over for all");
	if (ignorant == 0)
		text_add_string(text, replay->result->found);
	else if (ignorant == alive)
		text_add_string(text, "nobody knows a leader");
	else
		text_format(text, "%" PRIu32 " of %" PRIu32 " nodes know no leader", ignorant,
		            alive);
}

/* Adds all that decides what can happen next: states, phases, timers, how many links are cut, and
 * messages in flight. */
static void add_present(const struct replay *replay, struct text *text)
{
	const struct world *world = &replay->world;

	for (uint32_t node = 1; node <= replay->nodes; node++) {
		text_add(text, world_state(world, node), world_state_size(world, node));
		text_format(text, "%u %d %" PRIu32 ";", world->phases[node - 1],
		            replay->dead[node - 1], replay->learned[node - 1]);
	}
	for (size_t i = 0; replay->timers != NULL && i < (size_t)replay->nodes * TIMERS_MAX; i++)
		text_add_string(text, replay->timers[i] != 0 ? "1" : "0");
	text_format(text, "%zu;", replay->cut_ends_count);
	for (size_t i = replay->envelopes_first; i < replay->envelopes_end; i++) {
		const struct envelope *envelope = &replay->envelopes[i];
		text_format(text, "%" PRIu32 " %" PRIu32 " %d %" PRIu32 ":", envelope->from,
		            envelope->to, (int)envelope->side, envelope->size);
		text_add(text, (const char *)envelope->body, envelope->size);
	}
}

void violation_loop(struct replay *replay)
{
	struct text text = {0};

	add_present(replay, &text);
	free(replay->loop);
	replay->loop_size = text.used;
	replay->loop = text_take(&text);
}

/* Is everything again as it was where the loop begins? Then the loop can be repeated without end. A
 * loop in which numbers grow is not recognised. */
static bool is_loop_closed(const struct replay *replay)
{
	struct text text = {0};

	if (replay->loop == NULL)
		return false;
	add_present(replay, &text);
	bool same = text.used == replay->loop_size &&
	            memcmp(text.bytes, replay->loop, replay->loop_size) == 0;
	text_free(&text);
	return same;
}

/* Adds which invariant is broken, at which node if it is about one, and what it says. */
static void add_broken(const struct invariant *invariant, const char *found, struct text *text)
{
	const char *where = strstr(found, " at node ");

	text_format(text, "The invariant %s is broken", invariant->name);
	if (where != NULL)
		text_add(text, where, strcspn(where, ","));
	text_format(text, ": it says that %s", invariant->meaning);
}

/* Adds a sentence, without its full stop, about the expectation that failed. */
static void add_failure(const struct replay *replay, const struct step *step, struct text *text)
{
	const struct replay_result *result = replay->result;
	bool election = replay->algorithm->kind == KIND_ELECTION;

	if (replay->world.broken != NULL) {
		text_format(text, "A step that may not happen: %s", result->found);
	} else if (step->kind == STEP_EXPECT_MUTUAL_EXCLUSION) {
		text_add_string(text, "No mutual exclusion: nodes ");
		add_nodes(replay, PHASE_INSIDE, text);
		text_add_string(text, " are inside at once");
	} else if (step->kind == STEP_EXPECT_ONE_TOKEN) {
		text_format(text, "There is not exactly one token: %s", result->found);
	} else if (step->kind == STEP_EXPECT_UNIQUE_LEADER) {
		add_leaders(replay, text);
	} else if (step->kind == STEP_EXPECT_AGREEMENT) {
		text_format(text, "No agreement on the leader: %s", result->found);
	} else if (step->kind == STEP_EXPECT_TERMINATION) {
		add_undecided(replay, text);
	} else if (step->kind == STEP_EXPECT_INVARIANT) {
		add_broken(step->invariant, result->found, text);
	} else if (step->kind == STEP_EXPECT_PHASE && is_stuck(replay) && !election) {
		add_deadlock(replay, text);
	} else if (step->kind == STEP_EXPECT_PHASE && replay->loop != NULL) {
		text_format(text, "Node %" PRIu32 " is %s at the end of the marked part, %s",
		            step->node, result->found,
		            is_loop_closed(replay)
		                    ? "and all is as it was at its beginning: it can be repeated "
		                      "for ever"
		                    : "which the scenario calls a loop");
	} else if (step->kind == STEP_EXPECT_PHASE) {
		text_format(text, "Node %" PRIu32 " should be %s by now, but is %s", step->node,
		            step->phase == PHASE_INSIDE ? "inside" : phase_name(step->phase),
		            result->found);
		if (step->phase == PHASE_INSIDE && replay->world.inside_count == 1) {
			text_add_string(text, ", and node ");
			add_nodes(replay, PHASE_INSIDE, text);
			text_add_string(text, " is inside");
		}
	} else if (step->kind == STEP_EXPECT_MESSAGES) {
		text_format(text, "%s messages were sent, and at most %" PRIu64 " should be",
		            result->found, step->number);
	} else if (result->expected != NULL) {
		text_format(text, "Expected %s, found %s", result->expected, result->found);
	} else {
		text_add_string(text, result->found);
	}
}

char *replay_violation(const struct replay *replay)
{
	const struct replay_result *result = replay->result;
	static const struct step act = {.kind = STEP_RUN}; /* a step that is not in the scenario */
	const struct step *step = &act;
	struct text text = {0};

	if (result->verdict != REPLAY_FAILED || result->found == NULL)
		return NULL;
	for (size_t i = 0; i < replay->scenario->steps_count; i++) {
		if (replay->scenario->steps[i].line == result->line)
			step = &replay->scenario->steps[i];
	}
	add_failure(replay, step, &text);
	text_add_string(&text, ".");
	return text_take(&text);
}

void violation_tell(const struct replay *replay)
{
	char *sentence = replay->trace != NULL ? replay_violation(replay) : NULL;

	if (replay->trace != NULL && is_loop_closed(replay))
		trace_loop_closes(replay->trace);
	if (sentence != NULL)
		trace_violate(replay->trace, sentence, is_stuck(replay) ? &replay->world : NULL);
	free(sentence);
}
