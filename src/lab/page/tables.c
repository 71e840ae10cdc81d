/*
 * Writes the tables of the page. They have the columns of the table in the terminal: measurements
 * and claims.
 */
#include "comparison_page.h"

#include "html.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HEADS_MAX = 16 };

struct column_head {
	/* A heading over this and the following columns; NULL: the group goes on. */
	const char *group;
	const char *name, *about;
	bool text; /* the column has text, not numbers */
};

struct heads {
	struct column_head list[HEADS_MAX];
	size_t count;
};

static void add_head(struct heads *heads, const char *group, const char *name, const char *about)
{
	must(heads->count < HEADS_MAX);
	heads->list[heads->count++] = (struct column_head){group, name, about, false};
}

static void add_load_heads(struct heads *heads, const char *group)
{
	add_head(heads, group, "mean", "messages for an entry, mean");
	add_head(heads, NULL, "bytes", "bytes for an entry, mean");
	add_head(heads, NULL, "sync", "message delays from an exit to the next entry, mean");
	add_head(heads, NULL, "pass", "most entries of others between a request and its entry");
}

static void add_claim_heads(struct heads *heads)
{
	add_head(heads, "claimed", "messages",
	         "messages for an entry or an election, as published");
	heads->list[heads->count - 1].text = true;
	add_head(heads, NULL, "held",
	         "claims of documents that held, of those that could be judged");
	add_head(heads, NULL, "rules", "the same for our own claims, which follow from the rules");
	add_head(heads, "bytes in", "node", "bytes of state of a node, mean");
}

static void add_mutex_heads(struct heads *heads, const struct compare_options *options)
{
	if (options->light) {
		add_head(heads, "light load", "mean", "messages for an entry, mean");
		add_head(heads, NULL, "min–max", "fewest and most messages for an entry");
	}
	if (options->light && !options->heavy) {
		add_head(heads, NULL, "bytes", "bytes for an entry, mean");
		add_head(heads, NULL, "response", "message delays from request to entry, mean");
	}
	if (options->heavy)
		add_load_heads(heads, "heavy load");
	if (!options->light && !options->heavy) {
		add_load_heads(heads, "poisson load");
		add_head(heads, NULL, "response", "message delays from request to entry, mean");
	}
	add_claim_heads(heads);
	add_head(heads, NULL, "token", "bytes of the largest token");
}

static void add_election_heads(struct heads *heads)
{
	add_head(heads, "messages, all begin", "mean", "mean of random arrangements");
	add_head(heads, NULL, "min–max", "fewest and most over all arrangements that were tried");
	add_head(heads, NULL, "/n", "mean, divided by n");
	add_head(heads, NULL, "/n log n", "mean, divided by n log n");
	add_head(heads, NULL, "tell", "messages that announce the leader");
	add_claim_heads(heads);
}

static void write_heads(const struct heads *heads, FILE *file)
{
	fputs("<thead>\n<tr class=\"groups\">", file);
	for (size_t i = 0; i < heads->count;) {
		size_t end = i + 1;
		while (end < heads->count && heads->list[end].group == NULL)
			end++;
		fprintf(file, "<th colspan=\"%zu\" scope=\"colgroup\">%s</th>", end - i,
		        heads->list[i].group);
		i = end;
	}
	fputs("</tr>\n<tr class=\"heads\">", file);
	for (size_t i = 0; i < heads->count; i++)
		fprintf(file, "<th scope=\"col\" class=\"%s\" title=\"%s\">%s</th>",
		        heads->list[i].text ? "text" : "number", heads->list[i].about,
		        heads->list[i].name);
	fputs("</tr>\n</thead>\n", file);
}

static void write_number_cell(double number, FILE *file)
{
	char text[HTML_NUMBER_SIZE];

	if (isnan(number))
		fputs("<td>–</td>", file);
	else
		fprintf(file, "<td data-v=\"%.10g\">%s</td>", number, html_number(number, text));
}

