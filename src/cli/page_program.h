/*
 * baton-web, the program that serves the page. It is a file of its own beside this program.
 */
#ifndef CLI_PAGE_PROGRAM_H
#define CLI_PAGE_PROGRAM_H

#include "problem.h"

#include <stddef.h>

/* Replaces this program by baton-web. Returns only if that fails: -1 and a problem. */
int page_program_execute(char *const *argv, struct problem *problem);

/* Returns 0 if baton-web is there, otherwise -1 and a problem. */
int page_program_check(struct problem *problem);

/*
 * Serves the page on a free port until it is told to end (SIGINT, SIGTERM). Prints an address that
 * shows the scenario, and opens it in a browser if there is a screen. Returns 0, or -1 and a
 * problem.
 */
int page_program_show(const char *scenario, size_t size, struct problem *problem);

#endif
