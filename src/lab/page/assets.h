/*
 * What belongs into pages and is written in other languages than C (src/lab/page), embedded by the
 * build.
 */
#ifndef LAB_ASSETS_H
#define LAB_ASSETS_H

struct asset {
	const char *name; /* "style", "script" */
	const char *text;
};

/* Ends with a NULL name. */
extern const struct asset assets[];

#endif
