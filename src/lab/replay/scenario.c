#include "scenario.h"
#include "json_text.h"
#include "memory.h"
#include "registry.h"
#include "scenario_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct scenario_parser {
	struct scenario *scenario;
	size_t steps_size;
	char **words; /* the words of the current line */
	size_t words_count, words_size;
	uint32_t line;
	struct problem *problem;
};

/* The form of one kind of line. A header line has `parse_header`, a step has `parse_step`. */
struct step_form {
	const char *keyword;
	const char *usage;
	size_t words_least, words_most;
	int (*parse_header)(struct scenario_parser *parser);
	int (*parse_step)(struct scenario_parser *parser, struct step *step);
	enum step_kind kind;
	enum header header;
};

static void *grow_array(void *array, size_t count, size_t *size, size_t element_size)
{
	if (count < *size)
		return array;
	*size = *size == 0 ? 64 : *size * 2;
	array = realloc(array, *size * element_size);
	memory_must(array != NULL);
	return array;
}

static int parse_node(struct scenario_parser *parser, const char *word, uint32_t *ret_node)
{
	uint64_t number;

	if (parse_number(word, 1, NODES_MAX, "node", &number, parser->problem) != 0)
		return -1;
	*ret_node = (uint32_t)number;
	return 0;
}

/* --- header lines --- */

static int header_algorithm(struct scenario_parser *parser)
{
	parser->scenario->words.algorithm = parser->words[1];
	return 0;
}

static int header_topology(struct scenario_parser *parser)
{
	parser->scenario->words.topology = parser->words[1];
	return 0;
}

static int header_nodes(struct scenario_parser *parser)
{
	uint64_t number;

	if (parse_number(parser->words[1], 1, NODES_MAX, "nodes", &number, parser->problem) != 0)
		return -1;
	parser->scenario->words.nodes = (uint32_t)number;
	return 0;
}

static int header_holder(struct scenario_parser *parser)
{
	uint64_t number;

	if (parse_number(parser->words[1], 1, NODES_MAX, "holder", &number, parser->problem) != 0)
		return -1;
	parser->scenario->words.holder = (uint32_t)number;
	return 0;
}

static int header_order(struct scenario_parser *parser)
{
	bool fifo = strcmp(parser->words[0], "fifo") == 0;
	parser->scenario->words.order = fifo ? ORDER_FIFO : ORDER_REORDER;
	return 0;
}

static int header_arrangement(struct scenario_parser *parser)
{
	parser->scenario->words.arrangement = parser->words[1];
	return 0;
}

static int header_crash(struct scenario_parser *parser)
{
	parser->scenario->words.crash = parser->words[1];
	return 0;
}

static int header_param(struct scenario_parser *parser)
{
	struct scenario *scenario = parser->scenario;
	struct setup_words *words = &scenario->words;
	const char *word = parser->words[1];
	size_t length = strcspn(word, "=");

	if (word[length] != '=')
		return problem_set(parser->problem, "parameter '%.60s': NAME=VALUE is needed",
		                   word);
	for (size_t i = 0; i < words->parameters_count; i++) {
		if (strncmp(words->parameters[i], word, length + 1) == 0)
			return problem_set(parser->problem,
			                   "parameter '%.60s': already given on line %u", word,
			                   scenario->parameter_lines[i]);
	}
	if (words->parameters_count == SETUP_PARAMETERS_MAX)
		return problem_set(parser->problem, "parameter '%.60s': there are already %d", word,
		                   SETUP_PARAMETERS_MAX);
	scenario->parameter_lines[words->parameters_count] = parser->line;
	words->parameters[words->parameters_count++] = word;
	return 0;
}

/* --- steps --- */

static int step_plain(struct scenario_parser *parser, struct step *step)
{
	(void)parser;
	(void)step;
	return 0;
}

static int step_node(struct scenario_parser *parser, struct step *step)
{
	return parse_node(parser, parser->words[1], &step->node);
}

