#include "setup.h"

#include "edge_list.h"
#include "electorate.h"
#include "memory.h"
#include "registry.h"
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *graph_class_name(enum graph_class class)
{
	switch (class) {
	case GRAPH_COMPLETE:
		return "complete";
	case GRAPH_STAR:
		return "star";
	case GRAPH_RING:
		return "ring";
	case GRAPH_TREE:
		return "tree";
	case GRAPH_CONNECTED:
		return "connected";
	case GRAPH_NONE:
		break;
	}
	return NULL;
}

const struct algorithm *setup_algorithm(const char *name, struct problem *problem)
{
	const struct algorithm *algorithm = algorithm_find(name);
	const char *names[64] = {NULL};

	if (algorithm != NULL)
		return algorithm;
	for (size_t i = 0; algorithms[i] != NULL; i++) {
		must(i + 1 < sizeof(names) / sizeof(*names));
		names[i] = algorithms[i]->name;
	}
	const char *nearest = nearest_name(name, names);
	if (nearest != NULL)
		problem_set(problem, "unknown algorithm '%.40s': did you mean '%s'?", name,
		            nearest);
	else
		problem_set(problem, "unknown algorithm '%.40s': 'baton algorithms' lists them",
		            name);
	return NULL;
}

/* Refuses text that is not UTF-8: it goes into reports and traces, which are JSON. */
static int check_text(const char *what, const char *text, struct problem *problem)
{
	if (!text_is_utf8(text, strlen(text)))
		return problem_set(problem, "the %s is not UTF-8 text", what);
	return 0;
}

static const struct parameter *find_parameter(const struct algorithm *algorithm, const char *name,
                                              size_t length, size_t *ret_index)
{
	const struct parameter *parameter = algorithm->parameters;

	for (size_t i = 0; parameter != NULL && parameter[i].name != NULL; i++) {
		if (strlen(parameter[i].name) == length &&
		    memcmp(parameter[i].name, name, length) == 0) {
			*ret_index = i;
			return &parameter[i];
		}
	}
	return NULL;
}

const char *setup_grows(const struct setup *setup)
{
	const struct algorithm *algorithm = setup->network.algorithm;
	const char *unless = algorithm->grows_unless;
	size_t index;

	if (unless != NULL) {
		must(find_parameter(algorithm, unless, strlen(unless), &index) != NULL);
		if (setup->network.parameters[index] != 0)
			return NULL;
	}
	return algorithm->differences == NULL ? algorithm->grows : NULL;
}

static int unknown_parameter(const struct algorithm *algorithm, const char *word,
                             struct problem *problem)
{
	char names[256] = "";
	const struct parameter *parameter = algorithm->parameters;

	for (size_t i = 0; parameter != NULL && parameter[i].name != NULL; i++) {
		size_t used = strlen(names);
		snprintf(names + used, sizeof(names) - used, "%s%s", i == 0 ? "" : ", ",
		         parameter[i].name);
	}
	if (*names == '\0')
		return problem_set(problem, "parameter '%.60s': %s has no parameters", word,
		                   algorithm->name);
	return problem_set(problem, "parameter '%.60s': %s has %s, given as NAME=VALUE", word,
	                   algorithm->name, names);
}

static int parse_choice(const struct parameter *parameter, const char *value, uint64_t *ret_value,
                        const char **ret_text, struct problem *problem)
{
	char names[256] = "";

	for (const struct parameter_choice *choice = parameter->choices; choice->name != NULL;
	     choice++) {
		if (strcmp(choice->name, value) == 0) {
			*ret_value = choice->value;
			return 0;
		}
		size_t used = strlen(names);
		snprintf(names + used, sizeof(names) - used, "%s%s", used == 0 ? "" : ", ",
		         choice->name);
	}
	if (!parameter->takes_text)
		return problem_set(problem, "parameter '%s=%.60s': the value is one of %s",
		                   parameter->name, value, names);
	*ret_value = PARAMETER_TEXT;
	*ret_text = value;
	return 0;
}

