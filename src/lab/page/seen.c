/*
 * Describes in words what the figures of a comparison show: which algorithms need least and most,
 * which lines cross, how costs grow. All of it is computed from the points of the figures.
 */
#include "comparison_page.h"

#include "html.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Two values whose ratio is below this are described as equal, because they may differ by
 * chance. */
static const double same = 1.01;

static double value_at(const struct plot_series *series, double x)
{
	for (size_t i = 0; i < series->points_count && !series->curve; i++) {
		if (series->points[i].x == x)
			return series->points[i].y;
	}
	return NAN;
}

/* Returns the greatest x of any series that is at most `bound`, or NAN if there is none. */
static double last_x(const struct plot *plot, double bound)
{
	double last = NAN;

	for (size_t i = 0; i < plot->series_count; i++) {
		const struct plot_series *series = &plot->series[i];
		for (size_t k = 0; k < series->points_count && !series->curve; k++) {
			double x = series->points[k].x;
			if (x <= bound && (isnan(last) || x > last))
				last = x;
		}
	}
	return last;
}

/* Returns the least x of any series that is above `bound`, or NAN if there is none. */
static double next_x(const struct plot *plot, double bound)
{
	double next = NAN;

	for (size_t i = 0; i < plot->series_count; i++) {
		const struct plot_series *series = &plot->series[i];
		for (size_t k = 0; k < series->points_count && !series->curve; k++) {
			double x = series->points[k].x;
			if (x > bound && (isnan(next) || x < next))
				next = x;
		}
	}
	return next;
}

/* Returns the series with the least or the greatest value at that x; the first one if several
 * are equal, NULL if there is none. */
static const struct plot_series *extreme_at(const struct plot *plot, double x, bool greatest)
{
	const struct plot_series *found = NULL;
	double best = NAN;

	for (size_t i = 0; i < plot->series_count; i++) {
		double value = value_at(&plot->series[i], x);
		if (!isnan(value) && (found == NULL || (greatest ? value > best : value < best))) {
			found = &plot->series[i];
			best = value;
		}
	}
	return found;
}

static const struct plot_series *by_key(const struct plot *plot, unsigned key)
{
	for (size_t i = 0; i < plot->series_count; i++) {
		if (plot->series[i].key == key && !plot->series[i].curve)
			return &plot->series[i];
	}
	return NULL;
}

static void write_number(double number, FILE *file)
{
	char text[HTML_NUMBER_SIZE];
	fputs(html_number(number, text), file);
}

static void write_name(const struct plot_series *series, FILE *file)
{
	fprintf(file, "<b data-series=\"%u\">%s</b>", series->key, series->name);
}

/* Writes what stands before the i-th of `count` names in a list such as "a, b and c". */
static void write_joint(size_t i, size_t count, FILE *file)
{
	if (i != 0)
		fputs(i + 1 == count ? " and " : ", ", file);
}

/* Is the series' value at that x about the same as `value`? If `wanted` is false: is it
 * different? */
static bool is_same(const struct plot_series *series, double x, double value, bool wanted)
{
	double other = value_at(series, x);
	return !isnan(other) && (other <= value * same && value <= other * same) == wanted;
}

/* Writes the names of all series for which is_same() is true. */
static void write_those(const struct plot *plot, double x, double value, bool wanted, size_t count,
                        FILE *file)
{
	size_t written = 0;

	for (size_t i = 0; i < plot->series_count; i++) {
		if (!is_same(&plot->series[i], x, value, wanted))
			continue;
		write_joint(written++, count, file);
		write_name(&plot->series[i], file);
	}
}

/* Writes the names of all series that are about the same as `value` at that x; or "all but" and
 * the names of the others, if these are fewer. Returns how many are the same. */
static size_t write_same(const struct plot *plot, double x, double value, FILE *file)
{
	enum { FEW = 4 };
	size_t count = 0, others = 0;

	for (size_t i = 0; i < plot->series_count; i++) {
		count += is_same(&plot->series[i], x, value, true);
		others += is_same(&plot->series[i], x, value, false);
	}
	if (others == 0 && count > 1)
		fputs("all of them", file);
	else if (count > FEW && others < count)
		fputs("all but ", file);
	if (count > FEW && others < count)
		write_those(plot, x, value, false, others, file);
	else if (others != 0 || count == 1)
		write_those(plot, x, value, true, count, file);
	return count;
}

