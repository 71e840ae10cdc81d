/*
 * Writes a trace into files: the lines while the run goes on, the diagram at the end.
 */
#ifndef CLI_TRACE_FILE_H
#define CLI_TRACE_FILE_H

#include "trace.h"

#include <stdio.h>

struct trace_file {
	struct trace *trace; /* records the run; NULL if neither lines nor a diagram are wanted */
	FILE *lines, *diagram;
	const char *lines_path, *diagram_path;
	struct text *copy; /* gets the lines as well, or NULL */
};

/* Opens the files. Either path may be NULL; both must outlive `ret_file`. If `copy` is not NULL, the
 * lines are appended to it too, until trace_file_end. The file must not move meanwhile. Returns 0,
 * or -1 and a problem if a file cannot be written. */
int trace_file_open(const char *lines_path, const char *diagram_path, struct text *copy,
                    struct trace_file *ret_file, struct problem *problem);

/* Ends the trace at `time`, closes the files and frees everything. The setup of the run must not
 * have been freed. Returns 0, or -1 and a problem if something could not be written. */
int trace_file_end(struct trace_file *file, uint64_t time, struct problem *problem);

#endif