/* Records a parameter for reports. If it is given twice, the last value counts. */
static void note_parameter(struct setup *setup, const struct parameter *parameter,
                           const char *value)
{
	size_t i = 0;

	while (i < setup->parameters_count && setup->parameters[i].name != parameter->name)
		i++;
	must(i < SETUP_PARAMETERS_MAX);
	setup->parameters[i] = (struct setup_parameter){
	        .name = parameter->name, .value = value, .number = parameter->choices == NULL};
	if (i == setup->parameters_count)
		setup->parameters_count++;
}

static int parse_parameters(const struct setup_words *words, struct setup *setup,
                            struct problem *problem)
{
	const struct algorithm *algorithm = setup->network.algorithm;
	const struct parameter *parameter = algorithm->parameters;

	for (size_t i = 0; parameter != NULL && parameter[i].name != NULL; i++) {
		must(i < PARAMETERS_MAX);
		setup->network.parameters[i] = parameter[i].choices != NULL
		                                       ? parameter[i].choices[0].value
		                                       : parameter[i].initial;
	}
	for (size_t i = 0; i < words->parameters_count; i++) {
		const char *word = words->parameters[i];
		const char *equals = strchr(word, '=');
		size_t index = 0;

		if (equals == NULL)
			return problem_set(problem, "parameter '%.60s': NAME=VALUE is needed",
			                   word);
		if (check_text("parameter", word, problem) != 0)
			return -1;
		parameter = find_parameter(algorithm, word, (size_t)(equals - word), &index);
		if (parameter == NULL)
			return unknown_parameter(algorithm, word, problem);
		uint64_t *value = &setup->network.parameters[index];
		char what[64];
		snprintf(what, sizeof(what), "parameter %s:", parameter->name);
		int wrong = parameter->choices != NULL
		                    ? parse_choice(parameter, equals + 1, value,
		                                   &setup->network.texts[index], problem)
		                    : parse_number(equals + 1, parameter->least, parameter->most,
		                                   what, value, problem);
		if (wrong != 0)
			return -1;
		note_parameter(setup, parameter, equals + 1);
	}
	return 0;
}

/* Reports the first line of a file of edges that is not a list of edges. `edges` is the text of the
 * file. */
static int wrong_line(const char *path, const char *edges, struct problem *problem)
{
	const char *at = edges;
	struct edge edge;
	size_t line = 1;

	while (edge_read(&at, &edge))
		continue;
	if (*at == '\0')
		return problem_set(problem, "topology file '%.200s': it has no edge", path);
	for (const char *c = edges; c < at; c++)
		line += *c == '\n';
	return problem_set(problem,
	                   "topology file '%.200s': line %zu: an edge is two different numbers "
	                   "from 1 to %d, such as 1-2",
	                   path, line, NODES_MAX);
}

static int parse_topology(const struct host *host, const char *text, struct setup *setup,
                          struct topology *ret_topology, struct problem *problem)
{
	if (strncmp(text, "file:", 5) == 0) {
		if (host == NULL || host->read_edges == NULL)
			return problem_set(problem, "topology '%.60s': files cannot be read here",
			                   text);
		setup->edges_text = host->read_edges(text + 5, problem);
		if (setup->edges_text == NULL)
			return -1;
	}
	const char *wrong =
	        topology_parse(setup->edges_text != NULL ? setup->edges_text : text, ret_topology);
	if (wrong == NULL)
		return 0;
	if (setup->edges_text != NULL)
		return wrong_line(text + 5, setup->edges_text + strlen("edges:"), problem);
	const char *nearest = nearest_name(text, topology_names);
	if (nearest != NULL && strncmp(text, nearest, strcspn(nearest, ":")) != 0)
		return problem_set(problem, "topology '%.60s': did you mean '%s'?", text, nearest);
	return problem_set(problem, "topology '%.60s': %s", text, wrong);
}

int setup_topology_nodes(const struct host *host, const char *text, uint32_t *ret_nodes,
                         struct problem *problem)
{
	struct setup setup = {.topology = text};
	struct topology topology;
	int result = check_text("topology", text, problem);

