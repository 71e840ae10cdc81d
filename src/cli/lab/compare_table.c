#include "compare_table.h"
#include "memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CELLS_MAX = 16 };

struct column {
	const char *group; /* a heading over this and the following columns, or NULL */
	const char *head;
	bool left; /* the text is aligned to the left; numbers are to the right */
	int width;
};

/* A table of text cells, row by row. A row that has only its first cell is a heading. */
struct text_table {
	struct column columns[CELLS_MAX];
	int columns_count;
	char (*rows)[CELLS_MAX][FITTED_SIZE];
	bool *bad; /* which rows are highlighted */
	size_t rows_count;
	bool colour;
	bool topologies; /* the rows have different topologies, so there is a column for them */
};

int text_width(const char *text)
{
	int width = 0;
	for (; *text != '\0'; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

char *number_text(double number, int width, char text[16])
{
	static const char units[] = " kMGTP";
	int unit = 0, decimals;

	if (isnan(number)) {
		memcpy(text, "-", 2);
		return text;
	}
	for (; units[unit + 1] != '\0'; unit++) {
		if (snprintf(text, 16, "%.0f", number) <= width - (unit != 0))
			break;
		number /= 1000;
	}
	decimals = number == floor(number) && unit == 0 ? 0 : 3;
	while (snprintf(text, 16, "%.*f%.*s", decimals, number, unit != 0, units + unit) > width &&
	       decimals > 0)
		decimals--;
	return text;
}

static bool may_colour(void)
{
	const char *no_colour = getenv("NO_COLOR"), *terminal = getenv("TERM");

	return isatty(STDOUT_FILENO) && (no_colour == NULL || *no_colour == '\0') &&
	       terminal != NULL && strcmp(terminal, "dumb") != 0;
}

char *fit_text(const char *text, int width, char ret_text[FITTED_SIZE])
{
	int left = text_width(text) > width ? width - 1 : width;
	size_t used = 0;

	must((size_t)width * 4 < FITTED_SIZE);
	while (*text != '\0' && left > 0) {
		do {
			ret_text[used++] = *text++;
		} while (((unsigned char)*text & 0xc0) == 0x80);
		left--;
	}
	snprintf(ret_text + used, FITTED_SIZE - used, "%s", *text != '\0' ? "…" : "");
	return ret_text;
}

static void set_text(struct text_table *table, int column, int width, const char *text)
{
	fit_text(text, width, table->rows[table->rows_count][column]);
}

static void set_number(struct text_table *table, int column, int width, double number)
{
	char text[16];
	set_text(table, column, width, number_text(number, width, text));
}

/* Writes a range; only one number if both ends are the same. */
static void set_range(struct text_table *table, int column, struct range range)
{
	enum { EACH = 4 };
	char least[16], most[16], both[64];

	number_text(range.min > range.max ? NAN : (double)range.min, EACH, least);
	number_text((double)range.max, EACH, most);
	snprintf(both, sizeof(both), "%s–%s", least, most);
	set_text(table, column, 2 * EACH + 1, range.min < range.max ? both : least);
}

static void fit_columns(struct text_table *table)
{
	for (int i = 0; i < table->columns_count; i++) {
		struct column *column = &table->columns[i];
		column->width = text_width(column->head);
		for (size_t row = 0; row < table->rows_count; row++) {
			bool heading = table->rows[row][1][0] == '\0';
			int width = text_width(table->rows[row][i]);
			if (!heading && width > column->width)
				column->width = width;
		}
	}
}

static void print_cell(const struct column *column, const char *text, bool last)
{
	int blanks = column->width - text_width(text);

	if (column->left)
		printf("%s%*s", text, last ? 0 : blanks, "");
	else
		printf("%*s%s", blanks, "", text);
	if (!last)
		putchar(' ');
}

/* A group's heading begins above the group's first column and may be as wide as the group. */
static void print_groups(const struct text_table *table)
{
	int pending = 0;

	for (int i = 0; i < table->columns_count; i++) {
		const struct column *column = &table->columns[i];
		if (column->group != NULL) {
			int indent = pending > 0 ? pending : 0;
			printf("%*s%s", indent, "", column->group);
			pending += -indent - text_width(column->group);
		}
		pending += column->width + 1;
	}
	putchar('\n');
}

static void print_table(struct text_table *table)
{
	const char *bold = table->colour ? "\033[1m" : "", *red = table->colour ? "\033[31m" : "";
	const char *plain = table->colour ? "\033[0m" : "";

	fit_columns(table);
	fputs(bold, stdout);
	print_groups(table);
	for (int i = 0; i < table->columns_count; i++)
		print_cell(&table->columns[i], table->columns[i].head,
		           i + 1 == table->columns_count);
	printf("%s\n", plain);
	for (size_t row = 0; row < table->rows_count; row++) {
		bool heading = table->rows[row][1][0] == '\0';
		fputs(heading ? bold : table->bad[row] ? red : "", stdout);
		for (int i = 0; !heading && i < table->columns_count; i++)
			print_cell(&table->columns[i], table->rows[row][i],
			           i + 1 == table->columns_count);
		if (heading)
			fputs(table->rows[row][0], stdout);
		printf("%s\n", heading || table->bad[row] ? plain : "");
	}
}

static int add_column(struct text_table *table, const char *group, const char *head, bool left)
{
	must(table->columns_count < CELLS_MAX);
	table->columns[table->columns_count] = (struct column){group, head, left, 0};
	return table->columns_count++;
}

/* Writes algorithm and topology, and returns the next cell. Default topologies have at most
 * eight characters; a given topology is the same for all and is printed above the table. */
static int set_subject(struct text_table *table, const struct compare_row *row)
{
	enum { NAME = 21, TOPOLOGY = 8 };
	const struct compare_subject *subject = row->subject;
	char name[64];

	snprintf(name, sizeof(name), "%s%s", subject->parameter != NULL ? "  " : "",
	         subject->parameter != NULL ? subject->parameter : subject->algorithm->name);
	set_text(table, 0, NAME, name);
	if (!table->topologies)
		return 1;
	set_text(table, 1, TOPOLOGY, row->topology);
	return 2;
}

/* Shortens "at most 3(N-1)" to ≤3(N-1) and "0 to 2D" to 0–2D. */
static void set_claimed(struct text_table *table, int at, const struct compare_row *row)
{
	static const struct {
		const char *from, *to;
	} shorter[] = {{" to ", "–"}, {"at most ", "≤"}, {" sqrt(N)", "√N"}};
	enum { CLAIMED = 24 };
	const struct headline *headline =
	        headline_of(row->subject->algorithm, row->subject->parameter);
	char text[FITTED_SIZE] = "";
	size_t used = 0;

	for (const char *from = headline != NULL ? headline->text : "-"; *from != '\0';) {
		const char *to = (const char[]){*from, '\0'};
		size_t length = 1;
		for (size_t i = 0; i < sizeof(shorter) / sizeof(*shorter); i++) {
			if (strncmp(from, shorter[i].from, strlen(shorter[i].from)) == 0) {
				to = shorter[i].to;
				length = strlen(shorter[i].from);
			}
		}
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s", to);
		from += length;
	}
	set_text(table, at, CLAIMED, text);
}

/* Writes how many claims hold: "6" if all of six do, "5/6*" if five of six do. The text is empty if
 * none was judged. */
static bool held_text(const struct compare_row *row, bool of_documents, char ret_text[32])
{
	size_t counts[CLAIM_UNMEASURED + 1];

	compare_count(row, of_documents, counts);
	size_t judged = counts[CLAIM_HELD] + counts[CLAIM_REFUTED] + counts[CLAIM_VIOLATED];
	bool bad = counts[CLAIM_VIOLATED] != 0 || (of_documents && row->violation != NULL);
	if (judged == 0 && !bad)
		ret_text[0] = '\0';
	else if (counts[CLAIM_HELD] == judged && !bad)
		snprintf(ret_text, 32, "%zu", judged);
	else
		snprintf(ret_text, 32, "%zu/%zu%s", counts[CLAIM_HELD], judged, bad ? "!" : "*");
	return bad;
}

/* Writes how many claims of documents hold and, after a '+', how many of our own. '*' marks a
 * failure that a note below the table explains, '!' the failure of a claim that ought to hold. */
static int set_claims(struct text_table *table, int at, const struct compare_row *row)
{
	enum { HELD = 12 };
	char documents[32], rules[32], both[80];
	bool bad = held_text(row, true, documents);

	bad = held_text(row, false, rules) || bad;
	snprintf(both, sizeof(both), "%s%s%s", documents, *rules != '\0' ? "+" : "", rules);
	set_claimed(table, at, row);
	set_text(table, at + 1, HELD, *both != '\0' ? both : "-");
	table->bad[table->rows_count] = bad;
	return at + 2;
}

static int set_load(struct text_table *table, int at, const struct compare_load *load)
{
	set_number(table, at, 5, load->messages.mean);
	set_number(table, at + 1, 5, load->bytes);
	set_number(table, at + 2, 4, load->sync_mean);
	set_number(table, at + 3, 4, (double)load->bypass_max);
	return at + 4;
}

static void set_mutex_row(struct text_table *table, const struct compare_row *row,
                          const struct compare_options *options)
{
	int at = set_subject(table, row);
	bool only_light = options->light && !options->heavy;

	if (options->light) {
		set_number(table, at++, 5, row->light.messages.mean);
		set_range(table, at++, row->light.entry.all);
	}
	if (only_light) {
		set_number(table, at++, 5, row->light.bytes);
		set_number(table, at++, 5, row->light.response_mean);
	}
	if (options->heavy)
		at = set_load(table, at, &row->heavy);
	if (!options->light && !options->heavy) {
		at = set_load(table, at, &row->poisson[0]);
		set_number(table, at++, 5, row->poisson[0].response_mean);
	}
	at = set_claims(table, at, row);
	set_number(table, at, 4, row->state_mean);
	set_number(table, at + 1, 4, row->token_bytes != 0 ? (double)row->token_bytes : NAN);
}

static void head_load(struct text_table *table, const char *group)
{
	add_column(table, group, "mean", false);
	add_column(table, NULL, "bytes", false);
	add_column(table, NULL, "sync", false);
	add_column(table, NULL, "pass", false);
}

static void head_mutex(struct text_table *table, const struct compare_options *options)
{
	bool only_light = options->light && !options->heavy;

	add_column(table, NULL, "mutual exclusion", true);
	if (table->topologies)
		add_column(table, NULL, "topology", true);
	if (options->light) {
		add_column(table, "light load", "mean", false);
		add_column(table, NULL, "min–max", false);
	}
	if (only_light) {
		add_column(table, NULL, "bytes", false);
		add_column(table, NULL, "response", false);
	}
	if (options->heavy)
		head_load(table, "heavy load");
	/* If light or heavy load was measured too, the rates are for a plot and not for the
	 * table. */
	if (!options->light && !options->heavy) {
		head_load(table, "poisson load");
		add_column(table, NULL, "response", false);
	}
	add_column(table, "claimed", "messages", true);
	add_column(table, NULL, "held", false);
	add_column(table, "bytes in", "node", false);
	add_column(table, NULL, "token", false);
}

static void set_election_row(struct text_table *table, const struct compare_row *row)
{
	double nodes = row->nodes, mean = row->all.messages.mean;
	int at = set_subject(table, row);

	set_number(table, at++, 5, mean);
	set_range(table, at++, row->all.messages_range);
	set_number(table, at++, 5, mean / nodes);
	set_number(table, at++, 5, row->nodes > 1 ? mean / (nodes * log2(nodes)) : NAN);
	set_range(table, at++, row->all.announcement);
	at = set_claims(table, at, row);
	set_number(table, at, 4, row->state_mean);
}

static void head_elections(struct text_table *table)
{
	add_column(table, NULL, "election", true);
	if (table->topologies)
		add_column(table, NULL, "topology", true);
	add_column(table, "messages, all begin", "mean", false);
	add_column(table, NULL, "min–max", false);
	add_column(table, NULL, "/n", false);
	add_column(table, NULL, "/n log n", false);
	add_column(table, NULL, "tell", false);
	add_column(table, "claimed", "messages", true);
	add_column(table, NULL, "held", false);
	add_column(table, "bytes", "node", false);
}

/* Prints the rows of one kind, under a heading for each size. Returns false if there is none. */
static bool print_kind(const struct comparison *comparison, enum kind kind)
{
	const char *topology = comparison->options.subjects[0].topology;
	struct text_table table = {.colour = may_colour(), .topologies = topology == NULL};
	size_t most = 2 * comparison->rows_count;
	uint32_t nodes = 0;

	table.rows = calloc(most + 1, sizeof(*table.rows));
	table.bad = calloc(most + 1, sizeof(*table.bad));
	memory_must(table.rows != NULL && table.bad != NULL);
	if (kind == KIND_MUTEX)
		head_mutex(&table, &comparison->options);
	else
		head_elections(&table);
	for (size_t i = 0; i < comparison->rows_count; i++) {
		const struct compare_row *row = &comparison->rows[i];
		if (row->subject->algorithm->kind != kind)
			continue;
		if (row->nodes != nodes) {
			nodes = row->nodes;
			snprintf(table.rows[table.rows_count++][0], FITTED_SIZE,
			         "%" PRIu32 " node%s", nodes, nodes == 1 ? "" : "s");
		}
		if (kind == KIND_MUTEX)
			set_mutex_row(&table, row, &comparison->options);
		else
			set_election_row(&table, row);
		table.rows_count++;
	}
	bool any = table.rows_count != 0;
	if (any)
		print_table(&table);
	free(table.rows);
	free(table.bad);
	return any;
}

void print_paragraph(FILE *file, const char *text, int indent)
{
	int column = 0;
	bool start = true;

	while (*text != '\0') {
		char word[512];
		size_t length = strcspn(text, " ");
		snprintf(word, sizeof(word), "%.*s", (int)length, text);
		int width = text_width(word);
		if (!start && column + 1 + width > TABLE_COLUMNS) {
			fprintf(file, "\n%*s", indent, "");
			column = indent;
			start = true;
		}
		fprintf(file, "%s%s", start ? "" : " ", word);
		column += width + !start;
		start = false;
		text += length + (text[length] == ' ');
	}
	putc('\n', file);
}

static void print_failures(const struct comparison *comparison, enum claim_verdict kind)
{
	for (size_t i = 0; i < comparison->rows_count; i++) {
		for (size_t k = 0; k < comparison->rows[i].verdicts_count; k++) {
			if (comparison->rows[i].verdicts[k].verdict != kind)
				continue;
			char *text = compare_failure_text(comparison, i, k), *marked = NULL;
			if (text != NULL) {
				memory_must(asprintf(&marked, "%c %s",
				                     kind == CLAIM_VIOLATED ? '!' : '*',
				                     text) >= 0);
				print_paragraph(stdout, marked, 2);
			}
			free(marked);
			free(text);
		}
	}
}

static void print_violations(const struct comparison *comparison)
{
	for (size_t i = 0; i < comparison->rows_count; i++) {
		const struct compare_row *row = &comparison->rows[i];
		if (row->violation != NULL)
			printf("! %s of %" PRIu32 " nodes: VIOLATED: %s\n",
			       row->subject->algorithm->name, row->nodes, row->violation);
	}
}

void print_left_out(const struct comparison *comparison, FILE *file)
{
	for (size_t i = 0; i < comparison->left_out_count; i++) {
		char *text = compare_left_out_text(comparison, i), *marked = NULL;
		if (text != NULL) {
			memory_must(asprintf(&marked, "left out %s", text) >= 0);
			print_paragraph(file, marked, 2);
		}
		free(marked);
		free(text);
	}
}

static bool has_row(const struct comparison *comparison, const struct compare_subject *subject)
{
	for (size_t i = 0; i < comparison->rows_count; i++) {
		if (comparison->rows[i].subject == subject)
			return true;
	}
	return false;
}

/* Prints the sources of the column "claimed", such as "central (Neilsen 6.1, 6.2); …", and which
 * algorithms have none. */
static void print_sources(const struct comparison *comparison)
{
	const struct compare_options *options = &comparison->options;
	char *text = NULL, *silent = NULL;
	size_t size = 0, silent_size = 0, claimed = 0, others = 0;
	FILE *file = open_memstream(&text, &size);
	FILE *rest = open_memstream(&silent, &silent_size);

	memory_must(file != NULL && rest != NULL);
	for (size_t i = 0; i < options->subjects_count; i++) {
		const struct compare_subject *subject = &options->subjects[i];
		const struct headline *headline = headline_of(subject->algorithm, NULL);
		const char *name = subject->algorithm->name;
		if (subject->parameter != NULL || !has_row(comparison, subject))
			continue;
		if (headline != NULL)
			fprintf(file, "%s%s (%s)", claimed++ == 0 ? "" : "; ", name,
			        headline->where);
		else
			fprintf(rest, "%s%s", others++ == 0 ? "" : ", ", name);
	}
	fclose(rest);
	if (others != 0)
		fprintf(file, "%s%s",
		        claimed != 0 ? "; by no document: " : "by no document: ", silent);
	fclose(file);
	char *whole = NULL;
	memory_must(asprintf(&whole, "messages claimed: %s", text) >= 0);
	print_paragraph(stdout, whole, 2);
	free(whole);
	free(silent);
	free(text);
}

static void print_counts(const char *what, const size_t *counts)
{
	char *text = NULL;

	memory_must(asprintf(&text,
	                     "%s: %zu held, %zu violated, %zu refuted, %zu of another variant or "
	                     "construction, %zu that this run cannot decide",
	                     what, counts[CLAIM_HELD], counts[CLAIM_VIOLATED],
	                     counts[CLAIM_REFUTED], counts[CLAIM_OTHER],
	                     counts[CLAIM_UNMEASURED]) >= 0);
	print_paragraph(stdout, text, 2);
	free(text);
}

/* Prints a claim such as "- most messages for an entry, on a star: at most 4 (Neilsen 6.1)". */
static void print_claim(const struct paper_claim *claim)
{
	char *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);

	memory_must(file != NULL);
	fputs("- ", file);
	if (claim->parameter != NULL)
		fprintf(file, "%s, ", claim->parameter);
	fputs(quantity_text(claim->quantity), file);
	if (claim->graph != ON_ANY)
		fprintf(file, ", on a %s%s", claim_graph_text(claim->graph),
		        claim->graph == ON_COMPLETE ? " graph" : "");
	fprintf(file, ": %s %s (%s)", relation_text(claim->relation), claim->formula,
	        claim->where != NULL ? claim->where : "follows from the rules");
	if (claim->refuted != NULL)
		fprintf(file, ". Known not to hold everywhere: %s", claim->refuted);
	if (claim->other != NULL)
		fprintf(file, ". Where it fails, the run is not what the document means: %s",
		        claim->other);
	fclose(file);
	print_paragraph(stdout, text, 2);
	free(text);
}

void print_claims(const struct algorithm *const *algorithms, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		printf("%s%s\n", i == 0 ? "" : "\n", algorithms[i]->name);
		for (int rules = 0; rules < 2; rules++) {
			for (const struct paper_claim *claim = claims; claim->algorithm != NULL;
			     claim++) {
				if (strcmp(claim->algorithm, algorithms[i]->name) == 0 &&
				    (claim->where == NULL) == rules)
					print_claim(claim);
			}
		}
	}
}

void print_comparison(const struct comparison *comparison)
{
	const char *topology = comparison->options.subjects[0].topology;
	char *above = NULL;

	if (topology != NULL) {
		memory_must(asprintf(&above, "topology of all: %.80s%s", topology,
		                     strlen(topology) > 80 ? "…" : "") >= 0);
		print_paragraph(stdout, above, 2);
		free(above);
	}
	if (print_kind(comparison, KIND_MUTEX))
		putchar('\n');
	if (print_kind(comparison, KIND_ELECTION))
		putchar('\n');
	print_failures(comparison, CLAIM_VIOLATED);
	print_violations(comparison);
	print_failures(comparison, CLAIM_REFUTED);
	print_failures(comparison, CLAIM_OTHER);
	print_left_out(comparison, stdout);
	print_sources(comparison);
	size_t documents[CLAIM_UNMEASURED + 1];
	for (int i = CLAIM_HELD; i <= CLAIM_UNMEASURED; i++)
		documents[i] = comparison->verdict_counts[i] - comparison->rule_counts[i];
	print_counts("claims of documents", documents);
	print_counts("+ from the rules", comparison->rule_counts);
}