static void say_extremes(const struct plot *plot, double x, FILE *file)
{
	const struct plot_series *least = extreme_at(plot, x, false);
	const struct plot_series *most = extreme_at(plot, x, true);

	if (least == NULL)
		return;
	double low = value_at(least, x), high = value_at(most, x);
	fprintf(file, "At %s&#160;=&#160;", plot->x.symbol);
	write_number(x, file);
	fputs(" the least is ", file);
	write_number(low, file);
	fputs(" (", file);
	write_same(plot, x, low, file);
	fputs(")", file);
	if (low > 0 && high > low * same) {
		fputs(", the most ", file);
		write_number(high, file);
		fputs(" (", file);
		write_same(plot, x, high, file);
		fprintf(file, "), %.*f times as much", high < 10 * low ? 1 : 0, high / low);
	}
	fputs(". ", file);
}

static bool is_least(const struct plot *plot, const struct plot_series *series, double x)
{
	double value = value_at(series, x);
	return !isnan(value) && value <= value_at(extreme_at(plot, x, false), x) * same;
}

/* Returns the last x up to which the series, from `x` on, is always the lowest; NAN if it is not
 * the lowest at `x`. */
static double least_until(const struct plot *plot, const struct plot_series *series, double x)
{
	double until = NAN;

	for (; !isnan(x) && is_least(plot, series, x); x = next_x(plot, x))
		until = x;
	return until;
}

/* Says which series is the lowest over which range of sizes. If several are the lowest where a
 * range begins, it names the one that stays lowest longest. */
static void say_leaders(const struct plot *plot, FILE *file)
{
	double x = next_x(plot, -INFINITY), last = last_x(plot, INFINITY);
	bool first = true;

	while (!isnan(x) && plot->series_count > 1) {
		const struct plot_series *leader = NULL;
		double until = NAN;
		for (size_t i = 0; i < plot->series_count; i++) {
			double ends = least_until(plot, &plot->series[i], x);
			if (!isnan(ends) && (leader == NULL || ends > until)) {
				leader = &plot->series[i];
				until = ends;
			}
		}
		if (leader == NULL)
			return;
		fputs(first ? "Nobody is below " : ", then below ", file);
		write_name(leader, file);
		if (first && until == last) {
			fputs(" anywhere", file);
		} else if (until < last) {
			fprintf(file, " up to %s&#160;=&#160;", plot->x.symbol);
			write_number(until, file);
		}
		first = false;
		x = next_x(plot, until);
	}
	if (!first)
		fputs(". ", file);
}

/* The laws by which a cost may grow with n. */
static double law_constant(double n)
{
	(void)n;
	return 1;
}

static double law_linear(double n)
{
	return n;
}

static double law_n_log_n(double n)
{
	return n * log2(n);
}

static double law_square(double n)
{
	return n * n;
}

static const struct law {
	const char *text; /* the law as text, with '#' for the symbol of the size */
	double (*value)(double n);
} laws[] = {
        {"hardly", law_constant}, {"log #", log2},          {"√#", sqrt},
        {"#", law_linear},        {"# log #", law_n_log_n}, {"#²", law_square},
};
enum { LAWS = sizeof(laws) / sizeof(*laws), UNKNOWN, SIZES_ENOUGH = 4 };

/* Returns how many sizes from `from` to `to` a series has. */
static size_t count_sizes(const struct plot_series *series, double from, double to)
{
	size_t count = 0;

	for (size_t i = 0; i < series->points_count && !series->curve; i++)
		count += series->points[i].x >= from && series->points[i].x <= to;
	return count;
}

/* Multiplies the law by the factor that suits best, and returns the greatest distance of the series
 * from it, over its sizes from `from` to `to`. The distance is the logarithm of a ratio. */
static double distance_from(const struct plot_series *series, const struct law *law, double from,
                            double to)
{
	double least = INFINITY, most = -INFINITY;

	for (size_t i = 0; i < series->points_count; i++) {
		double n = series->points[i].x;
		if (n < from || n > to)
			continue;
		double ratio = log(series->points[i].y / law->value(n));
		least = fmin(least, ratio);
		most = fmax(most, ratio);
	}
	return (most - least) / 2;
}

/* Returns the law that fits best between two sizes; LAWS if none fits within 15 per cent;
 * UNKNOWN if there are too few sizes to tell a law from chance. */
static size_t find_law(const struct plot_series *series, double from, double to)
{
	double best = log(1.15);
	size_t found = LAWS;

	if (count_sizes(series, from, to) < SIZES_ENOUGH)
		return UNKNOWN;
	for (size_t i = 0; i < LAWS; i++) {
		double off = distance_from(series, &laws[i], from, to);
		if (off < best) {
			best = off;
			found = i;
		}
	}
	return found;
}

static void write_law(const char *text, const char *symbol, FILE *file)
{
	for (; *text != '\0'; text++) {
		if (*text == '#')
			fputs(symbol, file);
		else
			putc(*text, file);
	}
}

