/*
 * Turns words into a network: the options of a command line, or the header of a scenario, become an
 * algorithm on a graph. If they are wrong, a problem says why.
 */
#ifndef LAB_SETUP_H
#define LAB_SETUP_H

#include "network.h"
#include "numbers.h"
#include "problem.h"

enum {
	SETUP_PARAMETERS_MAX = 16,
	PAGE_NODES_MAX = 60, /* the most nodes that the web page draws */
};

/*
 * The files and the memory of the machine that a setup may use. Without a host (NULL) there are no
 * files, and memory is not limited.
 */
struct host {
	/* Reads a file of edges and returns it as a topology "edges:…", which the caller frees;
	 * or returns NULL and a problem. The pointer itself is NULL on a host without files. */
	char *(*read_edges)(const char *path, struct problem *problem);
	double memory_size; /* how much memory the machine has, in bytes */
	uint32_t nodes_max; /* how many nodes the host has room for; 0: any number */
};

#define SEARCHED_UNLIMITED UINT32_MAX /* an enumerator would not fit into an int */

enum order { ORDER_DEFAULT, ORDER_FIFO, ORDER_REORDER };

/* The texts belong to the caller and must outlive the setup. */
struct setup_words {
	const struct host *host;
	const char *algorithm;
	const char *topology; /* the topology as text; NULL: the best for the algorithm */
	uint32_t nodes;       /* the number of nodes; 0: not given */
	/* How often a node may enter in a search of all interleavings, or SEARCHED_UNLIMITED; 0:
	 * this is not such a search. The default number of nodes may be smaller in a search. */
	uint32_t searched;
	uint32_t holder; /* the node that has the token at first; 0: not given */
	enum order order;
	uint64_t seed; /* the seed from which random:D draws */
	/* how an election's identifiers are placed: increasing, decreasing, random, 3,1,2 */
	const char *arrangement;
	const char *initiators; /* who begins an election: all, one, random:K, 2,5 */
	const char *crash;      /* the places of an election that are dead: 4,5 */
	const char *parameters[SETUP_PARAMETERS_MAX]; /* the parameters as NAME=VALUE */
	size_t parameters_count;
};

/* A parameter as it was given, for reports. */
struct setup_parameter {
	const char *name;
	const char *value;
	bool number; /* the value is a number, not a name */
};

/* The participants of an election. All pointers are NULL for other algorithms. */
struct electorate {
	uint32_t *identifiers; /* the identifier at each place */
	uint32_t *initiators; /* the places that begin, in increasing order; none of them is dead */
	uint32_t initiators_count;
	uint32_t *crashed; /* the places that are dead, in increasing order */
	uint32_t crashed_count;
};

struct setup {
	struct network network;
	const char *topology; /* the topology as it was given, or the default */
	bool fifo;
	bool nodes_chosen; /* the number of nodes is a default, because none was given */
	uint64_t seed;
	/* the parameters that were given, each once */
	struct setup_parameter parameters[SETUP_PARAMETERS_MAX];
	size_t parameters_count;
	void *memory;     /* holds the graph and what is computed from it */
	char *edges_text; /* for the topology file:PATH, the content of that file as "edges:…" */
	void *shared;     /* holds network.shared */
	struct electorate electorate;
};

enum { NODES_DEFAULT = 5 };

/*
 * Takes one word by the long name of its option: topology, nodes, holder, param, fifo, reorder,
 * arrangement, initiators or crash. The value must outlive the words. Returns 0; or -1 and a
 * problem; or 1 if there is no such word.
 */
int setup_option(const char *name, const char *value, struct setup_words *words,
                 struct problem *problem);

/* Returns what grows without bound when entries are unlimited, such as "clocks". Returns NULL if
 * nothing grows with these parameters, so that there are finitely many states. */
const char *setup_grows(const struct setup *setup);

/* Makes a setup. Returns 0 and a setup, which setup_free frees; or a problem and a negative code:
 * SETUP_UNSUITED if the graph is not of the kind that the algorithm needs, otherwise -1. */
enum { SETUP_UNSUITED = -2 };
int setup_make(const struct setup_words *words, struct setup *ret_setup, struct problem *problem);
void setup_free(struct setup *setup);

/* Returns the algorithm of that name; or NULL and a problem that suggests the nearest name. */
const struct algorithm *setup_algorithm(const char *name, struct problem *problem);

/* Writes how many nodes the topology prescribes, or 0 if it works for any number. Returns 0, or
 * -1 and a problem with the text. */
int setup_topology_nodes(const struct host *host, const char *text, uint32_t *ret_nodes,
                         struct problem *problem);

const char *graph_class_name(enum graph_class class);

#endif
