/*
 * Compares every topology with its edges written out, for one and two nodes too; and compares
 * answers to questions about a graph with slow and obvious ones. The memory is exactly as large as
 * requested and filled with garbage, so that a sanitizer notices an overrun, and a test notices
 * memory that was assumed to be cleared.
 */
#include "topology.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct built {
	struct graph graph;
	void *memory;
	uint32_t *scratch;
};

/* Uses the number of nodes in the text, if it fixes one. */
static struct built build(const char *text, uint32_t nodes, uint64_t seed)
{
	struct topology topology;
	struct built built;

	assert_null(topology_parse(text, &topology));
	if (topology_nodes(&topology) != 0)
		nodes = topology_nodes(&topology);
	size_t size = topology_memory(&topology, nodes);
	assert_true(size > 0 && size % 8 == 0);
	built.memory = malloc(size);
	/* NOLINTNEXTLINE(clang-analyzer-optin.portability.UnixAPI): every test has a node. */
	built.scratch = malloc(nodes * sizeof(uint32_t));
	assert_true(built.memory != NULL && built.scratch != NULL);
	memset(built.memory, 0xa5, size);
	topology_build(&topology, nodes, seed, built.memory, &built.graph);
	assert_int_equal(built.graph.nodes, nodes);
	return built;
}

static void drop(struct built *built)
{
	free(built->memory);
	free(built->scratch);
}

static bool is(struct built *built, enum graph_class class)
{
	memset(built->scratch, 0xa5, built->graph.nodes * sizeof(uint32_t));
	return graph_is(&built->graph, class, built->scratch);
}

/* Checks that neighbours are in increasing order, without loops, in both directions, and as many as
 * stated. */
static void assert_sound(const struct graph *graph)
{
	uint64_t ends = 0;

	for (uint32_t node = 1; node <= graph->nodes; node++) {
		uint32_t degree = graph_degree(graph, node), last = 0;
		ends += degree;
		for (uint32_t k = 0; k < degree; k++) {
			uint32_t neighbour = graph_neighbour(graph, node, k);
			assert_true(neighbour > last && neighbour <= graph->nodes);
			assert_int_not_equal(neighbour, node);
			assert_true(graph_adjacent(graph, node, neighbour));
			assert_true(graph_adjacent(graph, neighbour, node));
			last = neighbour;
		}
	}
	assert_true(ends == 2 * graph->edges_count);
}

static void write_edges(const struct graph *graph, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (uint32_t a = 1; a <= graph->nodes; a++)
		for (uint32_t k = 0; k < graph_degree(graph, a); k++) {
			uint32_t b = graph_neighbour(graph, a, k);
			if (a > b)
				continue;
			int length = snprintf(text + used, size - used, "%s%u-%u",
			                      used > 0 ? " " : "", (unsigned)a, (unsigned)b);
			assert_true(length > 0 && (size_t)length < size - used);
			used += (size_t)length;
		}
}

static void assert_edges(const char *text, uint32_t nodes, const char *expected)
{
	struct built built = build(text, nodes, 1);
	char edges[4096];

	assert_sound(&built.graph);
	write_edges(&built.graph, edges, sizeof(edges));
	assert_string_equal(edges, expected);
	drop(&built);
}

static void test_parse_takes_every_form(void **state)
{
	struct topology topology;

	(void)state;
	assert_null(topology_parse("complete", &topology));
	assert_int_equal(topology.kind, TOPOLOGY_COMPLETE);
	assert_null(topology_parse("ring", &topology));
	assert_int_equal(topology.kind, TOPOLOGY_RING);
	assert_null(topology_parse("line", &topology));
	assert_int_equal(topology.kind, TOPOLOGY_LINE);
	assert_null(topology_parse("star", &topology));
	assert_int_equal(topology.kind, TOPOLOGY_STAR);
	assert_int_equal(topology_nodes(&topology), 0);
	assert_null(topology_parse("tree:16777216", &topology));
	assert_int_equal(topology.kind, TOPOLOGY_TREE);
	assert_int_equal(topology.a, NODES_MAX);
	assert_null(topology_parse("radiating:03", &topology));
	assert_int_equal(topology.kind, TOPOLOGY_RADIATING);
	assert_int_equal(topology.a, 3);
	assert_null(topology_parse("grid:4x5", &topology));
	assert_int_equal(topology.kind, TOPOLOGY_GRID);
	assert_int_equal(topology.a, 4);
	assert_int_equal(topology.b, 5);
	assert_int_equal(topology_nodes(&topology), 20);
	assert_null(topology_parse("edges:7-2", &topology));
	assert_int_equal(topology.kind, TOPOLOGY_EDGES);
	assert_string_equal(topology.edges, "7-2");
	assert_int_equal(topology_nodes(&topology), 7);
}

