#include "page_file.h"

#include "setup.h"

int page_file_fits(const char *option, uint32_t nodes, struct problem *problem)
{
	if (option == NULL || nodes <= PAGE_NODES_MAX)
		return 0;
	return problem_set(problem, "%s: the page shows at most %d nodes, not %u", option,
	                   PAGE_NODES_MAX, nodes);
}

#ifdef BATON_PAGE

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

extern const char page_page_html[], page_page_html_end[];

int page_file_check(struct problem *problem)
{
	(void)problem;
	return 0;
}

/* Writes a JSON string for a script element. It escapes '<', which could end the element. */
static void write_string(FILE *file, const char *text, size_t size)
{
	fputc('"', file);
	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)text[i];
		if (c < 0x20 || c == '<')
			fprintf(file, "\\u%04x", c);
		else if (c == '"' || c == '\\')
			fprintf(file, "\\%c", c);
		else
			fputc(c, file);
	}
	fputc('"', file);
}

int page_file_write(const char *path, const char *key, const char *text, size_t size,
                    struct problem *problem)
{
	static const char place[] = "<script type=\"application/json\" id=\"run\">";
	size_t page_size = (size_t)(page_page_html_end - page_page_html);
	const char *found = memmem(page_page_html, page_size, place, sizeof(place) - 1);
	FILE *file = fopen(path, "wb");

	if (file == NULL)
		return problem_set(problem, "page '%.200s': %s", path, strerror(errno));
	size_t head = (size_t)(found - page_page_html) + sizeof(place) - 1;
	fwrite(page_page_html, 1, head, file);
	fprintf(file, "{\"%s\":", key);
	write_string(file, text, size);
	fputc('}', file);
	fwrite(page_page_html + head, 1, page_size - head, file);
	bool failed = ferror(file) != 0;
	if (fclose(file) != 0 || failed)
		return problem_set(problem, "page '%.200s' could not be written", path);
	return 0;
}

#else

int page_file_check(struct problem *problem)
{
	return problem_set(problem, "--html: this baton was built without the page (make PAGE=no)");
}

int page_file_write(const char *path, const char *key, const char *text, size_t size,
                    struct problem *problem)
{
	(void)path;
	(void)key;
	(void)text;
	(void)size;
	return page_file_check(problem);
}

#endif
