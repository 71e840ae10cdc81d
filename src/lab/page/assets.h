/*
 * Parts of the page that are not written in C: its style and its script (src/lab/page). The build
 * embeds them.
 */
#ifndef LAB_ASSETS_H
#define LAB_ASSETS_H

struct asset {
	const char *name; /* which part this is: "style" or "script" */
	const char *text;
};

/* All assets. The last element has a NULL name. */
extern const struct asset assets[];

#endif
