/*
 * A run as a page: one file that opens from disk.
 */
#ifndef CLI_PAGE_FILE_H
#define CLI_PAGE_FILE_H

#include "problem.h"

#include <stddef.h>

/* Is the page built into this program? -1 and a problem if not. */
int page_file_check(struct problem *problem);

/* Writes the page with a run in it: `key` is "words", a NAME=VALUE each line, or "scenario". 0, or -1
 * and a problem. */
int page_file_write(const char *path, const char *key, const char *text, size_t size,
                    struct problem *problem);

#endif