static void test_parse_takes_decimals_of_a_degree(void **state)
{
	static const struct {
		const char *text;
		uint64_t millionths;
	} cases[] = {
	        {"random:0", 0},
	        {"random:3", 3000000},
	        {"random:2.5", 2500000},
	        {"random:0.000001", 1},
	        {"random:1.234567", 1234567},
	        {"random:16777216", 16777216000000},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct topology topology;
		assert_null(topology_parse(cases[i].text, &topology));
		assert_int_equal(topology.kind, TOPOLOGY_RANDOM);
		assert_true(topology.degree_millionths == cases[i].millionths);
	}
}

static const struct {
	const char *text, *start;
} wrong[] = {
        {"", "a topology is complete, "},
        {":", "a topology is complete, "},
        {"rin", "a topology is complete, "},
        {"rings", "a topology is complete, "},
        {"Ring", "a topology is complete, "},
        {" ring", "a topology is complete, "},
        {"tree2", "a topology is complete, "},
        {"ring:", "ring takes nothing"},
        {"line:3", "line takes nothing"},
        {"star:1", "star takes nothing"},
        {"complete:3", "complete takes nothing"},
        {"tree", "tree:K needs"},
        {"tree:", "tree:K needs"},
        {"tree:0", "tree:K needs"},
        {"tree:-1", "tree:K needs"},
        {"tree:+1", "tree:K needs"},
        {"tree: 1", "tree:K needs"},
        {"tree:2x", "tree:K needs"},
        {"tree:2.5", "tree:K needs"},
        {"tree:16777217", "tree:K needs"},
        {"tree:4294967298", "tree:K needs"},
        {"tree:18446744073709551618", "tree:K needs"},
        {"radiating", "radiating:K needs"},
        {"radiating:0", "radiating:K needs"},
        {"radiating:99999999999999999999999", "radiating:K needs"},
        {"grid", "grid:RxC needs"},
        {"grid:", "grid:RxC needs"},
        {"grid:3", "grid:RxC needs"},
        {"grid:3x", "grid:RxC needs"},
        {"grid:x3", "grid:RxC needs"},
        {"grid:0x3", "grid:RxC needs"},
        {"grid:3x0", "grid:RxC needs"},
        {"grid:2x3x4", "grid:RxC needs"},
        {"grid:4096x4097", "grid:RxC needs"},
        {"grid:4294967297x1", "grid:RxC needs"},
        {"random", "random:D needs"},
        {"random:", "random:D needs"},
        {"random:-1", "random:D needs"},
        {"random:.5", "random:D needs"},
        {"random:3.", "random:D needs"},
        {"random:3.5.1", "random:D needs"},
        {"random:1e3", "random:D needs"},
        {"random:0.1234567", "random:D needs"},
        {"random:18446744073709551617", "random:D needs"},
        {"edges", "edges:A-B,... needs"},
        {"edges:", "edges:A-B,... needs"},
        {"edges: ,\n", "edges:A-B,... needs"},
        {"edges:1", "edges:A-B,... needs"},
        {"edges:1-", "edges:A-B,... needs"},
        {"edges:-2", "edges:A-B,... needs"},
        {"edges:1 - 2", "edges:A-B,... needs"},
        {"edges:1-2-3", "edges:A-B,... needs"},
        {"edges:1-2;2-3", "edges:A-B,... needs"},
        {"edges:1-2,3", "edges:A-B,... needs"},
        {"edges:1-2,2-2", "edges:A-B,... needs"},
        {"edges:0-1", "edges:A-B,... needs"},
        {"edges:1-16777217", "edges:A-B,... needs"},
        {"edges:4294967297-2", "edges:A-B,... needs"},
        {"file", "file:PATH cannot be read here"},
        {"file:graph.txt", "file:PATH cannot be read here"},
};

