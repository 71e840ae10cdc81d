/*
 * Finds what each mutual exclusion algorithm survives. For each fault, the checker finds the worst
 * outcome in a small system; the simulator finds what one slow node costs the others.
 */
#ifndef LAB_FAULT_TABLE_H
#define LAB_FAULT_TABLE_H

#include "check.h"

/* The columns. Each fault happens at most once in a run, at any moment. */
enum fault_column {
	COLUMN_REQUEST, /* a message that asks is lost */
	COLUMN_ANSWER,  /* a message that permits, without the token, is lost */
	COLUMN_TOKEN,   /* a message that carries the token is lost */
	COLUMN_HOLDER,  /* a node that is inside or has the token crashes */
	/* a node that does not want to enter and does not have the token crashes */
	COLUMN_BYSTANDER,
	COLUMN_LINK, /* a link is cut */
	COLUMN_SLOW, /* messages of a node that does not want to enter take longer */
	COLUMNS_COUNT
};
const char *fault_column_name(enum fault_column column);

/* The outcomes that a fault can have, from harmless to worst. */
enum fault_outcome {
	OUTCOME_ABSENT, /* the algorithm sends no such message */
	OUTCOME_UNNOTICED,
	OUTCOME_ONE_SLOWER, /* some nodes, but not all, wait longer than without the slow node */
	OUTCOME_ALL_SLOWER, /* all nodes that ask wait longer than without the slow node */
	OUTCOME_ONE_WAITS,  /* a node that has not crashed waits without end */
	OUTCOME_ALL_WAIT,   /* all nodes that have not crashed wait without end */
	OUTCOME_TWO_INSIDE,
	OUTCOME_UNDECIDED, /* a limit was reached first */
};
const char *fault_outcome_name(enum fault_outcome outcome);

struct fault_cell {
	enum fault_outcome outcome;
	uint32_t entries; /* how often each node could enter; 0: nothing was searched */
	uint64_t states;  /* how many states were searched to find the outcome */
	/* COLUMN_SLOW: the mean time from request to entry of the other nodes, without the slow
	 * node and with it. */
	double response_before, response;
	char *command;  /* the command that shows the outcome; NULL if ABSENT */
	char *scenario; /* a scenario that leads to the outcome; NULL if UNNOTICED */
};

struct fault_row {
	const struct algorithm *algorithm;
	const char *topology;
	struct fault_cell cells[COLUMNS_COUNT];
};

struct fault_table {
	struct fault_row *rows;
	size_t rows_count;
	uint32_t nodes;
	/* Some cell was found with one entry of each node, because two would give too many
	 * states. */
	bool fewer;
	bool undecided; /* a cell is UNDECIDED */
};

/*
 * Makes the table of these algorithms; elections are left out. At first each node may enter twice;
 * if there are too many states to search, only once. `nodes` is at least 2. `progress` may be NULL;
 * it gets how much is done, from 0 to 1, and the name of the algorithm. Returns 0 and a table for
 * fault_table_free, which has no rows if there are only elections; or -1 and a problem, if an
 * algorithm cannot run on this many nodes. If it is interrupted, the table is not complete.
 */
int fault_table_make(const struct algorithm *const *list, size_t count, uint32_t nodes,
                     const volatile sig_atomic_t *interrupted,
                     void (*progress)(double part, const char *name), struct fault_table *ret_table,
                     struct problem *problem);
void fault_table_free(struct fault_table *table);

#endif
