#include "plot.h"

#include "grow.h"
#include "html.h"
#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The layout, in units of the picture. The labels are at the far right, so that a page can cut
 * them off where there is no room for them. */
enum { LEFT = 52, AREA = 352, LEADER = 26, LABELS = 150, TOP = 34, BOTTOM = 42 };
enum { HEIGHT_MIN = 330, LABEL_HEIGHT = 14, INSET = 8 };

struct scale {
	double from, to; /* the range of values */
	/* Where the axis begins in the picture, and its length; negative: upward or to the left. */
	double start, length;
	bool logarithmic;
};

/* The right end of a line, and where its label is. */
struct tip {
	const struct plot_series *series;
	double x, wanted, y;
};

struct plot_series *plot_add_series(struct plot *plot, const char *name, const char *label)
{
	plot->series = grow(plot->series, &plot->series_size, plot->series_count + 1,
	                    sizeof(*plot->series));
	struct plot_series *series = &plot->series[plot->series_count++];
	*series = (struct plot_series){.name = name, .label = label};
	return series;
}

void plot_add_point(struct plot_series *series, double x, double y)
{
	if (isnan(x) || isnan(y))
		return;
	series->points = grow(series->points, &series->points_size, series->points_count + 1,
	                      sizeof(*series->points));
	series->points[series->points_count++] = (struct plot_point){x, y};
}

void plot_free(struct plot *plot)
{
	for (size_t i = 0; i < plot->series_count; i++)
		free(plot->series[i].points);
	free(plot->series);
}

bool plot_shows(const struct plot *plot, const struct plot_point *point)
{
	return (!plot->x.logarithmic || point->x > 0) && (!plot->y.logarithmic || point->y > 0);
}

size_t plot_count(const struct plot *plot, bool shown)
{
	size_t count = 0;

	for (size_t i = 0; i < plot->series_count; i++) {
		const struct plot_series *series = &plot->series[i];
		for (size_t k = 0; k < series->points_count && !series->curve; k++)
			count += plot_shows(plot, &series->points[k]) == shown;
	}
	return count;
}

/* The marks: eight shapes of about the same visual weight, centred at 0 0. */
static const char *const shapes[] = {
        "M-3.8 0a3.8 3.8 0 1 0 7.6 0a3.8 3.8 0 1 0-7.6 0z",
        "M-3.4-3.4H3.4V3.4H-3.4z",
        "M0-5 5 0 0 5-5 0z",
        "M0-4.8 4.6 3.4H-4.6z",
        "M0 4.8 4.6-3.4H-4.6z",
        "M-1.4-4.6H1.4V-1.4H4.6V1.4H1.4V4.6H-1.4V1.4H-4.6V-1.4H-1.4z",
        "M-4.6-2.6-2.6-4.6 0-2 2.6-4.6 4.6-2.6 2 0 4.6 2.6 2.6 4.6 0 2-2.6 4.6-4.6 2.6-2 0z",
        "M-2-4.6H2L4.8 0 2 4.6H-2L-4.8 0z",
};
enum { SHAPES = sizeof(shapes) / sizeof(*shapes) };

void plot_write_marks(FILE *file)
{
	_Static_assert(PLOT_MARKS == 2 * SHAPES, "each shape full and hollow");
	fputs("<svg class=\"marks\" width=\"0\" height=\"0\" aria-hidden=\"true\"><defs>\n", file);
	for (unsigned i = 0; i < PLOT_MARKS; i++)
		fprintf(file, "<path id=\"mark-%u\" class=\"%s\" d=\"%s\"/>\n", i,
		        i < SHAPES ? "full" : "hollow", shapes[i % SHAPES]);
	fputs("</defs></svg>\n", file);
}

void plot_write_mark(unsigned mark, unsigned colour, FILE *file)
{
	fprintf(file,
	        "<svg class=\"mark c%u\" viewBox=\"-7 -7 14 14\" width=\"14\" height=\"14\" "
	        "aria-hidden=\"true\"><use href=\"#mark-%u\"/></svg>",
	        colour % PLOT_COLOURS, mark % PLOT_MARKS);
}

