/*
 * `baton compare --faults`: what each algorithm survives.
 */
#ifndef CLI_FAULT_TEXT_H
#define CLI_FAULT_TEXT_H

#include "algorithm.h"
#include "problem.h"

#include <stdbool.h>
#include <stddef.h>

/* Finds and prints the table of these algorithms; elections are left out. Returns the exit code, or
 * -1 and a problem. */
int print_fault_table(const struct algorithm *const *list, size_t count, uint32_t nodes, bool json,
                      struct problem *problem);

#endif
