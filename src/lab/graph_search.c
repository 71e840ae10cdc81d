#include "graph_search.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

enum part { PART_ALL, PART_WAITING, PART_KNOWN };

/* One search of the graph, or of a part of it: the states in which a node waits, or those in which
 * moreover everybody knows it. */
struct search {
	const struct state_graph *graph;
	uint32_t states_count;
	enum part part;
	uint32_t node;       /* who waits */
	uint32_t *component; /* of each state; NONE: not in this part, or not yet known */
	uint32_t *order; /* the states, component by component, each before all that lead to it */
	uint32_t order_count;
	uint32_t components_count;
	uint32_t *index, *low; /* Tarjan's */
	uint64_t *edge;        /* the next edge to follow */
	uint32_t *stack, *calls;
	uint32_t stack_count, calls_count, index_next;
	struct actions actions;
};

static void *array(size_t count, size_t size)
{
	void *memory = calloc(count + 1, size);
	must(memory != NULL);
	return memory;
}

static bool waits(const struct state_graph *graph, uint32_t state, uint32_t node)
{
	uint32_t count;
	const uint32_t *row = states_get(graph->states, state, &count);
	uint8_t phase = graph->model->local[row[node - 1]].phase;
	return phase == PHASE_WAITING || phase == PHASE_LEAVING;
}

/* The node waits, and no copy of its request is under way any more. */
static bool request_is_known(const struct state_graph *graph, uint32_t state, uint32_t node)
{
	uint32_t count;
	const uint32_t *row = states_get(graph->states, state, &count);

	if (graph->model->local[row[node - 1]].phase != PHASE_WAITING)
		return false;
	for (uint32_t k = graph->model->nodes; k < count; k++) {
		if (graph->model->letter[row[k]].origin == node)
			return false;
	}
	return true;
}

static bool belongs(const struct search *search, uint32_t state)
{
	switch (search->part) {
	case PART_WAITING:
		return waits(search->graph, state, search->node);
	case PART_KNOWN:
		return request_is_known(search->graph, state, search->node);
	case PART_ALL:
		break;
	}
	return true;
}

static void begin_state(struct search *search, uint32_t state)
{
	search->index[state] = search->low[state] = search->index_next++;
	search->edge[state] = search->graph->first[state];
	search->stack[search->stack_count++] = state;
	search->calls[search->calls_count++] = state;
}

static void end_state(struct search *search, uint32_t state)
{
	uint32_t top;

	search->calls_count--;
	if (search->calls_count > 0) {
		uint32_t caller = search->calls[search->calls_count - 1];
		if (search->low[state] < search->low[caller])
			search->low[caller] = search->low[state];
	}
	if (search->low[state] != search->index[state])
		return;
	do {
		top = search->stack[--search->stack_count];
		search->component[top] = search->components_count;
		search->order[search->order_count++] = top;
	} while (top != state);
	search->components_count++;
}

/* Tarjan's strongly connected components, without recursion. */
static void find_components(struct search *search, enum part part, uint32_t node)
{
	const struct state_graph *graph = search->graph;

	search->part = part;
	search->node = node;
	search->order_count = search->components_count = search->index_next = 0;
	memset(search->component, 0xff, search->states_count * sizeof(*search->component));
	memset(search->index, 0xff, search->states_count * sizeof(*search->index));
	for (uint32_t root = 0; root < search->states_count; root++) {
		if (search->index[root] != NONE || !belongs(search, root))
			continue;
		begin_state(search, root);
		while (search->calls_count > 0) {
			uint32_t state = search->calls[search->calls_count - 1];
			if (search->edge[state] == graph->first[state + 1]) {
				end_state(search, state);
				continue;
			}
			uint32_t to = graph->to[search->edge[state]++];
			if (search->index[to] == NONE) {
				if (belongs(search, to))
					begin_state(search, to);
			} else if (search->component[to] == NONE &&
			           search->index[to] < search->low[state]) {
				search->low[state] = search->index[to];
			}
		}
	}
}

