#include "fault_text.h"

#include "cli.h"
#include "fault_table.h"
#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_WIDTH = 22, NETWORK_WIDTH = 9, CELL_WIDTH = 14 };

/* The most rows of one algorithm: see fault_topology. */
enum { TOPOLOGIES_MAX = 2 };

struct fault_row {
	const struct algorithm *algorithm;
	const char *topology;
	struct fault_cell cells[COLUMNS_COUNT];
};

static int find_row(struct fault_row *row, uint32_t nodes, double part, double step,
                    const volatile sig_atomic_t *interrupted, struct problem *problem)
{
	for (uint32_t k = 0; k < COLUMNS_COUNT; k++) {
		progress_show(part + step * k / COLUMNS_COUNT, row->algorithm->name);
		if (fault_cell_find(row->algorithm, row->topology, nodes, (enum fault_column)k,
		                    interrupted, &row->cells[k], problem) != 0)
			return -1;
	}
	return 0;
}

static void print_rows(const struct fault_row *rows, size_t count, uint32_t nodes)
{
	bool fewer = false;

	printf("%-*s %-*s", NAME_WIDTH, "algorithm", NETWORK_WIDTH, "network");
	for (uint32_t k = 0; k < COLUMNS_COUNT; k++)
		printf(" %-*s", CELL_WIDTH, fault_column_name((enum fault_column)k));
	putchar('\n');
	for (size_t i = 0; i < count; i++) {
		printf("%-*s %-*s", NAME_WIDTH, rows[i].algorithm->name, NETWORK_WIDTH,
		       rows[i].topology);
		for (uint32_t k = 0; k < COLUMNS_COUNT; k++) {
			const struct fault_cell *cell = &rows[i].cells[k];
			bool once = cell->entries == 1 && cell->outcome != OUTCOME_ABSENT;
			char text[32];
			snprintf(text, sizeof(text), "%s%s", fault_outcome_name(cell->outcome),
			         once ? " *" : "");
			printf(" %-*s", CELL_WIDTH, text);
			fewer = fewer || once;
		}
		putchar('\n');
	}
	printf("\nThe worst that can come of one such fault, at any moment, with %u nodes that\n"
	       "enter up to twice each: every schedule was tried. 'one waits': at least one node\n"
	       "waits for ever, but there is no schedule in which all do. A node that has crashed\n"
	       "does not count as inside or waiting. '-': the algorithm has no such message.\n",
	       nodes);
	if (fewer)
		printf("'*': they enter up to once; twice has more states than are searched "
		       "here.\n");
	printf("'baton compare --faults --json' has the command that shows each.\n");
}

static json_t *report_cell(const struct fault_cell *cell)
{
	json_t *report = json_object();

	json_object_set_new(report, "outcome", json_string(fault_outcome_name(cell->outcome)));
	json_object_set_new(report, "entries", json_integer(cell->entries));
	json_object_set_new(report, "states", json_integer((json_int_t)cell->states));
	json_object_set_new(report, "command", json_string(cell->command));
	json_object_set_new(report, "counterexample",
	                    cell->scenario != NULL ? json_string(cell->scenario) : json_null());
	return report;
}

static json_t *report_rows(const struct fault_row *rows, size_t count, uint32_t nodes)
{
	json_t *report = json_object(), *list = json_array();

	json_object_set_new(report, "nodes", json_integer(nodes));
	for (size_t i = 0; i < count; i++) {
		json_t *row = json_object(), *cells = json_object();
		json_object_set_new(row, "algorithm", json_string(rows[i].algorithm->name));
		json_object_set_new(row, "topology", json_string(rows[i].topology));
		for (uint32_t k = 0; k < COLUMNS_COUNT; k++) {
			const struct fault_cell *cell = &rows[i].cells[k];
			json_object_set_new(cells, fault_column_name((enum fault_column)k),
			                    cell->outcome == OUTCOME_ABSENT ? json_null()
			                                                    : report_cell(cell));
		}
		json_object_set_new(row, "faults", cells);
		json_array_append_new(list, row);
	}
	json_object_set_new(report, "rows", list);
	return report;
}

int print_fault_table(const struct algorithm *const *list, size_t count, uint32_t nodes, bool json,
                      struct problem *problem)
{
	struct fault_row *rows = calloc(count * TOPOLOGIES_MAX, sizeof(*rows));
	const volatile sig_atomic_t *interrupted = watch_for_interrupt();
	size_t used = 0;
	int code = EXIT_HELD;

	memory_must(rows != NULL);
	progress_start();
	for (size_t i = 0; i < count && code == EXIT_HELD && *interrupted == 0; i++) {
		if (list[i]->kind != KIND_MUTEX)
			continue;
		const char *topology;
		for (uint32_t k = 0;
		     code == EXIT_HELD && (topology = fault_topology(list[i], k)) != NULL; k++) {
			must(k < TOPOLOGIES_MAX);
			rows[used] = (struct fault_row){.algorithm = list[i], .topology = topology};
			code = find_row(&rows[used++], nodes, (double)i / (double)count,
			                1 / (double)count, interrupted, problem);
		}
	}
	progress_clear();
	if (code == EXIT_HELD && used == 0)
		code = problem_set(
		        problem, "--faults: these are elections; the table is of mutual exclusion");
	if (code == EXIT_HELD && *interrupted == 0) {
		if (json)
			print_json(report_rows(rows, used, nodes));
		else
			print_rows(rows, used, nodes);
	}
	for (size_t i = 0; i < used; i++) {
		for (uint32_t k = 0; k < COLUMNS_COUNT; k++)
			fault_cell_free(&rows[i].cells[k]);
	}
	free(rows);
	end_if_interrupted();
	return code;
}
