#include "counterexample.h"
#include "memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A message in the world in which the counterexample is replayed. It has a sender, which the model
 * may not know. */
struct sent_message {
	uint32_t from, to;
	enum side side;
	uint8_t *body;
	uint32_t size;
};

struct follower {
	const struct model *model;
	struct world world;
	struct sent_message *flight; /* the messages in flight, oldest first */
	size_t flight_count, flight_size;
	bool dead[MODEL_NODES_MAX]; /* [node - 1]: the node has crashed in this run */
	FILE *text;
};

static void write_numbers(FILE *text, const char *name, const uint32_t *numbers, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		fprintf(text, "%s%" PRIu32, i == 0 ? name : ",", numbers[i]);
	if (count != 0)
		fputc('\n', text);
}

static void write_electorate(FILE *text, const struct electorate *electorate, uint32_t nodes)
{
	if (electorate->identifiers == NULL)
		return;
	write_numbers(text, "arrangement ", electorate->identifiers, nodes);
	write_numbers(text, "crash ", electorate->crashed, electorate->crashed_count);
}

static void write_head(struct follower *follower, const char *note)
{
	const struct setup *setup = follower->model->setup;
	const struct network *network = &setup->network;
	FILE *text = follower->text;

	fprintf(text, "# %s\nalgorithm %s\n", note, network->algorithm->name);
	if (strncmp(setup->topology, "random:", 7) != 0 &&
	    strncmp(setup->topology, "file:", 5) != 0) {
		fprintf(text, "topology %s\n", setup->topology);
	} else if (network->graph.edges_count > 0) {
		const char *separator = "topology edges:";
		for (uint32_t i = 1; i <= network->graph.nodes; i++) {
			for (uint32_t k = 0; k < graph_degree(&network->graph, i); k++) {
				uint32_t j = graph_neighbour(&network->graph, i, k);
				if (i > j)
					continue;
				fprintf(text, "%s%" PRIu32 "-%" PRIu32, separator, i, j);
				separator = ",";
			}
		}
		fputc('\n', text);
	}
	fprintf(text, "nodes %" PRIu32 "\n", network->graph.nodes);
	write_electorate(text, &setup->electorate, network->graph.nodes);
	if (network->algorithm->has_token)
		fprintf(text, "holder %" PRIu32 "\n", network->holder);
	for (size_t i = 0; i < setup->parameters_count; i++)
		fprintf(text, "param %s=%s\n", setup->parameters[i].name,
		        setup->parameters[i].value);
	fprintf(text, "%s\n\n", setup->fifo ? "fifo" : "reorder");
}

/* Puts a copy of the message into flight. */
static void put_message(struct follower *follower, struct sent_message message)
{
	uint8_t *body = malloc(message.size);

	memory_must(body != NULL);
	memcpy(body, message.body, message.size);
	message.body = body;
	if (follower->flight_count == follower->flight_size) {
		follower->flight_size = follower->flight_size == 0 ? 16 : follower->flight_size * 2;
		follower->flight = realloc(follower->flight,
		                           follower->flight_size * sizeof(*follower->flight));
		memory_must(follower->flight != NULL);
	}
	follower->flight[follower->flight_count++] = message;
}

static void take_sends(struct follower *follower, uint32_t from)
{
	const struct out *out = &follower->world.out;

	for (uint32_t i = 0; i < out->effects_count; i++) {
		const struct effect *effect = &out->effects[i];
		if (effect->kind == EFFECT_SEND)
			put_message(follower,
			            (struct sent_message){.from = from,
			                                  .to = effect->send.to,
			                                  .side = effect->send.side,
			                                  .body = out->bytes + effect->send.offset,
			                                  .size = effect->send.size});
	}
}

/* Is the real message the one that the model means? If the model lowers numbers, the two messages
 * may have different numbers; then a request is recognised by its origin. */
static bool is_same(const struct follower *follower, const struct sent_message *envelope,
                    const struct model_letter *letter)
{
	const struct message *message = &letter->flight.message;
	struct message sent = {.size = envelope->size, .body = envelope->body};

	if (follower->model->lowers)
		return sent.body[0] == message->body[0] &&
		       follower->model->algorithm->origin(&sent) == letter->flight.origin;
	return sent.size == message->size && memcmp(sent.body, message->body, sent.size) == 0;
}

/* Finds the oldest message in flight that corresponds to the model's. */
static size_t find_envelope(const struct follower *follower, uint32_t number)
{
	const struct model_letter *letter = &follower->model->letter[number];
	const struct message *message = &letter->flight.message;

	for (size_t i = 0; i < follower->flight_count; i++) {
		const struct sent_message *envelope = &follower->flight[i];
		if (envelope->to == letter->flight.to &&
		    side_opposite(envelope->side) == message->side &&
		    (letter->from == 0 || envelope->from == letter->from) &&
		    is_same(follower, envelope, letter))
			return i;
	}
	must(false);
	return 0;
}

