#include "steps_text.h"

#include "grow.h"
#include "memory.h"
#include "text.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

/* The columns of the table beside the number of the step. */
enum { CELL_HAPPENS, CELL_SENDS, CELL_VARIABLES, CELLS };
/* Widths: of a step's number, of the gap before each cell, of the indentation of a folded line, and
 * of the narrowest column. */
enum { NUMBER_WIDTH = 5, GAP = 2, INDENT = 2, CELL_LEAST = 12 };
/* The width of the table if there is no terminal to ask. */
enum { SCREEN_WIDTH = 80 };

struct table_row {
	char *cells[CELLS];
};

/* A node's change to another state of the paper's figure. */
struct turn {
	uint64_t step;
	uint32_t node;
	const char *state; /* the name of the new state, or NULL if the figure has no such state */
};

struct steps {
	uint32_t nodes;
	const struct state_figure *figure; /* the paper's figure of a node's states, or NULL */
	/* [node - 1]: the state of a node in the figure; NULL without a figure. */
	const char **states;
	/* The changes of state, in the order in which they happened. */
	struct turn *turns;
	size_t turns_count, turns_size;
	size_t turns_shown; /* how many changes of state are in the rows so far */
	json_t **variables; /* [node - 1]: the variables of a node as they are now */
	struct table_row *rows;
	size_t rows_count, rows_size;
	/* The row that is being made, and the text of the message that it sent last. */
	struct text happens, sends;
	char last_sent[128];
	bool begun;
	uint32_t node;    /* the node that made the step, or 0 */
	uint32_t other;   /* the other end of a link that is made or removed, or 0 */
	json_t **changed; /* [node - 1]: the variables of a node after the step, or NULL */
	json_t *texts;    /* the text of each message, by its number */
};

struct steps *steps_begin(const struct world *world)
{
	struct steps *steps = calloc(1, sizeof(*steps));

	memory_must(steps != NULL);
	steps->nodes = world->network->graph.nodes;
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers. */
	steps->variables = calloc(steps->nodes, sizeof(*steps->variables));
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers. */
	steps->changed = calloc(steps->nodes, sizeof(*steps->changed));
	steps->texts = json_object();
	memory_must(steps->variables != NULL && steps->changed != NULL && steps->texts != NULL);
	for (uint32_t i = 1; i <= steps->nodes; i++) {
		char *text = world_describe(world, i);
		steps->variables[i - 1] = json_loads(text, 0, NULL);
		memory_must(steps->variables[i - 1] != NULL);
		free(text);
	}
	steps->figure = world->algorithm->figure;
	if (steps->figure != NULL) {
		/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers. */
		steps->states = calloc(steps->nodes, sizeof(*steps->states));
		memory_must(steps->states != NULL);
		steps_look(steps, world, 0);
	}
	return steps;
}

void steps_look(struct steps *steps, const struct world *world, uint64_t count)
{
	for (uint32_t i = 1; i <= steps->nodes && steps->figure != NULL; i++) {
		struct site site = network_site(world->network, i);
		const char *state = steps->figure->state(&site, world_state(world, i));
		if (state == steps->states[i - 1])
			continue;
		steps->states[i - 1] = state;
		steps->turns = grow(steps->turns, &steps->turns_size, steps->turns_count + 1,
		                    sizeof(*steps->turns));
		steps->turns[steps->turns_count++] =
		        (struct turn){.step = count, .node = i, .state = state};
	}
}

void steps_free(struct steps *steps)
{
	for (uint32_t i = 0; i < steps->nodes; i++) {
		json_decref(steps->variables[i]);
		json_decref(steps->changed[i]);
	}
	for (size_t i = 0; i < steps->rows_count; i++) {
		for (size_t k = 0; k < CELLS; k++)
			free(steps->rows[i].cells[k]);
	}
	json_decref(steps->texts);
	free(steps->changed);
	text_free(&steps->happens);
	text_free(&steps->sends);
	free(steps->turns);
	free(steps->states);
	free(steps->variables);
	free(steps->rows);
	free(steps);
}

/* --- rows --- */

/* Adds the node's state in the paper's figure after the step of this row, by the name that a
 * scenario uses for it. The turns of this row begin at `turns_first`. */
static void add_figure(struct steps *steps, uint32_t node, size_t turns_first, struct text *text)
{
	bool changed = false;

	for (size_t i = turns_first; i < steps->turns_shown; i++)
		changed = changed || steps->turns[i].node == node;
	const char *state = steps->states[node - 1];
	text_format(text, " %sfigure=", changed ? "*" : "");
	if (state != NULL)
		text_format(text, "\"%s\"", state);
	else
		text_add_string(text, "null");
}

