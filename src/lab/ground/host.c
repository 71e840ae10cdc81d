#include "host.h"

#include "text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Overwrites comments with blanks. A comment begins with '#'. Blanks and line ends separate
 * edges, as commas do. */
static void blank_comments(char *text)
{
	for (char *c = strchr(text, '#'); c != NULL; c = strchr(c, '#')) {
		while (*c != '\0' && *c != '\n')
			*c++ = ' ';
	}
}

static char *read_edges(const char *path, struct problem *problem)
{
	enum { FILE_MAX = 1 << 28 };
	static const char head[] = "edges:";
	FILE *file = fopen(path, "rb");
	struct text text = {0};
	char chunk[65536];
	size_t count;

	if (file == NULL) {
		problem_set(problem, "topology file '%.200s': %s", path, strerror(errno));
		return NULL;
	}
	text_add_string(&text, head);
	while ((count = fread(chunk, 1, sizeof(chunk), file)) > 0 && text.used <= FILE_MAX)
		text_add(&text, chunk, count);
	bool failed = ferror(file) != 0;
	fclose(file);
	if (failed || text.used > FILE_MAX || strlen(text.bytes) != text.used) {
		problem_set(problem, "topology file '%.200s': %s", path,
		            failed ? "cannot be read" : "is not a list of edges (A-B, one a line)");
		text_free(&text);
		return NULL;
	}
	blank_comments(text.bytes);
	return text_take(&text);
}

const struct host *host_here(void)
{
	static struct host host;

	if (host.read_edges == NULL) {
		host.memory_size = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
		host.read_edges = read_edges;
	}
	return &host;
}
