/*
 * Makes the figures of a comparison: which lines they have, how the lines look, and their points.
 */
#include "comparison_page.h"

#include "grow.h"
#include "html.h"
#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct family families[] = {
        {"Ask a coordinator", KIND_MUTEX, 4},
        {"Ask the others for permission", KIND_MUTEX, 0},
        {"A token; ask everybody for it", KIND_MUTEX, 1},
        {"A token; ask for it along a tree or a graph", KIND_MUTEX, 2},
        {"A token on a ring", KIND_MUTEX, 3},
        {"On a ring, one way", KIND_ELECTION, 1},
        {"On a ring, both ways", KIND_ELECTION, 3},
        {"All nodes are linked", KIND_ELECTION, 0},
        {NULL, KIND_MUTEX, 0},
};
enum { COORDINATOR, PERMISSION, TOKEN_OF_ALL, TOKEN_ALONG, TOKEN_RING, ONE_WAY, BOTH_WAYS, EACH };

const struct family *family_of(const struct algorithm *algorithm)
{
	bool ring = algorithm->links == GRAPH_RING;

	if (algorithm->kind == KIND_ELECTION)
		return &families[ring ? algorithm->one_way ? ONE_WAY : BOTH_WAYS : EACH];
	if (!algorithm->has_token)
		return &families[algorithm->links == GRAPH_STAR ? COORDINATOR : PERMISSION];
	if (ring)
		return &families[TOKEN_RING];
	bool all = algorithm->links == GRAPH_COMPLETE && algorithm->shape == GRAPH_NONE;
	return &families[all ? TOKEN_OF_ALL : TOKEN_ALONG];
}

/* Gives each subject its name, colour and mark. Subjects that appear in the same plot get
 * different marks. */
static void make_subjects(struct comparison_page *page)
{
	enum { LABEL_MAX = 22 }; /* the length of the longest label, in characters */
	const struct compare_options *options = &page->comparison->options;
	unsigned marks[2] = {0};

	page->subjects = calloc(options->subjects_count + 1, sizeof(*page->subjects));
	memory_must(page->subjects != NULL);
	for (size_t i = 0; i < options->subjects_count; i++) {
		const struct compare_subject *subject = &options->subjects[i];
		struct page_subject *made = &page->subjects[i];
		const char *parameter = subject->parameter;
		snprintf(made->name, sizeof(made->name), "%s%s%s", subject->algorithm->name,
		         parameter != NULL ? " " : "", parameter != NULL ? parameter : "");
		made->label = parameter != NULL && strlen(made->name) > LABEL_MAX ? parameter
		                                                                  : made->name;
		made->family = family_of(subject->algorithm);
		made->mark = marks[subject->algorithm->kind]++;
	}
}

/* Puts a tick at each size for which the comparison has a row of that kind. */
static void make_ticks(struct comparison_page *page, enum kind kind)
{
	const struct comparison *comparison = page->comparison;
	size_t size = 0, *count = &page->ticks_count[kind];

	for (size_t i = 0; i < comparison->rows_count; i++) {
		const struct compare_row *row = &comparison->rows[i];
		double **ticks = &page->ticks[kind];
		if (row->subject->algorithm->kind != kind ||
		    (*count != 0 && (*ticks)[*count - 1] == row->nodes))
			continue;
		*ticks = grow(*ticks, &size, *count + 1, sizeof(**ticks));
		(*ticks)[(*count)++] = row->nodes;
	}
}

static const char no_exclusion[] = "no algorithm of mutual exclusion was measured";
static const char one_size[] = "there is only one size; the table has its figures";

static struct plot_series *add_subject(const struct comparison_page *page, struct plot *plot,
                                       size_t i)
{
	const struct page_subject *subject = &page->subjects[i];
	struct plot_series *series = plot_add_series(plot, subject->name, subject->label);

	series->key = (unsigned)i;
	series->colour = subject->family->colour;
	series->mark = subject->mark;
	return series;
}

/* The quantity that is plotted against the size. */
struct measure {
	enum load load;
	bool bytes; /* mutual exclusion: show bytes instead of messages */
	bool most;  /* elections: show the most instead of the mean */
};