static double place(const struct scale *scale, double value)
{
	double part = scale->logarithmic ? log(value / scale->from) / log(scale->to / scale->from)
	                                 : (value - scale->from) / (scale->to - scale->from);
	return scale->start + scale->length * part;
}

/* Returns the greatest number of the form 1, 2 or 5 times a power of ten that is at most
 * `value`. */
static double nice_below(double value)
{
	double power = pow(10, floor(log10(value))), digit = value / power * (1 + 1e-9);
	return power * (digit >= 5 ? 5 : digit >= 2 ? 2 : 1);
}

/* Returns the next larger number of the form 1, 2 or 5 times a power of ten. */
static double nice_next(double nice)
{
	double digit = nice / pow(10, floor(log10(nice * (1 + 1e-9))));
	return nice * (digit > 1.5 && digit < 3 ? 2.5 : 2);
}

static bool is_power_of_ten(double nice)
{
	double digits = log10(nice);
	return fabs(digits - round(digits)) < 1e-6;
}

static struct scale make_scale(const struct plot *plot, bool vertical, double start, double length)
{
	const struct plot_axis *axis = vertical ? &plot->y : &plot->x;
	double least = INFINITY, most = -INFINITY;

	for (size_t i = 0; i < plot->series_count; i++) {
		const struct plot_series *series = &plot->series[i];
		for (size_t k = 0; k < series->points_count; k++) {
			if (!plot_shows(plot, &series->points[k]))
				continue;
			double value = vertical ? series->points[k].y : series->points[k].x;
			least = value < least ? value : least;
			most = value > most ? value : most;
		}
	}
	if (vertical && !axis->logarithmic)
		least = 0;
	if (vertical && axis->logarithmic) {
		least = nice_below(least);
		double above = nice_below(most);
		most = above < most ? nice_next(above) : above;
	}
	if (least == most) { /* a single value is shown in the middle */
		most = axis->logarithmic ? most * 2 : most + 1;
		least = axis->logarithmic ? least / 2 : least;
	}
	return (struct scale){least, most, start, length, axis->logarithmic};
}

static void write_tick(const struct scale *scale, double value, bool vertical, double other,
                       FILE *file)
{
	double at = place(scale, value);
	char text[HTML_NUMBER_SIZE];

	html_number(value, text);
	if (vertical && value >= 100000) /* there is only room for five digits */
		snprintf(text, sizeof(text), "%.0fk", value / 1000);
	if (vertical)
		fprintf(file,
		        "<path class=\"grid\" d=\"M%d %.1fH%d\"/><text class=\"tick\" x=\"%d\" "
		        "y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
		        LEFT, at, LEFT + AREA, LEFT - 7, at + 4, text);
	else
		fprintf(file,
		        "<path class=\"grid\" d=\"M%.1f %dV%.1f\"/><text class=\"tick\" x=\"%.1f\" "
		        "y=\"%.1f\" text-anchor=\"middle\">%s</text>\n",
		        at, TOP, other, at, other + 17, text);
}

/* Writes ticks at the powers of ten, and at 2 and 5 times these if that does not give too many. */
static void write_log_ticks(const struct scale *scale, bool vertical, double other, FILE *file)
{
	enum { MANY = 10, TICKS_MAX = 128 };
	const double close = 1 + 1e-6;
	double ticks[TICKS_MAX], next = nice_below(scale->from);
	int count = 0;

	if (next * close < scale->from)
		next = nice_next(next);
	while (count < TICKS_MAX && next <= scale->to * close) {
		ticks[count++] = next;
		next = nice_next(next);
	}
	for (int i = 0; i < count; i++) {
		if (count <= MANY || is_power_of_ten(ticks[i]))
			write_tick(scale, ticks[i], vertical, other, file);
	}
}