static int step_message(struct scenario_parser *parser, struct step *step)
{
	size_t next = 3;

	if (parse_node(parser, parser->words[1], &step->node) != 0 ||
	    parse_node(parser, parser->words[2], &step->to) != 0)
		return -1;
	step->number = 1;
	if (next < parser->words_count && parser->words[next][0] != '#')
		step->name = parser->words[next++];
	if (next == parser->words_count)
		return 0;
	if (parser->words[next][0] != '#' || next + 1 < parser->words_count)
		return problem_set(parser->problem,
		                   "unexpected '%.40s': the form is '%s A B [TYPE] [#K]'",
		                   parser->words[parser->words_count - 1], parser->words[0]);
	return parse_number(parser->words[next] + 1, 1, UINT32_MAX,
	                    "#K (a comment here begins with '# '):", &step->number,
	                    parser->problem);
}

static int step_link(struct scenario_parser *parser, struct step *step)
{
	if (parse_node(parser, parser->words[1], &step->node) != 0 ||
	    parse_node(parser, parser->words[2], &step->to) != 0)
		return -1;
	return step->node != step->to
	               ? 0
	               : problem_set(parser->problem, "a link has two different ends");
}

static int step_expire(struct scenario_parser *parser, struct step *step)
{
	if (parse_node(parser, parser->words[1], &step->node) != 0)
		return -1;
	step->has_number = parser->words_count == 3;
	if (!step->has_number)
		return 0;
	return parse_number(parser->words[2], 0, TIMERS_MAX - 1, "timer", &step->number,
	                    parser->problem);
}

/* Takes the text without its quotes and without the backslashes that escape a character. */
static int step_fail(struct scenario_parser *parser, struct step *step)
{
	char *word = parser->words[1];
	size_t length = strlen(word);

	if (length < 2 || word[0] != '"' || word[length - 1] != '"')
		return problem_set(parser->problem,
		                   "the text of fail stands in double quotes: fail \"text\"");
	char *to = word;
	for (const char *from = word + 1; from < word + length - 1; from++) {
		if (*from == '\\' && from + 2 < word + length)
			from++;
		*to++ = *from;
	}
	*to = '\0';
	step->name = word;
	return 0;
}

/* --- expectations about a node: `expect I …` --- */

static bool is_given(const struct step *step, const char *name)
{
	for (size_t i = 0; i < step->variables_count; i++) {
		if (strcmp(step->variables[i].name, name) == 0)
			return true;
	}
	return false;
}

static int expect_variables(struct scenario_parser *parser, struct step *step)
{
	step->kind = STEP_EXPECT_VARIABLES;
	step->variables = calloc(parser->words_count - 2, sizeof(*step->variables));
	memory_must(step->variables != NULL);
	step->variables_count = 0;
	for (size_t i = 2; i < parser->words_count; i++) {
		char *name = parser->words[i];
		char *equals = strchr(name, '=');
		struct text value = {0};
		if (equals == NULL || equals == name)
			return problem_set(parser->problem,
			                   "'%.40s': VARIABLE=VALUE is needed, as in NEXT=2", name);
		*equals = '\0';
		if (is_given(step, name))
			return problem_set(parser->problem, "variable '%.40s' is given twice",
			                   name);
		if (!json_compact(equals + 1, &value)) {
			text_free(&value);
			return problem_set(parser->problem,
			                   "%.40s=%.60s: the value is not JSON; valid ones are, "
			                   "for example, false, 2, [-1,0,2], null or \"text\"",
			                   name, equals + 1);
		}
		step->variables[step->variables_count++] =
		        (struct expected_variable){.name = name, .value = text_take(&value)};
	}
	return 0;
}

static int expect_phase(struct scenario_parser *parser, struct step *step)
{
	static const char *const names[] = {"idle", "waiting", "in", "leaving", "leader", NULL};
	static const enum world_phase phases[] = {PHASE_IDLE, PHASE_WAITING, PHASE_INSIDE,
	                                          PHASE_LEAVING};
	const char *word = parser->words[2];

	for (size_t i = 0; names[i] != NULL; i++) {
		if (strcmp(names[i], word) != 0)
			continue;
		if (parser->words_count > 3)
			return problem_set(parser->problem,
			                   "unexpected '%.40s' after 'expect %.10s %s'",
			                   parser->words[3], parser->words[1], word);
		step->kind = i < sizeof(phases) / sizeof(*phases) ? STEP_EXPECT_PHASE
		                                                  : STEP_EXPECT_LEADS;
		step->phase = step->kind == STEP_EXPECT_PHASE ? phases[i] : PHASE_IDLE;
		return 0;
	}
	return scenario_unknown_word(
	        parser->problem, "expectation", word, names,
	        "a node is in, waiting, idle, leaving or leader, or has VARIABLE=VALUE");
}

