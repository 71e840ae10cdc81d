#include "fault_table.h"

#include "host.h"
#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* If a search with two entries for each node has more than STATES_MOST states, it begins again
 * with one entry and a larger limit. */
enum { ENTRIES_MOST = 2, STATES_MOST = 1000000, STATES_OF_ONE_ENTRY = 10000000 };
#define MEMORY_MOST ((uint64_t)2 << 30)

static const struct {
	const char *name, *option;
	struct faults faults;
	const char *types; /* the types of the messages that are lost, or NULL */
} columns[] = {
        [COLUMN_REQUEST] = {"lost request", "--lose request", {0}, "request"},
        [COLUMN_ANSWER] = {"lost answer", "--lose answer", {0}, "answer"},
        [COLUMN_TOKEN] = {"lost token", "--lose token", {0}, "token"},
        [COLUMN_HOLDER] = {"dead holder",
                           "--crash 1:holder",
                           {.crashes_max = 1, .victim = VICTIM_HOLDER},
                           NULL},
        [COLUMN_BYSTANDER] = {"dead bystander",
                              "--crash 1:bystander",
                              {.crashes_max = 1, .victim = VICTIM_BYSTANDER},
                              NULL},
        [COLUMN_LINK] = {"cut link", "--cut", {.cut = true}, NULL},
};

const char *fault_column_name(enum fault_column column)
{
	return columns[column].name;
}

const char *fault_column_option(enum fault_column column)
{
	return columns[column].option;
}

const char *fault_outcome_name(enum fault_outcome outcome)
{
	static const char *const names[] = {
	        [OUTCOME_ABSENT] = "-",
	        [OUTCOME_UNNOTICED] = "unnoticed",
	        [OUTCOME_ONE_WAITS] = "one waits",
	        [OUTCOME_ALL_WAIT] = "all wait",
	        [OUTCOME_TWO_INSIDE] = "two inside",
	        [OUTCOME_UNDECIDED] = "not decided",
	};
	return names[outcome];
}

/* Returns what a search for this kind of violation has found; OUTCOME_UNNOTICED if it found none.
 * */
static enum fault_outcome outcome_of(const struct check_result *result, enum sought sought)
{
	switch (result->verdict) {
	case VERDICT_HOLDS:
		return result->complete ? OUTCOME_UNNOTICED : OUTCOME_UNDECIDED;
	case VERDICT_MUTUAL_EXCLUSION:
		return OUTCOME_TWO_INSIDE;
	case VERDICT_DEADLOCK:
		return sought == SOUGHT_ALL_WAIT ? OUTCOME_ALL_WAIT : OUTCOME_ONE_WAITS;
	case VERDICT_STARVATION:
		return OUTCOME_ONE_WAITS;
	case VERDICT_INVARIANT:
	case VERDICT_BROKEN:
	case VERDICT_UNIQUE_LEADER:
	case VERDICT_AGREEMENT:
	case VERDICT_TERMINATION:
		break;
	}
	return OUTCOME_UNDECIDED;
}

static char *command_text(const struct setup *setup, uint32_t entries, enum fault_column column,
                          enum sought sought)
{
	static const char *const finds[] = {[SOUGHT_ANY] = "",
	                                    [SOUGHT_TWO_INSIDE] = " --find two-inside",
	                                    [SOUGHT_ALL_WAIT] = " --find all-wait"};
	char *text;
	int length = asprintf(&text, "baton check %s --topology %s --nodes %u --entries %u %s%s",
	                      setup->network.algorithm->name, setup->topology,
	                      setup->network.graph.nodes, entries, columns[column].option,
	                      finds[sought]);

	memory_must(length >= 0);
	return text;
}

/* Searches for each outcome, the worst first. A search that finds nothing says nothing about the
 * other outcomes. */
static void search_cell(const struct check_options *base, enum fault_column column,
                        struct fault_cell *cell)
{
	static const enum sought order[] = {SOUGHT_TWO_INSIDE, SOUGHT_ALL_WAIT, SOUGHT_ANY};
	struct check_options options = *base;
	struct check_result result;

	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++) {
		options.sought = order[i];
		check_run(&options, &result);
		cell->outcome = outcome_of(&result, order[i]);
		cell->states = result.states;
		if (cell->outcome != OUTCOME_UNNOTICED || order[i] == SOUGHT_ANY) {
			cell->command =
			        command_text(options.setup, cell->entries, column, order[i]);
			cell->scenario = result.scenario;
			return;
		}
		check_result_free(&result);
	}
}

const char *fault_topology(const struct algorithm *algorithm, uint32_t k)
{
	static const char *const any[] = {"complete", "line", NULL};

	if (algorithm->links == GRAPH_CONNECTED && algorithm->shape == GRAPH_NONE)
		return any[k];
	return k == 0 ? algorithm->topology : NULL;
}

int fault_cell_find(const struct algorithm *algorithm, const char *topology, uint32_t nodes,
                    enum fault_column column, const volatile sig_atomic_t *interrupted,
                    struct fault_cell *ret_cell, struct problem *problem)
{
	struct setup_words words = {.algorithm = algorithm->name,
	                            .topology = topology,
	                            .nodes = nodes,
	                            .host = host_here(),
	                            .searched = 1};
	uint32_t entries[MODEL_NODES_MAX];
	struct setup setup;

	must(algorithm->kind == KIND_MUTEX && nodes >= 2 && nodes <= MODEL_NODES_MAX);
	*ret_cell = (struct fault_cell){.outcome = OUTCOME_ABSENT};
	if (setup_make(&words, &setup, problem) != 0)
		return -1;
	struct check_options options = {
	        .setup = &setup,
	        .entries = entries,
	        .faults = columns[column].faults,
	        .memory_max = MEMORY_MOST,
	        .threads = 1,
	        .interrupted = interrupted,
	};
	struct problem absent;
	if (columns[column].types == NULL || faults_types(columns[column].types, "", algorithm,
	                                                  &options.faults.lose, &absent) == 0) {
		ret_cell->outcome = OUTCOME_UNDECIDED;
		for (ret_cell->entries = ENTRIES_MOST;
		     ret_cell->entries > 0 && ret_cell->outcome == OUTCOME_UNDECIDED;
		     ret_cell->entries--) {
			fault_cell_free(ret_cell);
			for (uint32_t i = 0; i < nodes; i++)
				entries[i] = ret_cell->entries;
			options.states_max =
			        ret_cell->entries == 1 ? STATES_OF_ONE_ENTRY : STATES_MOST;
			search_cell(&options, column, ret_cell);
		}
		ret_cell->entries++;
	}
	setup_free(&setup);
	return 0;
}

void fault_cell_free(struct fault_cell *cell)
{
	free(cell->command);
	free(cell->scenario);
	cell->command = cell->scenario = NULL;
}
