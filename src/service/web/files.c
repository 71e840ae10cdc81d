#include "files.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* NOLINTNEXTLINE(bugprone-macro-parentheses): a declared name cannot be in parentheses. */
#define DECLARE(symbol) extern const unsigned char symbol[], symbol##_end[];
#define DECLARE_ALL(name) DECLARE(page_##name) DECLARE(page_##name##_br) DECLARE(page_##name##_gz)
DECLARE_ALL(index_html)
DECLARE_ALL(app_js)
DECLARE_ALL(style_css)
DECLARE_ALL(baton_wasm)
DECLARE_ALL(lines_json)
DECLARE_ALL(sources_json)
DECLARE_ALL(tours_json)

#define SERVED(path, type, name)                                                                   \
	{                                                                                          \
		path, type, {page_##name, page_##name##_end},                                      \
		        {page_##name##_br, page_##name##_br_end},                                  \
		{                                                                                  \
			page_##name##_gz, page_##name##_gz_end                                     \
		}                                                                                  \
	}
static const struct served table[] = {
        SERVED("/", "text/html; charset=utf-8", index_html),
        SERVED("/index.html", "text/html; charset=utf-8", index_html),
        SERVED("/app.js", "text/javascript; charset=utf-8", app_js),
        SERVED("/style.css", "text/css; charset=utf-8", style_css),
        SERVED("/baton.wasm", "application/wasm", baton_wasm),
        SERVED("/lines.json", "application/json", lines_json),
        SERVED("/sources.json", "application/json", sources_json),
        SERVED("/tours.json", "application/json", tours_json),
};

const struct served *file_find(const char *path)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		if (strcmp(table[i].path, path) == 0)
			return &table[i];
	}
	return NULL;
}

/* Is the encoding among the accepted ones, with a weight that is not 0? */
static bool is_accepted(const char *accepted, const char *encoding)
{
	size_t length = strlen(encoding);

	while (accepted != NULL && *accepted != '\0') {
		accepted += strspn(accepted, ", \t");
		size_t item = strcspn(accepted, ",");
		size_t name = strcspn(accepted, ",; \t");
		if (name == length && strncasecmp(accepted, encoding, length) == 0) {
			const char *weight = memmem(accepted, item, "q=0", 3);
			return weight == NULL ||
			       strspn(weight + 2, "0.") < strcspn(weight + 2, ", \t");
		}
		accepted += item;
	}
	return false;
}

struct file_bytes file_choose(const struct served *file, const char *accepted,
                              const char **ret_encoding)
{
	bool brotli = is_accepted(accepted, "br"), gzip = is_accepted(accepted, "gzip");

	*ret_encoding = brotli ? "br" : gzip ? "gzip" : NULL;
	return brotli ? file->brotli : gzip ? file->gzip : file->plain;
}

void file_tag(struct file_bytes bytes, char *ret_tag, size_t size)
{
	uint64_t hash = UINT64_C(14695981039346656037);

	for (const unsigned char *c = bytes.begin; c < bytes.end; c++)
		hash = (hash ^ *c) * UINT64_C(1099511628211);
	snprintf(ret_tag, size, "\"%016llx\"", (unsigned long long)hash);
}
