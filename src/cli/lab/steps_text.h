/*
 * `baton replay --steps`: a run as a table, a row for each step.
 */
#ifndef CLI_STEPS_TEXT_H
#define CLI_STEPS_TEXT_H

#include "world.h"

#include <stddef.h>
#include <stdio.h>

struct steps;

/* Notes the variables of all nodes as they are before the first step. */
struct steps *steps_begin(const struct world *world);
/* If the paper has a figure of states, notes the state of each node after this many steps. Call it
 * after each step, because the trace does not have these states. */
void steps_look(struct steps *steps, const struct world *world, uint64_t count);
/* Prints the table from the lines of a trace. */
void steps_print(struct steps *steps, const char *lines, size_t size, FILE *file);
void steps_free(struct steps *steps);

#endif
