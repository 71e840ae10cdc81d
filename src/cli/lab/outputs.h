/*
 * Files that a command of the laboratory writes must not be those that it reads.
 */
#ifndef CLI_OUTPUTS_H
#define CLI_OUTPUTS_H

#include "problem.h"

#include <stddef.h>

struct output {
	const char *option; /* "--trace" */
	const char *path;   /* NULL: not given */
};

/* Every path is a file that can be written without harm to `source`, which is read (or NULL;
 * `what` is it called), and to the other outputs, by whatever names and links. 0, or -1 and a
 * problem. */
int outputs_check(const char *source, const char *what, const struct output *outputs, size_t count,
                  struct problem *problem);

/* The path of a topology file:PATH; NULL for any other topology, or none. */
const char *topology_file(const char *topology);

#endif
