/*
 * Draws the fault table. An outcome has a colour, a shape and its words. Readers who confuse red
 * and green can tell the colours apart. A worse outcome has a darker colour, so that outcomes can
 * be told apart in black and white too.
 */
#include "fault_page.h"
#include "html.h"

/* Lengths in the picture. */
enum {
	MARGIN = 16,
	NAME_WIDTH = 158,
	NETWORK_WIDTH = 74,
	CELL_WIDTH = 106,
	CELL_HEIGHT = 32,
	CELL_GAP = 2,
	TITLE_HEIGHT = 40,
	HEAD_HEIGHT = 52,
	LEGEND_HEIGHT = 74,
};

static const char ink[] = "#16191f", soft[] = "#5f6673", paper[] = "#fcfbf8", rule[] = "#d6d2c8";

/* In dark mode a browser replaces these colours. Other programs show the attributes as they are.
 * The selectors name the picture, because it may be part of a page. */
static const char dark[] =
        "<style>@media (prefers-color-scheme:dark){"
        "svg.faults [fill=\"#fcfbf8\"],svg.faults rect[fill=\"#ffffff\"]{fill:#0e1115}"
        "svg.faults [fill=\"#16191f\"]{fill:#eceef1}svg.faults [stroke=\"#16191f\"]{stroke:#eceef1}"
        "svg.faults [fill=\"#5f6673\"]{fill:#98a1ae}svg.faults [stroke=\"#d6d2c8\"]{stroke:#2a323c}"
        "svg.faults rect[fill=\"#e3f1fb\"]{fill:#14222e}svg.faults "
        "rect[fill=\"#c6e1f4\"]{fill:#1b3a52}"
        "svg.faults rect[fill=\"#a5d0ee\"]{fill:#235278}svg.faults "
        "rect[fill=\"#eda849\"]{fill:#6b4300}"
        "svg.faults rect[fill=\"#16191f\"]{fill:#000000;stroke:#eceef1}}</style>\n";

/* The shape that is drawn beside the words of an outcome. */
enum shape { SHAPE_NONE, SHAPE_RING, SHAPE_WEDGE, SHAPE_HALF, SHAPE_DISC, SHAPE_CROSS };

static const struct look {
	const char *fill, *text;
	enum shape shape;
	bool full; /* a wedge is filled */
} looks[] = {
        [OUTCOME_ABSENT] = {"none", "#5f6673", SHAPE_NONE, false},
        [OUTCOME_UNNOTICED] = {"#e3f1fb", "#16191f", SHAPE_RING, false},
        [OUTCOME_ONE_SLOWER] = {"#c6e1f4", "#16191f", SHAPE_WEDGE, false},
        [OUTCOME_ALL_SLOWER] = {"#a5d0ee", "#16191f", SHAPE_WEDGE, true},
        [OUTCOME_ONE_WAITS] = {"#eda849", "#16191f", SHAPE_HALF, false},
        [OUTCOME_ALL_WAIT] = {"#a84a00", "#ffffff", SHAPE_DISC, false},
        [OUTCOME_TWO_INSIDE] = {"#16191f", "#ffffff", SHAPE_CROSS, false},
        [OUTCOME_UNDECIDED] = {"#ffffff", "#5f6673", SHAPE_NONE, false},
};

/* The words above some columns. */
static const struct {
	enum fault_column first, last;
	const char *text;
} groups[] = {
        {COLUMN_REQUEST, COLUMN_TOKEN, "one message is lost"},
        {COLUMN_HOLDER, COLUMN_BYSTANDER, "one node dies"},
        {COLUMN_LINK, COLUMN_LINK, "one link is cut"},
        {COLUMN_SLOW, COLUMN_SLOW, "one is slow"},
};

static const char *short_name(enum fault_column column)
{
	static const char *const names[] = {
	        [COLUMN_REQUEST] = "request",     [COLUMN_ANSWER] = "answer",
	        [COLUMN_TOKEN] = "token",         [COLUMN_HOLDER] = "holder",
	        [COLUMN_BYSTANDER] = "bystander", [COLUMN_LINK] = "any link",
	        [COLUMN_SLOW] = "bystander",
	};
	return names[column];
}

