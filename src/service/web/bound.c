#include "bound.h"

#include "algorithm.h"
#include "formula.h"
#include "graph.h"
#include "memory.h"
#include "registry.h"
#include "topology.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The time to find the diameter grows with the square of the number of members. */
enum { MEMBERS_MAX = 200 };

/* Returns the greatest distance from a node. `scratch` has room for two numbers of each node. */
static uint32_t find_distance(const struct graph *graph, uint32_t from, uint32_t *scratch)
{
	uint32_t *distances = scratch, *queue = scratch + graph->nodes, count = 0, last = from;

	memset(distances, 0, graph->nodes * sizeof(*distances));
	queue[count++] = from;
	for (uint32_t i = 0; i < count; i++) {
		last = queue[i];
		for (uint32_t k = 0; k < graph_degree(graph, last); k++) {
			uint32_t next = graph_neighbour(graph, last, k);
			if (next == from || distances[next - 1] != 0)
				continue;
			distances[next - 1] = distances[last - 1] + 1;
			queue[count++] = next;
		}
	}
	return distances[last - 1];
}

/* Finds the number of edges and the diameter. Returns false if the topology is not for this number
 * of members. */
static bool measure(const char *text, uint32_t members, double *ret_edges, double *ret_diameter)
{
	struct topology topology;
	struct graph graph;

	if (topology_parse(text, &topology) != NULL ||
	    (topology_nodes(&topology) != 0 && topology_nodes(&topology) != members))
		return false;
	size_t size = topology_memory(&topology, members);
	if (size == 0)
		return false;
	void *memory = malloc(size);
	uint32_t *scratch = calloc(2UL * members, sizeof(*scratch));
	memory_must(memory != NULL && scratch != NULL);
	topology_build(&topology, members, 1, memory, &graph);
	uint64_t degrees = 0;
	uint32_t diameter = 0;
	for (uint32_t node = 1; node <= members; node++) {
		uint32_t distance = find_distance(&graph, node, scratch);
		diameter = distance > diameter ? distance : diameter;
		degrees += graph_degree(&graph, node);
	}
	free(scratch);
	free(memory);
	*ret_edges = (double)degrees / 2;
	*ret_diameter = diameter;
	return true;
}

/* Returns the last formula of a claim such as "0 to D+1". */
static const char *last_formula(const char *claim)
{
	static const char *const before[] = {" to ", " or ", ", "};

	for (size_t i = 0; i < sizeof(before) / sizeof(*before); i++) {
		const char *found = strstr(claim, before[i]);
		if (found != NULL)
			return last_formula(found + strlen(before[i]));
	}
	return claim;
}

double bound_messages(const char *name, const char *topology, uint64_t members)
{
	const struct algorithm *algorithm = algorithm_find(name);
	double edges, diameter, value;

	/* random:D gives another graph for every seed, and so another bound. */
	if (algorithm == NULL || algorithm->claim_messages == NULL || members == 0 ||
	    members > MEMBERS_MAX || strncmp(topology, "random", 6) == 0 ||
	    !measure(topology, (uint32_t)members, &edges, &diameter))
		return -1;
	const struct formula_variable variables[] = {
	        {'N', (double)members}, {'E', edges}, {'D', diameter}};
	if (formula_evaluate(last_formula(algorithm->claim_messages), variables,
	                     sizeof(variables) / sizeof(*variables), &value) != 0)
		return -1;
	return value;
}