static void test_parse_says_what_would_be_right(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(wrong); i++) {
		struct topology topology, before;
		memset(&topology, 0xa5, sizeof(topology));
		before = topology;
		const char *sentence = topology_parse(wrong[i].text, &topology);
		if (sentence == NULL ||
		    strncmp(sentence, wrong[i].start, strlen(wrong[i].start)) != 0)
			fail_msg("'%s' gives '%s'", wrong[i].text, sentence);
		assert_memory_equal(&topology, &before, sizeof(topology));
	}
}

static void test_names_are_the_forms_that_parse_knows(void **state)
{
	static const char *const examples[] = {"complete", "ring",       "line",
	                                       "star",     "tree:2",     "radiating:3",
	                                       "grid:2x3", "random:3.5", "edges:1-2"};
	size_t count = 0;

	(void)state;
	while (topology_names[count] != NULL)
		count++;
	assert_int_equal(count, COUNT(examples) + 1);
	for (size_t i = 0; i < COUNT(examples); i++) {
		struct topology topology;
		assert_null(topology_parse(examples[i], &topology));
		assert_int_equal(topology.kind, i);
		size_t length = strcspn(topology_names[i], ":");
		assert_int_equal(strcspn(examples[i], ":"), length);
		assert_memory_equal(examples[i], topology_names[i], length);
	}
	assert_string_equal(topology_names[count - 1], "file:PATH");
}

static void test_complete_stores_no_edges(void **state)
{
	(void)state;
	for (uint32_t nodes = 1; nodes <= 5; nodes++) {
		struct built built = build("complete", nodes, 1);
		assert_true(built.graph.complete);
		assert_null(built.graph.offset);
		assert_null(built.graph.adjacent);
		assert_int_equal(built.graph.edges_count, nodes * (nodes - 1) / 2);
		assert_sound(&built.graph);
		assert_false(graph_adjacent(&built.graph, nodes, nodes));
		drop(&built);
	}
	assert_edges("complete", 4, "1-2 1-3 1-4 2-3 2-4 3-4");
}

static void test_ring_of_two_is_one_edge_and_of_one_none(void **state)
{
	(void)state;
	assert_edges("ring", 1, "");
	assert_edges("ring", 2, "1-2");
	assert_edges("ring", 3, "1-2 1-3 2-3");
	assert_edges("ring", 5, "1-2 1-5 2-3 3-4 4-5");
}

static void test_line_runs_from_one_to_the_last(void **state)
{
	(void)state;
	assert_edges("line", 1, "");
	assert_edges("line", 2, "1-2");
	assert_edges("line", 4, "1-2 2-3 3-4");
}

static void test_star_has_node_one_in_the_middle(void **state)
{
	(void)state;
	assert_edges("star", 1, "");
	assert_edges("star", 2, "1-2");
	assert_edges("star", 5, "1-2 1-3 1-4 1-5");
}

static void test_tree_is_filled_level_by_level(void **state)
{
	(void)state;
	assert_edges("tree:2", 1, "");
	assert_edges("tree:2", 2, "1-2");
	assert_edges("tree:2", 8, "1-2 1-3 2-4 2-5 3-6 3-7 4-8");
	assert_edges("tree:3", 7, "1-2 1-3 1-4 2-5 2-6 2-7");
	assert_edges("tree:16777216", 4, "1-2 1-3 1-4");
}

static void test_tree_of_one_child_is_a_line(void **state)
{
	(void)state;
	assert_edges("tree:1", 1, "");
	assert_edges("tree:1", 5, "1-2 2-3 3-4 4-5");
}

static void test_radiating_arms_are_even_and_the_longer_first(void **state)
{
	(void)state;
	assert_edges("radiating:3", 1, "");
	assert_edges("radiating:3", 2, "1-2");
	assert_edges("radiating:3", 3, "1-2 1-3");
	assert_edges("radiating:3", 7, "1-2 1-4 1-6 2-3 4-5 6-7");
	assert_edges("radiating:3", 9, "1-2 1-5 1-8 2-3 3-4 5-6 6-7 8-9");
	assert_edges("radiating:1", 4, "1-2 2-3 3-4");
	assert_edges("radiating:16777216", 4, "1-2 1-3 1-4");
}

static void test_grid_is_numbered_row_by_row(void **state)
{
	(void)state;
	assert_edges("grid:1x1", 0, "");
	assert_edges("grid:1x2", 0, "1-2");
	assert_edges("grid:2x1", 0, "1-2");
	assert_edges("grid:1x4", 0, "1-2 2-3 3-4");
	assert_edges("grid:4x1", 0, "1-2 2-3 3-4");
	assert_edges("grid:2x2", 0, "1-2 1-3 2-4 3-4");
	assert_edges("grid:2x3", 0, "1-2 1-4 2-3 2-5 3-6 4-5 5-6");
	assert_edges("grid:3x2", 0, "1-2 1-3 2-4 3-4 3-5 4-6 5-6");
}

