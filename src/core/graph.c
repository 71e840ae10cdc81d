/*
 * Answers the questions that drivers ask about a graph.
 */
#include "graph.h"

#include "must.h"

#include <string.h>

uint64_t graph_pairs(uint32_t nodes)
{
	return (uint64_t)nodes * (nodes - 1) / 2;
}

uint32_t graph_degree(const struct graph *graph, uint32_t node)
{
	must(node >= 1 && node <= graph->nodes);
	return graph->complete ? graph->nodes - 1 : graph->offset[node] - graph->offset[node - 1];
}

uint32_t graph_neighbour(const struct graph *graph, uint32_t node, uint32_t k)
{
	must(k < graph_degree(graph, node));
	if (graph->complete)
		return k + 1 < node ? k + 1 : k + 2;
	return graph->adjacent[graph->offset[node - 1] + k];
}

bool graph_adjacent(const struct graph *graph, uint32_t a, uint32_t b)
{
	uint32_t low = 0, high = graph_degree(graph, a);

	must(b >= 1 && b <= graph->nodes);
	if (graph->complete)
		return a != b;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		uint32_t neighbour = graph_neighbour(graph, a, middle);
		if (neighbour == b)
			return true;
		if (neighbour < b)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

/* The nodes to visit form a stack, linked through `below`, which is 0 for a node that was not
 * reached yet. */
static bool is_connected(const struct graph *graph, uint32_t *below)
{
	const uint32_t bottom = UINT32_MAX;
	uint32_t top = 1, reached = 1;

	if (graph->complete)
		return true;
	memset(below, 0, graph->nodes * sizeof(below[0]));
	below[0] = bottom;
	while (top != bottom) {
		uint32_t node = top;
		top = below[node - 1];
		for (uint32_t i = graph->offset[node - 1]; i < graph->offset[node]; i++) {
			uint32_t neighbour = graph->adjacent[i];
			if (below[neighbour - 1] != 0)
				continue;
			below[neighbour - 1] = top;
			top = neighbour;
			reached++;
		}
	}
	return reached == graph->nodes;
}

static bool has_degrees_of_ring(const struct graph *graph)
{
	for (uint32_t node = 1; node <= graph->nodes; node++)
		if (graph_degree(graph, node) != 2)
			return false;
	return true;
}

bool graph_is(const struct graph *graph, enum graph_class class, uint32_t *scratch)
{
	uint32_t nodes = graph->nodes;

	if (nodes == 1)
		return true;
	switch (class) {
	case GRAPH_NONE:
		return true;
	case GRAPH_COMPLETE:
		return graph->edges_count == graph_pairs(nodes);
	case GRAPH_STAR:
		return graph_degree(graph, 1) == nodes - 1;
	case GRAPH_RING:
		if (nodes == 2)
			return graph->edges_count == 1;
		return has_degrees_of_ring(graph) && is_connected(graph, scratch);
	case GRAPH_TREE:
		return graph->edges_count == nodes - 1 && is_connected(graph, scratch);
	case GRAPH_CONNECTED:
		return is_connected(graph, scratch);
	}
	must(false);
	return false;
}

/* Writes the distance of each node from the root, plus 1. `queue` has room for the nodes. */
static void measure_distances(const struct graph *graph, uint32_t root, uint32_t *queue,
                              uint32_t *ret_distance)
{
	uint32_t count = 1;

	memset(ret_distance, 0, graph->nodes * sizeof(ret_distance[0]));
	ret_distance[root - 1] = 1;
	queue[0] = root;
	for (uint32_t head = 0; head < count; head++) {
		uint32_t node = queue[head];
		for (uint32_t i = graph->offset[node - 1]; i < graph->offset[node]; i++) {
			uint32_t neighbour = graph->adjacent[i];
			if (ret_distance[neighbour - 1] != 0)
				continue;
			ret_distance[neighbour - 1] = ret_distance[node - 1] + 1;
			queue[count++] = neighbour;
		}
	}
	must(count == graph->nodes);
}

void graph_toward(const struct graph *graph, uint32_t root, uint32_t *ret_toward, uint32_t *scratch)
{
	must(root >= 1 && root <= graph->nodes);
	if (graph->complete) {
		for (uint32_t i = 0; i < graph->nodes; i++)
			ret_toward[i] = root;
		ret_toward[root - 1] = 0;
		return;
	}

	/* ret_toward is written after the distances are known. Until then it serves as the
	 * queue. */
	uint32_t *distance = scratch;
	measure_distances(graph, root, ret_toward, distance);
	for (uint32_t node = 1; node <= graph->nodes; node++) {
		uint32_t i = graph->offset[node - 1];
		if (node == root) {
			ret_toward[node - 1] = 0;
			continue;
		}
		while (distance[graph->adjacent[i] - 1] >= distance[node - 1])
			i++;
		ret_toward[node - 1] = graph->adjacent[i];
	}
}

void graph_ring(const struct graph *graph, uint32_t *ret_left, uint32_t *ret_right)
{
	if (graph->nodes == 1) {
		ret_left[0] = ret_right[0] = 1;
		return;
	}

	uint32_t last = graph_degree(graph, 1) - 1;
	uint32_t before = graph_neighbour(graph, 1, last), node = 1;
	for (uint32_t i = 0; i < graph->nodes; i++) {
		/* If the walk is back at node 1 too early, the graph is not one ring but
		 * several. */
		must(i == 0 || node != 1);
		must(graph_degree(graph, node) == (graph->nodes == 2 ? 1 : 2));
		uint32_t after = graph_neighbour(graph, node, 0);
		if (after == before)
			after = graph_neighbour(graph, node, last);
		ret_left[node - 1] = before;
		ret_right[node - 1] = after;
		before = node;
		node = after;
	}
	must(node == 1);
}