static void write_linear_ticks(const struct scale *scale, bool vertical, double other, FILE *file)
{
	enum { ABOUT = 5 };
	double step = nice_below((scale->to - scale->from) / ABOUT);

	for (int i = (int)ceil(scale->from / step); i * step <= scale->to * (1 + 1e-9); i++)
		write_tick(scale, i * step, vertical, other, file);
}

/* Writes the ticks of an axis. `other` is where the other axis is. */
static void write_ticks(const struct plot_axis *axis, const struct scale *scale, bool vertical,
                        double other, FILE *file)
{
	const double width = 7.5; /* the width of a digit on a small screen */
	double free = INFINITY;
	char text[HTML_NUMBER_SIZE];

	/* The last tick always has a label, so the loop goes from the last to the first. */
	for (size_t i = axis->ticks_count; i > 0; i--) {
		double tick = axis->ticks[i - 1], at = place(scale, tick);
		double half = width * (double)strlen(html_number(tick, text)) / 2 + 2;
		if (tick < scale->from || at + half > free)
			continue;
		free = at - half;
		write_tick(scale, tick, vertical, other, file);
	}
	if (axis->ticks_count == 0 && axis->logarithmic)
		write_log_ticks(scale, vertical, other, file);
	else if (axis->ticks_count == 0)
		write_linear_ticks(scale, vertical, other, file);
}

static int compare_tips(const void *a, const void *b)
{
	const struct tip *x = a, *y = b;
	if (x->wanted != y->wanted)
		return x->wanted < y->wanted ? -1 : 1;
	return (x->series > y->series) - (x->series < y->series);
}

/*
 * Places the labels as near as possible to the ends of their lines, in the same order and without
 * overlap. Neighbours that are too close form a block, whose centre is the mean of the places where
 * its members belong. Blocks that are too close become one.
 */
static void spread(struct tip *tips, size_t count, double top, double bottom)
{
	struct label_run {
		size_t first, count;
		double start;
	} *blocks = malloc((count + 1) * sizeof(*blocks));
	size_t used = 0;

	memory_must(blocks != NULL);
	for (size_t i = 0; i < count; i++) {
		blocks[used++] = (struct label_run){i, 1, tips[i].wanted};
		for (bool merged = true; merged;) {
			struct label_run *block = &blocks[used - 1];
			double sum = 0, room = LABEL_HEIGHT * (double)(block->count - 1);
			for (size_t k = 0; k < block->count; k++)
				sum += tips[block->first + k].wanted - LABEL_HEIGHT * (double)k;
			block->start = fmax(top, fmin(bottom - room, sum / (double)block->count));
			merged = used > 1 &&
			         block[-1].start + LABEL_HEIGHT * (double)block[-1].count >
			                 block->start;
			if (merged) {
				block[-1].count += block->count;
				used--;
			}
		}
	}
	for (size_t i = 0; i < used; i++) {
		for (size_t k = 0; k < blocks[i].count; k++)
			tips[blocks[i].first + k].y = blocks[i].start + LABEL_HEIGHT * (double)k;
	}
	free(blocks);
}

static void write_line(const struct plot *plot, const struct plot_series *series,
                       const struct scale *x, const struct scale *y, FILE *file)
{
	bool first = true;

	fputs("<path class=\"line\" d=\"", file);
	for (size_t i = 0; i < series->points_count; i++) {
		if (!plot_shows(plot, &series->points[i]))
			continue;
		fprintf(file, "%s%.1f %.1f", first ? "M" : "L", place(x, series->points[i].x),
		        place(y, series->points[i].y));
		first = false;
	}
	fputs("\"/>\n", file);
}

