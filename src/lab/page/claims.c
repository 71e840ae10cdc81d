/*
 * Writes the claims into the page: those that fail, and then for each subject all its claims beside
 * the measurements.
 */
#include "comparison_page.h"

#include "html.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *sign, *text;
} signs[] = {
        [CLAIM_HELD] = {"✓", "held"},
        [CLAIM_VIOLATED] = {"‼", "violated"},
        [CLAIM_REFUTED] = {"✗", "refuted"},
        [CLAIM_OTHER] = {"~", "another variant or construction"},
        [CLAIM_UNMEASURED] = {"?", "this run cannot tell"},
};

static const struct compare_verdict *find_verdict(const struct comparison *comparison,
                                                  const struct compare_subject *subject,
                                                  const struct paper_claim *claim, double nodes)
{
	for (size_t i = 0; i < comparison->rows_count; i++) {
		const struct compare_row *row = &comparison->rows[i];
		for (size_t k = 0;
		     row->subject == subject && row->nodes == nodes && k < row->verdicts_count;
		     k++) {
			if (row->verdicts[k].claim == claim)
				return &row->verdicts[k];
		}
	}
	return NULL;
}

static void write_verdict_cell(const struct compare_verdict *verdict, FILE *file)
{
	char measured[HTML_NUMBER_SIZE], claimed[HTML_NUMBER_SIZE];

	if (verdict == NULL) {
		fputs("<td></td>", file);
		return;
	}
	fprintf(file, "<td class=\"%s\" title=\"%s\">%s <span class=\"sign\">%s</span>",
	        verdict_name(verdict->verdict), signs[verdict->verdict].text,
	        html_number(verdict->measured, measured), signs[verdict->verdict].sign);
	fprintf(file, "<small>%s</small></td>", html_number(verdict->claimed, claimed));
}

static void write_claim(const struct comparison_page *page, const struct compare_subject *subject,
                        const struct paper_claim *claim, FILE *file)
{
	enum kind kind = subject->algorithm->kind;

	fprintf(file, "<tr><th scope=\"row\">%s</th><td class=\"text\">%s <b>",
	        quantity_text(claim->quantity), relation_text(claim->relation));
	html_text(claim->formula, file);
	fputs("</b></td><td class=\"text\">", file);
	html_text(claim->where != NULL ? claim->where : "–", file);
	fputs("</td>", file);
	for (size_t i = 0; i < page->ticks_count[kind]; i++)
		write_verdict_cell(
		        find_verdict(page->comparison, subject, claim, page->ticks[kind][i]), file);
	fputs("</tr>\n", file);
}

/* Does the claim concern the subject at any of the sizes? A claim about another kind of graph
 * does not. */
static bool is_asked(const struct comparison *comparison, const struct compare_subject *subject,
                     const struct paper_claim *claim)
{
	for (size_t i = 0; i < comparison->rows_count; i++) {
		const struct compare_row *row = &comparison->rows[i];
		for (size_t k = 0; row->subject == subject && k < row->verdicts_count; k++) {
			if (row->verdicts[k].claim == claim)
				return true;
		}
	}
	return false;
}

/* Writes counts such as "35 held, 1 known to be wrong". */
static bool write_sums(const size_t *counts, FILE *file)
{
	bool first = true;

	for (int i = CLAIM_HELD; i <= CLAIM_UNMEASURED; i++) {
		if (counts[i] == 0)
			continue;
		fprintf(file, "%s%zu %s", first ? "" : ", ", counts[i], signs[i].text);
		first = false;
	}
	return !first;
}

/* Writes counts such as "of documents: 35 held; from the rules: 4 held". */
static void write_subject_sums(const struct comparison *comparison,
                               const struct compare_subject *subject, FILE *file)
{
	static const char *const names[] = {"from the rules: ", "of documents: "};
	bool any = false;

	for (int of_documents = 1; of_documents >= 0; of_documents--) {
		size_t sums[CLAIM_UNMEASURED + 1] = {0}, counts[CLAIM_UNMEASURED + 1], all = 0;
		for (size_t i = 0; i < comparison->rows_count; i++) {
			if (comparison->rows[i].subject != subject)
				continue;
			compare_count(&comparison->rows[i], of_documents, counts);
			for (int k = CLAIM_HELD; k <= CLAIM_UNMEASURED; k++) {
				sums[k] += counts[k];
				all += counts[k];
			}
		}
		if (all != 0)
			fprintf(file, "%s%s", any ? "; " : "", names[of_documents]);
		any = write_sums(sums, file) || any;
	}
	if (!any)
		fputs("no claim", file);
}

/* Writes the claims of documents, or those that follow from the rules, under a heading of their
 * own. */
