/*
 * Plots as vector graphics inside a page: lines with marks, named where they end. They have no
 * colours of their own: the page's style gives them to the classes c0, c1, … (see compare.css).
 */
#ifndef LAB_PLOT_H
#define LAB_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* More than this many series in a plot share their marks. */
enum { PLOT_MARKS = 16, PLOT_COLOURS = 6 };

struct plot_point {
	double x, y;
};

/* `key` is the same for the same thing in all plots of a page. */
struct plot_series {
	const char *name, *label; /* whole; and short enough for the end of its line */
	unsigned key, colour, mark;
	bool curve; /* to compare with: a broken line without marks */
	struct plot_point *points;
	size_t points_count, points_size;
};

struct plot_axis {
	const char *title, *symbol; /* "nodes", "N" */
	bool logarithmic;
	const double *ticks; /* where; NULL: chosen here */
	size_t ticks_count;
};

struct plot {
	const char *id, *title;
	struct plot_axis x, y;
	struct plot_series *series;
	size_t series_count, series_size;
};

/* An empty series, to be filled at once: the next one may move it. */
struct plot_series *plot_add_series(struct plot *plot, const char *name, const char *label);
/* NAN is no point. */
void plot_add_point(struct plot_series *series, double x, double y);
void plot_free(struct plot *plot);

/* Can it be shown? A logarithmic axis has no place for what is not above 0. */
bool plot_shows(const struct plot *plot, const struct plot_point *point);
/* How many points can, or cannot, of all series that are no curves. */
size_t plot_count(const struct plot *plot, bool shown);

/* The shapes of all marks, once in a page before any plot. */
void plot_write_marks(FILE *file);
/* One of them alone, for a legend. */
void plot_write_mark(unsigned mark, unsigned colour, FILE *file);
void plot_write(const struct plot *plot, FILE *file);
/* The same as a table of numbers. */
void plot_write_figures(const struct plot *plot, FILE *file);

#endif
