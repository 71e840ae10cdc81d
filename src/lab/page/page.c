/*
 * Writes the page of a comparison: a single file that needs no other, and that shows everything
 * even without its script.
 */
#include "page.h"

#include "comparison_page.h"
#include "html.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The number of nodes for the plots against load. One size is enough, because a load that keeps
 * nodes busy at one size does so at another. */
enum { RATES_NODES = 16 };

/* Returns the rate that follows in 1, 2, 5, 10, 20, 50, … */
static uint64_t next_rate(uint64_t rate)
{
	uint64_t digit = rate;
	while (digit >= 10)
		digit /= 10;
	return digit == 2 ? rate / 2 * 5 : rate * 2;
}

void page_plan_rates(struct compare_options *options, uint64_t ret_rates[PAGE_RATES])
{
	/* The rate of requests of all nodes together, in millionths, at which two requests
	 * hardly ever meet. */
	const uint64_t idle = MILLION / 50;
	uint64_t rate = 1;

	options->rates_nodes = options->nodes[0];
	for (size_t i = 0; i < options->nodes_count; i++) {
		if (options->nodes[i] <= RATES_NODES)
			options->rates_nodes = options->nodes[i];
	}
	while (next_rate(rate) * options->rates_nodes <= idle)
		rate = next_rate(rate);
	for (int i = 0; i < PAGE_RATES; i++) {
		ret_rates[i] = rate;
		rate = next_rate(rate);
	}
	options->rates = ret_rates;
	options->rates_count = PAGE_RATES;
}

static const char *title_of(const struct comparison_page *page)
{
	return page->ticks_count[KIND_ELECTION] == 0 ? "Mutual exclusion, compared"
	       : page->ticks_count[KIND_MUTEX] == 0  ? "Elections, compared"
	                                             : "Mutual exclusion and election, compared";
}

static void write_head(const struct comparison_page *page, FILE *file)
{
	fprintf(file,
	        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
	        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
	        "<title>%s</title>\n"
	        "<meta name=\"generator\" content=\"baton %s\"/>\n<style>\n",
	        title_of(page), page->version);
	html_asset("style", file);
	write_size_rules(page, file);
	fputs("</style>\n</head>\n<body>\n", file);
}

static void write_sizes(const struct comparison_page *page, enum kind kind, FILE *file)
{
	char text[HTML_NUMBER_SIZE];

	for (size_t i = 0; i < page->ticks_count[kind]; i++)
		fprintf(file, "%s%s", i == 0 ? "" : ", ", html_number(page->ticks[kind][i], text));
}

static void write_facts(const struct comparison_page *page, FILE *file)
{
	const struct compare_options *options = &page->comparison->options;

	fputs("<dl class=\"facts\">\n<dt>made by</dt><dd><code>", file);
	html_text(page->command, file);
	fprintf(file, "</code>, version %s</dd>\n", page->version);
	if (page->ticks_count[KIND_MUTEX] != 0) {
		fputs("<dt>mutual exclusion</dt><dd>", file);
		write_sizes(page, KIND_MUTEX, file);
		fprintf(file, " nodes; %" PRIu64 " entries a run", options->entries);
		fputs("</dd>\n", file);
	}
	if (page->ticks_count[KIND_ELECTION] != 0) {
		fputs("<dt>election</dt><dd>", file);
		write_sizes(page, KIND_ELECTION, file);
		fputs(" processes; increasing, decreasing, nested and random arrangements</dd>\n",
		      file);
	}
	fprintf(file, "<dt>seeds</dt><dd>%" PRIu64 " to %" PRIu64 "</dd>\n</dl>\n",
	        options->seed_first, options->seed_last);
}

static void write_header(const struct comparison_page *page, FILE *file)
{
	fprintf(file,
	        "<header>\n<h1>%s</h1>\n<p class=\"lede\">Published algorithms that let only one "
	        "of many machines act at a time. Each is implemented once, as its paper describes "
	        "it. All of them do the same work in a simulator, and the measurements stand "
	        "beside what the papers claim.</p>\n",
	        title_of(page));
	if (page->comparison->violated)
		fputs("<p class=\"alarm\"><b>Something that ought to hold does not</b>: see <a "
		      "href=\"#claims\">what is claimed</a>.</p>\n",
		      file);
	write_facts(page, file);
	fputs("<nav aria-label=\"Contents\">\n", file);
	for (int i = 0; i < FIGURES; i++) {
		if (page->figures[i].plots_count != 0)
			fprintf(file, "<a href=\"#%s\">%s</a>\n", page->figures[i].id,
			        page->figures[i].title);
	}
	if (page->ticks_count[KIND_MUTEX] != 0)
		fputs("<a href=\"#exclusion\">Table of mutual exclusion</a>\n", file);
	if (page->ticks_count[KIND_ELECTION] != 0)
		fputs("<a href=\"#election\">Table of elections</a>\n", file);
	fputs("<a href=\"#claims\">Claims</a>\n<a href=\"#terms\">Terms</a>\n</nav>\n</header>\n"
	      "<main>\n",
	      file);
}