static void test_listed_edges_count_once(void **state)
{
	(void)state;
	assert_edges("edges:1-2", 0, "1-2");
	assert_edges("edges:3-1,2-3,1-3,3-1,3-2,1-2,1-2", 0, "1-2 1-3 2-3");
}

static void test_listed_edges_may_be_the_text_of_a_file(void **state)
{
	(void)state;
	assert_edges("edges:\n1-2\r\n2-3\t,, 4-3\n\n", 0, "1-2 2-3 3-4");
}

static void test_node_that_no_edge_names_is_alone(void **state)
{
	struct built built = build("edges:1-2,5-4", 0, 1);

	(void)state;
	assert_int_equal(built.graph.nodes, 5);
	assert_int_equal(graph_degree(&built.graph, 3), 0);
	assert_false(graph_adjacent(&built.graph, 3, 1));
	assert_false(is(&built, GRAPH_CONNECTED));
	drop(&built);
}

static void test_random_graph_has_the_edges_of_its_mean_degree(void **state)
{
	(void)state;
	for (uint32_t nodes = 1; nodes <= 14; nodes++)
		for (uint32_t tenths = 0; tenths <= 150; tenths++) {
			char text[32];
			snprintf(text, sizeof(text), "random:%u.%u", (unsigned)(tenths / 10),
			         (unsigned)(tenths % 10));
			uint32_t expected = (tenths * nodes + 10) / 20;
			if (expected < nodes - 1)
				expected = nodes - 1;
			if (expected > nodes * (nodes - 1) / 2)
				expected = nodes * (nodes - 1) / 2;
			struct built built = build(text, nodes, tenths);
			assert_int_equal(built.graph.edges_count, expected);
			assert_sound(&built.graph);
			assert_true(is(&built, GRAPH_CONNECTED));
			drop(&built);
		}
}

static void test_random_graph_follows_from_its_seed(void **state)
{
	static const char *const texts[] = {"random:0", "random:3.3", "random:28"};

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		char edges[3][4096];
		for (unsigned k = 0; k < 3; k++) {
			struct built built = build(texts[i], 32, k == 2 ? 8 : 7);
			write_edges(&built.graph, edges[k], sizeof(edges[k]));
			drop(&built);
		}
		assert_string_equal(edges[0], edges[1]);
		assert_string_not_equal(edges[0], edges[2]);
	}
}

/* Recorded runs name a seed, so the graph must never change. */
static void test_random_graph_of_seed_one_is_what_it_always_was(void **state)
{
	(void)state;
	assert_edges("random:0", 8, "1-3 2-4 2-8 3-5 3-6 3-8 4-7");
	assert_edges("random:3", 8, "1-3 1-4 1-5 1-8 2-4 2-8 3-4 3-5 3-6 3-8 4-6 4-7");
	assert_edges("random:6", 8,
	             "1-2 1-3 1-6 1-7 2-3 2-4 2-5 2-6 2-7 2-8 3-4 3-5 3-6 3-7 3-8 "
	             "4-5 4-7 4-8 5-6 5-7 5-8 6-7 6-8 7-8");
}

/* A pair that is never drawn, or too often, would be noticed; so would a tree that was cut. */
static void test_random_graph_is_connected_and_prefers_no_pair(void **state)
{
	static const struct {
		const char *text;
		unsigned edges;
	} cases[] = {{"random:1", 5}, {"random:2", 6}, {"random:2.7", 8}, {"random:4", 12}};
	enum { GRAPHS = 30000, PAIRS = 15 };

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		unsigned count[7][7] = {{0}};
		for (uint64_t seed = 0; seed < GRAPHS; seed++) {
			struct built built = build(cases[i].text, 6, seed);
			assert_int_equal(built.graph.edges_count, cases[i].edges);
			assert_true(is(&built, GRAPH_CONNECTED));
			for (uint32_t a = 1; a <= 6; a++)
				for (uint32_t b = a + 1; b <= 6; b++)
					count[a][b] += graph_adjacent(&built.graph, a, b);
			drop(&built);
		}
		unsigned expected = GRAPHS * cases[i].edges / PAIRS;
		for (uint32_t a = 1; a <= 6; a++)
			for (uint32_t b = a + 1; b <= 6; b++)
				assert_in_range(count[a][b], expected * 95 / 100,
				                expected * 105 / 100);
	}
}

