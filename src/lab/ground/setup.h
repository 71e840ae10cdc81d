/*
 * From words to a network: what the command line or the head of a scenario says becomes an
 * algorithm on a graph, or a problem.
 */
#ifndef LAB_SETUP_H
#define LAB_SETUP_H

#include "network.h"
#include "numbers.h"
#include "problem.h"

enum { SETUP_PARAMETERS_MAX = 16 };

/*
 * The machine that a setup is made on, as far as a setup depends on it: files and memory. Without
 * one (NULL) there are no files and no limit of memory is known.
 */
struct host {
	/* The file as a topology edges:…, to be freed; NULL and a problem. NULL itself: no
	 * files. */
	char *(*read_edges)(const char *path, struct problem *problem);
	double memory_size; /* bytes */
};

#define SEARCHED_UNLIMITED UINT32_MAX /* an enumerator would not fit into an int */

enum order { ORDER_DEFAULT, ORDER_FIFO, ORDER_REORDER };

/* Texts are the caller's and must stay while the setup lives. */
struct setup_words {
	const struct host *host;
	const char *algorithm;
	const char *topology; /* NULL: the best for the algorithm */
	uint32_t nodes;       /* 0: not given */
	/* Not 0: a search of all interleavings, and this is the most entries of a node
	 * (SEARCHED_UNLIMITED: no bound). Then nodes that are not given are few. */
	uint32_t searched;
	uint32_t holder; /* 0: not given */
	enum order order;
	uint64_t seed;           /* random:D draws from it */
	const char *arrangement; /* of an election: increasing, decreasing, random, 3,1,2 */
	const char *initiators;  /* all, one, random:K, 2,5 */
	const char *crash;       /* places that are dead: 4,5 */
	const char *parameters[SETUP_PARAMETERS_MAX]; /* NAME=VALUE */
	size_t parameters_count;
};

/* A parameter as it was given, for reports. */
struct setup_parameter {
	const char *name;
	const char *value;
	bool number; /* the value is one, and not a name */
};

/* Of an election; all NULL otherwise. */
struct electorate {
	uint32_t *identifiers; /* at each place */
	uint32_t *initiators;  /* places, increasing, none of them dead */
	uint32_t initiators_count;
	uint32_t *crashed; /* places, increasing */
	uint32_t crashed_count;
};

struct setup {
	struct network network;
	const char *topology; /* as given, or the default */
	bool fifo;
	bool nodes_chosen; /* nobody said how many */
	uint64_t seed;
	struct setup_parameter parameters[SETUP_PARAMETERS_MAX]; /* given, each once */
	size_t parameters_count;
	void *memory;     /* of the graph and what is derived from it */
	char *edges_text; /* what the file of a file:PATH says, as edges:… */
	void *shared;     /* of network.shared */
	struct electorate electorate;
};

enum { NODES_DEFAULT = 5 };

/*
 * A word by its long name as an option: topology, nodes, holder, param, fifo, reorder, arrangement,
 * initiators, crash. The value must stay. 0, or -1 and a problem; 1: there is no such word.
 */
int setup_option(const char *name, const char *value, struct setup_words *words,
                 struct problem *problem);

/* What grows without bound, with these parameters, if entries are not bounded: "clocks". NULL:
 * nothing, the states are finite. */
const char *setup_grows(const struct setup *setup);

/* 0 and a setup to be freed; or what is negative and the problem: SETUP_UNSUITED if the graph is
 * not of the kind that the algorithm needs, else -1. */
enum { SETUP_UNSUITED = -2 };
int setup_make(const struct setup_words *words, struct setup *ret_setup, struct problem *problem);
void setup_free(struct setup *setup);

/* The algorithm of that name, or a problem that names the nearest. */
const struct algorithm *setup_algorithm(const char *name, struct problem *problem);

/* How many nodes a topology fixes, 0 if it fixes none. 0, or -1 and what is wrong with the text. */
int setup_topology_nodes(const struct host *host, const char *text, uint32_t *ret_nodes,
                         struct problem *problem);

const char *graph_class_name(enum graph_class class);

#endif