static double figure_of(const struct compare_row *row, struct measure measure)
{
	if (measure.load == LOAD_ELECTION)
		return compare_measured(row, measure.most ? ALL_MAX : ALL_MEAN);
	const struct compare_load *load = measure.load == LOAD_LIGHT   ? &row->light
	                                  : measure.load == LOAD_HEAVY ? &row->heavy
	                                                               : &row->poisson[0];
	return load->messages.count == 0 ? NAN : measure.bytes ? load->bytes : load->messages.mean;
}

/* Adds a line for each subject of that kind, with a point for each of its rows. */
static void fill_by_size(const struct comparison_page *page, struct plot *plot,
                         struct measure measure)
{
	const struct comparison *comparison = page->comparison;
	const struct compare_options *options = &comparison->options;
	enum kind kind = measure.load == LOAD_ELECTION ? KIND_ELECTION : KIND_MUTEX;

	plot->x = (struct plot_axis){.title = kind == KIND_MUTEX ? "nodes N" : "processes n",
	                             .symbol = kind == KIND_MUTEX ? "N" : "n",
	                             .logarithmic = true,
	                             .ticks = page->ticks[kind],
	                             .ticks_count = page->ticks_count[kind]};
	for (size_t i = 0; i < options->subjects_count; i++) {
		if (options->subjects[i].algorithm->kind != kind)
			continue;
		struct plot_series *series = add_subject(page, plot, i);
		for (size_t k = 0; k < comparison->rows_count; k++) {
			const struct compare_row *row = &comparison->rows[k];
			if (row->subject == &options->subjects[i])
				plot_add_point(series, row->nodes, figure_of(row, measure));
		}
	}
}

static struct plot *add_panel(struct figure *figure, const char *id, const char *title,
                              const char *unit)
{
	struct plot *plot = &figure->plots[figure->plots_count++];
	plot->id = id;
	plot->title = title;
	plot->y = (struct plot_axis){.title = unit, .logarithmic = true};
	return plot;
}

/* Makes the plots of messages or bytes against N, one for each load. */
static void make_costs(struct comparison_page *page, struct figure *figure, bool bytes)
{
	static const char *const ids[][2] = {
	        [LOAD_LIGHT] = {"messages-light", "bytes-light"},
	        [LOAD_HEAVY] = {"messages-heavy", "bytes-heavy"},
	        [LOAD_POISSON] = {"messages-poisson", "bytes-poisson"},
	};
	const struct compare_options *options = &page->comparison->options;
	bool asked[] = {
	        [LOAD_LIGHT] = options->light,
	        [LOAD_HEAVY] = options->heavy,
	        [LOAD_POISSON] = !options->light && !options->heavy,
	};

	if (page->ticks_count[KIND_MUTEX] < 2) {
		figure->missing = page->ticks_count[KIND_MUTEX] == 0 ? no_exclusion : one_size;
		return;
	}
	for (enum load load = LOAD_LIGHT; load <= LOAD_POISSON; load++) {
		if (!asked[load])
			continue;
		struct plot *plot =
		        add_panel(figure, ids[load][bytes], page->titles[load],
		                  bytes ? "bytes for an entry" : "messages for an entry");
		fill_by_size(page, plot, (struct measure){.load = load, .bytes = bytes});
	}
}

/* Makes the plots of delays against the rate: from request to entry, and from an exit to the
 * next entry. */
static void make_waiting(struct comparison_page *page, struct figure *figure)
{
	const struct comparison *comparison = page->comparison;
	const struct compare_options *options = &comparison->options;
	struct plot_axis rates = {
	        .title = "rate at which a node asks", .symbol = "rate", .logarithmic = true};

	if (page->ticks_count[KIND_MUTEX] == 0) {
		figure->missing = no_exclusion;
		return;
	}
	if (options->rates_nodes == 0) {
		figure->missing = "only one load was asked for";
		return;
	}
	struct plot *response =
	        add_panel(figure, "waiting-response", "From request to entry", "message delays");
	struct plot *sync = add_panel(figure, "waiting-sync", "From an exit to the next entry",
	                              "message delays");
	response->x = sync->x = rates;
	sync->y.logarithmic = false;
	for (size_t i = 0; i < options->subjects_count; i++) {
		if (options->subjects[i].algorithm->kind != KIND_MUTEX)
			continue;
		struct plot_series *responses = add_subject(page, response, i);
		struct plot_series *syncs = add_subject(page, sync, i);
		for (size_t k = 0; k < comparison->rows_count; k++) {
			const struct compare_row *row = &comparison->rows[k];
			if (row->subject != &options->subjects[i])
				continue;
			for (size_t r = 0; r < row->poisson_count; r++) {
				const struct compare_load *load = &row->poisson[r];
				if (load->messages.count == 0)
					continue;
				plot_add_point(responses, load->rate, load->response_mean);
				plot_add_point(syncs, load->rate, load->sync_mean);
			}
		}
	}
}

