#include "graph_search.h"
#include "memory.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

enum part { PART_ALL, PART_WAITING, PART_KNOWN };

/* A search in a part of the graph: the states in which a node waits, or only those in which its
 * request is also known. */
struct inquiry {
	const struct state_graph *graph;
	uint32_t states_count;
	enum part part;
	uint32_t node; /* the node that waits in this part */
	/* [state]: its component; NONE: the state is not in this part, or not found yet. */
	uint32_t *component;
	/* The states by component. A component comes before the components that lead to it. */
	uint32_t *order;
	uint32_t order_count;
	uint32_t components_count;
	uint32_t *index, *low; /* [state]: the numbers that Tarjan's algorithm keeps */
	uint64_t *edge;        /* [state]: the next edge to follow */
	uint32_t *stack, *calls;
	uint32_t stack_count, calls_count, index_next;
	uint32_t looked; /* calls of is_over since the limits were last checked */
	/* Among the states on fair cycles found so far, the one nearest to the start. */
	uint32_t nearest;
	struct actions actions;
};

static void *array(size_t count, size_t size)
{
	void *memory = calloc(count + 1, size);
	memory_must(memory != NULL);
	return memory;
}

/* Checks the limits from time to time. Once one is reached, the whole search ends. */
static bool is_over(struct inquiry *inquiry)
{
	enum { LOOK_EVERY = 1 << 14 };
	struct search *search = inquiry->graph->search;

	if (search->limit == NULL && ++inquiry->looked % LOOK_EVERY == 0) {
		search_progress(search, "fair cycles");
		search->limit = search_limit(search, state_graph_memory(inquiry->graph));
	}
	return search->limit != NULL;
}

static bool belongs(const struct inquiry *inquiry, uint32_t state)
{
	switch (inquiry->part) {
	case PART_WAITING:
		return inquiry->graph->waiting[state] >> (inquiry->node - 1) & 1;
	case PART_KNOWN:
		return inquiry->graph->known[state] >> (inquiry->node - 1) & 1;
	case PART_ALL:
		break;
	}
	return true;
}

static void begin_state(struct inquiry *inquiry, uint32_t state)
{
	inquiry->index[state] = inquiry->low[state] = inquiry->index_next++;
	inquiry->edge[state] = inquiry->graph->first[state];
	inquiry->stack[inquiry->stack_count++] = state;
	inquiry->calls[inquiry->calls_count++] = state;
}

static void end_state(struct inquiry *inquiry, uint32_t state)
{
	uint32_t top;

	inquiry->calls_count--;
	if (inquiry->calls_count > 0) {
		uint32_t caller = inquiry->calls[inquiry->calls_count - 1];
		if (inquiry->low[state] < inquiry->low[caller])
			inquiry->low[caller] = inquiry->low[state];
	}
	if (inquiry->low[state] != inquiry->index[state])
		return;
	do {
		top = inquiry->stack[--inquiry->stack_count];
		inquiry->component[top] = inquiry->components_count;
		inquiry->order[inquiry->order_count++] = top;
	} while (top != state);
	inquiry->components_count++;
}

/* Finds strongly connected components with Tarjan's algorithm, without recursion. */
static void find_components(struct inquiry *inquiry, enum part part, uint32_t node)
{
	const struct state_graph *graph = inquiry->graph;

	inquiry->part = part;
	inquiry->node = node;
	inquiry->order_count = inquiry->components_count = inquiry->index_next = 0;
	memset(inquiry->component, 0xff, inquiry->states_count * sizeof(*inquiry->component));
	memset(inquiry->index, 0xff, inquiry->states_count * sizeof(*inquiry->index));
	for (uint32_t root = 0; root < inquiry->states_count; root++) {
		if (inquiry->index[root] != NONE || !belongs(inquiry, root))
			continue;
		begin_state(inquiry, root);
		while (inquiry->calls_count > 0) {
			if (is_over(inquiry))
				return;
			uint32_t state = inquiry->calls[inquiry->calls_count - 1];
			if (inquiry->edge[state] == graph->first[state + 1]) {
				end_state(inquiry, state);
				continue;
			}
			uint32_t to = graph->to[inquiry->edge[state]++];
			if (inquiry->index[to] == NONE) {
				if (belongs(inquiry, to))
					begin_state(inquiry, to);
			} else if (inquiry->component[to] == NONE &&
			           inquiry->index[to] < inquiry->low[state]) {
				inquiry->low[state] = inquiry->index[to];
			}
		}
	}
}

static void list_actions(struct inquiry *inquiry, uint32_t state)
{
	const struct state_graph *graph = inquiry->graph;
	search_actions(graph->search, search_row(graph->search, graph->names[state]),
	               &inquiry->actions);
}

