#include "trace_file.h"

#include <errno.h>
#include <string.h>

/* A failed write sets the file's error flag, which close_file checks. */
static void write_text(FILE *file, const struct text *text)
{
	fwrite(text->bytes, 1, text->used, file);
}

static void take_lines(void *context, const struct text *lines)
{
	struct trace_file *file = context;

	if (file->lines != NULL)
		write_text(file->lines, lines);
	if (file->copy != NULL)
		text_add(file->copy, lines->bytes, lines->used);
}

static int open_file(const char *path, const char *what, FILE **ret_file, struct problem *problem)
{
	*ret_file = path != NULL ? fopen(path, "wb") : NULL;
	if (path != NULL && *ret_file == NULL)
		return problem_set(problem, "%s file '%.200s': %s", what, path, strerror(errno));
	return 0;
}

static int close_file(FILE *file, const char *path, const char *what, struct problem *problem)
{
	bool failed = ferror(file) != 0;

	if (fclose(file) != 0 || failed)
		return problem_set(problem, "%s file '%.200s' could not be written", what, path);
	return 0;
}

int trace_file_open(const char *lines_path, const char *diagram_path, struct text *copy,
                    struct trace_file *ret_file, struct problem *problem)
{
	struct trace_file file = {
	        .lines_path = lines_path, .diagram_path = diagram_path, .copy = copy};

	if (open_file(lines_path, "trace", &file.lines, problem) != 0)
		return -1;
	if (open_file(diagram_path, "diagram", &file.diagram, problem) != 0) {
		if (file.lines != NULL)
			fclose(file.lines);
		return -1;
	}
	bool lines = file.lines != NULL || copy != NULL;
	if (lines || file.diagram != NULL)
		file.trace = trace_create(lines, file.diagram != NULL);
	*ret_file = file;
	if (lines)
		trace_drain(file.trace, take_lines, ret_file);
	return 0;
}

int trace_file_end(struct trace_file *file, uint64_t time, struct problem *problem)
{
	int failed = 0;

	if (file->trace == NULL)
		return 0;
	trace_end(file->trace, time);
	if (file->diagram != NULL) {
		struct text svg = {0};
		trace_draw(file->trace, time, &svg);
		write_text(file->diagram, &svg);
		text_free(&svg);
		failed = close_file(file->diagram, file->diagram_path, "diagram", problem);
	}
	if (file->lines != NULL && close_file(file->lines, file->lines_path, "trace", problem) != 0)
		failed = -1;
	trace_destroy(file->trace);
	return failed;
}
