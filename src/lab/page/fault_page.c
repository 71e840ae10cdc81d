#include "fault_page.h"

#include "html.h"

static void write_head(const char *command, const char *version, FILE *file)
{
	fprintf(file,
	        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
	        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
	        "<title>What each algorithm survives</title>\n"
	        "<meta name=\"generator\" content=\"baton %s\"/>\n<style>\n",
	        version);
	html_asset("style", file);
	fputs("</style>\n</head>\n<body>\n<header>\n<h1>What each algorithm survives</h1>\n"
	      "<p class=\"lede\">Suzuki and Kasami ask that algorithms be compared by their "
	      "robustness to failures of nodes and links. A checker tries one fault at every "
	      "moment "
	      "of every schedule of a small system, and keeps the worst that can come of it.</p>\n"
	      "<dl class=\"facts\">\n<dt>made by</dt><dd><code>",
	      file);
	html_text(command, file);
	fprintf(file, "</code>, version %s</dd>\n</dl>\n</header>\n<main>\n", version);
}

static void write_commands(const struct fault_table *table, FILE *file)
{
	fputs("<section id=\"commands\">\n<h2>The command that shows each cell</h2>\n"
	      "<p><code>baton check</code> exits with 1 where somebody waits for ever, and prints "
	      "the "
	      "shortest schedule; with <code>--trace FILE.scn</code> it writes it for <code>baton "
	      "replay</code>. <code>baton sim --slow</code> says who waits longer.</p>\n"
	      "<div class=\"scroll\" role=\"region\" tabindex=\"0\" "
	      "aria-label=\"Commands\">\n<table class=\"commands\">\n<thead><tr>"
	      "<th scope=\"col\" class=\"text\">algorithm</th><th scope=\"col\" "
	      "class=\"text\">fault</th><th scope=\"col\" class=\"text\">worst</th>"
	      "<th scope=\"col\" class=\"text\">command</th></tr></thead>\n<tbody>\n",
	      file);
	for (size_t i = 0; i < table->rows_count; i++) {
		const struct fault_row *row = &table->rows[i];
		for (uint32_t k = 0; k < COLUMNS_COUNT; k++) {
			const struct fault_cell *cell = &row->cells[k];
			if (cell->outcome == OUTCOME_ABSENT)
				continue;
			fprintf(file,
			        "<tr><th scope=\"row\">%s</th><td class=\"text\">%s</td>"
			        "<td class=\"text\">%s</td><td class=\"text\"><code>",
			        row->algorithm->name, fault_column_name((enum fault_column)k),
			        fault_outcome_name(cell->outcome));
			html_text(cell->command, file);
			fputs("</code></td></tr>\n", file);
		}
	}
	fputs("</tbody>\n</table>\n</div>\n</section>\n", file);
}

static const char words[] =
        "<footer id=\"terms\">\n<h2>Terms</h2>\n<dl class=\"terms\">\n"
        "<dt>unnoticed</dt><dd>Every node that asks and does not crash enters, one at a "
        "time.</dd>\n"
        "<dt>one waits</dt><dd>At least one node waits for ever, but in no schedule do "
        "all.</dd>\n"
        "<dt>all wait</dt><dd>There is a schedule after which nothing can happen, and every node "
        "that has not crashed waits.</dd>\n"
        "<dt>two inside</dt><dd>Two nodes are inside at once. A node that has crashed does not "
        "count as inside or waiting.</dd>\n"
        "<dt>not decided</dt><dd>A limit was reached before every schedule was tried, and nothing "
        "was found until then.</dd>\n"
        "<dt>holder</dt><dd>A node that is inside or has the token.</dd>\n"
        "<dt>bystander</dt><dd>A node that neither waits nor is inside, and does not have the "
        "token.</dd>\n"
        "<dt>slow</dt><dd>What a bystander sends takes ten times as long. Each node is tried; the "
        "others ask one at a time or, if that harms more of them, again and again. One slower: at "
        "least one of them waits longer on average than without the slow node, but not "
        "all.</dd>\n"
        "<dt>request, answer, token</dt><dd>A message that asks, one that permits without the "
        "token, one that carries the token.</dd>\n</dl>\n</footer>\n";

void fault_page_write(const struct fault_table *table, const char *command, const char *version,
                      FILE *file)
{
	write_head(command, version, file);
	fputs("<figure class=\"wide scroll\" tabindex=\"0\">\n", file);
	fault_figure_write(table, file);
	fputs("<figcaption class=\"caption\">Point at a cell to see the command that shows it; "
	      "they "
	      "are listed below, too.</figcaption>\n</figure>\n",
	      file);
	write_commands(table, file);
	fputs("</main>\n", file);
	fputs(words, file);
	fputs("</body>\n</html>\n", file);
}
