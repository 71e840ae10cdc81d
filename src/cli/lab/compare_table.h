/*
 * The tables that `baton compare` prints for people.
 */
#ifndef CLI_COMPARE_TABLE_H
#define CLI_COMPARE_TABLE_H

#include "compare.h"

enum { TABLE_COLUMNS = 100 };

/* Two tables, exclusion and election, within 100 columns; what failed and what was left out. */
void print_comparison(const struct comparison *comparison);

/* What the documents claim of some algorithms, and where; then what follows from the rules. */
void print_claims(const struct algorithm *const *algorithms, size_t count);

/* A line for each reason why algorithms could not run. */
void print_left_out(const struct comparison *comparison, FILE *file);

/* A number in at most `width` characters: 2.817, 126.5, 12.3k; "-" for NAN. Returns `text`. */
char *number_text(double number, int width, char text[16]);

/* Characters, not bytes: continuation bytes of UTF-8 do not count. */
int text_width(const char *text);

/* A text in at most `width` characters; what is longer ends with "…". Returns `ret_text`. */
enum { FITTED_SIZE = 128 };
char *fit_text(const char *text, int width, char ret_text[FITTED_SIZE]);

/* Words within 100 columns, the second and later lines indented. */
void print_paragraph(FILE *file, const char *text, int indent);

#endif