static void test_too_many_edges_need_no_memory(void **state)
{
	struct topology topology;

	(void)state;
	assert_null(topology_parse("random:16777216", &topology));
	assert_int_equal(topology_memory(&topology, NODES_MAX), 0);
	assert_int_equal(topology_memory(&topology, 65537), 0);
	assert_true(topology_memory(&topology, 65536) > 0);
	assert_null(topology_parse("random:256", &topology));
	assert_int_equal(topology_memory(&topology, NODES_MAX), 0);
	assert_null(topology_parse("random:255.9", &topology));
	assert_true(topology_memory(&topology, NODES_MAX) > 0);
	assert_null(topology_parse("complete", &topology));
	assert_int_equal(topology_memory(&topology, NODES_MAX), 8);
}

static void test_adjacent_agrees_with_the_neighbours(void **state)
{
	static const char *const texts[] = {"star", "grid:4x4", "random:4", "random:13",
	                                    "complete"};

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		struct built built = build(texts[i], 16, 3);
		for (uint32_t a = 1; a <= 16; a++)
			for (uint32_t b = 1; b <= 16; b++) {
				bool found = false;
				for (uint32_t k = 0; k < graph_degree(&built.graph, a); k++)
					found |= graph_neighbour(&built.graph, a, k) == b;
				assert_int_equal(graph_adjacent(&built.graph, a, b), found);
			}
		drop(&built);
	}
}

/* Checks the classes of a graph, given as letters: Complete, Star, Ring, Tree, connected Graph. */
static void assert_classes(const char *text, uint32_t nodes, const char *expected)
{
	static const struct {
		enum graph_class class;
		char letter;
	} classes[] = {
	        {GRAPH_COMPLETE, 'C'}, {GRAPH_STAR, 'S'},      {GRAPH_RING, 'R'},
	        {GRAPH_TREE, 'T'},     {GRAPH_CONNECTED, 'G'},
	};
	struct built built = build(text, nodes, 1);
	char letters[COUNT(classes) + 1];
	size_t count = 0;

	assert_true(is(&built, GRAPH_NONE));
	for (size_t i = 0; i < COUNT(classes); i++)
		if (is(&built, classes[i].class))
			letters[count++] = classes[i].letter;
	letters[count] = '\0';
	assert_string_equal(letters, expected);
	drop(&built);
}

static void test_single_node_belongs_to_every_class(void **state)
{
	static const char *const texts[] = {"complete", "ring",        "line",     "star",
	                                    "tree:2",   "radiating:2", "grid:1x1", "random:2"};

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++)
		assert_classes(texts[i], 1, "CSRTG");
}

static void test_two_nodes_with_an_edge_belong_to_every_class(void **state)
{
	static const char *const texts[] = {"complete", "ring",     "line",
	                                    "star",     "tree:2",   "radiating:2",
	                                    "grid:1x2", "random:2", "edges:1-2"};

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++)
		assert_classes(texts[i], 2, "CSRTG");
}

static void test_classes_are_told_apart(void **state)
{
	(void)state;
	assert_classes("complete", 3, "CSRG");
	assert_classes("complete", 4, "CSG");
	assert_classes("random:3", 4, "CSG");
	assert_classes("ring", 3, "CSRG");
	assert_classes("ring", 4, "RG");
	assert_classes("grid:2x2", 0, "RG");
	assert_classes("line", 3, "TG");
	assert_classes("edges:1-2,1-3", 0, "STG");
	assert_classes("edges:2-1,2-3", 0, "TG");
	assert_classes("star", 5, "STG");
	assert_classes("edges:1-2,1-3,1-4,3-4", 0, "SG");
	assert_classes("tree:2", 7, "TG");
	assert_classes("random:0", 9, "TG");
	assert_classes("grid:2x3", 0, "G");
}

static void test_two_rings_are_not_a_ring(void **state)
{
	(void)state;
	assert_classes("edges:1-2,2-3,3-1,4-5,5-6,6-4", 0, "");
}