/* Writes the names of the series that follow a law, each with its factor at the greatest size. If
 * they follow no law, each has its mean exponent; if there are too few sizes, no number. */
static void write_members(const struct plot *plot, size_t law, double from, double to, FILE *file)
{
	bool any = false;

	for (size_t i = 0; i < plot->series_count; i++) {
		const struct plot_series *series = &plot->series[i];
		double first = value_at(series, from), last = value_at(series, to);
		if (!(first > 0) || !(last > 0) || find_law(series, from, to) != law)
			continue;
		if (!any) {
			fputs("<dt>", file);
			write_law(law < LAWS    ? laws[law].text
			          : law == LAWS ? "otherwise"
			                        : "unknown",
			          plot->x.symbol, file);
			fputs("</dt><dd>", file);
		}
		fprintf(file, "%s<span data-series=\"%u\">%s&#160;", any ? ", " : "", series->key,
		        series->name);
		if (law < LAWS)
			fprintf(file, "%.3g</span>", last / laws[law].value(to));
		else if (law == UNKNOWN)
			fputs("</span>", file);
		else
			fprintf(file, "%s<sup>%.2f</sup></span>", plot->x.symbol,
			        log(last / first) / log(to / from));
		any = true;
	}
	if (any)
		fputs(law == UNKNOWN ? " (too few sizes)</dd>\n" : "</dd>\n", file);
}

static void say_growth(const struct plot *plot, FILE *file)
{
	double to = last_x(plot, INFINITY), from = last_x(plot, to / 8);

	if (isnan(from))
		from = next_x(plot, -INFINITY);
	if (isnan(to) || from < 2 || to < 2 * from)
		return;
	fprintf(file, "<p>From %s&#160;=&#160;", plot->x.symbol);
	write_number(from, file);
	fputs(" to ", file);
	write_number(to, file);
	fputs(" these grow as follows, with the factor at the end:</p>\n<dl class=\"growth\">\n",
	      file);
	for (size_t law = 0; law <= UNKNOWN; law++)
		write_members(plot, law, from, to, file);
	fputs("</dl>\n", file);
}

/* Two lines that cross: one is above the other up to some x, and below it from the next x on. */
struct crossing {
	const struct plot_series *falls, *rises; /* `falls` is above at first, `rises` at the end */
	double until;
	/* The distance of the two lines at the end where they are closer, as the logarithm of their
	 * ratio. */
	double distance;
};

static bool find_crossing(const struct plot *plot, const struct plot_series *falls,
                          const struct plot_series *rises, struct crossing *ret_crossing)
{
	double first = NAN, last = NAN, until = NAN;

	for (double x = next_x(plot, -INFINITY); !isnan(x); x = next_x(plot, x)) {
		double ratio = log(value_at(falls, x) / value_at(rises, x));
		if (!isfinite(ratio))
			continue;
		if (isnan(first))
			first = ratio;
		if (ratio > 0 && last < 0)
			return false; /* the lines cross more than once */
		if (ratio > 0)
			until = x;
		last = ratio;
	}
	if (!(first > log(same)) || !(last < -log(same)))
		return false;
	*ret_crossing = (struct crossing){falls, rises, until, fmin(first, -last)};
	return true;
}

/* Finds the crossing whose lines are widest apart at both ends, among those whose falling line
 * is not `except`. Returns how many crossings there are. */
static size_t widest_crossing(const struct plot *plot, const struct plot_series *except,
                              struct crossing *ret_widest)
{
	struct crossing crossing;
	size_t count = 0;

	*ret_widest = (struct crossing){0};
	for (size_t i = 0; i < plot->series_count; i++) {
		for (size_t k = 0; k < plot->series_count && &plot->series[i] != except; k++) {
			if (!find_crossing(plot, &plot->series[i], &plot->series[k], &crossing))
				continue;
			count++;
			if (ret_widest->falls == NULL || crossing.distance > ret_widest->distance)
				*ret_widest = crossing;
		}
	}
	return count;
}

static void say_crossings(const struct plot *plot, FILE *file)
{
	struct crossing told = {0};
	size_t count = widest_crossing(plot, NULL, &told);

	if (told.falls == NULL)
		return;
	fprintf(file, "%zu pair%s of lines cross%s: ", count, count == 1 ? "" : "s",
	        count == 1 ? "es" : "; widest apart");
	for (int i = 0; i < 2 && told.falls != NULL; i++) {
		fputs(i == 0 ? "" : "; ", file);
		write_name(told.falls, file);
		fputs(" is above ", file);
		write_name(told.rises, file);
		fprintf(file, " up to %s&#160;=&#160;", plot->x.symbol);
		write_number(told.until, file);
		fputs(" and ends below it", file);
		widest_crossing(plot, told.falls, &told);
	}
	fputs(". ", file);
}