static int expect_node(struct scenario_parser *parser, struct step *step)
{
	if (parse_node(parser, parser->words[1], &step->node) != 0)
		return -1;
	if (strchr(parser->words[2], '=') != NULL)
		return expect_variables(parser, step);
	return expect_phase(parser, step);
}

/* --- other expectations --- */

static int expect_flight(struct scenario_parser *parser, struct step *step)
{
	if (parse_node(parser, parser->words[2], &step->node) != 0 ||
	    parse_node(parser, parser->words[3], &step->to) != 0)
		return -1;
	step->name = parser->words[4];
	step->has_number = parser->words_count == 6;
	if (!step->has_number)
		return 0;
	const char *count = parser->words[5];
	if (count[0] != 'x')
		return problem_set(parser->problem,
		                   "'%.40s': xN is needed, as in x2 for exactly two", count);
	return parse_number(count + 1, 0, UINT32_MAX, "xN", &step->number, parser->problem);
}

static int expect_messages(struct scenario_parser *parser, struct step *step)
{
	return parse_number(parser->words[2], 0, UINT64_MAX, "messages", &step->number,
	                    parser->problem);
}

/* Is the word in this list, which is separated by commas and ends at `end`? */
static bool is_listed(const char *list, const char *end, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = list; at < end; at += strcspn(at, ",") + 1) {
		if (strcspn(at, ",") == length && strncmp(at, word, length) == 0)
			return true;
	}
	return false;
}

/* Parses a list of nodes separated by commas, or "nobody". The highest node becomes the step's
 * node, so that scenario_bind checks that it exists. */
static int expect_queue(struct scenario_parser *parser, struct step *step)
{
	uint64_t node;

	step->name = parser->words[2];
	if (strcmp(step->name, "nobody") == 0)
		return 0;
	for (const char *at = step->name; at != NULL; at = strchr(at, ',')) {
		const char *first = at + (*at == ',');
		char word[16] = "";
		at += *at == ',';
		for (size_t i = 0; i + 1 < sizeof(word) && at[i] != ',' && at[i] != '\0'; i++)
			word[i] = at[i];
		if (parse_number(word, 1, UINT32_MAX, "a node of the queue", &node,
		                 parser->problem) != 0)
			return -1;
		if (is_listed(step->name, first, word))
			return problem_set(parser->problem,
			                   "node %s occurs twice in the queue: a node waits once",
			                   word);
		if (node > step->node)
			step->node = (uint32_t)node;
	}
	return 0;
}

static int expect_leader(struct scenario_parser *parser, struct step *step)
{
	return parse_number(parser->words[2], 1, UINT32_MAX, "leader", &step->number,
	                    parser->problem);
}

static int expect_invariant(struct scenario_parser *parser, struct step *step)
{
	step->name = parser->words[2];
	if (strcmp(step->name, "steps_are_allowed") == 0)
		step->kind = STEP_EXPECT_STEPS_ALLOWED;
	for (size_t i = 0; scenario_built_in[i].name != NULL; i++) {
		if (strcmp(step->name, scenario_built_in[i].name) == 0)
			step->kind = scenario_built_in[i].step;
	}
	return 0;
}

