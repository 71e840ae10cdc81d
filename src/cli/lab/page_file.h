/*
 * Writes a run as a web page: a single file that can be opened from disk.
 */
#ifndef CLI_PAGE_FILE_H
#define CLI_PAGE_FILE_H

#include "problem.h"

#include <stddef.h>
#include <stdint.h>

/* Returns 0 if the page is built into this program, otherwise -1 and a problem. */
int page_file_check(struct problem *problem);

/* Returns 0 if the option that asks for the page was not given (NULL), or if the page can show this
 * many nodes; otherwise -1 and a problem. */
int page_file_fits(const char *option, uint32_t nodes, struct problem *problem);

/* Writes the page with a run in it. If `key` is "words", the text has NAME=VALUE on each line; if
 * it is "scenario", the text is a scenario. Returns 0, or -1 and a problem. */
int page_file_write(const char *path, const char *key, const char *text, size_t size,
                    struct problem *problem);

#endif