/* Does the figure show at least one point of that subject? */
static bool has_subject(const struct figure *figure, size_t key)
{
	for (size_t i = 0; i < figure->plots_count; i++) {
		const struct plot *plot = &figure->plots[i];
		for (size_t k = 0; k < plot->series_count; k++) {
			if (!plot->series[k].curve && plot->series[k].key == key &&
			    plot->series[k].points_count != 0)
				return true;
		}
	}
	return false;
}

static void write_legend(const struct comparison_page *page, const struct figure *figure,
                         FILE *file)
{
	size_t count = page->comparison->options.subjects_count;

	fputs("<ul class=\"legend\">\n", file);
	for (const struct family *family = families; family->title != NULL; family++) {
		bool any = false;
		for (size_t i = 0; i < count; i++) {
			const struct page_subject *subject = &page->subjects[i];
			if (subject->family != family || !has_subject(figure, i))
				continue;
			if (!any)
				fprintf(file, "<li><span class=\"family\">%s:</span>\n",
				        family->title);
			any = true;
			fprintf(file, "<span class=\"item\" data-series=\"%zu\">", i);
			plot_write_mark(subject->mark, family->colour, file);
			fprintf(file, "%s</span>\n", subject->name);
		}
		fputs(any ? "</li>\n" : "", file);
	}
	fputs("</ul>\n", file);
}

static void write_network(const struct comparison_page *page, FILE *file)
{
	const char *topology = page->comparison->options.subjects[0].topology;

	if (topology == NULL) {
		fputs("Each algorithm runs on the network that suits it best, which the table "
		      "names. ",
		      file);
	} else {
		fputs("All on the topology ", file);
		html_text(topology, file);
		fputs(". ", file);
	}
	fputs("Both scales are logarithmic. ", file);
}

static void write_caption(const struct comparison_page *page, const struct figure *figure,
                          FILE *file)
{
	uint32_t nodes = page->comparison->options.rates_nodes;
	size_t hidden = 0;

	for (size_t i = 0; i < figure->plots_count; i++)
		hidden += plot_count(&figure->plots[i], false);
	fputs("<p class=\"caption\">", file);
	if (figure->kind == FIGURE_WAITING)
		fprintf(file,
		        "All runs have N = %" PRIu32
		        ", %s. A node asks again after a pause of 1/rate on average. At the left "
		        "two requests hardly ever meet; at the right every node always waits. ",
		        nodes,
		        nodes <= RATES_NODES ? "the greatest of the sizes up to 16"
		                             : "the least of the sizes");
	else if (figure->kind == FIGURE_ELECTIONS)
		fputs("All processes begin at once; messages that only announce the leader are not "
		      "counted. Both scales are logarithmic. ",
		      file);
	else
		write_network(page, file);
	if (hidden != 0)
		fprintf(file, "%zu point%s 0 and not on a logarithmic scale. ", hidden,
		        hidden == 1 ? " is" : "s are");
	fputs("Where lines coincide, their marks hide each other. To see one line, point at its "
	      "name, or click it in the legend.</p>\n",
	      file);
}

static void write_figure(const struct comparison_page *page, const struct figure *figure,
                         FILE *file)
{
	fprintf(file, "<section id=\"%s\">\n<h2>%s</h2>\n", figure->id, figure->title);
	write_legend(page, figure, file);
	fputs("<div class=\"panels\">\n", file);
	for (size_t i = 0; i < figure->plots_count; i++) {
		fprintf(file,
		        "<figure class=\"panel\"><figcaption>%s</figcaption>"
		        "<div class=\"crop\">\n",
		        figure->plots[i].title);
		plot_write(&figure->plots[i], file);
		fputs("</div>\n", file);
		write_seen(page, figure, i, file);
		fputs("</figure>\n", file);
	}
	fputs("</div>\n", file);
	write_caption(page, figure, file);
	fputs("<details class=\"numbers\"><summary>The numbers</summary>\n<div class=\"scroll\" "
	      "role=\"region\" tabindex=\"0\" aria-label=\"The numbers\">\n",
	      file);
	for (size_t i = 0; i < figure->plots_count; i++)
		plot_write_figures(&figure->plots[i], file);
	fputs("</div>\n</details>\n</section>\n", file);
}