static void write_points(const struct plot *plot, const struct plot_series *series,
                         const struct scale *x, const struct scale *y, FILE *file)
{
	char at[HTML_NUMBER_SIZE], value[HTML_NUMBER_SIZE];

	for (size_t i = 0; i < series->points_count; i++) {
		const struct plot_point *point = &series->points[i];
		if (!plot_shows(plot, point))
			continue;
		fprintf(file,
		        "<use href=\"#mark-%u\" x=\"%.1f\" y=\"%.1f\" data-x=\"%.10g\" "
		        "data-y=\"%.10g\"><title>%s, %s = %s: %s</title></use>\n",
		        series->mark % PLOT_MARKS, place(x, point->x), place(y, point->y), point->x,
		        point->y, series->name, plot->x.symbol, html_number(point->x, at),
		        html_number(point->y, value));
	}
}

/* Draws the thin line from the end of a series to its label, and the label. */
static void write_tip(const struct tip *tip, FILE *file)
{
	const double side = LEFT + AREA, x = side + LEADER;
	const struct plot_series *series = tip->series;

	fprintf(file, "<path class=\"leader%s\" d=\"M%.1f %.1fL%.1f %.1fL%.1f %.1fH%.1f\"/>\n",
	        tip->x < side - 2 * INSET ? " far" : "", tip->x + 5, tip->wanted,
	        fmax(side + 1, tip->x + 5), tip->wanted, x - 5, tip->y, x - 3);
	if (!series->curve)
		fprintf(file, "<use href=\"#mark-%u\" x=\"%.1f\" y=\"%.1f\"/>",
		        series->mark % PLOT_MARKS, x + 3, tip->y);
	fprintf(file, "<text class=\"label\" x=\"%.1f\" y=\"%.1f\">%s</text>\n",
	        series->curve ? x : x + 11, tip->y + 4, series->label);
}

/* Writes the name of a curve beside it, at three quarters of its length, for pages that have no
 * room for labels. The highest curve has its name above it, where there is nothing else. The
 * others have it below, where it may cross lines but can still be read. */
static void write_inner_label(const struct tip *tip, bool highest, const struct scale *x,
                              const struct scale *y, FILE *file)
{
	const struct plot_series *series = tip->series;
	const struct plot_point *point = &series->points[series->points_count * 3 / 4];

	fprintf(file,
	        "<g class=\"curve\"><text class=\"inner\" x=\"%.1f\" y=\"%.1f\" "
	        "text-anchor=\"%s\">%s</text></g>\n",
	        place(x, point->x) + (highest ? -8 : 8), place(y, point->y) + (highest ? -4 : 30),
	        highest ? "end" : "start", series->label);
}

static void write_series(const struct plot *plot, const struct tip *tip, const struct scale *x,
                         const struct scale *y, FILE *file)
{
	const struct plot_series *series = tip->series;

	if (series->curve)
		fputs("<g class=\"curve\">\n", file);
	else
		fprintf(file, "<g class=\"series c%u\" data-series=\"%u\" data-name=\"%s\">\n",
		        series->colour % PLOT_COLOURS, series->key, series->name);
	write_line(plot, series, x, y, file);
	if (!series->curve)
		write_points(plot, series, x, y, file);
	write_tip(tip, file);
	fputs("</g>\n", file);
}

/* Lists the right ends of all lines, from the top down. Returns how many there are. */
static size_t gather_tips(const struct plot *plot, const struct scale *x, const struct scale *y,
                          struct tip *ret_tips)
{
	size_t count = 0;

	for (size_t i = 0; i < plot->series_count; i++) {
		const struct plot_series *series = &plot->series[i];
		size_t last = series->points_count;
		while (last > 0 && !plot_shows(plot, &series->points[last - 1]))
			last--;
		if (last == 0)
			continue;
		const struct plot_point *point = &series->points[last - 1];
		ret_tips[count++] = (struct tip){series, place(x, point->x), place(y, point->y), 0};
	}
	qsort(ret_tips, count, sizeof(*ret_tips), compare_tips);
	return count;
}