	if (result == 0)
		result = parse_topology(host, text, &setup, &topology, problem);
	if (result == 0)
		*ret_nodes = topology_nodes(&topology);
	free(setup.edges_text);
	return result;
}

/* Returns the default number of nodes for a search of all interleavings. It is smaller when
 * nodes enter more often. */
static uint32_t nodes_searched(const struct algorithm *algorithm, uint32_t entries)
{
	uint32_t twice = algorithm->nodes_checked_twice != 0 ? algorithm->nodes_checked_twice
	                                                     : algorithm->nodes_checked;

	if (entries <= 1)
		return algorithm->nodes_checked;
	if (entries == 2 || entries == SEARCHED_UNLIMITED)
		return twice;
	return entries == 3 && twice > 2 ? twice - 1 : 2;
}

/* Finds the number of nodes: the one that was given, the one that the topology prescribes, or
 * the default. */
static int count_nodes(const struct setup_words *words, const struct topology *topology,
                       struct setup *setup, uint32_t *ret_nodes, struct problem *problem)
{
	uint32_t fixed = topology_nodes(topology);
	uint32_t listed = words->searched != 0
	                          ? nodes_searched(setup->network.algorithm, words->searched)
	                          : NODES_DEFAULT;

	setup->nodes_chosen = words->nodes == 0 && fixed == 0;
	/* A list of identifiers also determines the number of nodes. */
	if (words->arrangement != NULL && words->arrangement[0] >= '0' &&
	    words->arrangement[0] <= '9') {
		listed = 1;
		setup->nodes_chosen = false;
		for (const char *c = words->arrangement; *c != '\0'; c++)
			listed += *c == ',';
	}
	*ret_nodes = words->nodes != 0 ? words->nodes : fixed != 0 ? fixed : listed;
	if (fixed != 0 && fixed != *ret_nodes)
		return problem_set(problem, "topology '%.60s' has %u nodes, not %u",
		                   words->topology, fixed, *ret_nodes);
	if (words->holder > *ret_nodes)
		return problem_set(problem, "holder %u: there are only %u nodes", words->holder,
		                   *ret_nodes);
	if (words->host != NULL && words->host->nodes_max != 0 &&
	    *ret_nodes > words->host->nodes_max)
		return problem_set(problem, "the page shows at most %u nodes, not %u",
		                   words->host->nodes_max, *ret_nodes);
	return 0;
}

/* Checks that the graph suits the algorithm, and computes what the algorithm needs to know about
 * it. */
static int fit_graph(struct setup *setup, uint32_t *scratch, uint32_t *first, uint32_t *second,
                     struct problem *problem)
{
	struct network *network = &setup->network;
	const struct algorithm *algorithm = network->algorithm;
	enum graph_class needed =
	        algorithm->shape != GRAPH_NONE ? algorithm->shape : algorithm->links;

	if (!graph_is(&network->graph, GRAPH_CONNECTED, scratch))
		return problem_set(problem,
		                   "topology '%.60s' is not connected: some node cannot be reached "
		                   "from node 1",
		                   setup->topology);
	if (!graph_is(&network->graph, needed, scratch)) {
		char what[64] = "node 1 in the middle, linked to all others";
		if (needed != GRAPH_STAR)
			snprintf(what, sizeof(what), "a %s graph", graph_class_name(needed));
		problem_set(problem,
		            "topology '%.60s' of %u nodes does not suit %s, which needs %s",
		            setup->topology, network->graph.nodes, algorithm->name, what);
		return SETUP_UNSUITED;
	}
	if (needed == GRAPH_TREE) {
		graph_toward(&network->graph, network->holder, first, scratch);
		network->toward = first;
	} else if (needed == GRAPH_RING) {
		graph_ring(&network->graph, first, second);
		network->left = first;
		network->right = second;
	}
	return 0;
}

