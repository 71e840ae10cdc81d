/*
 * Computes the facts about a network that claims depend on, and the values of claims.
 */
#include "claims.h"
#include "formula.h"
#include "memory.h"
#include "world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name, *text;
} quantities[QUANTITIES] = {
        [LIGHT_MEAN] = {"light.messages.mean", "messages an entry, light load"},
        [LIGHT_MIN] = {"light.messages.min", "fewest messages for an entry"},
        [LIGHT_MAX] = {"light.messages.max", "most messages for an entry"},
        [LIGHT_ASKED_MIN] = {"light.asked.min", "fewest for an entry that has to ask"},
        [LIGHT_TOKEN_MIN] = {"light.token.min", "fewest messages to move the token"},
        [LIGHT_TOKEN_MAX] = {"light.token.max", "most messages to move the token"},
        [LIGHT_OTHERS_MIN] = {"light.others.min", "fewest messages to ask for the token"},
        [LIGHT_OTHERS_MAX] = {"light.others.max", "most messages to ask for the token"},
        [LIGHT_RESPONSE_MAX] = {"light.response.max", "delays from request to entry"},
        [LIGHT_ASKED_TIME] = {"light.time.asked", "delays until a request has reached all"},
        [LIGHT_TOKEN_TIME] = {"light.time.token", "delays to move the token"},
        [FIRST_CENTRE_MEAN] = {"first.centre.mean", "messages, the token in the middle"},
        [FIRST_LEAF_MEAN] = {"first.leaf.mean", "messages, the token at a leaf"},
        [HEAVY_MEAN] = {"heavy.messages.mean", "messages an entry, heavy load"},
        [HEAVY_VARIED_MEAN] = {"heavy.varied.mean", "messages an entry, heavy load, delays vary"},
        [HEAVY_SYNC_MEAN] = {"heavy.sync_delay.mean", "mean synchronization delay"},
        [HEAVY_SYNC_MAX] = {"heavy.sync_delay.max", "longest synchronization delay"},
        [HEAVY_BYPASS] = {"heavy.bypass.max", "entries of others before mine"},
        [COMMITTEE_MAX] = {"committee.max", "members of the largest committee"},
        [STATE_BYTES] = {"state_bytes.max", "bytes of state of a node"},
        [TOKEN_BYTES] = {"token_bytes", "bytes of the token"},
        [REQUEST_BYTES] = {"request_bytes", "bytes of the largest other message"},
        [REGENERATED_MAX] = {"regenerated.hops.max", "hops until a lost token is replaced"},
        [ALL_MEAN] = {"all.messages.mean", "messages to elect, all begin"},
        [ALL_MIN] = {"all.messages.min", "fewest messages to elect, all begin"},
        [ALL_MAX] = {"all.messages.max", "most messages to elect, all begin"},
        [ALL_TIME_MAX] = {"all.time.max", "delays to elect, all begin"},
        [ONE_MIN] = {"one.messages.min", "fewest messages to elect, one begins"},
        [ONE_MAX] = {"one.messages.max", "most messages to elect, one begins"},
        [ONE_TIME_MAX] = {"one.time.max", "delays to elect, one begins"},
        [ANNOUNCEMENT_MAX] = {"all.announcement.max", "messages to announce the leader"},
};

const char *quantity_name(enum quantity quantity)
{
	return quantities[quantity].name;
}

const char *quantity_text(enum quantity quantity)
{
	return quantities[quantity].text;
}

const char *relation_text(enum relation relation)
{
	static const char *const texts[] = {
	        [AT_MOST] = "at most",       [AT_LEAST] = "at least", [EXACTLY] = "exactly",
	        [AT_BEST] = "at best",       [ON_AVERAGE] = "mean",   [ABOUT] = "about",
	        [OF_ORDER] = "of the order",
	};
	return texts[relation];
}

const char *claim_graph_text(enum claim_graph graph)
{
	static const char *const texts[] = {
	        [ON_ANY] = "any",
	        [ON_TREE] = "tree",
	        [ON_STAR] = "star",
	        [ON_LINE] = "line",
	        [ON_BRANCHING] = "radiating star, arms branch",
	        [ON_RING] = "ring",
	        [ON_COMPLETE] = "complete",
	};
	return texts[graph];
}

/* Finds the node that is farthest from `start`, and returns its distance. */
static uint32_t farthest(const struct graph *graph, uint32_t start, uint32_t *distance,
                         uint32_t *queue, uint32_t *ret_node)
{
	uint32_t head = 0, tail = 0;

	memset(distance, 0xff, graph->nodes * sizeof(*distance));
	distance[start - 1] = 0;
	queue[tail++] = start;
	while (head < tail) {
		uint32_t node = queue[head++];
		for (uint32_t k = 0; k < graph_degree(graph, node); k++) {
			uint32_t next = graph_neighbour(graph, node, k);
			if (distance[next - 1] == UINT32_MAX) {
				distance[next - 1] = distance[node - 1] + 1;
				queue[tail++] = next;
			}
		}
	}
	*ret_node = queue[tail - 1];
	return distance[*ret_node - 1];
}

