/*
 * Parses the text of a topology and the edges of a list.
 */
#include "edge_list.h"
#include "topology.h"

enum { MILLION = 1000000 };

_Static_assert(NODES_MAX == 16777216, "the sentences below name the number");

const char *const topology_names[] = {
        "complete", "ring",     "line",          "star",      "tree:K", "radiating:K",
        "grid:RxC", "random:D", "edges:A-B,...", "file:PATH", NULL,
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_separator(char c)
{
	return c == ',' || c == ' ' || (c >= '\t' && c <= '\r');
}

/* Reads a number and moves *text past it. The limit is checked at every digit, so that the
 * number cannot overflow. */
static bool read_number(const char **text, uint32_t least, uint32_t most, uint32_t *ret_number)
{
	const char *next = *text;
	uint64_t number = 0;

	if (!is_digit(*next))
		return false;
	for (; is_digit(*next); next++) {
		number = number * 10 + (uint64_t)(*next - '0');
		if (number > most)
			return false;
	}
	if (number < least)
		return false;
	*text = next;
	*ret_number = (uint32_t)number;
	return true;
}

bool edge_read(const char **text, struct edge *ret_edge)
{
	const char *next = *text;
	struct edge edge;

	while (is_separator(*next))
		next++;
	*text = next;
	if (!read_number(&next, 1, NODES_MAX, &edge.a) || *next++ != '-' ||
	    !read_number(&next, 1, NODES_MAX, &edge.b) || edge.a == edge.b ||
	    (*next != '\0' && !is_separator(*next)))
		return false;
	*text = next;
	*ret_edge = edge;
	return true;
}

static bool parse_number(const char *text, struct topology *topology)
{
	return read_number(&text, 1, NODES_MAX, &topology->a) && *text == '\0';
}

static bool parse_grid(const char *text, struct topology *topology)
{
	return read_number(&text, 1, NODES_MAX, &topology->a) && *text++ == 'x' &&
	       read_number(&text, 1, NODES_MAX, &topology->b) && *text == '\0' &&
	       (uint64_t)topology->a * topology->b <= NODES_MAX;
}

static bool parse_degree(const char *text, struct topology *topology)
{
	uint32_t whole;

	if (!read_number(&text, 0, NODES_MAX, &whole))
		return false;
	topology->degree_millionths = (uint64_t)whole * MILLION;
	if (*text == '\0')
		return true;
	if (*text++ != '.' || *text == '\0')
		return false;
	for (uint32_t unit = MILLION / 10; unit > 0 && is_digit(*text); unit /= 10)
		topology->degree_millionths += unit * (uint64_t)(*text++ - '0');
	return *text == '\0';
}

static bool parse_edges(const char *text, struct topology *topology)
{
	struct edge edge;
	bool any = false;

	topology->edges = text;
	while (edge_read(&text, &edge))
		any = true;
	return any && *text == '\0';
}

/* Core cannot read files, but file:PATH should not be reported as an unknown topology. */
static bool parse_file(const char *text, struct topology *topology)
{
	(void)text;
	(void)topology;
	return false;
}

static const struct topology_form {
	const char *name;
	enum topology_kind kind;
	/* Parses what follows the colon. NULL if the form has no colon. */
	bool (*parse)(const char *text, struct topology *topology);
	const char *usage;
} forms[] = {
        {"complete", TOPOLOGY_COMPLETE, NULL, "complete takes nothing after its name"},
        {"ring", TOPOLOGY_RING, NULL, "ring takes nothing after its name"},
        {"line", TOPOLOGY_LINE, NULL, "line takes nothing after its name"},
        {"star", TOPOLOGY_STAR, NULL, "star takes nothing after its name"},
        {"tree", TOPOLOGY_TREE, parse_number,
         "tree:K needs a whole number K from 1 to 16777216, such as tree:2"},
        {"radiating", TOPOLOGY_RADIATING, parse_number,
         "radiating:K needs a whole number K from 1 to 16777216, such as radiating:3"},
        {"grid", TOPOLOGY_GRID, parse_grid,
         "grid:RxC needs two whole numbers of at least 1, with a product of at most 16777216, "
         "such as grid:2x3"},
        {"random", TOPOLOGY_RANDOM, parse_degree,
         "random:D needs a number D from 0 to 16777216, with at most six decimals, "
         "such as random:3.5"},
        {"edges", TOPOLOGY_EDGES, parse_edges,
         "edges:A-B,... needs pairs of different numbers from 1 to 16777216, "
         "such as edges:1-2,2-3"},
        {"file", TOPOLOGY_EDGES, parse_file,
         "file:PATH cannot be read here; give its text instead, such as edges:1-2,2-3"},
};

/* Returns what follows the name: the end of the text or a colon. Returns NULL if the text does
 * not begin with this name. */
static const char *skip_name(const char *text, const char *name)
{
	while (*name != '\0' && *text == *name) {
		text++;
		name++;
	}
	return *name == '\0' && (*text == '\0' || *text == ':') ? text : NULL;
}

const char *topology_parse(const char *text, struct topology *ret_topology)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		const struct topology_form *form = &forms[i];
		struct topology topology = {.kind = form->kind};
		const char *rest = skip_name(text, form->name);

		if (rest == NULL)
			continue;
		if ((*rest == ':') != (form->parse != NULL))
			return form->usage;
		if (*rest == ':' && !form->parse(rest + 1, &topology))
			return form->usage;
		*ret_topology = topology;
		return NULL;
	}
	return "a topology is complete, ring, line, star, tree:K, radiating:K, grid:RxC, random:D, "
	       "edges:A-B,... or file:PATH";
}