/* Adds the curves n log n and n^2, from the least to the greatest size. */
static void add_curves(const struct comparison_page *page, struct plot *plot)
{
	enum { STEPS = 48 };
	const double *sizes = page->ticks[KIND_ELECTION];
	double first = sizes[0], last = sizes[page->ticks_count[KIND_ELECTION] - 1];

	for (int square = 0; square < 2; square++) {
		const char *name = square ? "n²" : "n log n";
		struct plot_series *curve = plot_add_series(plot, name, name);
		curve->curve = true;
		for (int i = 0; i <= STEPS; i++) {
			double n = first * pow(last / first, (double)i / STEPS);
			if (n > 1)
				plot_add_point(curve, n, n * (square ? n : log2(n)));
		}
	}
}

static void make_elections(struct comparison_page *page, struct figure *figure)
{
	if (page->ticks_count[KIND_ELECTION] < 2) {
		figure->missing = page->ticks_count[KIND_ELECTION] == 0 ? "no election was measured"
		                                                        : one_size;
		return;
	}
	for (int most = 0; most < PANELS_MAX; most++) {
		struct plot *plot = add_panel(figure, most ? "elections-most" : "elections-mean",
		                              most ? "The most expensive arrangement that was tried"
		                                   : "Mean of random arrangements",
		                              "messages to elect");
		add_curves(page, plot);
		fill_by_size(page, plot, (struct measure){.load = LOAD_ELECTION, .most = most});
	}
}

/* Removes panels without any point. */
static void drop_empty(struct figure *figure)
{
	size_t kept = 0;

	for (size_t i = 0; i < figure->plots_count; i++) {
		if (plot_count(&figure->plots[i], true) != 0)
			figure->plots[kept++] = figure->plots[i];
		else
			plot_free(&figure->plots[i]);
	}
	if (kept == 0 && figure->plots_count != 0)
		figure->missing = "all figures are 0, or nothing was measured";
	figure->plots_count = kept;
}

void page_make(struct comparison_page *page)
{
	const struct compare_options *options = &page->comparison->options;
	char rate[HTML_NUMBER_SIZE];

	make_subjects(page);
	make_ticks(page, KIND_MUTEX);
	make_ticks(page, KIND_ELECTION);
	page->titles[LOAD_LIGHT] = "Light load: one request at a time";
	page->titles[LOAD_HEAVY] = "Heavy load: everybody always wants in";
	page->titles[LOAD_POISSON] = page->poisson_title;
	if (options->rates_count != 0)
		snprintf(page->poisson_title, sizeof(page->poisson_title),
		         "Poisson load: each node asks at a rate of %s",
		         html_number((double)options->rates[0] / MILLION, rate));
	static const struct figure blank[FIGURES] = {
	        {.kind = FIGURE_MESSAGES, .id = "messages", .title = "Messages for an entry"},
	        {.kind = FIGURE_WAITING, .id = "waiting", .title = "Delay against load"},
	        {.kind = FIGURE_BYTES, .id = "bytes", .title = "Bytes for an entry"},
	        {.kind = FIGURE_ELECTIONS, .id = "elections", .title = "Messages to elect"},
	};
	memcpy(page->figures, blank, sizeof(blank));
	make_costs(page, &page->figures[FIGURE_MESSAGES], false);
	make_waiting(page, &page->figures[FIGURE_WAITING]);
	make_costs(page, &page->figures[FIGURE_BYTES], true);
	make_elections(page, &page->figures[FIGURE_ELECTIONS]);
	for (int i = 0; i < FIGURES; i++)
		drop_empty(&page->figures[i]);
}

void page_free(struct comparison_page *page)
{
	for (int i = 0; i < FIGURES; i++) {
		for (size_t k = 0; k < page->figures[i].plots_count; k++)
			plot_free(&page->figures[i].plots[k]);
	}
	free(page->ticks[KIND_MUTEX]);
	free(page->ticks[KIND_ELECTION]);
	free(page->subjects);
}