static void test_ring_and_a_node_apart_are_not_a_tree(void **state)
{
	(void)state;
	assert_classes("edges:1-2,2-4,4-1,4-5,3-6", 0, "");
	assert_classes("edges:1-2,2-3,3-1,5-6", 0, "");
	assert_classes("edges:2-3", 0, "");
}

static void test_toward_is_the_smallest_on_a_shortest_path(void **state)
{
	struct built built = build("grid:3x3", 0, 1);
	uint32_t toward[9];
	static const uint32_t from_centre[] = {2, 5, 2, 5, 0, 5, 4, 5, 6};
	static const uint32_t from_corner[] = {2, 3, 6, 5, 6, 9, 8, 9, 0};

	(void)state;
	graph_toward(&built.graph, 5, toward, built.scratch);
	assert_memory_equal(toward, from_centre, sizeof(toward));
	graph_toward(&built.graph, 9, toward, built.scratch);
	assert_memory_equal(toward, from_corner, sizeof(toward));
	drop(&built);
}

/* From 1, node 7 is found through 6 before 4: 2 comes before 5, and 6 is a neighbour of 2. */
static void test_toward_does_not_follow_the_order_of_discovery(void **state)
{
	struct built built = build("edges:1-2,2-6,1-5,5-4,6-7,4-7,1-3", 0, 1);
	uint32_t toward[7];

	(void)state;
	graph_toward(&built.graph, 1, toward, built.scratch);
	assert_int_equal(toward[6], 4);
	drop(&built);
}

enum { SMALL = 12 };

static void measure(const struct graph *graph, uint32_t distance[SMALL + 1][SMALL + 1])
{
	for (uint32_t a = 1; a <= SMALL; a++)
		for (uint32_t b = 1; b <= SMALL; b++)
			distance[a][b] = a == b ? 0 : graph_adjacent(graph, a, b) ? 1 : SMALL;
	for (uint32_t k = 1; k <= SMALL; k++)
		for (uint32_t a = 1; a <= SMALL; a++)
			for (uint32_t b = 1; b <= SMALL; b++)
				if (distance[a][k] + distance[k][b] < distance[a][b])
					distance[a][b] = distance[a][k] + distance[k][b];
}

static void assert_toward(struct built *built, uint32_t root,
                          uint32_t distance[SMALL + 1][SMALL + 1])
{
	uint32_t toward[SMALL];

	memset(toward, 0xa5, sizeof(toward));
	memset(built->scratch, 0xa5, sizeof(toward));
	graph_toward(&built->graph, root, toward, built->scratch);
	for (uint32_t node = 1; node <= SMALL; node++) {
		uint32_t expected = 0;
		for (uint32_t b = SMALL; b >= 1; b--)
			if (node != root && graph_adjacent(&built->graph, node, b) &&
			    distance[b][root] + 1 == distance[node][root])
				expected = b;
		assert_int_equal(toward[node - 1], expected);
	}
}

static void test_toward_agrees_with_all_distances(void **state)
{
	static const char *const texts[] = {"random:0", "random:2.5", "random:4", "random:9",
	                                    "grid:3x4", "ring",       "complete", "radiating:3"};

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++)
		for (uint64_t seed = 0; seed < 20; seed++) {
			struct built built = build(texts[i], SMALL, seed);
			uint32_t distance[SMALL + 1][SMALL + 1];
			measure(&built.graph, distance);
			for (uint32_t root = 1; root <= SMALL; root++)
				assert_toward(&built, root, distance);
			drop(&built);
		}
}

static void test_toward_of_a_single_node_is_nobody(void **state)
{
	static const char *const texts[] = {"complete", "line"};

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		struct built built = build(texts[i], 1, 1);
		uint32_t toward = 7;
		graph_toward(&built.graph, 1, &toward, built.scratch);
		assert_int_equal(toward, 0);
		drop(&built);
	}
}

static void assert_ring(const char *text, uint32_t nodes, const uint32_t *right_expected)
{
	struct built built = build(text, nodes, 1);
	uint32_t left[8] = {0}, right[8] = {0};

	assert_true(is(&built, GRAPH_RING));
	graph_ring(&built.graph, left, right);
	assert_int_equal(built.graph.nodes, nodes);
	for (uint32_t i = 0; i < nodes; i++) {
		assert_int_equal(right[i], right_expected[i]);
		assert_int_equal(left[right[i] - 1], i + 1);
	}
	drop(&built);
}

