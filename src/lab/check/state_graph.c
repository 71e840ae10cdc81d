/*
 * The graph of all states with its edges. It is made only to look for cycles, because it takes
 * more memory than the states themselves.
 */
#include "graph_search.h"
#include "grow.h"
#include "memory.h"

#include <string.h>

/* Numbers the states in the order in which they were found. */
static void number_states(struct state_graph *graph)
{
	const struct states *states = &graph->search->states;
	uint32_t number = 0;

	for (uint32_t i = 0; i < states->lanes_count; i++) {
		const struct lane *lane = &states->lanes[i];
		struct lane_cursor cursor = {0}, end = lane_end(lane);
		uint32_t name;
		while (lane_next(states, lane, &cursor, &end, &name)) {
			graph->names[number] = name;
			states_record(states, name)->number = number++;
		}
	}
	graph->start = states_record(states, graph->search->start)->number;
}

static uint64_t who_waits(const struct model *model, struct state_row row)
{
	uint64_t waiting = 0;

	for (uint32_t i = 0; i < model->nodes; i++) {
		uint8_t phase = model->local[row_local(model, row, i)].phase;
		if (phase == PHASE_WAITING || phase == PHASE_LEAVING)
			waiting |= (uint64_t)1 << i;
	}
	return waiting;
}

static void *array(size_t count, size_t size)
{
	void *memory = calloc(count + 1, size);
	memory_must(memory != NULL);
	return memory;
}

bool state_graph_make(struct search *search, struct state_graph *ret_graph)
{
	enum { LOOK_EVERY = 4096, SEARCH_BYTES = 40 };
	size_t count = states_count(&search->states), edges = search_transitions(search), used = 0;
	struct actions actions = {0};

	*ret_graph = (struct state_graph){.search = search, .count = (uint32_t)count};
	uint64_t bytes =
	        count * (sizeof(uint32_t) + sizeof(size_t) + 2 * sizeof(uint64_t) + SEARCH_BYTES) +
	        edges * sizeof(uint32_t);
	search->limit = search_limit(search, bytes);
	if (search->limit != NULL)
		return false;
	ret_graph->names = array(count, sizeof(*ret_graph->names));
	ret_graph->first = array(count + 1, sizeof(*ret_graph->first));
	ret_graph->to = array(edges, sizeof(*ret_graph->to));
	ret_graph->waiting = array(count, sizeof(*ret_graph->waiting));
	ret_graph->known = array(count, sizeof(*ret_graph->known));
	number_states(ret_graph);
	for (uint32_t i = 0; i < count && search->limit == NULL; i++) {
		struct state_row row = search_row(search, ret_graph->names[i]);
		search_actions(search, row, &actions);
		ret_graph->first[i] = used;
		ret_graph->waiting[i] = who_waits(&search->model, row);
		ret_graph->known[i] = actions.known;
		for (size_t k = 0; k < actions.count; k++) {
			uint32_t name = search_follow(search, row, &actions.list[k]);
			ret_graph->to[used++] = states_record(&search->states, name)->number;
		}
		if (i % LOOK_EVERY == 0)
			search->limit = search_limit(search, bytes);
	}
	ret_graph->first[count] = used;
	actions_free(&actions);
	return search->limit == NULL;
}

void state_graph_free(struct state_graph *graph)
{
	free(graph->names);
	free(graph->first);
	free(graph->to);
	free(graph->waiting);
	free(graph->known);
}

uint64_t state_graph_memory(const struct state_graph *graph)
{
	if (graph->first == NULL)
		return 0;
	return graph->count * (sizeof(*graph->names) + sizeof(*graph->first) +
	                       sizeof(*graph->waiting) + sizeof(*graph->known)) +
	       graph->first[graph->count] * sizeof(*graph->to);
}

uint32_t *state_graph_path(const struct state_graph *graph, uint32_t to, size_t *ret_count)
{
	uint32_t *parent = array(graph->count, sizeof(*parent));
	uint32_t *queue = array(graph->count, sizeof(*queue));
	uint32_t head = 0, tail = 0;

	memset(parent, 0xff, graph->count * sizeof(*parent));
	parent[graph->start] = graph->start;
	queue[tail++] = graph->start;
	while (parent[to] == UINT32_MAX) {
		uint32_t state = queue[head++];
		for (size_t k = graph->first[state]; k < graph->first[state + 1]; k++) {
			if (parent[graph->to[k]] != UINT32_MAX)
				continue;
			parent[graph->to[k]] = state;
			queue[tail++] = graph->to[k];
		}
	}
	*ret_count = 1;
	for (uint32_t state = to; state != graph->start; state = parent[state])
		++*ret_count;
	uint32_t *path = array(*ret_count, sizeof(*path));
	for (size_t i = *ret_count; i-- > 0; to = parent[to])
		path[i] = to;
	free(parent);
	free(queue);
	return path;
}
