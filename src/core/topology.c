/*
 * Builds graphs from topologies.
 *
 * In the caller's memory a graph consists of offsets, then neighbours, then scratch space for
 * building it, all as 32-bit numbers. The regular topologies need no scratch space: the neighbours
 * of a node follow from its number. A random graph and a list of edges are gathered as pairs and
 * sorted in linear time.
 */
#include "topology.h"

#include "edge_list.h"
#include "must.h"
#include "random.h"

#include <string.h>

enum { MILLION = 1000000 };

/* Offsets are 32-bit numbers and every edge is stored at both its ends. */
#define EDGES_LIMIT (UINT64_C(1) << 31)

uint32_t topology_nodes(const struct topology *topology)
{
	if (topology->kind == TOPOLOGY_GRID)
		return topology->a * topology->b;
	if (topology->kind != TOPOLOGY_EDGES)
		return 0;

	const char *text = topology->edges;
	struct edge edge;
	uint32_t largest = 0;
	while (edge_read(&text, &edge)) {
		if (edge.a > largest)
			largest = edge.a;
		if (edge.b > largest)
			largest = edge.b;
	}
	return largest;
}

static uint64_t count_random_edges(const struct topology *topology, uint32_t nodes)
{
	uint64_t degree = topology->degree_millionths;

	if (degree >= (uint64_t)(nodes - 1) * MILLION)
		return graph_pairs(nodes);

	/* degree * nodes may need more than 64 bits, so the whole part and the rest are halved
	 * separately. */
	uint64_t sum = degree / MILLION * nodes;
	uint64_t rest = sum % 2 * MILLION + degree % MILLION * nodes;
	uint64_t edges = sum / 2 + (rest + MILLION) / (UINT64_C(2) * MILLION);
	return edges < nodes - 1 ? nodes - 1 : edges;
}

static uint64_t count_listed_edges(const struct topology *topology)
{
	const char *text = topology->edges;
	struct edge edge;
	uint64_t count = 0;

	while (edge_read(&text, &edge))
		count++;
	return count;
}

/* Returns how many edges there must be room for. The number is exact, except that a list may
 * name an edge twice. */
static uint64_t count_stored_edges(const struct topology *topology, uint32_t nodes)
{
	switch (topology->kind) {
	case TOPOLOGY_COMPLETE:
		return 0;
	case TOPOLOGY_RING:
		return nodes > 2 ? nodes : nodes - 1;
	case TOPOLOGY_LINE:
	case TOPOLOGY_STAR:
	case TOPOLOGY_TREE:
	case TOPOLOGY_RADIATING:
		return nodes - 1;
	case TOPOLOGY_GRID:
		return 2 * (uint64_t)nodes - topology->a - topology->b;
	case TOPOLOGY_RANDOM:
		return count_random_edges(topology, nodes);
	case TOPOLOGY_EDGES:
		return count_listed_edges(topology);
	}
	must(false);
	return 0;
}

/*
 * Is a random graph dense? For a sparse graph the edges are drawn, and kept in a hash table. For a
 * dense graph the pairs that are not edges are drawn, and kept as one bit for each pair, which is
 * then smaller and faster.
 */
static bool is_dense(uint32_t nodes, uint64_t edges)
{
	return edges > graph_pairs(nodes) / 2;
}

/* Returns the size of the hash table, a power of two. At least half of the slots stay empty, so
 * that searches are short. */
static uint64_t count_slots(uint64_t pairs)
{
	uint64_t slots = 2;

	while (slots < 2 * pairs)
		slots *= 2;
	return slots;
}

static uint64_t count_matrix(uint32_t nodes)
{
	return ((uint64_t)nodes * nodes + 31) / 32;
}

/* Returns the size of the scratch space in 32-bit numbers. build_random and build_edges divide
 * it. */
static uint64_t count_scratch(const struct topology *topology, uint32_t nodes, uint64_t edges)
{
	if (topology->kind == TOPOLOGY_EDGES)
		return nodes + 2 * edges;
	if (topology->kind != TOPOLOGY_RANDOM)
		return 0;
	uint64_t pairs = is_dense(nodes, edges) ? count_matrix(nodes) : 2 * count_slots(edges);
	return 2 * (uint64_t)nodes + pairs;
}

static void check_nodes(const struct topology *topology, uint32_t nodes)
{
	uint32_t fixed = topology_nodes(topology);

	must(nodes >= 1 && nodes <= NODES_MAX);
	must(fixed == 0 || fixed == nodes);
}

