/*
 * The tables that `baton compare` prints for people.
 */
#ifndef CLI_COMPARE_TABLE_H
#define CLI_COMPARE_TABLE_H

#include "compare.h"

enum { TABLE_COLUMNS = 100 };

/* Prints two tables, for mutual exclusion and for elections, within 100 columns; then what
 * failed and what was left out. */
void print_comparison(const struct comparison *comparison);

/* Prints what the documents claim about some algorithms, and where; then what follows from the
 * rules. */
void print_claims(const struct algorithm *const *algorithms, size_t count);

/* Prints a line for each reason why algorithms could not run. */
void print_left_out(const struct comparison *comparison, FILE *file);

/* Writes a number in at most `width` characters: 2.817, 126.5, 12.3k; "-" for NAN. Returns
 * `text`. */
char *number_text(double number, int width, char text[16]);

/* Returns the width of a UTF-8 text in characters. */
int text_width(const char *text);

/* Shortens a text to at most `width` characters; a shortened text ends with "…". Returns
 * `ret_text`. */
enum { FITTED_SIZE = 128 };
char *fit_text(const char *text, int width, char ret_text[FITTED_SIZE]);

/* Prints a text wrapped at 100 columns. All lines but the first are indented. */
void print_paragraph(FILE *file, const char *text, int indent);

#endif
