#include "outputs.h"

#include "memory.h"

#include <libgen.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Do two paths that do not exist yet mean the same name in the same folder? */
static bool is_same_place(const char *a, const char *b)
{
	char *copies[4] = {strdup(a), strdup(a), strdup(b), strdup(b)};
	struct stat first, second;

	for (size_t i = 0; i < 4; i++)
		memory_must(copies[i] != NULL);
	bool same = strcmp(basename(copies[0]), basename(copies[2])) == 0 &&
	            stat(dirname(copies[1]), &first) == 0 &&
	            stat(dirname(copies[3]), &second) == 0 && first.st_dev == second.st_dev &&
	            first.st_ino == second.st_ino;
	for (size_t i = 0; i < 4; i++)
		free(copies[i]);
	return same;
}

/* Do two paths mean the same file? Devices such as /dev/null do not count: they may be named
 * twice. */
static bool is_same_file(const char *a, const char *b)
{
	struct stat first, second;

	if (a == NULL || b == NULL)
		return false;
	bool there = stat(a, &first) == 0, also = stat(b, &second) == 0;
	if (!there && !also)
		return is_same_place(a, b);
	return there && also && S_ISREG(first.st_mode) && first.st_dev == second.st_dev &&
	       first.st_ino == second.st_ino;
}

int outputs_check(const char *source, const char *what, const struct output *outputs, size_t count,
                  struct problem *problem)
{
	for (size_t i = 0; i < count; i++) {
		const struct output *output = &outputs[i];
		if (output->path != NULL && strcmp(output->path, "-") == 0)
			return problem_set(problem,
			                   "%s '-': a file is needed, because the report goes to "
			                   "standard output",
			                   output->option);
		if (is_same_file(source, output->path))
			return problem_set(problem, "%s '%.200s' is %s itself: give another file",
			                   output->option, output->path, what);
		if (is_same_file("/dev/stdout", output->path))
			return problem_set(
			        problem,
			        "%s '%.200s' is where standard output goes: give another "
			        "file",
			        output->option, output->path);
		for (size_t k = 0; k < i; k++) {
			if (is_same_file(outputs[k].path, output->path))
				return problem_set(problem, "%s and %s '%.200s' are the same file",
				                   outputs[k].option, output->option, output->path);
		}
	}
	return 0;
}

const char *topology_file(const char *topology)
{
	return topology != NULL && strncmp(topology, "file:", 5) == 0 ? topology + 5 : NULL;
}
