#include "trace_file.h"

#include "distribution.h"
#include "numbers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool diagram_option(int option, const char *value, struct diagram_words *words)
{
	const char **places[] = {&words->from, &words->to, &words->show};

	if (option == 'D')
		words->path = value;
	else if (option >= 256 && option < 259)
		*places[option - 256] = value;
	else
		return false;
	return true;
}

static int parse_time(const char *text, const char *option, uint64_t *ret_time,
                      struct problem *problem)
{
	if (text == NULL || parse_decimal(text, ret_time) == 0)
		return 0;
	return problem_set(problem, "%s '%.40s': a time as in the diagram is needed, such as 12.5",
	                   option, text);
}

static int compare_nodes(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

int picture_check(const char *path, const char *option, struct problem *problem)
{
	static const char *const others[] = {".pdf", ".png",  ".ps", ".eps",
	                                     ".jpg", ".jpeg", ".tex"};
	size_t length = path != NULL ? strlen(path) : 0;

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		size_t ending = strlen(others[i]);
		if (length > ending && strcasecmp(path + length - ending, others[i]) == 0)
			return problem_set(problem,
			                   "%s '%.200s': a picture is SVG; 'rsvg-convert -f pdf' "
			                   "or '-f png' converts it",
			                   option, path);
	}
	return 0;
}

/* Reads which part of a run is shown. The caller frees the nodes, even after a problem. */
static int parse_window(const struct diagram_words *words, uint32_t nodes,
                        struct diagram_window *window, uint32_t **ret_shown,
                        struct problem *problem)
{
	*window = (struct diagram_window){.to = UINT64_MAX};
	if (words->path == NULL &&
	    (words->from != NULL || words->to != NULL || words->show != NULL))
		return problem_set(problem, "--%s: this is for --diagram, which was not given",
		                   words->from != NULL ? "from"
		                   : words->to != NULL ? "to"
		                                       : "show");
	if (parse_time(words->from, "--from", &window->from, problem) != 0 ||
	    parse_time(words->to, "--to", &window->to, problem) != 0)
		return -1;
	if (window->from >= window->to)
		return problem_set(problem, "--from '%.40s': it must be before --to '%.40s'",
		                   words->from != NULL ? words->from : "0", words->to);
	if (words->show == NULL)
		return 0;
	if (parse_numbers(words->show, 1, nodes, "--show", 0, ret_shown, &window->nodes_count,
	                  problem) != 0)
		return -1;
	qsort(*ret_shown, window->nodes_count, sizeof(**ret_shown), compare_nodes);
	for (uint32_t i = 1; i < window->nodes_count; i++) {
		if ((*ret_shown)[i] == (*ret_shown)[i - 1])
			return problem_set(problem, "--show '%.40s': %u occurs twice", words->show,
			                   (*ret_shown)[i]);
	}
	window->nodes = *ret_shown;
	return 0;
}

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

int trace_file_open(const char *lines_path, const struct diagram_words *words, uint32_t nodes,
                    struct text *copy, struct trace_file *ret_file, struct problem *problem)
{
	struct trace_file file = {
	        .lines_path = lines_path, .diagram_path = words->path, .copy = copy};
	struct diagram_window window;

	if (picture_check(words->path, "--diagram", problem) != 0 ||
	    parse_window(words, nodes, &window, &file.shown, problem) != 0 ||
	    open_file(lines_path, "trace", &file.lines, problem) != 0 ||
	    open_file(words->path, "diagram", &file.diagram, problem) != 0) {
		if (file.lines != NULL)
			fclose(file.lines);
		free(file.shown);
		return -1;
	}
	bool lines = file.lines != NULL || copy != NULL;
	if (lines || file.diagram != NULL)
		file.trace = trace_create(lines, file.diagram != NULL);
	if (file.trace != NULL)
		trace_show(file.trace, &window);
	file.from = window.from;
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
	if (file->diagram != NULL && file->from > time) {
		char from[32], end[32];
		failed = problem_set(problem,
		                     "--from %s: the run ended at %s, so there is nothing to draw",
		                     time_text(file->from, from), time_text(time, end));
		fclose(file->diagram);
	} else if (file->diagram != NULL) {
		struct text svg = {0};
		trace_draw(file->trace, time, &svg);
		write_text(file->diagram, &svg);
		text_free(&svg);
		failed = close_file(file->diagram, file->diagram_path, "diagram", problem);
	}
	if (file->lines != NULL && close_file(file->lines, file->lines_path, "trace", problem) != 0)
		failed = -1;
	trace_destroy(file->trace);
	free(file->shown);
	return failed;
}