/* Writes a step that names a message, and returns the message's index in `flight`. */
static size_t write_message(const struct follower *follower, uint32_t number, const char *verb)
{
	size_t place = find_envelope(follower, number);
	struct sent_message taken = follower->flight[place];
	unsigned rank = 1;

	for (size_t i = 0; i < place; i++) {
		const struct sent_message *older = &follower->flight[i];
		rank += older->from == taken.from && older->to == taken.to &&
		        older->body[0] == taken.body[0];
	}
	fprintf(follower->text, "%s %" PRIu32 " %" PRIu32 " %s", verb, taken.from, taken.to,
	        follower->model->algorithm->messages[taken.body[0]].name);
	if (rank > 1)
		fprintf(follower->text, " #%u", rank);
	char *shown = world_show(&follower->world, taken.body, taken.size);
	fprintf(follower->text, "  # %s\n", shown);
	free(shown);
	return place;
}

static struct sent_message take_envelope(struct follower *follower, uint32_t number,
                                         const char *verb)
{
	size_t place = write_message(follower, number, verb);
	struct sent_message taken = follower->flight[place];

	follower->flight_count--;
	memmove(follower->flight + place, follower->flight + place + 1,
	        (follower->flight_count - place) * sizeof(*follower->flight));
	return taken;
}

static void duplicate(struct follower *follower, uint32_t number)
{
	put_message(follower, follower->flight[write_message(follower, number, "duplicate")]);
}

static void follow(struct follower *follower, const struct action *action)
{
	struct world *world = &follower->world;
	struct sent_message envelope;

	switch (action->kind) {
	case ACTION_REQUEST:
		fprintf(follower->text, "%s %" PRIu32 "\n",
		        world->algorithm->kind == KIND_ELECTION ? "initiate" : "request",
		        action->node);
		world_request(world, action->node);
		break;
	case ACTION_RELEASE:
		fprintf(follower->text, "release %" PRIu32 "\n", action->node);
		world_release(world, action->node);
		break;
	case ACTION_DELIVER:
		envelope = take_envelope(follower, action->what, "deliver");
		if (follower->model->dead[action->node - 1] || follower->dead[action->node - 1]) {
			free(envelope.body);
			return;
		}
		world_deliver(world, action->node, envelope.side, envelope.body, envelope.size);
		free(envelope.body);
		break;
	case ACTION_LOSE:
		envelope = take_envelope(follower, action->what, "drop");
		free(envelope.body);
		return;
	case ACTION_EXPIRE:
		fprintf(follower->text, "expire %" PRIu32 " %" PRIu32 "\n", action->node,
		        action->what);
		world_expire(world, action->node, action->what);
		break;
	case ACTION_DUPLICATE:
		duplicate(follower, action->what);
		return;
	case ACTION_CRASH:
		fprintf(follower->text, "crash %" PRIu32 "\n", action->node);
		follower->dead[action->node - 1] = true;
		world_crash(world, action->node);
		return;
	case ACTION_RESTART:
		fprintf(follower->text, "restart %" PRIu32 "\n", action->node);
		follower->dead[action->node - 1] = false;
		world_restart(world, action->node);
		break;
	case ACTION_LINK:
	case ACTION_UNLINK:
		if (action->node < action->what) {
			bool made = action->kind == ACTION_LINK;
			fprintf(follower->text, "%s %" PRIu32 " %" PRIu32 "\n",
			        made ? "link" : "unlink", action->node, action->what);
			world_rewire(world, action->node, action->what, made);
		}
		if (action->kind == ACTION_UNLINK)
			return;
		world_linked(world, action->node, action->what);
		break;
	case ACTION_CUT:
		fprintf(follower->text, "cut %" PRIu32 " %" PRIu32 "\n", action->node,
		        action->what);
		return;
	}
	take_sends(follower, action->node);
}

/* Is the action a step of the schedule? The model changes a link in two actions, one for each end;
 * the second one is no step. */
static bool is_step(const struct action *action)
{
	bool second = (action->kind == ACTION_LINK || action->kind == ACTION_UNLINK) &&
	              action->node > action->what;

	return !second;
}

size_t counterexample_steps(const struct action *path, size_t count)
{
	size_t steps = 0;

	for (size_t i = 0; i < count; i++)
		steps += is_step(&path[i]);
	return steps;
}

char *counterexample_text(const struct model *model, const struct action *path, size_t path_count,
                          size_t cycle, const char *note, const char *expectation)
{
	struct follower follower = {.model = model};
	char *text = NULL;
	size_t size = 0;

	follower.text = open_memstream(&text, &size);
	memory_must(follower.text != NULL);
	write_head(&follower, note);
	world_init(&follower.world, &model->setup->network);
	world_reset(&follower.world);
	for (uint32_t i = 1; i <= model->nodes; i++) {
		world_start(&follower.world, i);
		take_sends(&follower, i);
	}
	for (size_t i = 0; i < path_count; i++) {
		if (i == cycle)
			fprintf(follower.text,
			        "loop  # from here on it can go on like this for ever\n");
		follow(&follower, &path[i]);
	}
	fprintf(follower.text, "%s\n", expectation);
	fclose(follower.text);
	for (size_t i = 0; i < follower.flight_count; i++)
		free(follower.flight[i].body);
	free(follower.flight);
	world_free(&follower.world);
	return text;
}