static const uint32_t *list_actions(struct search *search, uint32_t state)
{
	uint32_t count;
	const uint32_t *row = states_get(search->graph->states, state, &count);
	model_actions(search->graph->model, row, count, &search->actions);
	return row;
}

/* A component that can be left and come back to: more than one state, or an edge from a state to
 * itself. */
static bool is_cyclic(const struct search *search, uint32_t begin, uint32_t end)
{
	const struct state_graph *graph = search->graph;
	uint32_t state = search->order[begin];

	if (end - begin > 1)
		return true;
	for (uint64_t k = graph->first[state]; k < graph->first[state + 1]; k++) {
		if (graph->to[k] == state)
			return true;
	}
	return false;
}

static uint32_t component_end(const struct search *search, uint32_t begin)
{
	uint32_t end = begin + 1;
	while (end < search->order_count &&
	       search->component[search->order[end]] == search->component[search->order[begin]])
		end++;
	return end;
}

/* A message that is lost, or that nobody is there to receive: no node makes a step. */
static bool is_loss(const struct model *model, const struct action *action)
{
	return action->kind == ACTION_LOSE ||
	       (action->kind == ACTION_DELIVER && model->dead[action->node - 1]);
}

static uint64_t messages_of(struct model *model, const uint32_t *row, const struct action *action)
{
	uint64_t messages = 0;

	if (is_loss(model, action))
		return 0;
	const struct transition *transition = model_transition(model, row, action);
	for (uint32_t k = 0; k < transition->sends_count; k++)
		messages += !model->letter[model->sends[transition->sends + k]].init;
	return messages;
}

/* Every run ends: the most and the fewest messages from each state on, last states first. */
static void count_messages(struct search *search, struct liveness *liveness)
{
	const struct state_graph *graph = search->graph;
	uint32_t *most = array(search->states_count, sizeof(*most));
	uint32_t *fewest = array(search->states_count, sizeof(*fewest));

	for (uint32_t i = 0; i < search->order_count; i++) {
		uint32_t state = search->order[i];
		const uint32_t *row = list_actions(search, state);
		uint32_t high = 0, low = NONE;
		for (size_t k = 0; k < search->actions.count; k++) {
			uint32_t to = graph->to[graph->first[state] + k];
			uint32_t messages =
			        (uint32_t)messages_of(graph->model, row, &search->actions.list[k]);
			if (most[to] + messages > high)
				high = most[to] + messages;
			if (fewest[to] + messages < low)
				low = fewest[to] + messages;
		}
		most[state] = high;
		fewest[state] = low == NONE ? 0 : low;
	}
	liveness->messages_max = most[0];
	liveness->messages_min = fewest[0];
	free(most);
	free(fewest);
}

/* Entries of others from each state on while the node's request is known, last states first; a
 * cycle with such an entry has no bound. */
static void measure_bypass(struct search *search, struct liveness *liveness)
{
	const struct state_graph *graph = search->graph;
	uint32_t *bypass = array(search->states_count, sizeof(*bypass));

	for (uint32_t begin = 0, end; begin < search->order_count; begin = end) {
		uint32_t most = 0;
		end = component_end(search, begin);
		for (uint32_t i = begin; i < end; i++) {
			uint32_t state = search->order[i];
			const uint32_t *row = list_actions(search, state);
			for (size_t k = 0; k < search->actions.count; k++) {
				uint32_t to = graph->to[graph->first[state] + k];
				const struct action *action = &search->actions.list[k];
				bool passes = !is_loss(graph->model, action) &&
				              action->node != search->node &&
				              model_transition(graph->model, row, action)->enters;
				if (search->component[to] == NONE)
					continue;
				if (search->component[to] == search->component[state]) {
					if (passes)
						liveness->bypass_bounded = false;
				} else if (bypass[to] + passes > most) {
					most = bypass[to] + passes;
				}
			}
		}
		for (uint32_t i = begin; i < end; i++)
			bypass[search->order[i]] = most;
		if (most > liveness->bypass_max)
			liveness->bypass_max = most;
	}
	free(bypass);
}