/* Does the component contain a cycle: more than one state, or an edge from a state to itself? */
static bool is_cyclic(const struct inquiry *inquiry, uint32_t begin, uint32_t end)
{
	const struct state_graph *graph = inquiry->graph;
	uint32_t state = inquiry->order[begin];

	if (end - begin > 1)
		return true;
	for (uint64_t k = graph->first[state]; k < graph->first[state + 1]; k++) {
		if (graph->to[k] == state)
			return true;
	}
	return false;
}

static uint32_t component_end(const struct inquiry *inquiry, uint32_t begin)
{
	uint32_t end = begin + 1;
	while (end < inquiry->order_count &&
	       inquiry->component[inquiry->order[end]] == inquiry->component[inquiry->order[begin]])
		end++;
	return end;
}

/* Does this action let another node enter? */
static bool is_bypass(struct inquiry *inquiry, const struct action *action)
{
	struct model *model = &inquiry->graph->search->model;

	return !model_is_loss(action) && action->node != inquiry->node &&
	       model_learn(model, action)->enters;
}

/* Finds, for each state, the greatest number of entries of other nodes that can follow while the
 * node's request is known. It visits states after their successors. If a cycle contains such an
 * entry, there is no bound. */
static void measure_bypass(struct inquiry *inquiry, struct liveness *liveness)
{
	const struct state_graph *graph = inquiry->graph;
	uint32_t *bypass = array(inquiry->states_count, sizeof(*bypass));

	for (uint32_t begin = 0, end; begin < inquiry->order_count; begin = end) {
		uint32_t most = 0;
		end = component_end(inquiry, begin);
		for (uint32_t i = begin; i < end; i++) {
			uint32_t state = inquiry->order[i];
			if (is_over(inquiry))
				break;
			list_actions(inquiry, state);
			for (size_t k = 0; k < inquiry->actions.count; k++) {
				uint32_t to = graph->to[graph->first[state] + k];
				bool passes = is_bypass(inquiry, &inquiry->actions.list[k]);
				if (inquiry->component[to] == NONE)
					continue;
				if (inquiry->component[to] == inquiry->component[state]) {
					if (passes)
						liveness->bypass_bounded = false;
				} else if (bypass[to] + passes > most) {
					most = bypass[to] + passes;
				}
			}
		}
		for (uint32_t i = begin; i < end; i++)
			bypass[inquiry->order[i]] = most;
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

/* Does the state meet the obligation? It does if the obligation's action is not possible there,
 * or if an edge within the component performs it. *ret_edge is that edge, or NONE. */
static bool meets(struct inquiry *inquiry, uint32_t state, const struct action *obligation,
                  uint64_t *ret_edge)
{
	const struct state_graph *graph = inquiry->graph;

	list_actions(inquiry, state);
	for (size_t k = 0; k < inquiry->actions.count; k++) {
		if (!is_same(&inquiry->actions.list[k], obligation))
			continue;
		*ret_edge = graph->first[state] + k;
		return inquiry->component[graph->to[*ret_edge]] == inquiry->component[state];
	}
	*ret_edge = NONE;
	return true;
}

/* Returns the obligations of a state, in an array that the caller frees. */
static struct action *list_obligations(struct inquiry *inquiry, uint32_t state, size_t *ret_count)
{
	list_actions(inquiry, state);
	struct action *obligations = array(inquiry->actions.count, sizeof(*obligations));
	*ret_count = 0;
	for (size_t k = 0; k < inquiry->actions.count; k++) {
		if (is_obligatory(&inquiry->actions.list[k]))
			obligations[(*ret_count)++] = inquiry->actions.list[k];
	}
	return obligations;
}

/* Is the component weakly fair? Then each action that is possible in all of its states happens
 * on an edge within it. It is enough to try the actions of one state: an action that is not
 * possible there is not possible in all states. */
static bool is_fair(struct inquiry *inquiry, uint32_t begin, uint32_t end)
{
	size_t count;
	struct action *obligations = list_obligations(inquiry, inquiry->order[begin], &count);
	bool fair = true;

	for (size_t k = 0; k < count && fair; k++) {
		uint64_t edge;
		fair = false;
		for (uint32_t i = begin; i < end && !fair; i++)
			fair = meets(inquiry, inquiry->order[i], &obligations[k], &edge);
	}
	free(obligations);
	return fair;
}

static void append_state(struct liveness *liveness, size_t *size, uint32_t state)
{
	if (liveness->cycle_count == *size) {
		*size = *size == 0 ? 64 : *size * 2;
		liveness->cycle = realloc(liveness->cycle, *size * sizeof(*liveness->cycle));
		memory_must(liveness->cycle != NULL);
	}
	liveness->cycle[liveness->cycle_count++] = state;
}

/* Extends the cycle by a shortest walk within the component to a state that meets the
 * obligation, or, if that is NULL, to `target` by at least one step. `low` and `index` are
 * reused as the queue and the parents, since the components are known by now. */
static void walk(struct inquiry *inquiry, struct liveness *liveness, size_t *size,
                 const struct action *obligation, uint32_t target)
{
	const struct state_graph *graph = inquiry->graph;
	uint32_t from = liveness->cycle[liveness->cycle_count - 1];
	uint32_t *queue = inquiry->low, *parent = inquiry->index;
	uint32_t head = 0, tail = 0, found = NONE;
	uint64_t edge = NONE;

	if (obligation != NULL && meets(inquiry, from, obligation, &edge)) {
		if (edge != NONE)
			append_state(liveness, size, graph->to[edge]);
		return;
	}
	memset(parent, 0xff, inquiry->states_count * sizeof(*parent));
	queue[tail++] = from;
	while (head < tail && found == NONE) {
		uint32_t state = queue[head++];
		for (uint64_t k = graph->first[state]; k < graph->first[state + 1] && found == NONE;
		     k++) {
			uint32_t to = graph->to[k];
			if (inquiry->component[to] != inquiry->component[from] ||
			    parent[to] != NONE)
				continue;
			parent[to] = state;
			if (obligation != NULL ? meets(inquiry, to, obligation, &edge)
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

/* Makes a cycle through the component that meets each obligation of the state where it begins. */
static void find_cycle(struct inquiry *inquiry, uint32_t start, struct liveness *liveness)
{
	size_t count, size = 0;
	struct action *obligations = list_obligations(inquiry, start, &count);

	free(liveness->cycle);
	liveness->cycle = NULL;
	liveness->cycle_count = 0;
	append_state(liveness, &size, start);
	for (size_t k = 0; k < count; k++)
		walk(inquiry, liveness, &size, &obligations[k], NONE);
	if (liveness->cycle_count == 1 || liveness->cycle[liveness->cycle_count - 1] != start)
		walk(inquiry, liveness, &size, NULL, start);
	free(obligations);
}

/* Returns the state of the component that the search found first, which is nearest to the start. */
static uint32_t nearest_of(const struct inquiry *inquiry, uint32_t begin, uint32_t end)
{
	uint32_t nearest = inquiry->order[begin];
	for (uint32_t i = begin; i < end; i++) {
		if (inquiry->order[i] < nearest)
			nearest = inquiry->order[i];
	}
	return nearest;
}

static void find_starvation(struct inquiry *inquiry, struct liveness *liveness)
{
	for (uint32_t begin = 0, end; begin < inquiry->order_count && !is_over(inquiry);
	     begin = end) {
		end = component_end(inquiry, begin);
		if (!is_cyclic(inquiry, begin, end) || !is_fair(inquiry, begin, end))
			continue;
		uint32_t nearest = nearest_of(inquiry, begin, end);
		if (liveness->starved != 0 && nearest >= inquiry->nearest)
			continue;
		inquiry->nearest = nearest;
		liveness->starved = inquiry->node;
		find_cycle(inquiry, nearest, liveness);
	}
}

/* An election must end, so any cycle is a violation. */
static void find_endless(struct inquiry *inquiry, struct liveness *liveness)
{
	for (uint32_t begin = 0, end; begin < inquiry->order_count; begin = end) {
		size_t size = 0;
		end = component_end(inquiry, begin);
		if (!is_cyclic(inquiry, begin, end))
			continue;
		liveness->endless = true;
		uint32_t nearest = nearest_of(inquiry, begin, end);
		append_state(liveness, &size, nearest);
		walk(inquiry, liveness, &size, NULL, nearest);
		return;
	}
}

void graph_search(const struct state_graph *graph, struct liveness *ret_liveness)
{
	uint32_t count = graph->count;
	struct inquiry inquiry = {.graph = graph, .states_count = count};
	const struct model *model = &graph->search->model;

	*ret_liveness = (struct liveness){.bypass_bounded = true};
	inquiry.component = array(count, sizeof(*inquiry.component));
	inquiry.order = array(count, sizeof(*inquiry.order));
	inquiry.index = array(count, sizeof(*inquiry.index));
	inquiry.low = array(count, sizeof(*inquiry.low));
	inquiry.edge = array(count, sizeof(*inquiry.edge));
	inquiry.stack = array(count, sizeof(*inquiry.stack));
	inquiry.calls = array(count, sizeof(*inquiry.calls));
	if (model->algorithm->kind == KIND_ELECTION) {
		find_components(&inquiry, PART_ALL, 0);
		find_endless(&inquiry, ret_liveness);
	}
	for (uint32_t node = 1; node <= model->nodes && model->algorithm->kind == KIND_MUTEX;
	     node++) {
		find_components(&inquiry, PART_WAITING, node);
		find_starvation(&inquiry, ret_liveness);
		if (ret_liveness->starved != 0)
			continue;
		find_components(&inquiry, PART_KNOWN, node);
		measure_bypass(&inquiry, ret_liveness);
	}
	free(inquiry.component);
	free(inquiry.order);
	free(inquiry.index);
	free(inquiry.low);
	free(inquiry.edge);
	free(inquiry.stack);
	free(inquiry.calls);
	actions_free(&inquiry.actions);
}