static int make_graph(const struct setup_words *words, struct setup *setup, struct problem *problem)
{
	struct topology topology;
	uint32_t nodes;

	if (parse_topology(words->host, setup->topology, setup, &topology, problem) != 0 ||
	    count_nodes(words, &topology, setup, &nodes, problem) != 0)
		return -1;
	size_t graph_size = topology_memory(&topology, nodes);
	if (graph_size == 0)
		return problem_set(problem, "topology '%.60s' of %u nodes has too many edges",
		                   setup->topology, nodes);
	size_t array_size = nodes * sizeof(uint32_t);
	setup->memory = malloc(graph_size + 3 * array_size);
	if (setup->memory == NULL)
		return problem_set(problem, "topology '%.60s' of %u nodes does not fit into memory",
		                   setup->topology, nodes);
	setup->network.holder = words->holder != 0 ? words->holder : 1;
	topology_build(&topology, nodes, words->seed, setup->memory, &setup->network.graph);
	uint32_t *arrays = (uint32_t *)(void *)((char *)setup->memory + graph_size);
	return fit_graph(setup, arrays, arrays + nodes, arrays + 2 * (size_t)nodes, problem);
}

static int fits_memory(const struct host *host, const struct setup *setup, double needed,
                       struct problem *problem)
{
	if (host == NULL || needed <= host->memory_size / 2)
		return 0;
	return problem_set(
	        problem,
	        "%s on %u nodes needs %.0f GB for their states, more than half of the memory here",
	        setup->network.algorithm->name, setup->network.graph.nodes, needed / 1e9);
}

/* Lets the algorithm prepare what its nodes share, from the parameters and the graph. */
static int prepare(const struct host *host, struct setup *setup, struct problem *problem)
{
	struct network *network = &setup->network;
	const struct algorithm *algorithm = network->algorithm;

	if (algorithm->prepare == NULL)
		return 0;
	if (algorithm->shared_size != NULL) {
		size_t size = algorithm->shared_size(network);
		if (fits_memory(host, setup, (double)size, problem) != 0)
			return -1;
		setup->shared = calloc(1, size);
		memory_must(setup->shared != NULL);
	}
	const char *wrong = algorithm->prepare(network, setup->shared);
	if (wrong != NULL)
		return problem_set(problem, "%s on %u nodes: %s", algorithm->name,
		                   network->graph.nodes, wrong);
	network->shared = setup->shared;
	return 0;
}

/* Refuses a network whose states do not all fit into memory. */
static int check_memory(const struct host *host, const struct setup *setup, struct problem *problem)
{
	const struct network *network = &setup->network;
	double needed = 0;

	for (uint32_t i = 1; i <= network->graph.nodes; i++) {
		struct site site = network_site(network, i);
		needed += (double)network->algorithm->state_size(&site);
	}
	return fits_memory(host, setup, needed, problem);
}

int setup_make(const struct setup_words *words, struct setup *ret_setup, struct problem *problem)
{
	struct setup setup = {.seed = words->seed};

	setup.network.algorithm = setup_algorithm(words->algorithm, problem);
	if (setup.network.algorithm == NULL)
		return -1;
	setup.topology =
	        words->topology != NULL ? words->topology : setup.network.algorithm->topology;
	if (check_text("topology", setup.topology, problem) != 0)
		return -1;
	setup.fifo = words->order == ORDER_DEFAULT ? setup.network.algorithm->needs_fifo
	                                           : words->order == ORDER_FIFO;
	int result = parse_parameters(words, &setup, problem);
	if (result == 0)
		result = make_graph(words, &setup, problem);
	if (result == 0 && (electorate_make(words, &setup, problem) != 0 ||
	                    prepare(words->host, &setup, problem) != 0 ||
	                    check_memory(words->host, &setup, problem) != 0))
		result = -1;
	if (result != 0) {
		setup_free(&setup);
		return result;
	}
	*ret_setup = setup;
	return 0;
}

void setup_free(struct setup *setup)
{
	free(setup->memory);
	free(setup->edges_text);
	free(setup->shared);
	electorate_free(&setup->electorate);
}