static bool is_obligatory(const struct action *action)
{
	return action->kind == ACTION_RELEASE || action->kind == ACTION_DELIVER ||
	       action->kind == ACTION_EXPIRE;
}

static bool is_same(const struct action *a, const struct action *b)
{
	return a->kind == b->kind && a->node == b->node && a->what == b->what;
}

/* Does the state meet the obligation: it does not have it, or an edge within the component does it?
 * *ret_edge: that edge, or NONE. */
static bool meets(struct search *search, uint32_t state, const struct action *obligation,
                  uint64_t *ret_edge)
{
	const struct state_graph *graph = search->graph;

	list_actions(search, state);
	for (size_t k = 0; k < search->actions.count; k++) {
		if (!is_same(&search->actions.list[k], obligation))
			continue;
		*ret_edge = graph->first[state] + k;
		return search->component[graph->to[*ret_edge]] == search->component[state];
	}
	*ret_edge = NONE;
	return true;
}

/* The obligations of a state, to be freed. */
static struct action *list_obligations(struct search *search, uint32_t state, size_t *ret_count)
{
	list_actions(search, state);
	struct action *obligations = array(search->actions.count, sizeof(*obligations));
	*ret_count = 0;
	for (size_t k = 0; k < search->actions.count; k++) {
		if (is_obligatory(&search->actions.list[k]))
			obligations[(*ret_count)++] = search->actions.list[k];
	}
	return obligations;
}

/* Weakly fair: whatever can happen all along the component does happen within it. What can happen
 * all along can in its first state. */
static bool is_fair(struct search *search, uint32_t begin, uint32_t end)
{
	size_t count;
	struct action *obligations = list_obligations(search, search->order[begin], &count);
	bool fair = true;

	for (size_t k = 0; k < count && fair; k++) {
		uint64_t edge;
		fair = false;
		for (uint32_t i = begin; i < end && !fair; i++)
			fair = meets(search, search->order[i], &obligations[k], &edge);
	}
	free(obligations);
	return fair;
}

static void append_state(struct liveness *liveness, size_t *size, uint32_t state)
{
	if (liveness->cycle_count == *size) {
		*size = *size == 0 ? 64 : *size * 2;
		liveness->cycle = realloc(liveness->cycle, *size * sizeof(*liveness->cycle));
		must(liveness->cycle != NULL);
	}
	liveness->cycle[liveness->cycle_count++] = state;
}

/*
 * A shortest walk within the component from the last state of the cycle to one that meets the
 * obligation (NULL: to `target`, by at least one step), appended. `low` and `index` serve as the
 * queue and the parents: the components are known by now.
 */
static void walk(struct search *search, struct liveness *liveness, size_t *size,
                 const struct action *obligation, uint32_t target)
{
	const struct state_graph *graph = search->graph;
	uint32_t from = liveness->cycle[liveness->cycle_count - 1];
	uint32_t *queue = search->low, *parent = search->index;
	uint32_t head = 0, tail = 0, found = NONE;
	uint64_t edge = NONE;

	if (obligation != NULL && meets(search, from, obligation, &edge)) {
		if (edge != NONE)
			append_state(liveness, size, graph->to[edge]);
		return;
	}
	memset(parent, 0xff, search->states_count * sizeof(*parent));
	queue[tail++] = from;
	while (head < tail && found == NONE) {
		uint32_t state = queue[head++];
		for (uint64_t k = graph->first[state]; k < graph->first[state + 1] && found == NONE;
		     k++) {
			uint32_t to = graph->to[k];
			if (search->component[to] != search->component[from] || parent[to] != NONE)
				continue;
			parent[to] = state;
			if (obligation != NULL ? meets(search, to, obligation, &edge)
			                       : to == target)
				found = to;
			queue[tail++] = to;
		}
	}
	must(found != NONE);
	size_t begin = liveness->cycle_count;
	for (uint32_t state = found; liveness->cycle_count == begin || state != from;
	     state = parent[state])
		append_state(liveness, size, state);
	for (size_t i = begin, j = liveness->cycle_count - 1; i < j; i++, j--) {
		uint32_t state = liveness->cycle[i];
		liveness->cycle[i] = liveness->cycle[j];
		liveness->cycle[j] = state;
	}
	if (obligation != NULL && edge != NONE)
		append_state(liveness, size, graph->to[edge]);
}