static void write_claims_of(const struct comparison_page *page,
                            const struct compare_subject *subject, bool of_documents, FILE *file)
{
	size_t columns = 3 + page->ticks_count[subject->algorithm->kind];
	bool any = false;

	for (const struct paper_claim *claim = claims; claim->algorithm != NULL; claim++) {
		if ((claim->where != NULL) != of_documents ||
		    !is_asked(page->comparison, subject, claim))
			continue;
		if (!any)
			fprintf(file,
			        "<tbody>\n<tr class=\"origin\"><th scope=\"rowgroup\" "
			        "colspan=\"%zu\">%s</th></tr>\n",
			        columns,
			        of_documents ? "claimed by documents"
			                     : "our own claims, which follow from the rules");
		any = true;
		write_claim(page, subject, claim, file);
	}
	fputs(any ? "</tbody>\n" : "", file);
}

static void write_subject(const struct comparison_page *page, size_t key, FILE *file)
{
	const struct compare_subject *subject = &page->comparison->options.subjects[key];
	const struct page_subject *look = &page->subjects[key];
	enum kind kind = subject->algorithm->kind;
	char text[HTML_NUMBER_SIZE];

	if (page->ticks_count[kind] == 0)
		return;
	fprintf(file, "<details data-series=\"%zu\"><summary>", key);
	plot_write_mark(look->mark, look->family->colour, file);
	fprintf(file, "<b>%s</b> ", look->name);
	write_subject_sums(page->comparison, subject, file);
	fprintf(file, "</summary>\n<p id=\"claims-%zu\">", key);
	html_text(subject->algorithm->title, file);
	fprintf(file,
	        ", %u.</p>\n<div class=\"scroll\" role=\"region\" tabindex=\"0\" "
	        "aria-label=\"%s: claims\">\n<table class=\"claims\"><thead><tr>"
	        "<th scope=\"col\">what</th><th scope=\"col\">claimed</th>"
	        "<th scope=\"col\">where</th>",
	        subject->algorithm->year, look->name);
	for (size_t i = 0; i < page->ticks_count[kind]; i++)
		fprintf(file, "<th scope=\"col\">%s = %s</th>", kind == KIND_MUTEX ? "N" : "n",
		        html_number(page->ticks[kind][i], text));
	fputs("</tr></thead>\n", file);
	write_claims_of(page, subject, true, file);
	write_claims_of(page, subject, false, file);
	fputs("</table>\n</div>\n</details>\n", file);
}

/* Writes the claims that failed with one verdict, each once. */
static void write_failures(const struct comparison *comparison, enum claim_verdict kind,
                           const char *title, FILE *file)
{
	bool any = false;

	for (size_t i = 0; i < comparison->rows_count; i++) {
		for (size_t k = 0; k < comparison->rows[i].verdicts_count; k++) {
			if (comparison->rows[i].verdicts[k].verdict != kind)
				continue;
			char *text = compare_failure_text(comparison, i, k);
			if (text == NULL)
				continue;
			if (!any)
				fprintf(file, "<h3>%s</h3>\n<ul class=\"%s\">\n", title,
				        verdict_name(kind));
			any = true;
			fprintf(file, "<li><b>%.*s</b>", (int)strcspn(text, ","), text);
			html_text(text + strcspn(text, ","), file);
			fputs("</li>\n", file);
			free(text);
		}
	}
	fputs(any ? "</ul>\n" : "", file);
}

static void write_violations(const struct comparison *comparison, FILE *file)
{
	for (size_t i = 0; i < comparison->rows_count; i++) {
		const struct compare_row *row = &comparison->rows[i];
		if (row->violation == NULL)
			continue;
		fprintf(file, "<p class=\"violated\"><b>%s of %" PRIu32 " nodes: VIOLATED:</b> ",
		        row->subject->algorithm->name, row->nodes);
		html_text(row->violation, file);
		fputs("</p>\n", file);
	}
}

void write_claims(const struct comparison_page *page, FILE *file)
{
	const struct comparison *comparison = page->comparison;
	size_t documents[CLAIM_UNMEASURED + 1];

	for (int i = CLAIM_HELD; i <= CLAIM_UNMEASURED; i++)
		documents[i] = comparison->verdict_counts[i] - comparison->rule_counts[i];
	fputs("<section id=\"claims\">\n<h2>What is claimed, and whether it held</h2>\n"
	      "<p>Claims of documents: ",
	      file);
	write_sums(documents, file);
	fputs(". Our own claims, which follow from the rules of the algorithms: ", file);
	write_sums(comparison->rule_counts, file);
	fputs(". A claim counts once for each size.</p>\n", file);
	write_violations(comparison, file);
	write_failures(comparison, CLAIM_VIOLATED, "Violated, although these ought to hold", file);
	write_failures(comparison, CLAIM_REFUTED, "Refuted", file);
	write_failures(comparison, CLAIM_OTHER, "Of another variant or construction", file);
	fputs("<h3>All claims</h3>\n<p>A cell has the measured value and, <small>below it, the "
	      "claimed value for that size</small>.</p>\n",
	      file);
	for (size_t i = 0; i < comparison->options.subjects_count; i++)
		write_subject(page, i, file);
	fputs("</section>\n", file);
}