static void write_words(double x, double y, const char *colour, const char *more, const char *text,
                        FILE *file)
{
	fprintf(file, "<text x=\"%g\" y=\"%g\" fill=\"%s\"%s>", x, y, colour, more);
	html_text(text, file);
	fputs("</text>\n", file);
}

static void write_shape(enum shape shape, bool full, double x, double y, const char *colour,
                        FILE *file)
{
	switch (shape) {
	case SHAPE_NONE:
		return;
	case SHAPE_RING:
	case SHAPE_HALF:
	case SHAPE_DISC:
		fprintf(file,
		        "<circle cx=\"%g\" cy=\"%g\" r=\"4.5\" fill=\"%s\" stroke=\"%s\" "
		        "stroke-width=\"1.4\"/>",
		        x, y, shape == SHAPE_DISC ? colour : "none", colour);
		if (shape == SHAPE_HALF)
			fprintf(file, "<path d=\"M%g %gv9a4.5 4.5 0 0 1 0-9z\" fill=\"%s\"/>", x,
			        y - 4.5, colour);
		break;
	case SHAPE_WEDGE:
		fprintf(file,
		        "<path d=\"M%g %gl8 4.5l-8 4.5z\" fill=\"%s\" stroke=\"%s\" "
		        "stroke-width=\"1.4\" stroke-linejoin=\"round\"/>",
		        x - 4, y - 4.5, full ? colour : "none", colour);
		break;
	case SHAPE_CROSS:
		fprintf(file,
		        "<path d=\"M%g %gl8 8m0 -8l-8 8\" stroke=\"%s\" stroke-width=\"2\" "
		        "fill=\"none\"/>",
		        x - 4, y - 4, colour);
		break;
	}
}

static double column_x(uint32_t column)
{
	return MARGIN + NAME_WIDTH + NETWORK_WIDTH + (double)column * CELL_WIDTH;
}

static void write_cell(const struct fault_cell *cell, double x, double y, FILE *file)
{
	const struct look *look = &looks[cell->outcome];
	bool slower = cell->outcome == OUTCOME_ONE_SLOWER || cell->outcome == OUTCOME_ALL_SLOWER;
	double middle = y + CELL_HEIGHT / 2.0;
	char text[64];

	if (cell->outcome == OUTCOME_ABSENT) {
		write_words(x + CELL_WIDTH / 2.0, middle + 4, soft, " text-anchor=\"middle\"", "–",
		            file);
		return;
	}
	fputs("<g class=\"cell\"><title>", file);
	html_text(cell->command, file);
	fprintf(file,
	        "</title><rect x=\"%g\" y=\"%g\" width=\"%d\" height=\"%d\" rx=\"3\" "
	        "fill=\"%s\"/>",
	        x, y, CELL_WIDTH - CELL_GAP, CELL_HEIGHT - CELL_GAP, look->fill);
	write_shape(look->shape, look->full, x + 13, middle - CELL_GAP / 2.0, look->text, file);
	snprintf(text, sizeof(text), "%s%s", fault_outcome_name(cell->outcome),
	         cell->entries == 1 ? " *" : "");
	write_words(x + 24, slower ? middle - 2 : middle + 3, look->text, "", text, file);
	if (slower) {
		char before[HTML_NUMBER_SIZE], after[HTML_NUMBER_SIZE];
		snprintf(text, sizeof(text), "%s → %s", html_number(cell->response_before, before),
		         html_number(cell->response, after));
		write_words(x + 24, middle + 10, look->text, " font-size=\"10\"", text, file);
	}
	fputs("</g>\n", file);
}

