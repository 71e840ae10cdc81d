/*
 * Tables for people: cells of a fixed width, and short durations.
 */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Prints a cell of at most `width` columns. If the text was cut, the last column is an ellipsis.
 * Control characters are shown as '?'. A cell that is not the last of its row is padded with
 * blanks. */
void table_cell(const char *text, int width, bool last);

/* Writes a duration briefly: 250ms, 12s, 7m, 3h, 2d. */
void table_age(char *room, size_t size, json_int_t ms);

#endif
