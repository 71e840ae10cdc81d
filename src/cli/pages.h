/*
 * The pages of doc/algorithms, embedded by the build.
 */
#ifndef CLI_PAGES_H
#define CLI_PAGES_H

struct page {
	const char *name;
	const char *text;
};

/* All pages. The last element has a NULL name. */
extern const struct page pages[];

#endif
