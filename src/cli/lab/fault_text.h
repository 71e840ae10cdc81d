/*
 * `baton compare --faults`: what each algorithm survives.
 */
#ifndef CLI_FAULT_TEXT_H
#define CLI_FAULT_TEXT_H

#include "fault_table.h"

/* Makes the table of these algorithms, and shows its progress. Returns 0 and a table, which
 * fault_table_free frees, or -1 and a problem. If the user interrupts it, the process ends. */
int make_fault_table(const struct algorithm *const *list, size_t count, uint32_t nodes,
                     struct fault_table *ret_table, struct problem *problem);
void print_fault_table(const struct fault_table *table, bool json);

#endif