/* Adds the variables of the node, with a star before those that the step changed. */
static void add_variables(struct steps *steps, uint32_t node, size_t turns_first, struct text *text)
{
	json_t *before = steps->variables[node - 1], *after = steps->changed[node - 1];
	const char *name;
	json_t *value;

	text_format(text, "%" PRIu32 ":", node);
	json_object_foreach (after != NULL ? after : before, name, value) {
		char *shown = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
		memory_must(shown != NULL);
		bool same = json_equal(value, json_object_get(before, name));
		text_format(text, " %s%s=%s", same ? "" : "*", name, shown);
		free(shown);
	}
	if (steps->figure != NULL)
		add_figure(steps, node, turns_first, text);
	if (after != NULL) {
		json_decref(before);
		steps->variables[node - 1] = after;
		steps->changed[node - 1] = NULL;
	}
}

/* Returns the variables of the node that made the step, and of the other end of a link. */
static char *variables_text(struct steps *steps)
{
	struct text text = {0};
	size_t turns_first = steps->turns_shown;

	text_add_string(&text, "");
	if (steps->node == 0)
		return text_take(&text);
	while (steps->turns_shown < steps->turns_count &&
	       steps->turns[steps->turns_shown].step <= steps->rows_count + 1) {
		const struct turn *turn = &steps->turns[steps->turns_shown++];
		steps->states[turn->node - 1] = turn->state;
	}
	add_variables(steps, steps->node, turns_first, &text);
	if (steps->other != 0) {
		text_add_string(&text, "; ");
		add_variables(steps, steps->other, turns_first, &text);
	}
	return text_take(&text);
}

static void end_row(struct steps *steps)
{
	if (!steps->begun)
		return;
	steps->rows =
	        grow(steps->rows, &steps->rows_size, steps->rows_count + 1, sizeof(*steps->rows));
	text_add_string(&steps->sends, "");
	steps->rows[steps->rows_count] = (struct table_row){{
	        [CELL_HAPPENS] = text_take(&steps->happens),
	        [CELL_SENDS] = text_take(&steps->sends),
	        [CELL_VARIABLES] = variables_text(steps),
	}};
	steps->rows_count++;
	steps->begun = false;
}

static void begin_row(struct steps *steps, uint32_t node)
{
	end_row(steps);
	steps->begun = true;
	steps->node = node;
	steps->other = 0;
	steps->last_sent[0] = '\0';
}

/* --- lines of the trace --- */

static uint32_t number_of(const json_t *line, const char *name)
{
	return (uint32_t)json_integer_value(json_object_get(line, name));
}

static const char *text_of(const json_t *line, const char *name)
{
	const char *text = json_string_value(json_object_get(line, name));
	return text != NULL ? text : "";
}

static const char *key_of(const json_t *line, const char *name, char key[32])
{
	snprintf(key, 32, "%" PRIu64, (uint64_t)json_integer_value(json_object_get(line, name)));
	return key;
}

/* Remembers what the message says and where it goes, for when it arrives or is lost. */
static void remember(struct steps *steps, const json_t *line)
{
	char key[32];

	json_object_set_new(steps->texts, key_of(line, "msg", key),
	                    json_sprintf("%s from %" PRIu32 " to %" PRIu32, text_of(line, "text"),
	                                 number_of(line, "from"), number_of(line, "to")));
}

static void add_send(struct steps *steps, const json_t *line)
{
	const char *text = text_of(line, "text");
	bool same = strncmp(text, steps->last_sent, sizeof(steps->last_sent) - 1) == 0;

	remember(steps, line);
	/* Messages that the algorithm sends before the first step belong to no row. */
	if (!steps->begun)
		return;
	if (same)
		text_format(&steps->sends, ",%" PRIu32, number_of(line, "to"));
	else
		text_format(&steps->sends, "%s%s to %" PRIu32,
		            steps->last_sent[0] != '\0' ? "; " : "", text, number_of(line, "to"));
	snprintf(steps->last_sent, sizeof(steps->last_sent), "%s", text);
}

static void add_message(struct steps *steps, const json_t *line, const char *verb,
                        const char *which, uint32_t node)
{
	char key[32];
	const char *text =
	        json_string_value(json_object_get(steps->texts, key_of(line, which, key)));

	begin_row(steps, node);
	text_format(&steps->happens, "%s %s", verb, text != NULL ? text : "");
}

static void add_line(struct steps *steps, json_t *line)
{
	const char *event = text_of(line, "ev");
	uint32_t node = number_of(line, "node");

	if (strcmp(event, "send") == 0) {
		add_send(steps, line);
	} else if (strcmp(event, "state") == 0) {
		json_decref(steps->changed[node - 1]);
		steps->changed[node - 1] = json_incref(json_object_get(line, "vars"));
	} else if (strcmp(event, "enter") == 0) {
		text_add_string(&steps->happens, ", enters");
	} else if (strcmp(event, "elected") == 0) {
		text_format(&steps->happens, ", knows leader %" PRIu32, number_of(line, "leader"));
	} else if (strcmp(event, "deliver") == 0) {
		add_message(steps, line, event, "msg", number_of(line, "to"));
	} else if (strcmp(event, "lose") == 0) {
		add_message(steps, line, event, "msg", 0);
	} else if (strcmp(event, "duplicate") == 0) {
		add_message(steps, line, event, "of", 0);
		remember(steps, line);
	} else if (node != 0) {
		/* The step as a scenario calls it. */
		const char *word = strcmp(event, "exit") == 0       ? "release"
		                   : strcmp(event, "cut_link") == 0 ? "cut"
		                                                    : event;
		begin_row(steps, node);
		text_format(&steps->happens, "%s %" PRIu32, word, node);
		steps->other = number_of(line, "to");
		if (steps->other != 0)
			text_format(&steps->happens, " %" PRIu32, steps->other);
	}
}