/* Says which series falls most and which rises most from one panel to the other. */
static void say_change(const struct plot *before, const struct plot *after, const char *when,
                       FILE *file)
{
	double x = last_x(after, INFINITY);
	bool any = false;

	for (int rise = 0; rise < 2; rise++) {
		const struct plot_series *found = NULL;
		double best = same, was = NAN, is = NAN;
		for (size_t i = 0; i < after->series_count; i++) {
			const struct plot_series *other = by_key(before, after->series[i].key);
			double old = other != NULL ? value_at(other, x) : NAN;
			double new = value_at(&after->series[i], x);
			double factor = rise ? new / old : old / new;
			if (factor > best) {
				found = &after->series[i];
				best = factor;
				was = old;
				is = new;
			}
		}
		if (found == NULL)
			continue;
		fputs(any ? ", " : when, file);
		write_name(found, file);
		fprintf(file, " %s most, from ", rise ? "rises" : "falls");
		write_number(was, file);
		fputs(" to ", file);
		write_number(is, file);
		any = true;
	}
	if (any) {
		fprintf(file, ", at %s&#160;=&#160;", after->x.symbol);
		write_number(x, file);
		fputs(". ", file);
	}
}

/* Says how long messages are on average, from the bytes and the messages for an entry. */
static void say_lengths(const struct plot *messages, const struct plot *bytes, FILE *file)
{
	const struct plot_series *longest = NULL, *shortest = NULL;
	double x = last_x(bytes, INFINITY), most = NAN, least = NAN;

	for (size_t i = 0; i < bytes->series_count; i++) {
		const struct plot_series *other = by_key(messages, bytes->series[i].key);
		double length =
		        value_at(&bytes->series[i], x) / (other != NULL ? value_at(other, x) : NAN);
		if (!isfinite(length))
			continue;
		if (longest == NULL || length > most) {
			longest = &bytes->series[i];
			most = length;
		}
		if (shortest == NULL || length < least) {
			shortest = &bytes->series[i];
			least = length;
		}
	}
	if (longest == NULL || shortest == NULL || !(most > least * same))
		return;
	fputs("A message of ", file);
	write_name(longest, file);
	fprintf(file, " has %.3g bytes on average, the longest; one of ", most);
	write_name(shortest, file);
	fprintf(file, " has %.3g, the shortest. ", least);
}

/* Says how far the delay from an exit to the next entry is from one message delay at the highest
 * load. */
static void say_saturation(const struct plot *plot, FILE *file)
{
	double x = last_x(plot, INFINITY), worst = value_at(extreme_at(plot, x, true), x);

	fputs("At the highest rate, the next node is inside about one message delay after an exit "
	      "(to within 1 %) with ",
	      file);
	if (write_same(plot, x, 1, file) == 0)
		fputs("none of them", file);
	fputs(". ", file);
	if (worst <= same)
		return;
	fputs("Farthest from that: ", file);
	write_same(plot, x, worst, file);
	fputs(", with ", file);
	write_number(worst, file);
	fputs(" delays. ", file);
}

static void say_costs(const struct comparison_page *page, const struct figure *figure, size_t panel,
                      FILE *file)
{
	const struct figure *messages = &page->figures[FIGURE_MESSAGES];
	const struct plot *plot = &figure->plots[panel];

	say_extremes(plot, last_x(plot, INFINITY), file);
	say_leaders(plot, file);
	say_crossings(plot, file);
	if (figure->kind == FIGURE_BYTES && panel < messages->plots_count)
		say_lengths(&messages->plots[panel], plot, file);
	if (panel == 1)
		say_change(&figure->plots[0], plot,
		           figure->kind == FIGURE_ELECTIONS ? "Against the mean "
		                                            : "Against light load ",
		           file);
}

static void say_waiting(const struct plot *plot, FILE *file)
{
	say_extremes(plot, next_x(plot, -INFINITY), file);
	if (!plot->y.logarithmic) {
		say_saturation(plot, file);
		return;
	}
	say_extremes(plot, last_x(plot, INFINITY), file);
	say_leaders(plot, file);
	say_crossings(plot, file);
}

void write_seen(const struct comparison_page *page, const struct figure *figure, size_t panel,
                FILE *file)
{
	fputs("<div class=\"seen\">\n<p>", file);
	if (figure->kind == FIGURE_WAITING)
		say_waiting(&figure->plots[panel], file);
	else
		say_costs(page, figure, panel, file);
	fputs("</p>\n", file);
	if (figure->kind != FIGURE_WAITING)
		say_growth(&figure->plots[panel], file);
	fputs("</div>\n", file);
}
