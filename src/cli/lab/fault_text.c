#include "fault_text.h"

#include "cli.h"
#include "report.h"

#include <stdio.h>

enum { NAME_WIDTH = 22, NETWORK_WIDTH = 9, CELL_WIDTH = 14 };

static void write_cell(const struct fault_cell *cell, char *text, size_t size)
{
	bool slower = cell->outcome == OUTCOME_ONE_SLOWER || cell->outcome == OUTCOME_ALL_SLOWER;

	if (slower)
		snprintf(text, size, "%s: %.3g, not %.3g", fault_outcome_name(cell->outcome),
		         cell->response, cell->response_before);
	else
		snprintf(text, size, "%s%s", fault_outcome_name(cell->outcome),
		         cell->entries == 1 ? " *" : "");
}

static void print_table(const struct fault_table *table)
{
	printf("%-*s %-*s", NAME_WIDTH, "algorithm", NETWORK_WIDTH, "network");
	for (uint32_t k = 0; k < COLUMNS_COUNT; k++)
		printf(" %-*s", k + 1 < COLUMNS_COUNT ? CELL_WIDTH : 0,
		       fault_column_name((enum fault_column)k));
	putchar('\n');
	for (size_t i = 0; i < table->rows_count; i++) {
		const struct fault_row *row = &table->rows[i];
		printf("%-*s %-*s", NAME_WIDTH, row->algorithm->name, NETWORK_WIDTH, row->topology);
		for (uint32_t k = 0; k < COLUMNS_COUNT; k++) {
			char text[64];
			write_cell(&row->cells[k], text, sizeof(text));
			printf(" %-*s", k + 1 < COLUMNS_COUNT ? CELL_WIDTH : 0, text);
		}
		putchar('\n');
	}
	printf("\nThe worst result of one such fault, at any moment, with %u nodes that\n"
	       "enter up to twice each: every schedule was tried%s. 'one waits': at least one "
	       "node\n"
	       "waits for ever, but there is no schedule in which all do. A node that has crashed\n"
	       "does not count as inside or waiting. '-': the algorithm has no such message.\n",
	       table->nodes, table->undecided ? " where it is decided" : "");
	if (table->undecided)
		printf("'not decided': a limit was reached before every schedule was tried, and so "
		       "far\n"
		       "nothing was found. Its command decides it with more '--max-states' and "
		       "'--timeout'.\n");
	if (table->fewer)
		printf("'*': each node enters at most once; with two entries there are too many "
		       "states.\n");
	printf("'slow node': a bystander's messages take ten times as long in 'baton sim'. "
	       "The\ncell shows how long the others wait on average, and how long if it is not "
	       "slow.\n'baton compare --faults --json' has the command for each cell.\n");
}

static json_t *report_cell(const struct fault_cell *cell, enum fault_column column)
{
	json_t *report = json_object();

	json_object_set_new(report, "outcome", json_string(fault_outcome_name(cell->outcome)));
	json_object_set_new(report, "command", json_string(cell->command));
	if (column == COLUMN_SLOW) {
		json_object_set_new(report, "response",
		                    json_pack("{s:o, s:o}", "without",
		                              report_number(cell->response_before), "with",
		                              report_number(cell->response)));
		return report;
	}
	json_object_set_new(report, "entries", json_integer(cell->entries));
	json_object_set_new(report, "states", json_integer((json_int_t)cell->states));
	json_object_set_new(report, "counterexample",
	                    cell->scenario != NULL ? json_string(cell->scenario) : json_null());
	return report;
}

static json_t *report_table(const struct fault_table *table)
{
	json_t *report = json_object(), *list = json_array();

	json_object_set_new(report, "nodes", json_integer(table->nodes));
	for (size_t i = 0; i < table->rows_count; i++) {
		const struct fault_row *from = &table->rows[i];
		json_t *row = json_object(), *cells = json_object();
		json_object_set_new(row, "algorithm", json_string(from->algorithm->name));
		json_object_set_new(row, "topology", json_string(from->topology));
		for (uint32_t k = 0; k < COLUMNS_COUNT; k++) {
			enum fault_column column = (enum fault_column)k;
			const struct fault_cell *cell = &from->cells[k];
			json_object_set_new(cells, fault_column_name(column),
			                    cell->outcome == OUTCOME_ABSENT
			                            ? json_null()
			                            : report_cell(cell, column));
		}
		json_object_set_new(row, "faults", cells);
		json_array_append_new(list, row);
	}
	json_object_set_new(report, "rows", list);
	return report;
}

int make_fault_table(const struct algorithm *const *list, size_t count, uint32_t nodes,
                     struct fault_table *ret_table, struct problem *problem)
{
	const volatile sig_atomic_t *interrupted = watch_for_interrupt();

	progress_start();
	int code = fault_table_make(list, count, nodes, interrupted, progress_show, ret_table,
	                            problem);
	progress_clear();
	if (code == 0 && *interrupted != 0)
		fault_table_free(ret_table);
	end_if_interrupted();
	if (code == 0 && ret_table->rows_count == 0) {
		fault_table_free(ret_table);
		return problem_set(problem, "--faults: the table is about mutual exclusion, which "
		                            "elections do not have");
	}
	return code;
}

void print_fault_table(const struct fault_table *table, bool json)
{
	if (json)
		print_json(report_table(table));
	else
		print_table(table);
}
