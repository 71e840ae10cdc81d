/*
 * Shows what each algorithm survives: the fault table as a figure, and as an HTML page that has the
 * command for each cell.
 */
#ifndef LAB_FAULT_PAGE_H
#define LAB_FAULT_PAGE_H

#include "fault_table.h"

#include <stdio.h>

/* Writes the figure as an SVG picture that can also be a file of its own: all its colours are
 * written out. */
void fault_figure_write(const struct fault_table *table, FILE *file);
/* Writes the page, which needs no other file. `command` is the command line that made it. */
void fault_page_write(const struct fault_table *table, const char *command, const char *version,
                      FILE *file);

#endif
