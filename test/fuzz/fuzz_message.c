/*
 * Feeds bytes as messages to every algorithm. It must not crash, and a refused message changes
 * nothing and sends nothing.
 *
 * The input is a little program: its first bytes choose the algorithm and the number of nodes; then
 * each part is a step of a node: a request, a release, or the delivery of the bytes that follow.
 */
#include "registry.h"
#include "setup.h"
#include "world.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_neighbour(const struct site *site, uint32_t to)
{
	uint32_t k = 0;

	while (k < site->neighbours_count && site_neighbour(site, k) != to)
		k++;
	return k < site->neighbours_count || (to == site->self && site->nodes == 1);
}

static void deliver(struct world *world, uint32_t node, enum side side, const uint8_t *body,
                    uint32_t size)
{
	static uint8_t before[1 << 16];
	struct site site = network_site(world->network, node);
	void *state = world_state(world, node);
	size_t state_size = world_state_size(world, node);
	struct message message = {.side = side, .size = size, .body = body};

	must(state_size <= sizeof(before));
	memcpy(before, state, state_size);
	out_clear(&world->out);
	if (world->algorithm->receive(&site, state, &message, &world->out) != 0) {
		must(memcmp(before, state, state_size) == 0);
		must(world->out.effects_count == 0);
		return;
	}
	for (uint32_t i = 0; i < world->out.effects_count; i++) {
		/* A node that lets somebody in unasked, or sends to a stranger, stops itself. */
		if (world->out.effects[i].kind == EFFECT_ENTER) {
			must(world->phases[node - 1] == PHASE_WAITING);
			world->phases[node - 1] = PHASE_INSIDE;
		}
		if (world->out.effects[i].kind == EFFECT_SEND)
			must(is_neighbour(&site, world->out.effects[i].send.to));
	}
	free(world_describe(world, node));
	free(world_show(world, body, size));
}

static void run(struct world *world, const uint8_t *data, size_t size)
{
	uint32_t nodes = world->network->graph.nodes;

	while (size >= 3) {
		uint32_t node = 1 + data[0] % nodes;
		enum world_phase phase = (enum world_phase)world->phases[node - 1];
		uint8_t what = data[1];
		size_t length = data[2];
		data += 3;
		size -= 3;
		if (what < 64) {
			if (world_may_request(world, node))
				world_request(world, node);
		} else if (what < 96) {
			if (phase == PHASE_INSIDE)
				world_release(world, node);
		} else {
			length = length < size ? length : size;
			if (length > 0)
				deliver(world, node, (enum side)(what % 3), data, (uint32_t)length);
			data += length;
			size -= length;
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct setup setup;
	struct problem problem;
	struct world world;
	size_t count = 0;

	if (size < 2)
		return 0;
	while (algorithms[count] != NULL)
		count++;
	struct setup_words words = {.algorithm = algorithms[data[0] % count]->name,
	                            .nodes = 1 + data[1] % 7,
	                            .seed = 1};
	if (setup_make(&words, &setup, &problem) != 0)
		return 0;
	world_init(&world, &setup.network);
	world_reset(&world);
	for (uint32_t i = 1; i <= words.nodes; i++)
		world_start(&world, i);
	run(&world, data + 2, size - 2);
	world_free(&world);
	setup_free(&setup);
	return 0;
}