static void write_heads(FILE *file)
{
	const char *bold = " font-weight=\"600\"";

	write_words(MARGIN, TITLE_HEIGHT + HEAD_HEIGHT - 10, ink, bold, "algorithm", file);
	write_words(MARGIN + NAME_WIDTH, TITLE_HEIGHT + HEAD_HEIGHT - 10, ink, bold, "network",
	            file);
	for (uint32_t k = 0; k < COLUMNS_COUNT; k++)
		write_words(column_x(k) + 4, TITLE_HEIGHT + HEAD_HEIGHT - 10, ink, bold,
		            short_name((enum fault_column)k), file);
	for (size_t i = 0; i < sizeof(groups) / sizeof(*groups); i++) {
		double from = column_x(groups[i].first), to = column_x(groups[i].last) + CELL_WIDTH;
		write_words(from + 4, TITLE_HEIGHT + 18, soft, "", groups[i].text, file);
		fprintf(file, "<path d=\"M%g %dH%g\" stroke=\"%s\"/>\n", from, TITLE_HEIGHT + 25,
		        to - CELL_GAP - 2, rule);
	}
}

static void write_legend(const struct fault_table *table, double y, FILE *file)
{
	static const struct {
		enum fault_outcome outcome;
		const char *text;
	} items[] = {
	        {OUTCOME_UNNOTICED, "unnoticed"},        {OUTCOME_ONE_SLOWER, "one waits longer"},
	        {OUTCOME_ALL_SLOWER, "all wait longer"}, {OUTCOME_ONE_WAITS, "one waits for ever"},
	        {OUTCOME_ALL_WAIT, "all wait for ever"}, {OUTCOME_TWO_INSIDE, "two inside at once"},
	};
	char text[320];

	for (size_t i = 0; i < sizeof(items) / sizeof(*items); i++) {
		const struct look *look = &looks[items[i].outcome];
		double x = MARGIN + (double)i * 160;
		fprintf(file,
		        "<rect x=\"%g\" y=\"%g\" width=\"22\" height=\"18\" rx=\"3\" "
		        "fill=\"%s\"/>",
		        x, y, look->fill);
		write_shape(look->shape, look->full, x + 11, y + 9, look->text, file);
		write_words(x + 28, y + 13, ink, "", items[i].text, file);
	}
	snprintf(
	        text, sizeof(text),
	        "The worst that one such fault can lead to, at any moment of any schedule, with %u "
	        "nodes that enter up to twice each%s. –: there is no such message.",
	        table->nodes, table->fewer ? " (*: once)" : "");
	write_words(MARGIN, y + 38, soft, "", text, file);
	write_words(
	        MARGIN, y + 54, soft, "",
	        "Slow: what it sends takes ten times as long. The numbers are the mean wait of the "
	        "others without and with it, in message delays.",
	        file);
}

void fault_figure_write(const struct fault_table *table, FILE *file)
{
	double width = column_x(COLUMNS_COUNT) + MARGIN, top = TITLE_HEIGHT + HEAD_HEIGHT;
	double height = top + (double)table->rows_count * CELL_HEIGHT + LEGEND_HEIGHT + MARGIN;

	fprintf(file,
	        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"faults\" role=\"img\" "
	        "viewBox=\"0 0 %g %g\" width=\"%g\" height=\"%g\" font-family=\"system-ui, "
	        "sans-serif\" font-size=\"12\">\n<title>What each algorithm survives</title>\n"
	        "<rect width=\"%g\" height=\"%g\" fill=\"%s\"/>\n",
	        width, height, width, height, width, height, paper);
	fputs(dark, file);
	write_words(MARGIN, 28, ink, " font-size=\"16\" font-weight=\"600\"",
	            "What each algorithm survives", file);
	write_heads(file);
	for (size_t i = 0; i < table->rows_count; i++) {
		const struct fault_row *row = &table->rows[i];
		double y = top + (double)i * CELL_HEIGHT;
		write_words(MARGIN, y + CELL_HEIGHT / 2.0 + 4, ink, "", row->algorithm->name, file);
		write_words(MARGIN + NAME_WIDTH, y + CELL_HEIGHT / 2.0 + 4, soft, "", row->topology,
		            file);
		for (uint32_t k = 0; k < COLUMNS_COUNT; k++)
			write_cell(&row->cells[k], column_x(k), y, file);
	}
	write_legend(table, top + (double)table->rows_count * CELL_HEIGHT + 14, file);
	fputs("</svg>\n", file);
}
