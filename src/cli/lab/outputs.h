/*
 * Makes sure that a command of the laboratory does not overwrite a file that it reads.
 */
#ifndef CLI_OUTPUTS_H
#define CLI_OUTPUTS_H

#include "problem.h"

#include <stddef.h>

struct output {
	const char *option; /* the option that names the file, such as "--trace" */
	const char *path;   /* the option's value; NULL if it was not given */
};

/* Checks that every output can be written without overwriting another output or `source`, a file
 * that is read, even if they are named differently or linked. `source` may be NULL; `what` is
 * its name in messages. Returns 0, or -1 and a problem. */
int outputs_check(const char *source, const char *what, const struct output *outputs, size_t count,
                  struct problem *problem);

/* Returns the PATH of a topology file:PATH, or NULL for any other topology and for NULL. */
const char *topology_file(const char *topology);

#endif