/* A cycle through the component that meets each obligation of the state where it begins. */
static void find_cycle(struct search *search, uint32_t begin, struct liveness *liveness)
{
	size_t count, size = 0;
	uint32_t start = search->order[begin];
	struct action *obligations = list_obligations(search, start, &count);

	append_state(liveness, &size, start);
	for (size_t k = 0; k < count; k++)
		walk(search, liveness, &size, &obligations[k], NONE);
	if (liveness->cycle_count == 1 || liveness->cycle[liveness->cycle_count - 1] != start)
		walk(search, liveness, &size, NULL, start);
	free(obligations);
}

static void find_starvation(struct search *search, struct liveness *liveness)
{
	for (uint32_t begin = 0, end; begin < search->order_count && liveness->starved == 0;
	     begin = end) {
		end = component_end(search, begin);
		if (is_cyclic(search, begin, end) && is_fair(search, begin, end)) {
			liveness->starved = search->node;
			find_cycle(search, begin, liveness);
		}
	}
}

/* An election that can go on for ever: any cycle will do. */
static void find_endless(struct search *search, struct liveness *liveness)
{
	for (uint32_t begin = 0, end; begin < search->order_count; begin = end) {
		size_t size = 0;
		end = component_end(search, begin);
		if (!is_cyclic(search, begin, end))
			continue;
		append_state(liveness, &size, search->order[begin]);
		walk(search, liveness, &size, NULL, search->order[begin]);
		return;
	}
}

static bool is_acyclic(const struct search *search)
{
	for (uint32_t begin = 0, end; begin < search->order_count; begin = end) {
		end = component_end(search, begin);
		if (is_cyclic(search, begin, end))
			return false;
	}
	return true;
}

void graph_search(const struct state_graph *graph, struct liveness *ret_liveness)
{
	uint32_t count = graph->states->count;
	struct search search = {.graph = graph, .states_count = count};
	bool election = graph->model->algorithm->kind == KIND_ELECTION;

	*ret_liveness = (struct liveness){.bypass_bounded = true};
	search.component = array(count, sizeof(*search.component));
	search.order = array(count, sizeof(*search.order));
	search.index = array(count, sizeof(*search.index));
	search.low = array(count, sizeof(*search.low));
	search.edge = array(count, sizeof(*search.edge));
	search.stack = array(count, sizeof(*search.stack));
	search.calls = array(count, sizeof(*search.calls));
	find_components(&search, PART_ALL, 0);
	ret_liveness->bounded = is_acyclic(&search);
	if (ret_liveness->bounded)
		count_messages(&search, ret_liveness);
	else if (election)
		find_endless(&search, ret_liveness);
	for (uint32_t node = 1;
	     node <= graph->model->nodes && ret_liveness->starved == 0 && !election; node++) {
		find_components(&search, PART_KNOWN, node);
		measure_bypass(&search, ret_liveness);
		if (ret_liveness->bounded)
			continue;
		find_components(&search, PART_WAITING, node);
		find_starvation(&search, ret_liveness);
	}
	free(search.component);
	free(search.order);
	free(search.index);
	free(search.low);
	free(search.edge);
	free(search.stack);
	free(search.calls);
	actions_free(&search.actions);
}