static const struct step_form expect_forms[] = {
        {"flight", "expect flight A B TYPE [xN]", 5, 6, NULL, expect_flight, STEP_EXPECT_FLIGHT, 0},
        {"messages", "expect messages N", 3, 3, NULL, expect_messages, STEP_EXPECT_MESSAGES, 0},
        {"queue", "expect queue 2,1,5|nobody", 3, 3, NULL, expect_queue, STEP_EXPECT_QUEUE, 0},
        {"leader", "expect leader ID", 3, 3, NULL, expect_leader, STEP_EXPECT_LEADER, 0},
        {"invariant", "expect invariant NAME", 3, 3, NULL, expect_invariant, STEP_EXPECT_INVARIANT,
         0},
        {NULL, NULL, 0, 0, NULL, NULL, 0, 0},
};
static const struct step_form expect_node_form = {
        "node",
        "expect I in|waiting|idle|leaving|leader' or 'expect I VARIABLE=VALUE …",
        3,
        SIZE_MAX,
        NULL,
        expect_node,
        STEP_EXPECT_PHASE,
        0,
};

static const struct step_form *find_form(const struct step_form *forms, const char *keyword)
{
	while (forms->keyword != NULL && strcmp(forms->keyword, keyword) != 0)
		forms++;
	return forms->keyword != NULL ? forms : NULL;
}

static int count_words(struct scenario_parser *parser, const struct step_form *form)
{
	if (parser->words_count >= form->words_least && parser->words_count <= form->words_most)
		return 0;
	const char *what =
	        parser->words_count < form->words_least ? "something is missing" : "too much";
	return problem_set(parser->problem, "%s: the form is '%s'", what, form->usage);
}

static int step_expect(struct scenario_parser *parser, struct step *step)
{
	static const char *const names[] = {"flight", "messages",  "queue",
	                                    "leader", "invariant", NULL};
	const char *word = parser->words[1];
	const struct step_form *form = find_form(expect_forms, word);

	if (form == NULL && word[0] >= '0' && word[0] <= '9')
		form = &expect_node_form;
	if (form == NULL)
		return scenario_unknown_word(
		        parser->problem, "expectation", word, names,
		        "expect is followed by a node, flight, messages, queue, leader or "
		        "invariant");
	step->kind = form->kind;
	return count_words(parser, form) != 0 ? -1 : form->parse_step(parser, step);
}

static const struct step_form forms[] = {
        {"algorithm", "algorithm NAME", 2, 2, header_algorithm, NULL, 0, HEADER_ALGORITHM},
        {"topology", "topology T", 2, 2, header_topology, NULL, 0, HEADER_TOPOLOGY},
        {"nodes", "nodes N", 2, 2, header_nodes, NULL, 0, HEADER_NODES},
        {"holder", "holder I", 2, 2, header_holder, NULL, 0, HEADER_HOLDER},
        {"param", "param NAME=VALUE", 2, 2, header_param, NULL, 0, HEADERS_COUNT},
        {"fifo", "fifo", 1, 1, header_order, NULL, 0, HEADER_ORDER},
        {"reorder", "reorder", 1, 1, header_order, NULL, 0, HEADER_ORDER},
        {"arrangement", "arrangement 3,1,2", 2, 2, header_arrangement, NULL, 0, HEADER_ARRANGEMENT},
        {"crash", "crash 4,5", 2, 2, header_crash, NULL, 0, HEADER_CRASH},
        {"request", "request I", 2, 2, NULL, step_node, STEP_REQUEST, 0},
        {"initiate", "initiate I", 2, 2, NULL, step_node, STEP_INITIATE, 0},
        {"release", "release I", 2, 2, NULL, step_node, STEP_RELEASE, 0},
        {"deliver", "deliver A B [TYPE] [#K]", 3, 5, NULL, step_message, STEP_DELIVER, 0},
        {"drop", "drop A B [TYPE] [#K]", 3, 5, NULL, step_message, STEP_DROP, 0},
        {"duplicate", "duplicate A B [TYPE] [#K]", 3, 5, NULL, step_message, STEP_DUPLICATE, 0},
        {"restart", "restart I", 2, 2, NULL, step_node, STEP_RESTART, 0},
        {"link", "link A B", 3, 3, NULL, step_link, STEP_LINK, 0},
        {"unlink", "unlink A B", 3, 3, NULL, step_link, STEP_UNLINK, 0},
        {"cut", "cut A B", 3, 3, NULL, step_link, STEP_CUT, 0},
        {"expire", "expire I [TIMER]", 2, 3, NULL, step_expire, STEP_EXPIRE, 0},
        {"run", "run", 1, 1, NULL, step_plain, STEP_RUN, 0},
        {"loop", "loop", 1, 1, NULL, step_plain, STEP_LOOP, 0},
        {"fail", "fail \"text\"", 2, 2, NULL, step_fail, STEP_FAIL, 0},
        {"expect", "expect …", 2, SIZE_MAX, NULL, step_expect, STEP_EXPECT_PHASE, 0},
        {NULL, NULL, 0, 0, NULL, NULL, 0, 0},
};

