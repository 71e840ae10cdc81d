#include "world.h"
#include "memory.h"

#include <stdlib.h>
#include <string.h>

static size_t round_up(size_t size)
{
	return (size + 7) / 8 * 8;
}

size_t world_state_size(const struct world *world, uint32_t node)
{
	struct site site = network_site(world->network, node);
	return world->algorithm->state_size(&site);
}

static size_t states_size(struct world *world)
{
	uint32_t nodes = world->network->graph.nodes;
	size_t total = 0;
	bool alike = true;

	world->stride = round_up(world_state_size(world, 1));
	for (uint32_t i = 1; i <= nodes; i++) {
		size_t size = round_up(world_state_size(world, i));
		alike = alike && size == world->stride;
		total += size;
	}
	if (alike)
		return total;
	world->offsets = malloc((nodes + 1) * sizeof(*world->offsets));
	memory_must(world->offsets != NULL);
	total = 0;
	for (uint32_t i = 1; i <= nodes; i++) {
		world->offsets[i - 1] = total;
		total += round_up(world_state_size(world, i));
	}
	world->offsets[nodes] = total;
	return total;
}

void world_init(struct world *world, const struct network *network)
{
	*world = (struct world){.network = network, .algorithm = network->algorithm};
	size_t size = states_size(world);

	world->states = malloc(size == 0 ? 1 : size); /* malloc(0) may return NULL */
	world->phases = malloc(network->graph.nodes);
	memory_must(world->states != NULL && world->phases != NULL);
	out_init(&world->out);
}

static void free_own(struct world *world)
{
	if (world->own == NULL)
		return;
	free((void *)world->own->graph.offset);
	free((void *)world->own->graph.adjacent);
	free(world->own);
	world->own = NULL;
}

static void settle(struct world *world, const struct site *site);

void world_free(struct world *world)
{
	free(world->states);
	free(world->offsets);
	free(world->phases);
	free_own(world);
	out_free(&world->out);
}

/* Copies the graph, with the edge between a and b made or removed. */
static struct graph change_graph(const struct graph *graph, uint32_t a, uint32_t b, bool linked)
{
	uint32_t nodes = graph->nodes, used = 0;
	uint32_t *offset = malloc((nodes + (size_t)1) * sizeof(*offset));
	uint32_t *adjacent = malloc((2 * graph->edges_count + 2) * sizeof(*adjacent));

	memory_must(offset != NULL && adjacent != NULL);
	for (uint32_t i = 1; i <= nodes; i++) {
		offset[i - 1] = used;
		for (uint32_t j = 1; j <= nodes; j++) {
			bool changed = (i == a && j == b) || (i == b && j == a);
			if (i != j && (changed ? linked : graph_adjacent(graph, i, j)))
				adjacent[used++] = j;
		}
	}
	offset[nodes] = used;
	return (struct graph){
	        .nodes = nodes, .edges_count = used / 2, .offset = offset, .adjacent = adjacent};
}

void world_rewire(struct world *world, uint32_t a, uint32_t b, bool linked)
{
	struct network *changed = malloc(sizeof(*changed));

	memory_must(changed != NULL);
	*changed = *world->network;
	changed->graph = change_graph(&world->network->graph, a, b, linked);
	free_own(world);
	world->own = changed;
	world->network = changed;
}

void world_linked(struct world *world, uint32_t node, uint32_t neighbour)
{
	struct site site = network_site(world->network, node);

	out_clear(&world->out);
	world->algorithm->linked(&site, world_state(world, node), neighbour, &world->out);
	settle(world, &site);
}

void world_reset(struct world *world)
{
	uint32_t nodes = world->network->graph.nodes;
	size_t size = world->offsets != NULL ? world->offsets[nodes] : nodes * world->stride;

	memset(world->states, 0, size);
	memset(world->phases, PHASE_IDLE, nodes);
	world->waiting_count = world->inside_count = 0;
	world->broken = NULL;
}

void world_start(struct world *world, uint32_t node)
{
	struct site site = network_site(world->network, node);

	out_clear(&world->out);
	world->algorithm->init(&site, world_state(world, node), &world->out);
}

static bool is_ready(const struct world *world, const struct site *site)
{
	return world->algorithm->ready == NULL ||
	       world->algorithm->ready(site, world_state(world, site->self));
}