size_t topology_memory(const struct topology *topology, uint32_t nodes)
{
	check_nodes(topology, nodes);
	/* Not 0, because 0 means that the graph is too large. */
	if (topology->kind == TOPOLOGY_COMPLETE)
		return 8;

	uint64_t edges = count_stored_edges(topology, nodes);
	if (edges >= EDGES_LIMIT)
		return 0;
	uint64_t numbers = (uint64_t)nodes + 1 + 2 * edges + count_scratch(topology, nodes, edges);
	uint64_t bytes = (numbers + 1) / 2 * 8;
	/* size_t has 32 bits in a browser. */
	return (size_t)bytes == bytes ? (size_t)bytes : 0;
}

/* Each list_… writes a node's neighbours in increasing order and returns how many there are. */
static uint32_t list_ring(const struct topology *topology, uint32_t nodes, uint32_t node,
                          uint32_t *ret_neighbours)
{
	(void)topology;
	if (nodes == 1)
		return 0;
	uint32_t before = node > 1 ? node - 1 : nodes;
	uint32_t after = node < nodes ? node + 1 : 1;
	ret_neighbours[0] = before < after ? before : after;
	if (nodes == 2)
		return 1;
	ret_neighbours[1] = before < after ? after : before;
	return 2;
}

static uint32_t list_line(const struct topology *topology, uint32_t nodes, uint32_t node,
                          uint32_t *ret_neighbours)
{
	uint32_t count = 0;

	(void)topology;
	if (node > 1)
		ret_neighbours[count++] = node - 1;
	if (node < nodes)
		ret_neighbours[count++] = node + 1;
	return count;
}

static uint32_t list_star(const struct topology *topology, uint32_t nodes, uint32_t node,
                          uint32_t *ret_neighbours)
{
	(void)topology;
	if (node > 1) {
		ret_neighbours[0] = 1;
		return 1;
	}
	for (uint32_t i = 0; i < nodes - 1; i++)
		ret_neighbours[i] = i + 2;
	return nodes - 1;
}

static uint32_t list_tree(const struct topology *topology, uint32_t nodes, uint32_t node,
                          uint32_t *ret_neighbours)
{
	uint64_t k = topology->a;
	uint64_t child_last = k * node + 1 < nodes ? k * node + 1 : nodes;
	uint32_t count = 0;

	if (node > 1)
		ret_neighbours[count++] = (node - 2) / topology->a + 1;
	for (uint64_t child = k * (node - 1) + 2; child <= child_last; child++)
		ret_neighbours[count++] = (uint32_t)child;
	return count;
}

static uint32_t list_radiating(const struct topology *topology, uint32_t nodes, uint32_t node,
                               uint32_t *ret_neighbours)
{
	if (nodes == 1)
		return 0;

	uint32_t arms = topology->a < nodes - 1 ? topology->a : nodes - 1;
	uint32_t length = (nodes - 1) / arms;
	uint32_t longer_count = (nodes - 1) % arms;
	if (node == 1) {
		uint32_t first = 2;
		for (uint32_t arm = 0; arm < arms; arm++) {
			ret_neighbours[arm] = first;
			first += arm < longer_count ? length + 1 : length;
		}
		return arms;
	}

	uint32_t place = node - 2;
	uint32_t longer_nodes = longer_count * (length + 1);
	if (place < longer_nodes)
		length++;
	else
		place -= longer_nodes;
	place %= length;
	uint32_t count = 0;
	ret_neighbours[count++] = place > 0 ? node - 1 : 1;
	if (place + 1 < length)
		ret_neighbours[count++] = node + 1;
	return count;
}

static uint32_t list_grid(const struct topology *topology, uint32_t nodes, uint32_t node,
                          uint32_t *ret_neighbours)
{
	uint32_t columns = topology->b;
	uint32_t column = (node - 1) % columns;
	uint32_t count = 0;

	if (node > columns)
		ret_neighbours[count++] = node - columns;
	if (column > 0)
		ret_neighbours[count++] = node - 1;
	if (column + 1 < columns)
		ret_neighbours[count++] = node + 1;
	if (node + columns <= nodes)
		ret_neighbours[count++] = node + columns;
	return count;
}

static uint32_t (*const lists[])(const struct topology *topology, uint32_t nodes, uint32_t node,
                                 uint32_t *ret_neighbours) = {
        [TOPOLOGY_RING] = list_ring,           [TOPOLOGY_LINE] = list_line,
        [TOPOLOGY_STAR] = list_star,           [TOPOLOGY_TREE] = list_tree,
        [TOPOLOGY_RADIATING] = list_radiating, [TOPOLOGY_GRID] = list_grid,
};