/* In the header of an election `crash` names all places that are dead from the start. Everywhere
 * else it is a step and names one node. */
static const struct step_form crash_form = {"crash", "crash I", 2,          2,
                                            NULL,    step_node, STEP_CRASH, 0};

static int unknown_keyword(struct scenario_parser *parser)
{
	const char *names[sizeof(forms) / sizeof(*forms)];

	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++)
		names[i] = forms[i].keyword;
	return scenario_unknown_word(
	        parser->problem, "keyword", parser->words[0], names,
	        "a step is request, release, initiate, deliver, drop, duplicate, crash, restart, "
	        "link, unlink, cut, expire, run, loop, expect or fail");
}

static int parse_header(struct scenario_parser *parser, const struct step_form *form)
{
	struct scenario *scenario = parser->scenario;

	if (scenario->steps_count != 0)
		return problem_set(parser->problem,
		                   "'%s' belongs in the header, before the first step (line %u)",
		                   form->keyword, scenario->steps[0].line);
	if (form->header < HEADERS_COUNT) {
		uint32_t *line = &scenario->lines[form->header];
		if (*line != 0 && form->header == HEADER_ORDER)
			return problem_set(parser->problem,
			                   "'%s': fifo or reorder was given on line %u",
			                   form->keyword, *line);
		if (*line != 0)
			return problem_set(parser->problem,
			                   "a second '%s': the first is on line %u", form->keyword,
			                   *line);
		*line = parser->line;
	}
	return form->parse_header(parser);
}

static int parse_step(struct scenario_parser *parser, const struct step_form *form)
{
	struct scenario *scenario = parser->scenario;

	if (scenario->words.algorithm == NULL)
		return problem_set(
		        parser->problem,
		        "no algorithm: 'algorithm NAME' is needed before the first step");
	scenario->steps = grow_array(scenario->steps, scenario->steps_count, &parser->steps_size,
	                             sizeof(struct step));
	struct step *step = &scenario->steps[scenario->steps_count++];
	*step = (struct step){.kind = form->kind, .line = parser->line};
	return form->parse_step(parser, step);
}

static bool is_mutex(const struct scenario *scenario)
{
	const struct algorithm *algorithm = scenario->words.algorithm != NULL
	                                            ? algorithm_find(scenario->words.algorithm)
	                                            : NULL;

	return algorithm != NULL && algorithm->kind == KIND_MUTEX;
}

static int parse_line(struct scenario_parser *parser)
{
	if (parser->words_count == 0)
		return 0;
	const struct step_form *form = find_form(forms, parser->words[0]);
	if (form == NULL)
		return unknown_keyword(parser);
	if (form->header == HEADER_CRASH && form->parse_header != NULL &&
	    (parser->scenario->steps_count != 0 || is_mutex(parser->scenario)))
		form = &crash_form;
	if (count_words(parser, form) != 0)
		return -1;
	return form->parse_header != NULL ? parse_header(parser, form) : parse_step(parser, form);
}

/* --- lines and words --- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Does this '#' begin a #K, and not a comment? */
static bool is_rank(const struct scenario_parser *parser, const char *c, const char *end)
{
	if (parser->words_count < 3 || end - c < 2 || c[1] < '0' || c[1] > '9')
		return false;
	return strcmp(parser->words[0], "deliver") == 0 || strcmp(parser->words[0], "drop") == 0 ||
	       strcmp(parser->words[0], "duplicate") == 0;
}

