/*
 * Plots as SVG inside a page: lines with marks, and the name of each line at its end. The plots do
 * not set colours; the page's style does, for the classes c0, c1, … (see style.css).
 */
#ifndef LAB_PLOT_H
#define LAB_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* If a plot has more series than marks, some series share a mark; the same holds for colours. */
enum { PLOT_MARKS = 16, PLOT_COLOURS = 6 };

struct plot_point {
	double x, y;
};

/* One line of a plot. `key` is the same for the same subject in all plots of a page. */
struct plot_series {
	/* The whole name, and a name short enough for the end of the line. */
	const char *name, *label;
	unsigned key, colour, mark;
	bool curve; /* this is a curve to compare the others with: a dashed line without marks */
	struct plot_point *points;
	size_t points_count, points_size;
};

struct plot_axis {
	/* The quantity on the axis, such as "nodes", and its symbol, such as "N". */
	const char *title, *symbol;
	bool logarithmic;
	const double *ticks; /* the values with a tick; NULL: chosen automatically */
	size_t ticks_count;
};

struct plot {
	const char *id, *title;
	struct plot_axis x, y;
	struct plot_series *series;
	size_t series_count, series_size;
};

/* Adds an empty series and returns it. Adding another one may move it, so fill it first. */
struct plot_series *plot_add_series(struct plot *plot, const char *name, const char *label);
/* Adds a point, unless `y` is NAN. */
void plot_add_point(struct plot_series *series, double x, double y);
void plot_free(struct plot *plot);

/* Can the point be shown? A logarithmic axis can only show values above 0. */
bool plot_shows(const struct plot *plot, const struct plot_point *point);
/* Returns how many points can be shown, or cannot, in all series that are not curves. */
size_t plot_count(const struct plot *plot, bool shown);

/* Writes the shapes of all marks. They must come once in a page, before the first plot. */
void plot_write_marks(FILE *file);
/* Writes one mark alone, for a legend. */
void plot_write_mark(unsigned mark, unsigned colour, FILE *file);
void plot_write(const struct plot *plot, FILE *file);
/* Writes the plot as a table of numbers. */
void plot_write_figures(const struct plot *plot, FILE *file);

#endif