void plot_write(const struct plot *plot, FILE *file)
{
	struct tip *tips = malloc((plot->series_count + 1) * sizeof(*tips));
	double height = LABEL_HEIGHT * (double)plot->series_count;

	memory_must(tips != NULL);
	height = height > HEIGHT_MIN ? height : HEIGHT_MIN;
	double bottom = TOP + height;
	struct scale x = make_scale(plot, false, LEFT + INSET, AREA - 2 * INSET);
	struct scale y = make_scale(plot, true, bottom - INSET, -(height - INSET));
	size_t count = gather_tips(plot, &x, &y, tips);
	spread(tips, count, TOP, bottom);
	fprintf(file,
	        "<svg class=\"plot\" id=\"%s\" viewBox=\"0 0 %d %.0f\" role=\"img\" "
	        "aria-label=\"%s\">\n",
	        plot->id, LEFT + AREA + LEADER + LABELS, bottom + BOTTOM, plot->title);
	write_ticks(&plot->x, &x, false, bottom, file);
	write_ticks(&plot->y, &y, true, LEFT, file);
	fprintf(file, "<path class=\"axis\" d=\"M%d %dV%.1fH%d\"/>\n", LEFT, TOP, bottom,
	        LEFT + AREA);
	fprintf(file, "<text class=\"title\" x=\"6\" y=\"16\">%s</text>\n", plot->y.title);
	fprintf(file, "<text class=\"title\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
	        LEFT + AREA, bottom + 36, plot->x.title);
	/* Curves to compare with are drawn first, so that the other lines are on top of them. */
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < count; i++) {
			if (tips[i].series->curve == (pass == 0))
				write_series(plot, &tips[i], &x, &y, file);
		}
	}
	bool highest = true;
	for (size_t i = 0; i < count; i++) {
		if (!tips[i].series->curve)
			continue;
		write_inner_label(&tips[i], highest, &x, &y, file);
		highest = false;
	}
	fputs("</svg>\n", file);
	free(tips);
}

static int compare_numbers(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* Returns all x of a plot, increasing, each once, in an array that the caller frees. */
static double *gather_columns(const struct plot *plot, size_t *ret_count)
{
	double *columns =
	        malloc((plot_count(plot, true) + plot_count(plot, false) + 1) * sizeof(*columns));
	size_t count = 0, distinct = 0;

	memory_must(columns != NULL);
	for (size_t i = 0; i < plot->series_count; i++) {
		for (size_t k = 0; k < plot->series[i].points_count && !plot->series[i].curve; k++)
			columns[count++] = plot->series[i].points[k].x;
	}
	qsort(columns, count, sizeof(*columns), compare_numbers);
	for (size_t i = 0; i < count; i++) {
		if (distinct == 0 || columns[i] != columns[distinct - 1])
			columns[distinct++] = columns[i];
	}
	*ret_count = distinct;
	return columns;
}

void plot_write_figures(const struct plot *plot, FILE *file)
{
	size_t columns_count;
	double *columns = gather_columns(plot, &columns_count);
	char text[HTML_NUMBER_SIZE];

	fprintf(file, "<table class=\"figures\"><caption>%s</caption>\n<tr><th>%s</th>",
	        plot->title, plot->x.symbol);
	for (size_t i = 0; i < columns_count; i++)
		fprintf(file, "<th>%s</th>", html_number(columns[i], text));
	fputs("</tr>\n", file);
	for (size_t i = 0; i < plot->series_count; i++) {
		const struct plot_series *series = &plot->series[i];
		size_t next = 0;
		if (series->curve || series->points_count == 0)
			continue;
		fprintf(file, "<tr data-series=\"%u\"><th>%s</th>", series->key, series->name);
		for (size_t k = 0; k < columns_count; k++) {
			bool there =
			        next < series->points_count && series->points[next].x == columns[k];
			fprintf(file, "<td>%s</td>",
			        html_number(there ? series->points[next].y : NAN, text));
			next += there;
		}
		fputs("</tr>\n", file);
	}
	fputs("</table>\n", file);
	free(columns);
}
