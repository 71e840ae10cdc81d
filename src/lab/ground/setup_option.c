#include "setup.h"

#include <string.h>

static int set_order(enum order order, struct setup_words *words, struct problem *problem)
{
	if (words->order != ORDER_DEFAULT && words->order != order)
		return problem_set(problem, "--fifo or --reorder, not both");
	words->order = order;
	return 0;
}

static int set_node(const char *value, const char *what, uint32_t *node, struct problem *problem)
{
	uint64_t number;

	if (parse_number(value, 1, NODES_MAX, what, &number, problem) != 0)
		return -1;
	*node = (uint32_t)number;
	return 0;
}

int setup_option(const char *name, const char *value, struct setup_words *words,
                 struct problem *problem)
{
	if (strcmp(name, "topology") == 0) {
		words->topology = value;
	} else if (strcmp(name, "nodes") == 0) {
		return set_node(value, "--nodes", &words->nodes, problem);
	} else if (strcmp(name, "holder") == 0) {
		return set_node(value, "--holder", &words->holder, problem);
	} else if (strcmp(name, "param") == 0) {
		if (words->parameters_count == SETUP_PARAMETERS_MAX)
			return problem_set(problem, "--param: at most %d can be given",
			                   SETUP_PARAMETERS_MAX);
		words->parameters[words->parameters_count++] = value;
	} else if (strcmp(name, "fifo") == 0) {
		return set_order(ORDER_FIFO, words, problem);
	} else if (strcmp(name, "reorder") == 0) {
		return set_order(ORDER_REORDER, words, problem);
	} else if (strcmp(name, "arrangement") == 0) {
		words->arrangement = value;
	} else if (strcmp(name, "initiators") == 0) {
		words->initiators = value;
	} else if (strcmp(name, "crash") == 0) {
		words->crash = value;
	} else {
		return 1;
	}
	return 0;
}