/* Writes a range. When the table is sorted, the range counts as its greater end. */
static void write_range_cell(struct range range, FILE *file)
{
	if (range.min > range.max)
		fputs("<td>–</td>", file);
	else if (range.min == range.max)
		fprintf(file, "<td data-v=\"%" PRIu64 "\">%" PRIu64 "</td>", range.max, range.max);
	else
		fprintf(file, "<td data-v=\"%" PRIu64 "\">%" PRIu64 "–%" PRIu64 "</td>", range.max,
		        range.min, range.max);
}

static size_t key_of(const struct comparison_page *page, const struct compare_row *row)
{
	return (size_t)(row->subject - page->comparison->options.subjects);
}

static void write_held_cell(const struct comparison_page *page, const struct compare_row *row,
                            bool of_documents, FILE *file)
{
	size_t counts[CLAIM_UNMEASURED + 1];

	compare_count(row, of_documents, counts);
	size_t held = counts[CLAIM_HELD],
	       judged = held + counts[CLAIM_REFUTED] + counts[CLAIM_VIOLATED];
	bool bad = counts[CLAIM_VIOLATED] != 0 || (of_documents && row->violation != NULL);
	fprintf(file, "<td class=\"%s\" data-v=\"%.6f\">", bad ? "violated" : "held",
	        judged != 0 ? (double)held / (double)judged : 0);
	if (judged == 0 && !bad)
		fputs("–</td>", file);
	else
		fprintf(file, "<a href=\"#claims-%zu\">%zu/%zu%s</a></td>", key_of(page, row), held,
		        judged,
		        bad             ? "!"
		        : held < judged ? "*"
		                        : "");
}

static void write_claim_cells(const struct comparison_page *page, const struct compare_row *row,
                              FILE *file)
{
	const struct headline *headline =
	        headline_of(row->subject->algorithm, row->subject->parameter);

	fputs("<td class=\"text\">", file);
	if (headline != NULL) {
		html_text(headline->text, file);
		fputs("<small>", file);
		html_text(headline->where, file);
		fputs("</small>", file);
	} else {
		fputs("–<small>by no document</small>", file);
	}
	fputs("</td>", file);
	write_held_cell(page, row, true, file);
	write_held_cell(page, row, false, file);
	write_number_cell(row->state_mean, file);
}

/* Writes a number that was measured under a load, or "–" if nobody entered. */
static void write_load_cell(const struct compare_load *load, double figure, FILE *file)
{
	write_number_cell(load->messages.count != 0 ? figure : NAN, file);
}

static void write_load_cells(const struct compare_load *load, FILE *file)
{
	write_load_cell(load, load->messages.mean, file);
	write_load_cell(load, load->bytes, file);
	write_load_cell(load, load->sync_mean, file);
	write_load_cell(load, (double)load->bypass_max, file);
}

static void write_mutex_cells(const struct comparison_page *page, const struct compare_row *row,
                              FILE *file)
{
	const struct compare_options *options = &page->comparison->options;

	if (options->light) {
		write_load_cell(&row->light, row->light.messages.mean, file);
		write_range_cell(row->light.entry.all, file);
	}
	if (options->light && !options->heavy) {
		write_load_cell(&row->light, row->light.bytes, file);
		write_load_cell(&row->light, row->light.response_mean, file);
	}
	if (options->heavy)
		write_load_cells(&row->heavy, file);
	if (!options->light && !options->heavy) {
		write_load_cells(row->poisson, file);
		write_load_cell(row->poisson, row->poisson->response_mean, file);
	}
	write_claim_cells(page, row, file);
	write_number_cell(row->token_bytes != 0 ? (double)row->token_bytes : NAN, file);
}

static void write_election_cells(const struct comparison_page *page, const struct compare_row *row,
                                 FILE *file)
{
	double nodes = row->nodes, mean = row->all.messages.mean;

	write_number_cell(mean, file);
	write_range_cell(row->all.messages_range, file);
	write_number_cell(mean / nodes, file);
	write_number_cell(row->nodes > 1 ? mean / (nodes * log2(nodes)) : NAN, file);
	write_range_cell(row->all.announcement, file);
	write_claim_cells(page, row, file);
}