/* A graph that is being built, in the caller's memory. */
struct graph_plan {
	uint32_t nodes;
	uint64_t edges; /* how many edges there is room for */
	uint32_t *offset, *adjacent, *scratch;
};

static void build_regular(const struct graph_plan *plan, const struct topology *topology)
{
	uint32_t *offset = plan->offset;

	offset[0] = 0;
	for (uint32_t node = 1; node <= plan->nodes; node++)
		offset[node] =
		        offset[node - 1] + lists[topology->kind](topology, plan->nodes, node,
		                                                 plan->adjacent + offset[node - 1]);
}

/*
 * Turns pairs into sorted lists with each neighbour once. It visits the nodes in order and writes
 * each into the lists of its neighbours, so that the lists are sorted without any comparison.
 * `pairs` is overwritten; `cursor` has room for the nodes.
 */
static void build_pairs(const struct graph_plan *plan, uint32_t *cursor, uint32_t *pairs,
                        uint64_t count)
{
	uint32_t nodes = plan->nodes, *offset = plan->offset, *adjacent = plan->adjacent;
	uint32_t *sorted = pairs;

	memset(offset, 0, ((size_t)nodes + 1) * sizeof(offset[0]));
	for (uint64_t i = 0; i < 2 * count; i++)
		offset[pairs[i]]++;
	for (uint32_t node = 1; node <= nodes; node++)
		offset[node] += offset[node - 1];

	memcpy(cursor, offset, nodes * sizeof(cursor[0]));
	for (uint64_t i = 0; i < 2 * count; i++)
		adjacent[cursor[pairs[i] - 1]++] = pairs[i ^ 1];

	memcpy(cursor, offset, nodes * sizeof(cursor[0]));
	for (uint32_t node = 1; node <= nodes; node++)
		for (uint32_t i = offset[node - 1]; i < offset[node]; i++)
			sorted[cursor[adjacent[i] - 1]++] = node;

	uint32_t begin = 0, kept = 0;
	for (uint32_t node = 1; node <= nodes; node++) {
		uint32_t end = offset[node];
		for (uint32_t i = begin; i < end; i++)
			if (i == begin || sorted[i] != sorted[i - 1])
				adjacent[kept++] = sorted[i];
		offset[node] = kept;
		begin = end;
	}
}

static void build_edges(const struct graph_plan *plan, const struct topology *topology)
{
	uint32_t *cursor = plan->scratch, *pairs = cursor + plan->nodes;
	const char *text = topology->edges;
	struct edge edge;
	uint64_t count = 0;

	while (edge_read(&text, &edge)) {
		pairs[2 * count] = edge.a;
		pairs[2 * count + 1] = edge.b;
		count++;
	}
	build_pairs(plan, cursor, pairs, count);
}

/* A set of pairs a < b, as a hash table with open addressing. A slot has two numbers, which are
 * 0 if it is empty. */
struct pair_set {
	uint32_t *slots;
	uint64_t slots_count;
};

/* Adds a pair. Returns false if it was there already. */
static bool add_pair(const struct pair_set *set, struct edge edge)
{
	uint64_t hash = ((uint64_t)edge.a << 32 | edge.b) * 0x9e3779b97f4a7c15;

	for (uint64_t i = hash ^ hash >> 32;; i++) {
		uint32_t *slot = set->slots + 2 * (i & (set->slots_count - 1));
		if (slot[0] == edge.a && slot[1] == edge.b)
			return false;
		if (slot[0] == 0) {
			slot[0] = edge.a;
			slot[1] = edge.b;
			return true;
		}
	}
}

static struct edge order_pair(uint32_t a, uint32_t b)
{
	return a < b ? (struct edge){a, b} : (struct edge){b, a};
}

static struct edge draw_pair(struct random *random, uint32_t nodes)
{
	uint32_t a = (uint32_t)random_below(random, nodes) + 1;
	uint32_t b = (uint32_t)random_below(random, nodes - 1) + 1;

	return order_pair(a, b < a ? b : b + 1);
}

/* Draws a random tree. parent[i-1] becomes the parent of node i, or 0 for the root. `order` has
 * room for the nodes. */
static void draw_tree(struct random *random, uint32_t nodes, uint32_t *order, uint32_t *parent)
{
	for (uint32_t i = 0; i < nodes; i++) {
		uint32_t j = (uint32_t)random_below(random, (uint64_t)i + 1);
		order[i] = order[j];
		order[j] = i + 1;
	}
	parent[order[0] - 1] = 0;
	for (uint32_t i = 1; i < nodes; i++)
		parent[order[i] - 1] = order[random_below(random, i)];
}