/* Returns the end of the word, or NULL and a problem if this is not a valid word. */
static char *end_word(struct scenario_parser *parser, char *word, char *end)
{
	bool quoted = false, ascii = true;
	char *c = word;

	for (; c < end && (quoted || !is_blank(*c)); c++) {
		if (*c == '"')
			quoted = !quoted;
		else if (*c == '\\' && quoted && c + 1 < end)
			c++;
		if ((unsigned char)*c < 0x20 || *c == 0x7f) {
			problem_set(parser->problem,
			            "control character 0x%02x: a scenario is plain text", *c);
			return NULL;
		}
		ascii = ascii && (unsigned char)*c < 0x80;
	}
	if (quoted) {
		problem_set(parser->problem, "a quotation mark is not closed: '%.*s'",
		            (int)(c - word > 40 ? 40 : c - word), word);
		return NULL;
	}
	if (!ascii && !text_is_utf8(word, (size_t)(c - word))) {
		problem_set(parser->problem, "this is not UTF-8 text");
		return NULL;
	}
	return c;
}

/* Splits a line into words. It may overwrite the character at `end`. */
static int split_line(struct scenario_parser *parser, char *c, char *end)
{
	parser->words_count = 0;
	for (;;) {
		while (c < end && is_blank(*c))
			c++;
		if (c >= end || (*c == '#' && !is_rank(parser, c, end)))
			return 0;
		parser->words = grow_array(parser->words, parser->words_count, &parser->words_size,
		                           sizeof(char *));
		parser->words[parser->words_count++] = c;
		c = end_word(parser, c, end);
		if (c == NULL)
			return -1;
		*c++ = '\0';
	}
}

static int parse_lines(struct scenario_parser *parser, char *text, size_t size)
{
	char *end = text + size;

	for (char *line = text; line < end;) {
		char *newline = memchr(line, '\n', (size_t)(end - line));
		char *line_end = newline != NULL ? newline : end;
		parser->line++;
		if (memchr(line, '\0', (size_t)(line_end - line)) != NULL)
			return problem_set(parser->problem, "a NUL byte: a scenario is plain text");
		if (split_line(parser, line, line_end) != 0 || parse_line(parser) != 0)
			return -1;
		line = line_end + 1;
	}
	if (parser->scenario->words.algorithm != NULL)
		return 0;
	if (parser->line == 0)
		parser->line = 1;
	return problem_set(parser->problem,
	                   "no algorithm: a scenario begins with 'algorithm NAME'");
}

int scenario_parse(const char *text, size_t size, struct scenario *ret_scenario, uint32_t *ret_line,
                   struct problem *problem)
{
	struct scenario scenario = {.words = {.seed = 1}};
	struct scenario_parser parser = {.scenario = &scenario, .problem = problem};
	static const char mark[] = {'\xef', '\xbb',
	                            /* The byte order mark that some editors put before UTF-8
	                             * text. */
	                            '\xbf'};

	if (size > SCENARIO_SIZE_MAX) {
		*ret_line = 1;
		return problem_set(problem, "more than %d bytes: too large for a scenario",
		                   SCENARIO_SIZE_MAX);
	}
	if (size >= sizeof(mark) && memcmp(text, mark, sizeof(mark)) == 0) {
		text += sizeof(mark);
		size -= sizeof(mark);
	}
	scenario.text = malloc(size + 1);
	memory_must(scenario.text != NULL);
	if (size != 0)
		memcpy(scenario.text, text, size);
	scenario.text[size] = '\0';

	int wrong = parse_lines(&parser, scenario.text, size);
	free(parser.words);
	if (wrong != 0) {
		*ret_line = parser.line;
		scenario_free(&scenario);
		return -1;
	}
	scenario.lines_count = parser.line;
	*ret_scenario = scenario;
	return 0;
}

void scenario_free(struct scenario *scenario)
{
	for (size_t i = 0; i < scenario->steps_count; i++) {
		for (size_t k = 0; k < scenario->steps[i].variables_count; k++)
			free(scenario->steps[i].variables[k].value);
		free(scenario->steps[i].variables);
	}
	free(scenario->steps);
	free(scenario->text);
}

bool step_expects(const struct step *step)
{
	return step->kind >= STEP_EXPECT_PHASE;
}
