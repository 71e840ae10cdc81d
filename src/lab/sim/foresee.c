/*
 * A lower bound on the memory of a run, computed before it starts.
 */
#include "arena.h"
#include "memory.h"
#include "outbuffer.h"
#include "queue.h"
#include "sim.h"

#include <stdlib.h>

/* Returns the bytes that the simulator needs for the messages of one node's first request. It
 * tries the last node, because the first one often has the token and sends nothing. */
static uint64_t weigh_request(const struct setup *setup)
{
	const struct algorithm *algorithm = setup->network.algorithm;
	struct site site = network_site(&setup->network, setup->network.graph.nodes);
	void *state = calloc(1, algorithm->state_size(&site));
	uint64_t bytes = 0;
	struct out out;

	memory_must(state != NULL);
	out_init(&out);
	algorithm->init(&site, state, &out);
	if (algorithm->ready == NULL || algorithm->ready(&site, state)) {
		out_clear(&out);
		algorithm->request(&site, state, &out);
	}
	for (uint32_t i = 0; i < out.effects_count; i++) {
		if (out.effects[i].kind != EFFECT_SEND)
			continue;
		bytes += sizeof(struct event);
		if (out.effects[i].send.size > sizeof(((struct event *)NULL)->body))
			bytes += arena_block_size(out.effects[i].send.size);
	}
	out_free(&out);
	free(state);
	return bytes;
}

uint64_t sim_memory_foreseen(const struct setup *setup, enum load load)
{
	uint32_t nodes = setup->network.graph.nodes;
	uint64_t bytes = 0;

	for (uint32_t i = 1; i <= nodes; i++) {
		struct site site = network_site(&setup->network, i);
		bytes += setup->network.algorithm->state_size(&site);
	}
	if (load == LOAD_ELECTION)
		return bytes + setup->electorate.initiators_count * weigh_request(setup);
	return bytes + (load == LOAD_HEAVY ? nodes : 1) * weigh_request(setup);
}