/* `order` is no longer needed, so build_pairs uses it as its cursor. */
static void build_sparse(const struct graph_plan *plan, struct random *random, uint32_t *order,
                         const uint32_t *parent, uint32_t *slots)
{
	struct pair_set set = {.slots = slots, .slots_count = count_slots(plan->edges)};
	uint64_t count = 0, kept = 0;

	memset(slots, 0, (size_t)(2 * set.slots_count) * sizeof(slots[0]));
	for (uint32_t node = 1; node <= plan->nodes; node++)
		if (parent[node - 1] != 0)
			count += add_pair(&set, order_pair(node, parent[node - 1]));
	while (count < plan->edges)
		count += add_pair(&set, draw_pair(random, plan->nodes));

	for (uint64_t i = 0; i < set.slots_count; i++) {
		if (slots[2 * i] == 0)
			continue;
		slots[2 * kept] = slots[2 * i];
		slots[2 * kept + 1] = slots[2 * i + 1];
		kept++;
	}
	build_pairs(plan, order, slots, kept);
}

static bool has_bit(const uint32_t *bits, uint64_t i)
{
	return bits[i / 32] >> i % 32 & 1;
}

static void set_bit(uint32_t *bits, uint64_t i)
{
	bits[i / 32] |= UINT32_C(1) << i % 32;
}

/*
 * Draws the pairs that are not edges; pairs of the tree are refused. Fewer than half of all pairs
 * are left out, so that more than one draw in four succeeds (the worst case is six nodes with eight
 * edges).
 */
static void build_dense(const struct graph_plan *plan, struct random *random,
                        const uint32_t *parent, uint32_t *matrix)
{
	uint64_t nodes = plan->nodes;
	uint32_t kept = 0;

	memset(matrix, 0, (size_t)count_matrix(plan->nodes) * sizeof(matrix[0]));
	for (uint64_t missing = graph_pairs(plan->nodes) - plan->edges; missing > 0;) {
		struct edge edge = draw_pair(random, plan->nodes);
		uint32_t i = edge.a - 1, j = edge.b - 1;
		if (parent[i] == edge.b || parent[j] == edge.a || has_bit(matrix, i * nodes + j))
			continue;
		set_bit(matrix, i * nodes + j);
		set_bit(matrix, j * nodes + i);
		missing--;
	}
	plan->offset[0] = 0;
	for (uint32_t i = 0; i < plan->nodes; i++) {
		for (uint32_t j = 0; j < plan->nodes; j++)
			if (i != j && !has_bit(matrix, i * nodes + j))
				plan->adjacent[kept++] = j + 1;
		plan->offset[i + 1] = kept;
	}
}

static void build_random(const struct graph_plan *plan, uint64_t seed)
{
	uint32_t *order = plan->scratch, *parent = order + plan->nodes;
	uint32_t *pairs = parent + plan->nodes;
	struct random random;

	random_seed(&random, seed);
	draw_tree(&random, plan->nodes, order, parent);
	if (is_dense(plan->nodes, plan->edges))
		build_dense(plan, &random, parent, pairs);
	else
		build_sparse(plan, &random, order, parent, pairs);
}

void topology_build(const struct topology *topology, uint32_t nodes, uint64_t seed, void *memory,
                    struct graph *ret_graph)
{
	struct graph graph = {.nodes = nodes};

	check_nodes(topology, nodes);
	if (topology->kind == TOPOLOGY_COMPLETE) {
		graph.edges_count = graph_pairs(nodes);
		graph.complete = true;
		*ret_graph = graph;
		return;
	}

	struct graph_plan plan = {.nodes = nodes, .edges = count_stored_edges(topology, nodes)};
	must(plan.edges < EDGES_LIMIT);
	plan.offset = memory;
	plan.adjacent = plan.offset + nodes + 1;
	plan.scratch = plan.adjacent + 2 * plan.edges;
	if (topology->kind == TOPOLOGY_RANDOM)
		build_random(&plan, seed);
	else if (topology->kind == TOPOLOGY_EDGES)
		build_edges(&plan, topology);
	else
		build_regular(&plan, topology);
	graph.edges_count = plan.offset[nodes] / 2;
	must(graph.edges_count == plan.edges || topology->kind == TOPOLOGY_EDGES);
	graph.offset = plan.offset;
	graph.adjacent = plan.adjacent;
	*ret_graph = graph;
}
