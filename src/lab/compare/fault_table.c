#include "fault_table.h"

#include "host.h"
#include "memory.h"
#include "sim_words.h"
#include "slow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* If a search with two entries for each node has more than STATES_MOST states, it begins again
 * with one entry and a larger limit. */
enum { ENTRIES_MOST = 2, STATES_MOST = 1000000, STATES_OF_ONE_ENTRY = 10000000 };
#define MEMORY_MOST ((uint64_t)2 << 30)

static const struct {
	const char *name;
	/* The option of `baton check` that tries the fault; NULL: `baton sim` tries it. */
	const char *option;
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
        [COLUMN_SLOW] = {"slow node", NULL, {0}, NULL},
};

const char *fault_column_name(enum fault_column column)
{
	return columns[column].name;
}

const char *fault_outcome_name(enum fault_outcome outcome)
{
	static const char *const names[] = {
	        [OUTCOME_ABSENT] = "-",
	        [OUTCOME_UNNOTICED] = "unnoticed",
	        [OUTCOME_ONE_SLOWER] = "one slower",
	        [OUTCOME_ALL_SLOWER] = "all slower",
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

/* --- one slow node --- */

/* Each node is tried as the slow one, while all others ask. The first entries are left out, so that
 * costs that occur only once do not count. */
enum { SLOW_FACTOR = 10 };
static const char *const slow_loads[] = {"light", "heavy"};
static const char slow_entries[] = "1000", slow_warmup[] = "100";

/* The words of one run, as `baton sim` takes them. */
struct slow_words {
	char nodes[16], holder[16], slow[32], askers[256];
	const char *load;
};

static void write_slow_words(const struct algorithm *algorithm, uint32_t nodes, uint32_t slow,
                             const char *load, struct slow_words *ret_words)
{
	size_t used = 0;

	*ret_words = (struct slow_words){.load = load};
	snprintf(ret_words->nodes, sizeof(ret_words->nodes), "%u", nodes);
	/* The slow node must not begin with the token. */
	if (algorithm->has_token)
		snprintf(ret_words->holder, sizeof(ret_words->holder), "%u", slow == 1 ? 2 : 1);
	snprintf(ret_words->slow, sizeof(ret_words->slow), "%u:%d", slow, SLOW_FACTOR);
	for (uint32_t i = 1; i <= nodes; i++) {
		if (i != slow)
			used += (size_t)snprintf(ret_words->askers + used,
			                         sizeof(ret_words->askers) - used, "%s%u",
			                         used == 0 ? "" : ",", i);
	}
	must(used < sizeof(ret_words->askers));
}

static char *slow_command(const struct algorithm *algorithm, const char *topology,
                          const struct slow_words *words)
{
	bool holder = words->holder[0] != '\0';
	char *text;
	int length = asprintf(&text,
	                      "baton sim %s --topology %s --nodes %s%s%s --askers %s --slow %s "
	                      "--load %s --warmup %s",
	                      algorithm->name, topology, words->nodes, holder ? " --holder " : "",
	                      words->holder, words->askers, words->slow, words->load, slow_warmup);

	memory_must(length >= 0);
	return text;
}

/* Makes the run without and with the slow node. Returns 0, or -1 and a problem. */
static int measure_slow(const struct algorithm *algorithm, const char *topology,
                        const struct slow_words *slow, struct slow_cost *ret_cost,
                        struct problem *problem)
{
	const char *const options[][2] = {
	        {"topology", topology},  {"nodes", slow->nodes},   {"askers", slow->askers},
	        {"slow", slow->slow},    {"load", slow->load},     {"entries", slow_entries},
	        {"warmup", slow_warmup}, {"holder", slow->holder},
	};
	struct sim_words words;
	struct sim_options run;
	struct sim_result result;
	struct setup setup;
	int wrong = 0;

	sim_words_init(&words, host_here());
	words.setup.algorithm = algorithm->name;
	for (size_t i = 0; i < sizeof(options) / sizeof(*options) && wrong == 0; i++) {
		if (options[i][1][0] != '\0')
			wrong = sim_words_option(options[i][0], options[i][1], &words, problem);
	}
	if (wrong == 0)
		wrong = setup_make(&words.setup, &setup, problem);
	if (wrong == 0) {
		wrong = sim_words_options(&words, &setup, &run, problem);
		if (wrong == 0) {
			struct sim *sim = sim_create(&setup);
			slow_run(sim, &run, &result, ret_cost);
			sim_destroy(sim);
			if (result.violations != 0)
				wrong = problem_set(problem, "%s with a slow node: %s",
				                    algorithm->name, result.violation);
		}
		setup_free(&setup);
	}
	sim_words_free(&words);
	return wrong == 0 ? 0 : -1;
}

/* Is the first cost worse? The number of nodes that wait longer decides; if it is equal, how much
 * longer they wait. */
static bool is_worse(const struct slow_cost *a, const struct slow_cost *b)
{
	if (a->slower != b->slower)
		return a->slower > b->slower;
	return a->slower != 0 &&
	       a->response - a->response_before > b->response - b->response_before;
}

/* Makes each node slow in turn, and keeps the worst result. Light load is tried first, because with
 * one request at a time the times depend on the algorithm alone. Heavy load counts only if more
 * nodes wait longer under it. */
static int find_slow_cell(const struct algorithm *algorithm, const char *topology, uint32_t nodes,
                          struct fault_cell *cell, struct problem *problem)
{
	struct slow_cost worst = {0}, cost;
	struct slow_words words, shown;

	write_slow_words(algorithm, nodes, nodes, slow_loads[0], &shown);
	for (size_t k = 0; k < sizeof(slow_loads) / sizeof(*slow_loads); k++) {
		uint32_t slower = worst.slower;
		for (uint32_t i = 1; i <= nodes; i++) {
			write_slow_words(algorithm, nodes, i, slow_loads[k], &words);
			if (measure_slow(algorithm, topology, &words, &cost, problem) != 0)
				return -1;
			if (!is_worse(&cost, &worst) || (k > 0 && cost.slower == slower))
				continue;
			worst = cost;
			shown = words;
		}
	}
	*cell = (struct fault_cell){
	        .outcome = worst.slower == 0              ? OUTCOME_UNNOTICED
	                   : worst.slower == worst.others ? OUTCOME_ALL_SLOWER
	                                                  : OUTCOME_ONE_SLOWER,
	        .response_before = worst.response_before,
	        .response = worst.response,
	        .command = slow_command(algorithm, topology, &shown),
	};
	return 0;
}

/* --- the table --- */

/* Returns the k-th topology that the table shows for this algorithm, counted from 0; NULL: there
 * are no more. An algorithm for any network is shown on the densest and on one of the sparsest. */
enum { TOPOLOGIES_MAX = 2 };
static const char *topology_of(const struct algorithm *algorithm, uint32_t k)
{
	static const char *const any[] = {"complete", "line", NULL};

	if (algorithm->links == GRAPH_CONNECTED && algorithm->shape == GRAPH_NONE)
		return any[k];
	return k == 0 ? algorithm->topology : NULL;
}

static void free_cell(struct fault_cell *cell)
{
	free(cell->command);
	free(cell->scenario);
	cell->command = cell->scenario = NULL;
}

static int find_cell(const struct algorithm *algorithm, const char *topology, uint32_t nodes,
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
	if (column == COLUMN_SLOW)
		return find_slow_cell(algorithm, topology, nodes, ret_cell, problem);
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
			free_cell(ret_cell);
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

int fault_table_make(const struct algorithm *const *list, size_t count, uint32_t nodes,
                     const volatile sig_atomic_t *interrupted,
                     void (*progress)(double part, const char *name), struct fault_table *ret_table,
                     struct problem *problem)
{
	struct fault_table table = {.nodes = nodes};
	const char *topology;
	int wrong = 0;

	table.rows = calloc(count * TOPOLOGIES_MAX + 1, sizeof(*table.rows));
	memory_must(table.rows != NULL);
	for (size_t i = 0; i < count; i++) {
		for (uint32_t k = 0; list[i]->kind == KIND_MUTEX && wrong == 0 &&
		                     (topology = topology_of(list[i], k)) != NULL;
		     k++) {
			must(k < TOPOLOGIES_MAX);
			struct fault_row *row = &table.rows[table.rows_count++];
			*row = (struct fault_row){.algorithm = list[i], .topology = topology};
			for (uint32_t column = 0; column < COLUMNS_COUNT && wrong == 0; column++) {
				struct fault_cell *cell = &row->cells[column];
				if (progress != NULL)
					progress(((double)i + (double)column / COLUMNS_COUNT) /
					                 (double)count,
					         list[i]->name);
				if (*interrupted != 0)
					break;
				wrong = find_cell(list[i], topology, nodes,
				                  (enum fault_column)column, interrupted, cell,
				                  problem);
				table.fewer = table.fewer || cell->entries == 1;
				table.undecided =
				        table.undecided || cell->outcome == OUTCOME_UNDECIDED;
			}
		}
	}
	if (wrong != 0)
		fault_table_free(&table);
	else
		*ret_table = table;
	return wrong;
}

void fault_table_free(struct fault_table *table)
{
	for (size_t i = 0; i < table->rows_count; i++) {
		for (uint32_t k = 0; k < COLUMNS_COUNT; k++)
			free_cell(&table->rows[i].cells[k]);
	}
	free(table->rows);
}