static double find_diameter(const struct graph *graph, const bool *is, uint32_t *scratch)
{
	const double steps_max = 1e9;
	uint32_t *queue = scratch + graph->nodes, nodes = graph->nodes, node, diameter = 0;

	if (is[ON_COMPLETE])
		return nodes > 1 ? 1 : 0;
	if (is[ON_RING])
		return nodes / 2; /* NOLINT(bugprone-integer-division): rounded down on purpose */
	if (is[ON_TREE]) {
		farthest(graph, 1, scratch, queue, &node);
		return farthest(graph, node, scratch, queue, &node);
	}
	if ((double)nodes * (double)graph->edges_count > steps_max)
		return NAN;
	for (uint32_t i = 1; i <= nodes; i++) {
		uint32_t distance = farthest(graph, i, scratch, queue, &node);
		diameter = distance > diameter ? distance : diameter;
	}
	return diameter;
}

static void classify(const struct graph *graph, struct claim_facts *facts, uint32_t *scratch)
{
	uint32_t degree_max = 0, forks_count = 0;

	for (uint32_t i = 1; i <= graph->nodes; i++) {
		uint32_t degree = graph_degree(graph, i);
		degree_max = degree > degree_max ? degree : degree_max;
		forks_count += degree >= 3;
	}
	facts->is[ON_ANY] = true;
	facts->is[ON_TREE] = graph_is(graph, GRAPH_TREE, scratch);
	facts->is[ON_STAR] = facts->is[ON_TREE] && degree_max + 1 == graph->nodes;
	facts->is[ON_LINE] = facts->is[ON_TREE] && degree_max <= 2;
	facts->is[ON_RING] = graph_is(graph, GRAPH_RING, scratch);
	facts->is[ON_COMPLETE] = graph_is(graph, GRAPH_COMPLETE, scratch);
	facts->diameter = find_diameter(graph, facts->is, scratch);
	facts->is[ON_BRANCHING] = facts->is[ON_TREE] && forks_count > 1 &&
	                          facts->diameter <= 2 * log2((double)graph->nodes);
}

/* Counts the nodes that the first request of each node concerns. No message is delivered, so the
 * requests do not meet. */
static void count_asked(struct claim_facts *facts)
{
	struct world world;
	uint32_t nodes = facts->network->graph.nodes;

	facts->asked_min = UINT32_MAX;
	world_init(&world, facts->network);
	world_reset(&world);
	for (uint32_t i = 1; i <= nodes; i++) {
		uint32_t asked = 1;
		world_start(&world, i);
		world_request(&world, i);
		for (uint32_t k = 0; k < world.out.effects_count; k++)
			asked += world.out.effects[k].kind == EFFECT_SEND;
		facts->asked_min = asked < facts->asked_min ? asked : facts->asked_min;
		facts->asked_max = asked > facts->asked_max ? asked : facts->asked_max;
	}
	world_free(&world);
}

void claim_facts_make(const struct setup *setup, struct claim_facts *ret_facts)
{
	const struct graph *graph = &setup->network.graph;
	uint32_t *scratch = malloc(2 * (size_t)graph->nodes * sizeof(*scratch));
	bool about_asked = false;

	memory_must(scratch != NULL);
	*ret_facts = (struct claim_facts){.network = &setup->network};
	classify(graph, ret_facts, scratch);
	free(scratch);
	for (const struct paper_claim *claim = claims; claim->algorithm != NULL; claim++) {
		if (strcmp(claim->algorithm, setup->network.algorithm->name) == 0)
			about_asked = about_asked || claim->quantity == COMMITTEE_MAX ||
			              strpbrk(claim->formula, "Kk") != NULL;
	}
	if (about_asked)
		count_asked(ret_facts);
}

double claim_value(const struct paper_claim *claim, const struct claim_facts *facts)
{
	const struct network *network = facts->network;
	const struct parameter *parameters = network->algorithm->parameters;
	struct formula_variable variables[5 + PARAMETERS_MAX] = {
	        {'N', network->graph.nodes}, {'E', (double)network->graph.edges_count},
	        {'D', facts->diameter},      {'K', facts->asked_max},
	        {'k', facts->asked_min},
	};
	size_t count = 5;
	double value = NAN;

	if (!facts->is[claim->graph] || network->graph.nodes < claim->nodes_min)
		return NAN;
	for (size_t i = 0; parameters != NULL && parameters[i].name != NULL; i++) {
		if (strlen(parameters[i].name) == 1)
			variables[count++] = (struct formula_variable){
			        parameters[i].name[0], (double)network->parameters[i]};
	}
	must(formula_evaluate(claim->formula, variables, count, &value) == 0);
	return value;
}