/* --- the table --- */

/* Returns $COLUMNS or the width of the terminal; SCREEN_WIDTH if there is neither. */
static size_t screen_width(FILE *file)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;

	if (columns != NULL) {
		char *end;
		unsigned long width = strtoul(columns, &end, 10);
		if (columns[0] >= '1' && columns[0] <= '9' && *end == '\0')
			return width;
	}
	if (ioctl(fileno(file), TIOCGWINSZ, &size) == 0 && size.ws_col != 0)
		return size.ws_col;
	return SCREEN_WIDTH;
}

/* Makes each column as wide as its widest cell. If the table is then wider than the screen, the
 * widest columns become narrower, and their cells are folded. */
static void find_widths(const struct steps *steps, const struct table_row *head, size_t screen,
                        size_t ret_widths[CELLS])
{
	size_t sum = NUMBER_WIDTH;

	for (size_t k = 0; k < CELLS; k++) {
		ret_widths[k] = strlen(head->cells[k]);
		for (size_t i = 0; i < steps->rows_count; i++) {
			size_t length = strlen(steps->rows[i].cells[k]);
			if (length > ret_widths[k])
				ret_widths[k] = length;
		}
		sum += GAP + ret_widths[k];
	}
	for (; sum > screen; sum--) {
		size_t widest = 0;
		for (size_t k = 1; k < CELLS; k++) {
			if (ret_widths[k] >= ret_widths[widest])
				widest = k;
		}
		if (ret_widths[widest] <= CELL_LEAST)
			return;
		ret_widths[widest]--;
	}
}

/* Returns how much of the text is the next line of a cell. Lines are folded between words; a word
 * that is longer than a line, such as a long array, is folded after a comma. */
static size_t line_length(const char *text, size_t width)
{
	size_t length = strlen(text), space = 0, comma = 0;

	if (length <= width)
		return length;
	for (size_t i = 1; i <= width; i++) {
		if (text[i] == ' ')
			space = i;
		if (text[i - 1] == ',')
			comma = i;
	}
	if (space != 0 && (comma <= space || strcspn(text + space + 1, " ") <= width - INDENT))
		return space;
	return comma != 0 ? comma : width;
}

/* Prints a row, in as many lines as its longest cell needs. */
static void print_row(FILE *file, const char *number, const struct table_row *row,
                      const size_t widths[CELLS])
{
	const char *rest[CELLS];
	bool more = true;

	memcpy(rest, row->cells, sizeof(rest));
	for (size_t line = 0; more; line++) {
		/* Print no spaces at the end of a line. */
		size_t at = (size_t)fprintf(file, "%*s", NUMBER_WIDTH, line == 0 ? number : "");
		size_t column = NUMBER_WIDTH;
		more = false;
		for (size_t k = 0; k < CELLS; k++) {
			size_t indent = line == 0 ? 0 : INDENT;
			size_t length = line_length(rest[k], widths[k] - indent);
			column += GAP;
			if (length != 0)
				at += (size_t)fprintf(file, "%*s%.*s", (int)(column + indent - at),
				                      "", (int)length, rest[k]);
			column += widths[k];
			rest[k] += length;
			rest[k] += strspn(rest[k], " ");
			more = more || *rest[k] != '\0';
		}
		fputc('\n', file);
	}
}

static void print_table(const struct steps *steps, FILE *file)
{
	size_t widths[CELLS];
	struct text variables = {0};

	text_add_string(&variables, "its variables (* changed)");
	if (steps->figure != NULL)
		text_format(&variables, ", its state in %s", steps->figure->name);
	char happens[] = "what happens", sends[] = "sends", *third = text_take(&variables);
	struct table_row head = {{happens, sends, third}};
	find_widths(steps, &head, screen_width(file), widths);
	print_row(file, "step", &head, widths);
	free(third);
	for (size_t i = 0; i < steps->rows_count; i++) {
		char number[24];
		snprintf(number, sizeof(number), "%zu", i + 1);
		print_row(file, number, &steps->rows[i], widths);
	}
}

void steps_print(struct steps *steps, const char *lines, size_t size, FILE *file)
{
	for (uint32_t i = 0; i < steps->nodes && steps->figure != NULL; i++)
		steps->states[i] = NULL;
	for (const char *end = lines + size; lines < end;) {
		const char *newline = memchr(lines, '\n', (size_t)(end - lines));
		size_t length = (size_t)((newline != NULL ? newline : end) - lines);
		json_t *line = json_loadb(lines, length, 0, NULL);
		if (line != NULL)
			add_line(steps, line);
		json_decref(line);
		lines += length + 1;
	}
	end_row(steps);
	print_table(steps, file);
}