static void test_ring_runs_from_one_to_its_smaller_neighbour(void **state)
{
	(void)state;
	assert_ring("ring", 3, (const uint32_t[]){2, 3, 1});
	assert_ring("complete", 3, (const uint32_t[]){2, 3, 1});
	assert_ring("ring", 5, (const uint32_t[]){2, 3, 4, 5, 1});
	assert_ring("grid:2x2", 4, (const uint32_t[]){2, 4, 1, 3});
	assert_ring("edges:1-5,5-2,2-4,4-3,3-1", 5, (const uint32_t[]){3, 5, 4, 2, 1});
}

static void test_ring_of_one_is_its_own_neighbour(void **state)
{
	(void)state;
	assert_ring("ring", 1, (const uint32_t[]){1});
	assert_ring("complete", 1, (const uint32_t[]){1});
}

static void test_ring_of_two_goes_there_and_back(void **state)
{
	(void)state;
	assert_ring("ring", 2, (const uint32_t[]){2, 1});
	assert_ring("complete", 2, (const uint32_t[]){2, 1});
	assert_ring("line", 2, (const uint32_t[]){2, 1});
}

static void test_star_of_the_most_nodes_is_a_tree(void **state)
{
	struct built built = build("star", NODES_MAX, 1);

	(void)state;
	assert_int_equal(graph_degree(&built.graph, 1), NODES_MAX - 1);
	assert_int_equal(graph_neighbour(&built.graph, 1, NODES_MAX - 2), NODES_MAX);
	assert_int_equal(graph_neighbour(&built.graph, NODES_MAX, 0), 1);
	assert_true(is(&built, GRAPH_TREE));
	assert_true(is(&built, GRAPH_STAR));
	assert_false(is(&built, GRAPH_RING));
	drop(&built);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_parse_takes_every_form),
	        cmocka_unit_test(test_parse_takes_decimals_of_a_degree),
	        cmocka_unit_test(test_parse_says_what_would_be_right),
	        cmocka_unit_test(test_names_are_the_forms_that_parse_knows),
	        cmocka_unit_test(test_complete_stores_no_edges),
	        cmocka_unit_test(test_ring_of_two_is_one_edge_and_of_one_none),
	        cmocka_unit_test(test_line_runs_from_one_to_the_last),
	        cmocka_unit_test(test_star_has_node_one_in_the_middle),
	        cmocka_unit_test(test_tree_is_filled_level_by_level),
	        cmocka_unit_test(test_tree_of_one_child_is_a_line),
	        cmocka_unit_test(test_radiating_arms_are_even_and_the_longer_first),
	        cmocka_unit_test(test_grid_is_numbered_row_by_row),
	        cmocka_unit_test(test_listed_edges_count_once),
	        cmocka_unit_test(test_listed_edges_may_be_the_text_of_a_file),
	        cmocka_unit_test(test_node_that_no_edge_names_is_alone),
	        cmocka_unit_test(test_random_graph_has_the_edges_of_its_mean_degree),
	        cmocka_unit_test(test_random_graph_follows_from_its_seed),
	        cmocka_unit_test(test_random_graph_of_seed_one_is_what_it_always_was),
	        cmocka_unit_test(test_random_graph_is_connected_and_prefers_no_pair),
	        cmocka_unit_test(test_too_many_edges_need_no_memory),
	        cmocka_unit_test(test_adjacent_agrees_with_the_neighbours),
	        cmocka_unit_test(test_single_node_belongs_to_every_class),
	        cmocka_unit_test(test_two_nodes_with_an_edge_belong_to_every_class),
	        cmocka_unit_test(test_classes_are_told_apart),
	        cmocka_unit_test(test_two_rings_are_not_a_ring),
	        cmocka_unit_test(test_ring_and_a_node_apart_are_not_a_tree),
	        cmocka_unit_test(test_toward_is_the_smallest_on_a_shortest_path),
	        cmocka_unit_test(test_toward_does_not_follow_the_order_of_discovery),
	        cmocka_unit_test(test_toward_agrees_with_all_distances),
	        cmocka_unit_test(test_toward_of_a_single_node_is_nobody),
	        cmocka_unit_test(test_ring_runs_from_one_to_its_smaller_neighbour),
	        cmocka_unit_test(test_ring_of_one_is_its_own_neighbour),
	        cmocka_unit_test(test_ring_of_two_goes_there_and_back),
	        cmocka_unit_test(test_star_of_the_most_nodes_is_a_tree),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