static void set_phase(struct world *world, uint32_t node, enum world_phase phase)
{
	uint8_t *now = &world->phases[node - 1];

	world->waiting_count +=
	        (uint32_t)(phase == PHASE_WAITING) - (uint32_t)(*now == PHASE_WAITING);
	world->inside_count += (uint32_t)(phase == PHASE_INSIDE) - (uint32_t)(*now == PHASE_INSIDE);
	*now = (uint8_t)phase;
}

void world_crash(struct world *world, uint32_t node)
{
	set_phase(world, node, PHASE_IDLE);
}

void world_restart(struct world *world, uint32_t node)
{
	memset(world_state(world, node), 0, world_state_size(world, node));
	set_phase(world, node, PHASE_IDLE);
	world_start(world, node);
}

/* Updates the node's phase after a step. */
static void settle(struct world *world, const struct site *site)
{
	const uint8_t *phase = &world->phases[site->self - 1];

	for (uint32_t i = 0; i < world->out.effects_count; i++) {
		enum effect_kind kind = world->out.effects[i].kind;
		if (kind == EFFECT_ENTER) {
			if (*phase != PHASE_WAITING)
				world->broken = "entered without waiting";
			set_phase(world, site->self, PHASE_INSIDE);
		} else if (kind == EFFECT_ELECTED && *phase == PHASE_WAITING) {
			set_phase(world, site->self, PHASE_IDLE);
		} else if (kind == EFFECT_SEND &&
		           !network_linked(world->network, site->self,
		                           world->out.effects[i].elected.identifier)) {
			world->broken = "sent to a node that is not a neighbour";
		}
	}
	if (*phase == PHASE_LEAVING && is_ready(world, site))
		set_phase(world, site->self, PHASE_IDLE);
}

bool world_may_request(const struct world *world, uint32_t node)
{
	struct site site = network_site(world->network, node);
	return world->phases[node - 1] == PHASE_IDLE && is_ready(world, &site);
}

void world_request(struct world *world, uint32_t node)
{
	struct site site = network_site(world->network, node);

	out_clear(&world->out);
	set_phase(world, node, PHASE_WAITING);
	world->algorithm->request(&site, world_state(world, node), &world->out);
	settle(world, &site);
}

void world_release(struct world *world, uint32_t node)
{
	struct site site = network_site(world->network, node);

	out_clear(&world->out);
	set_phase(world, node, PHASE_LEAVING);
	world->algorithm->release(&site, world_state(world, node), &world->out);
	settle(world, &site);
}

void world_deliver(struct world *world, uint32_t node, enum side sent_side, const uint8_t *body,
                   uint32_t size)
{
	struct site site = network_site(world->network, node);
	struct message message = {.side = side_opposite(sent_side), .size = size, .body = body};

	out_clear(&world->out);
	world->refused = world->algorithm->receive(&site, world_state(world, node), &message,
	                                           &world->out) != 0;
	if (world->refused)
		world->broken = "refused a message";
	settle(world, &site);
}

void world_expire(struct world *world, uint32_t node, uint32_t timer)
{
	struct site site = network_site(world->network, node);

	out_clear(&world->out);
	world->algorithm->expire(&site, world_state(world, node), timer, &world->out);
	settle(world, &site);
}

char *world_describe(const struct world *world, uint32_t node)
{
	struct site site = network_site(world->network, node);
	struct writer writer = {.used = 0};
	char *text = NULL;

	do {
		size_t size = writer.used;
		text = realloc(text, size + 1);
		memory_must(text != NULL);
		writer_init(&writer, text, size);
		writer_open(&writer, '{');
		world->algorithm->describe(&site, world_state(world, node), &writer);
		writer_close(&writer, '}');
	} while (writer.used > writer.size);
	text[writer.used] = '\0';
	return text;
}

char *world_show(const struct world *world, const uint8_t *body, uint32_t size)
{
	struct message message = {.size = size, .body = body};
	struct writer writer = {.used = 0};
	char *text = NULL;

	do {
		size_t room = writer.used;
		text = realloc(text, room + 1);
		memory_must(text != NULL);
		writer_init(&writer, text, room);
		writer_text(&writer, world->algorithm->messages[body[0]].name);
		world->algorithm->show(&message, &writer);
	} while (writer.used > writer.size);
	text[writer.used] = '\0';
	return text;
}

const char *phase_name(enum world_phase phase)
{
	static const char *const names[] = {
	        [PHASE_IDLE] = "idle",
	        [PHASE_WAITING] = "waiting",
	        [PHASE_INSIDE] = "in",
	        [PHASE_LEAVING] = "leaving",
	};
	return names[phase];
}
