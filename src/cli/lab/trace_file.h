/*
 * Writes a trace into files: the lines while the run goes on, the diagram at the end.
 */
#ifndef CLI_TRACE_FILE_H
#define CLI_TRACE_FILE_H

#include "trace.h"

#include <stdio.h>

/* The options about the diagram, as texts; NULL: not given. */
struct diagram_words {
	const char *path, *from, *to, *show;
};
#define DIAGRAM_OPTIONS                                                                            \
	{"diagram", required_argument, NULL, 'D'}, {"from", required_argument, NULL, 256},         \
	        {"to", required_argument, NULL, 257},                                              \
	{                                                                                          \
		"show", required_argument, NULL, 258                                               \
	}
/* Takes an option of DIAGRAM_OPTIONS. Returns false if it is another one. */
bool diagram_option(int option, const char *value, struct diagram_words *words);

/* Checks that the name of a picture does not promise another format than SVG, because viewers rely
 * on the name. The path may be NULL. Returns 0, or -1 and a problem. */
int picture_check(const char *path, const char *option, struct problem *problem);

struct trace_file {
	struct trace *trace; /* records the run; NULL if neither lines nor a diagram are wanted */
	FILE *lines, *diagram;
	const char *lines_path, *diagram_path;
	uint32_t *shown;   /* the nodes that the diagram shows, or NULL */
	struct text *copy; /* another text that gets the lines too, or NULL */
	uint64_t from;     /* the time at which the diagram begins */
};

/* Opens the files of a run with that many nodes. Either path may be NULL; both must outlive
 * `ret_file`. If `copy` is not NULL, the lines are appended to it too, until trace_file_end. The
 * struct `ret_file` must stay at its address until then. Returns 0, or -1 and a problem if a file
 * cannot be written or an option is wrong. */
int trace_file_open(const char *lines_path, const struct diagram_words *words, uint32_t nodes,
                    struct text *copy, struct trace_file *ret_file, struct problem *problem);

/* Ends the trace at `time`, closes the files and frees everything. The setup of the run must not
 * have been freed. Returns 0, or -1 and a problem if something could not be written. */
int trace_file_end(struct trace_file *file, uint64_t time, struct problem *problem);

#endif