/* Writes which figures have no plot, and which subjects could not run. */
static void write_left_out(const struct comparison_page *page, FILE *file)
{
	const struct comparison *comparison = page->comparison;
	bool any = comparison->left_out_count != 0;

	for (int i = 0; i < FIGURES; i++)
		any = any || page->figures[i].plots_count == 0;
	if (!any)
		return;
	fputs("<section id=\"left-out\">\n<h2>Left out</h2>\n<ul>\n", file);
	for (int i = 0; i < FIGURES; i++) {
		if (page->figures[i].plots_count == 0)
			fprintf(file, "<li>No plot of “%s”: %s.</li>\n", page->figures[i].title,
			        page->figures[i].missing);
	}
	for (size_t i = 0; i < comparison->left_out_count; i++) {
		char *text = compare_left_out_text(comparison, i);
		if (text == NULL)
			continue;
		fputs("<li>", file);
		html_text(text, file);
		fputs("</li>\n", file);
		free(text);
	}
	fputs("</ul>\n</section>\n", file);
}

static const char terms[] =
        "</main>\n<footer id=\"terms\">\n<h2>Terms</h2>\n<dl class=\"terms\">\n<dt>entry</dt><dd>A "
        "node enters its critical section, where it must be alone, and leaves it. The section "
        "lasts one unit of time, and a message takes one.</dd>\n<dt>light load</dt><dd>A random "
        "node asks when nobody wants in and no message is in flight. The extremes include runs in "
        "which delays vary.</dd>\n<dt>heavy load</dt><dd>Every node asks again as soon as it has "
        "left.</dd>\n<dt>Poisson load</dt><dd>After leaving, a node pauses for a random time and "
        "asks again. The time is exponentially distributed, with a mean of "
        "1/rate.</dd>\n<dt>messages</dt><dd>Messages of a node to itself do not count, and neither "
        "do hops of a circulating token while nobody wants in.</dd>\n<dt>bytes</dt><dd>The size of "
        "the encoded messages: a byte for the type, then numbers with seven bits in each "
        "byte.</dd>\n<dt>response</dt><dd>From a request to its entry, in message "
        "delays.</dd>\n<dt>sync delay</dt><dd>From an exit to the next entry, in message delays, "
        "if a node waits at that exit.</dd>\n<dt>pass, bypass</dt><dd>The most entries of others "
        "between a request and its entry.</dd>\n<dt>claimed</dt><dd>N is the number of nodes, E "
        "the number of edges, and D the diameter of the network. K and k are the most and the "
        "fewest nodes that a request concerns. log is to the base 2; H(n) = 1 + 1/2 + … + 1/n. Our "
        "own claims, which follow from the rules of an algorithm, are counted "
        "separately.</dd>\n<dt>election</dt><dd>All processes begin at once. Their numbers are "
        "arranged in increasing order, in decreasing order, nested (every second one is greater "
        "than both neighbours, and so on), and at random for each seed. Means are over the random "
        "arrangements.</dd>\n<dt>tell</dt><dd>Messages that announce the "
        "leader.</dd>\n<dt>faults</dt><dd>Nothing fails here. What lost messages, dead nodes, a "
        "cut "
        "link or a slow node lead to is a page of its own: <code>baton compare --faults --html "
        "FILE</code>.</dd>\n</dl>\n</footer>\n";

void page_write(const struct comparison *comparison, const char *command, const char *version,
                FILE *file)
{
	struct comparison_page page = {
	        .comparison = comparison, .command = command, .version = version};

	page_make(&page);
	write_head(&page, file);
	plot_write_marks(file);
	write_header(&page, file);
	for (int i = 0; i < FIGURES; i++) {
		if (page.figures[i].plots_count != 0)
			write_figure(&page, &page.figures[i], file);
	}
	write_tables(&page, file);
	write_claims(&page, file);
	write_left_out(&page, file);
	fputs(terms, file);
	fputs("<script>\n", file);
	html_asset("script", file);
	fputs("</script>\n</body>\n</html>\n", file);
	page_free(&page);
}