static void write_row(const struct comparison_page *page, const struct compare_row *row, FILE *file)
{
	size_t key = key_of(page, row);
	const struct page_subject *subject = &page->subjects[key];

	fprintf(file, "<tr data-series=\"%zu\" data-n=\"%" PRIu32 "\"><th scope=\"row\">", key,
	        row->nodes);
	plot_write_mark(subject->mark, subject->family->colour, file);
	fprintf(file, "%s</th><td data-v=\"%" PRIu32 "\">%" PRIu32 "</td><td class=\"text\">",
	        subject->name, row->nodes, row->nodes);
	html_text(row->topology, file);
	fputs("</td>", file);
	if (row->subject->algorithm->kind == KIND_MUTEX)
		write_mutex_cells(page, row, file);
	else
		write_election_cells(page, row, file);
	fputs("</tr>\n", file);
}

static const char *const kind_ids[] = {[KIND_MUTEX] = "exclusion", [KIND_ELECTION] = "election"};

/* Returns the size that is shown first: the one that the rates are measured at, or the largest. */
static double shown_size(const struct comparison_page *page, enum kind kind)
{
	double rates = page->comparison->options.rates_nodes;

	for (size_t i = 0; i < page->ticks_count[kind]; i++) {
		if (page->ticks[kind][i] == rates)
			return rates;
	}
	return page->ticks[kind][page->ticks_count[kind] - 1];
}

void write_size_rules(const struct comparison_page *page, FILE *file)
{
	fputs("@media screen{\n", file);
	for (int kind = KIND_MUTEX; kind <= KIND_ELECTION; kind++) {
		for (size_t i = 0; i < page->ticks_count[kind]; i++)
			fprintf(file,
			        "#%s-%.0f:checked~.scroll tr[data-n]:not([data-n=\"%.0f\"])"
			        "{display:none}\n",
			        kind_ids[kind], page->ticks[kind][i], page->ticks[kind][i]);
	}
	fputs("}\n", file);
}

static void write_size(const char *id, const char *size, bool checked, FILE *file)
{
	fprintf(file,
	        "<input type=\"radio\" name=\"%s\" id=\"%s-%s\"%s/><label "
	        "for=\"%s-%s\">%s</label>\n",
	        id, id, size, checked ? " checked=\"checked\"" : "", id, size, size);
}

static void write_table(const struct comparison_page *page, enum kind kind, FILE *file)
{
	const struct comparison *comparison = page->comparison;
	const char *id = kind_ids[kind];
	const char *title = kind == KIND_MUTEX ? "Mutual exclusion" : "Election";
	struct heads heads = {.count = 0};
	char text[HTML_NUMBER_SIZE];

	if (page->ticks_count[kind] == 0)
		return;
	fprintf(file,
	        "<section id=\"%s\">\n<h2>%s: the table</h2>\n<div class=\"sized\">"
	        "<span class=\"what\">%s</span>\n",
	        id, title, kind == KIND_MUTEX ? "Nodes" : "Processes");
	for (size_t i = 0; i < page->ticks_count[kind]; i++)
		write_size(id, html_number(page->ticks[kind][i], text),
		           page->ticks[kind][i] == shown_size(page, kind), file);
	write_size(id, "all", false, file);
	fprintf(file,
	        "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"%s: the "
	        "table\">\n"
	        "<table class=\"sortable\">\n",
	        title);
	add_head(&heads, "", title, "algorithm");
	add_head(&heads, NULL, kind == KIND_MUTEX ? "N" : "n",
	         kind == KIND_MUTEX ? "nodes" : "processes");
	add_head(&heads, NULL, "topology", "the network");
	heads.list[0].text = heads.list[heads.count - 1].text = true;
	if (kind == KIND_MUTEX)
		add_mutex_heads(&heads, &comparison->options);
	else
		add_election_heads(&heads);
	write_heads(&heads, file);
	fputs("<tbody>\n", file);
	for (size_t i = 0; i < comparison->rows_count; i++) {
		if (comparison->rows[i].subject->algorithm->kind == kind)
			write_row(page, &comparison->rows[i], file);
	}
	fputs("</tbody>\n</table>\n</div>\n</div>\n</section>\n", file);
}

void write_tables(const struct comparison_page *page, FILE *file)
{
	write_table(page, KIND_MUTEX, file);
	write_table(page, KIND_ELECTION, file);
}
