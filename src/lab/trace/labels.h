/*
 * Finds room for labels in a picture, so that no label covers another and few lines pass through
 * letters.
 */
#ifndef LAB_LABELS_H
#define LAB_LABELS_H

#include <stdbool.h>
#include <stddef.h>

struct box {
	double x, y, width, height;
};

struct labels_line {
	double x1, y1, x2, y2;
};

/* A struct of zeros has nothing in it. */
struct labels {
	struct box *boxes; /* places that are taken: labels that were placed, and what is filled */
	size_t boxes_count, boxes_size;
	struct labels_line *lines; /* strokes that labels keep away from */
	size_t lines_count, lines_size;
};

void labels_free(struct labels *labels);

/* Marks a box that no label may cover. */
void labels_take(struct labels *labels, struct box box);
/* Marks a line that labels avoid if they can. */
void labels_cross(struct labels *labels, double x1, double y1, double x2, double y2);

/* Returns how bad it would be to place a label here: 0 if it touches nothing, below 1 if only lines
 * pass through it, and more if it covers something. */
double labels_cost(const struct labels *labels, const struct box *box);

/* Does the line pass through the box? */
bool labels_meet(const struct labels_line *line, const struct box *box);

/* Returns the width of a text, in a font whose letters are about as wide as those of DejaVu Sans,
 * the widest of the usual ones. */
double labels_width(const char *text, double font_size);

/* Returns how many bytes of a text fit into a line: all of them, or those up to the last space that
 * fits, or at least one letter. */
size_t labels_fit(const char *text, double font_size, double width);

#endif
