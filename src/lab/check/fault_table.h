/*
 * Finds what each mutual exclusion algorithm survives: for each fault, the worst outcome in a small
 * system, found by the checker.
 */
#ifndef LAB_FAULT_TABLE_H
#define LAB_FAULT_TABLE_H

#include "check.h"

/* The columns. Each fault happens at most once in a run, at any moment. */
enum fault_column {
	COLUMN_REQUEST,   /* a message that asks is lost */
	COLUMN_ANSWER,    /* a message that permits, without the token, is lost */
	COLUMN_TOKEN,     /* a message that carries the token is lost */
	COLUMN_HOLDER,    /* a node crashes that is inside or has the token */
	COLUMN_BYSTANDER, /* a node crashes that does not want in and does not have the token */
	COLUMN_LINK,      /* a link is cut */
	COLUMNS_COUNT
};
const char *fault_column_name(enum fault_column column);
/* Returns the option of `baton check` that tries this fault. */
const char *fault_column_option(enum fault_column column);

/* What a fault can lead to, from harmless to worst. */
enum fault_outcome {
	OUTCOME_ABSENT, /* the algorithm sends no such message */
	OUTCOME_UNNOTICED,
	OUTCOME_ONE_WAITS, /* a node that has not crashed waits for ever */
	OUTCOME_ALL_WAIT,  /* all nodes that have not crashed wait for ever */
	OUTCOME_TWO_INSIDE,
	OUTCOME_UNDECIDED, /* a limit was reached first */
};
const char *fault_outcome_name(enum fault_outcome outcome);

struct fault_cell {
	enum fault_outcome outcome;
	uint32_t entries; /* how often each node could enter */
	uint64_t states;  /* how many states were searched to find it */
	char *command;    /* shows the outcome; NULL if ABSENT */
	char *scenario;   /* a scenario that leads to the outcome; NULL if UNNOTICED */
};

/* Returns the k-th topology that the table shows for this algorithm, counted from 0; NULL: there are
 * no more. An algorithm for any network is shown on the densest and on one of the sparsest. */
const char *fault_topology(const struct algorithm *algorithm, uint32_t k);
/* Fills in a cell. At first each node may enter twice; if there are too many states to search,
 * only once. `nodes` is at least 2. Returns 0; or -1 and a problem, if the algorithm cannot run
 * on so many nodes. */
int fault_cell_find(const struct algorithm *algorithm, const char *topology, uint32_t nodes,
                    enum fault_column column, const volatile sig_atomic_t *interrupted,
                    struct fault_cell *ret_cell, struct problem *problem);
void fault_cell_free(struct fault_cell *cell);

#endif
