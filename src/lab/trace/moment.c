#include "moment.h"

#include "json_text.h"
#include "memory.h"
#include "moment_place.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* There are six colours for variables that name nodes. If there are more variables, some share a
 * colour. */
enum { COLOURS = 6 };

/* The height of a line of text, and of the title with its margin. */
enum { LINE = 17, TITLE = 34 };

static const double SMALL = 11, FLIGHT = 10.5, BAD = 12;

/* Colours are literals, because typesetting programs do not know CSS custom properties. The
 * classes f0 to f5 fill, and s0 to s5 stroke, what belongs to a variable. */
static const char style[] =
        "<style>\n"
        "text{font:12px system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;fill:#16191f}\n"
        ".paper{fill:#fcfbf8}.title{font-size:15px;font-weight:600}"
        ".soft{fill:#5f6673;font-size:11px}\n"
        ".edge{stroke:#e2ded5;stroke-width:5;stroke-linecap:round}\n"
        ".path{stroke:#a3a9b4;stroke-width:1;stroke-dasharray:2 4}\n"
        ".node{fill:#fcfbf8;stroke:#16191f;stroke-width:1.4}"
        ".waiting{fill:#d9e4f7}.inside{fill:#fbdf9f}.leaving{fill:#fdf0d0}\n"
        ".dead{fill:none;stroke:#5f6673;stroke-dasharray:3 "
        "3}.cross{stroke:#5f6673;stroke-width:2}\n"
        ".holder,.leads{fill:none;stroke:#f0a000;stroke-width:4}.leads{stroke:#0b7a6b}\n"
        ".name{font-size:14px;font-weight:600;text-anchor:middle}\n"
        ".gone{fill:#5f6673;paint-order:stroke;stroke:#fcfbf8;stroke-width:5px}\n"
        ".state{font-size:11px;fill:#5f6673}.bad{fill:#c2352b;font-weight:600}\n"
        ".arrow{fill:none;stroke-width:1.6}.dashed{stroke-dasharray:5 4}\n"
        ".flight{font-size:10.5px}.token{fill:#945400;font-weight:600}"
        ".dart{fill:#5f6673}.baton{fill:#f0a000;stroke:#945400}\n"
        ".f0{fill:#2667d0}.f1{fill:#a8327f}.f2{fill:#0b7a6b}.f3{fill:#945400}.f4{fill:#5f6673}.f5{"
        "fill:#16191f}\n"
        ".s0{stroke:#2667d0}.s1{stroke:#a8327f}.s2{stroke:#0b7a6b}"
        ".s3{stroke:#945400}.s4{stroke:#5f6673}.s5{stroke:#16191f}\n"
        "@media (prefers-color-scheme:dark){text{fill:#eceef1}.paper{fill:#0e1115}"
        ".soft{fill:#98a1ae}.edge{stroke:#2a323c}"
        ".node{fill:#0e1115;stroke:#eceef1}.waiting{fill:#1d2c45}.path{stroke:#596270}"
        ".inside{fill:#5a4310}.leaving{fill:#33290f}.holder{stroke:#ffb224}"
        ".gone{fill:#98a1ae;stroke:#0e1115}.leads{stroke:#4fd0bd}.dead{fill:none;stroke:#98a1ae}."
        "cross{stroke:#98a1ae}"
        ".state{fill:#98a1ae}.bad{fill:#ff7a6e}.dart{fill:#98a1ae}"
        ".token{fill:#ffc864}.baton{fill:#ffb224;stroke:#ffc864}"
        ".f0{fill:#73a9ff}.f1{fill:#ee82c4}.f2{fill:#4fd0bd}"
        ".f3{fill:#ffc864}.f4{fill:#98a1ae}.f5{fill:#eceef1}"
        ".s0{stroke:#73a9ff}.s1{stroke:#ee82c4}.s2{stroke:#4fd0bd}"
        ".s3{stroke:#ffc864}.s4{stroke:#98a1ae}.s5{stroke:#eceef1}}\n"
        "</style>\n";

static bool is_dead(const struct canvas *canvas, uint32_t node)
{
	return canvas->moment->dead[node - 1];
}

static struct site site_of(const struct canvas *canvas, uint32_t node)
{
	return network_site(canvas->moment->world->network, node);
}

/* --- lines and arrows --- */

static void write_edges(struct canvas *canvas)
{
	const struct graph *graph = &canvas->moment->world->network->graph;

	if (graph->complete)
		return;
	for (uint32_t node = 1; node <= graph->nodes; node++) {
		for (uint32_t k = 0; k < graph_degree(graph, node); k++) {
			uint32_t other = graph_neighbour(graph, node, k);
			if (other < node)
				continue;
			struct point a = canvas->at[node - 1], b = canvas->at[other - 1];
			labels_cross(&canvas->labels, a.x, a.y, b.x, b.y);
			text_format(canvas->out,
			            "<line class=\"edge\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" "
			            "y2=\"%.1f\"/>\n",
			            a.x, a.y, b.x, b.y);
		}
	}
}

static void write_cut(const struct canvas *canvas, struct point at)
{
	text_format(canvas->out, "<path class=\"cross\" d=\"M%.1f %.1f l12 12 m0 -12 l-12 12\"/>\n",
	            at.x - 6, at.y - 6);
}

/* Draws a cross on each link that is cut. */
static void write_cuts(struct canvas *canvas)
{
	const uint32_t *ends = canvas->moment->cut_ends;

	for (size_t i = 0; i < canvas->moment->cut_ends_count; i += 2) {
		struct point a = canvas->at[ends[i] - 1], b = canvas->at[ends[i + 1] - 1];
		struct point middle = {(a.x + b.x) / 2, (a.y + b.y) / 2};
		text_format(canvas->out,
		            "<line class=\"path\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" "
		            "y2=\"%.1f\"/>\n",
		            a.x, a.y, b.x, b.y);
		write_cut(canvas, middle);
		labels_take(&canvas->labels, (struct box){middle.x - 7, middle.y - 7, 14, 14});
	}
}

/* Returns the node that a variable names, or 0. The node may be the first element of an array. */
static uint32_t read_node(const struct json_member *member)
{
	const char *digits = member->value + (member->value[0] == '[' ? 1 : 0);

	return (uint32_t)strtoul(digits, NULL, 10);
}

/* Draws an arrow from each node to the one that the variable names. */
static void write_variable(struct canvas *canvas, const char *name, uint32_t number)
{
	for (uint32_t node = 1; node <= canvas->nodes; node++) {
		struct json_member member;
		if (is_dead(canvas, node))
			continue;
		char *variables = world_describe(canvas->moment->world, node);
		uint32_t to = json_find_member(variables, name, &member) ? read_node(&member) : 0;
		free(variables);
		if (to == 0 || to == node || to > canvas->nodes)
			continue;
		struct bow bow = canvas_bow(canvas, node, to, number);
		text_format(canvas->out,
		            "<path class=\"arrow%s s%u\" d=\"M%.1f %.1f Q%.1f %.1f %.1f "
		            "%.1f\" marker-end=\"url(#v%u)\"/>\n",
		            number == 0 ? "" : " dashed", number % COLOURS, bow.start.x,
		            bow.start.y, bow.control.x, bow.control.y, bow.end.x, bow.end.y,
		            number % COLOURS);
	}
}

static void write_variables(struct canvas *canvas)
{
	uint32_t number = 0;

	for (const struct variable *v = canvas->moment->world->algorithm->variables;
	     v->name != NULL; v++) {
		if (v->kind == VARIABLE_NODE)
			write_variable(canvas, v->name, number++);
	}
}

/* --- labels --- */

/* Places a label at the best of some places around a point, `away` from it or further, and writes
 * it. */
static void write_label(struct canvas *canvas, const char *class, const char *text, struct point at,
                        double away, double font_size)
{
	double width = labels_width(text, font_size), height = font_size + 3, best_cost = -1;
	struct box best = {0};

	for (int i = 0; i < 56; i++) {
		/* First to the upper right, then the other corners and sides, then further away. */
		static const signed char sides[8][2] = {{1, -1}, {1, 1},  {-1, -1}, {-1, 1},
		                                        {1, 0},  {-1, 0}, {0, -1},  {0, 1}};
		int turn = i / 8;
		double x = sides[i % 8][0], y = sides[i % 8][1], reach = away + 9.0 * turn;
		double aside = x != 0 && y != 0 ? reach * 0.72 : reach;
		struct box box = {.width = width, .height = height};
		box.x = x > 0 ? at.x + aside : x < 0 ? at.x - aside - width : at.x - width / 2;
		box.y = y > 0 ? at.y + aside : y < 0 ? at.y - aside - height : at.y - height / 2;
		double cost = labels_cost(&canvas->labels, &box) + 0.006 * i;
		if (box.x < 4 || box.x + width > canvas->width - 4 || box.y < 0 ||
		    box.y + height > canvas->height)
			cost += 1000;
		if (best_cost < 0 || cost < best_cost) {
			best_cost = cost;
			best = box;
		}
	}
	labels_take(&canvas->labels, best);
	text_format(canvas->out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", class, best.x,
	            best.y + font_size - 0.5);
	text_add_xml(canvas->out, text);
	text_add_string(canvas->out, "</text>\n");
}

/* --- nodes --- */

static const char *phase_word(const struct canvas *canvas, uint32_t node)
{
	enum world_phase phase = (enum world_phase)canvas->moment->world->phases[node - 1];

	if (is_dead(canvas, node))
		return "dead";
	return phase == PHASE_INSIDE ? "inside" : phase_name(phase);
}

/* Returns the name of the node's state in the paper's figure, or NULL. */
static const char *figure_word(const struct canvas *canvas, uint32_t node)
{
	const struct world *world = canvas->moment->world;
	const struct state_figure *figure = world->algorithm->figure;
	struct site site = site_of(canvas, node);

	if (figure == NULL || is_dead(canvas, node))
		return NULL;
	return figure->state(&site, world_state(world, node));
}

static bool has_token(const struct canvas *canvas, uint32_t node)
{
	const struct world *world = canvas->moment->world;
	struct site site = site_of(canvas, node);

	return world->algorithm->has_privilege != NULL && !is_dead(canvas, node) &&
	       world->algorithm->has_privilege(&site, world_state(world, node));
}

static bool leads(const struct canvas *canvas, uint32_t node)
{
	return !is_dead(canvas, node) &&
	       canvas->moment->learned[node - 1] == site_of(canvas, node).identifier;
}

static bool is_election(const struct canvas *canvas)
{
	return canvas->moment->world->algorithm->kind == KIND_ELECTION;
}

static void write_ring(const struct canvas *canvas, const char *class, struct point at, int radius)
{
	text_format(canvas->out, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%d\"/>\n", class,
	            at.x, at.y, radius);
}

static void write_node(const struct canvas *canvas, uint32_t node)
{
	struct point at = canvas->at[node - 1];
	const char *word = phase_word(canvas, node);

	text_format(canvas->out, "<circle class=\"node %s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%d\"/>\n",
	            word, at.x, at.y, RADIUS);
	if (is_dead(canvas, node))
		text_format(canvas->out,
		            "<path class=\"cross\" d=\"M%.1f %.1f l26 26 m0 -26 l-26 26\"/>\n",
		            at.x - 13, at.y - 13);
	if (has_token(canvas, node))
		write_ring(canvas, "holder", at, RADIUS + 4);
	if (leads(canvas, node))
		write_ring(canvas, "leads", at, RADIUS + 4);
	text_format(canvas->out, "<text class=\"name%s\" x=\"%.1f\" y=\"%.1f\">%u</text>\n",
	            is_dead(canvas, node) ? " gone" : "", at.x, at.y + 5, node);
}

/* Writes beside a node what it does, and in an election its identifier and the leader that it
 * knows. */
static void write_state(struct canvas *canvas, uint32_t node)
{
	const char *word = figure_word(canvas, node);
	uint32_t leader = canvas->moment->learned[node - 1];
	struct text text = {0};

	if (is_election(canvas))
		text_format(&text, "id %u, ", site_of(canvas, node).identifier);
	if (leads(canvas, node))
		text_add_string(&text, "leads");
	else if (leader != 0 && !is_dead(canvas, node))
		text_format(&text, "leader %u", leader);
	else
		text_add_string(&text, word != NULL ? word : phase_word(canvas, node));
	write_label(canvas, "state", text.bytes, canvas->at[node - 1], RADIUS + 10, SMALL);
	text_free(&text);
}

/* --- messages --- */

static bool carries_token(const struct canvas *canvas, const struct envelope *flight)
{
	return canvas->moment->world->algorithm->messages[flight->body[0]].token;
}

/* Draws a triangle of this size that points along (x, y). */
static void write_dart(const struct canvas *canvas, bool token, struct point at, double x, double y,
                       double size)
{
	text_format(canvas->out, "<path class=\"%s\" d=\"M%.1f %.1f L%.1f %.1f L%.1f %.1f Z\"/>\n",
	            token ? "baton" : "dart", at.x + x * size, at.y + y * size,
	            at.x - x * size * 0.7 - y * size * 0.7, at.y - y * size * 0.7 + x * size * 0.7,
	            at.x - x * size * 0.7 + y * size * 0.7, at.y - y * size * 0.7 - x * size * 0.7);
}

/* Draws a message on its way. `before` older ones between the same nodes are ahead of it. */
static struct point write_flight(struct canvas *canvas, const struct envelope *flight,
                                 uint32_t before)
{
	bool token = carries_token(canvas, flight);
	struct point a = canvas->at[flight->from - 1], b = canvas->at[flight->to - 1];
	double length = hypot(b.x - a.x, b.y - a.y), size = token ? 9 : 6.5;
	double way = fmax(0.6 - 0.14 * before, 0.2);

	if (length < 1) { /* a node's message to itself is drawn above the node */
		struct point above = {a.x + 14.0 * before, a.y - RADIUS - 14};
		write_dart(canvas, token, above, 0, 1, size);
		return above;
	}
	double x = (b.x - a.x) / length, y = (b.y - a.y) / length;
	/* Messages keep to the left of the line, so that the two directions can be told apart. */
	struct point at = {a.x + (b.x - a.x) * way + y * 7, a.y + (b.y - a.y) * way - x * 7};
	if (canvas->moment->world->network->graph.complete) {
		struct point start = canvas_rim(a, b, RADIUS + 6),
		             end = canvas_rim(b, a, RADIUS + 6);
		text_format(canvas->out,
		            "<line class=\"path\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" "
		            "y2=\"%.1f\"/>\n",
		            start.x + y * 7, start.y - x * 7, end.x + y * 7, end.y - x * 7);
		labels_cross(&canvas->labels, start.x + y * 7, start.y - x * 7, end.x + y * 7,
		             end.y - x * 7);
	}
	write_dart(canvas, token, at, x, y, size);
	return at;
}

static void write_flights(struct canvas *canvas)
{
	const struct moment *moment = canvas->moment;
	struct point *at = malloc((moment->flights_count + 1) * sizeof(*at));

	memory_must(at != NULL);
	for (size_t i = 0; i < moment->flights_count; i++) {
		uint32_t before = 0;
		for (size_t k = 0; k < i; k++)
			before += moment->flights[k].from == moment->flights[i].from &&
			          moment->flights[k].to == moment->flights[i].to;
		at[i] = write_flight(canvas, &moment->flights[i], before);
		labels_take(&canvas->labels,
		            (struct box){at[i].x - 6, at[i].y - 6, .width = 12, .height = 12});
	}
	/* Labels of nodes have fewer possible places than labels of messages, so they are placed
	 * first. */
	for (uint32_t node = 1; node <= canvas->nodes; node++)
		write_state(canvas, node);
	for (size_t i = 0; i < moment->flights_count; i++) {
		const struct envelope *flight = &moment->flights[i];
		char *message = world_show(moment->world, flight->body, flight->size);
		struct text text = {0};
		text_format(&text, "%s %u→%u", message, flight->from, flight->to);
		write_label(canvas, carries_token(canvas, flight) ? "flight token" : "flight",
		            text.bytes, at[i], 9, FLIGHT);
		text_free(&text);
		free(message);
	}
	free(at);
}

/* --- what is written above and below --- */

/* Adds the nodes that wait, in the order in which they will be served, as far as the states
 * tell it. */
static void add_queue(const struct moment *moment, struct text *text)
{
	const struct world *world = moment->world;
	const struct algorithm *algorithm = world->algorithm;
	const void *states[MOMENT_NODES_MAX];
	uint32_t queue[MOMENT_NODES_MAX];
	size_t flights_count = moment->flights_count;

	if (algorithm->queue == NULL)
		return;
	struct flight *list = malloc((flights_count + 1) * sizeof(*list));
	memory_must(list != NULL);
	for (uint32_t node = 1; node <= world->network->graph.nodes; node++)
		states[node - 1] = world_state(world, node);
	for (size_t i = 0; i < flights_count; i++) {
		struct message message = {.side = side_opposite(moment->flights[i].side),
		                          .size = moment->flights[i].size,
		                          .body = moment->flights[i].body};
		list[i] = (struct flight){
		        .to = moment->flights[i].to,
		        .origin = algorithm->origin != NULL ? algorithm->origin(&message) : 0,
		        .message = message,
		};
	}
	struct snapshot snapshot = {
	        .network = world->network,
	        .states = states,
	        .flights = list,
	        .flights_count = flights_count,
	};
	uint32_t count = algorithm->queue(&snapshot, queue);
	text_add_string(text, "waiting queue: ");
	for (uint32_t k = 0; k < count; k++)
		text_format(text, "%s%u", k == 0 ? "" : ", ", queue[k]);
	text_add_string(text, count == 0 ? "nobody" : "");
	if (count < world->waiting_count)
		text_format(text, "; %u more, in an order that is not certain yet",
		            world->waiting_count - count);
	free(list);
}

/* Writes a text in lines as wide as the picture, from `y` on, and returns how many lines there are.
 * If `out` is NULL, it only counts them. */
static uint32_t write_lines(const struct canvas *canvas, struct text *out, const char *class,
                            const char *text, double font_size, double y)
{
	uint32_t lines = 0;

	for (; text != NULL && *text != '\0'; lines++) {
		size_t length = labels_fit(text, font_size, canvas->width - 2 * SIDE);
		char *line = strndup(text, length);
		memory_must(line != NULL);
		if (out != NULL) {
			text_format(out, "<text class=\"%s\" x=\"%d\" y=\"%.1f\">", class, SIDE,
			            y + LINE * (double)lines);
			text_add_xml(out, line);
			text_add_string(out, "</text>\n");
		}
		free(line);
		text += length;
		text += strspn(text, " ");
	}
	return lines;
}

static void write_heads(struct text *out)
{
	text_add_string(out, "<defs>\n");
	for (unsigned i = 0; i < COLOURS; i++)
		text_format(out,
		            "<marker id=\"v%u\" viewBox=\"0 0 8 8\" refX=\"6\" refY=\"4\" "
		            "markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0 "
		            "L8 4 L0 8 z\" class=\"f%u\"/></marker>\n",
		            i, i);
	text_add_string(out, "</defs>\n");
}

/* Writes an entry of the legend after its sample, which is `sample` wide, and moves on to the next
 * place. A new line begins where the entry does not fit. */
static struct point legend_next(const struct canvas *canvas, struct point *at, double sample,
                                const char *text)
{
	double width = sample + labels_width(text, SMALL);

	if (at->x > SIDE && at->x + width > canvas->width - SIDE / 2.0) {
		at->x = SIDE;
		at->y += LINE;
	}
	struct point here = *at;
	text_format(canvas->out, "<text class=\"soft\" x=\"%.1f\" y=\"%.1f\">", here.x + sample,
	            here.y);
	text_add_xml(canvas->out, text);
	text_add_string(canvas->out, "</text>\n");
	at->x += width + 14;
	return here;
}

static void legend_variables(const struct canvas *canvas, struct point *at)
{
	const struct algorithm *algorithm = canvas->moment->world->algorithm;
	uint32_t number = 0;

	for (const struct variable *v = algorithm->variables; v->name != NULL; v++) {
		if (v->kind != VARIABLE_NODE)
			continue;
		struct point here = legend_next(canvas, at, 34, v->name);
		text_format(canvas->out,
		            "<path class=\"arrow%s s%u\" d=\"M%.1f %.1f h26\" "
		            "marker-end=\"url(#v%u)\"/>\n",
		            number == 0 ? "" : " dashed", number % COLOURS, here.x, here.y - 4,
		            number % COLOURS);
		number++;
	}
}

/* Explains the names of states in the paper's figure, as far as nodes are in these states. */
static void legend_states(const struct canvas *canvas, struct point *at)
{
	const struct state_figure *figure = canvas->moment->world->algorithm->figure;

	if (figure == NULL)
		return;
	for (const struct state_meaning *state = figure->states; state->name != NULL; state++) {
		struct text text = {0};
		uint32_t node = 1;
		while (node <= canvas->nodes && figure_word(canvas, node) != state->name)
			node++;
		if (node > canvas->nodes)
			continue;
		text_format(&text, "%s: %s", state->name, state->meaning);
		legend_next(canvas, at, 0, text.bytes);
		text_free(&text);
	}
}

/* Writes the legend, and returns the y of its last line. */
static double write_legend(const struct canvas *canvas, double y)
{
	const struct moment *moment = canvas->moment;
	struct point at = {SIDE, y};
	bool tokens = false, others = false, leader = false;

	for (size_t i = 0; i < moment->flights_count; i++) {
		tokens = tokens || carries_token(canvas, &moment->flights[i]);
		others = others || !carries_token(canvas, &moment->flights[i]);
	}
	for (uint32_t node = 1; node <= canvas->nodes; node++)
		leader = leader || leads(canvas, node);
	legend_variables(canvas, &at);
	if (moment->world->algorithm->has_token) {
		struct point here = legend_next(canvas, &at, 20, "has the token");
		write_ring(canvas, "holder", (struct point){here.x + 7, here.y - 4}, 6);
	}
	if (leader) {
		struct point here = legend_next(canvas, &at, 20, "leads");
		write_ring(canvas, "leads", (struct point){here.x + 7, here.y - 4}, 6);
	}
	if (others) {
		struct point here = legend_next(canvas, &at, 18, "message in flight");
		write_dart(canvas, false, (struct point){here.x + 6, here.y - 4}, 1, 0, 6.5);
	}
	if (tokens) {
		struct point here = legend_next(canvas, &at, 20, "the token in flight");
		write_dart(canvas, true, (struct point){here.x + 7, here.y - 4}, 1, 0, 8);
	}
	if (moment->cut_ends_count != 0) {
		struct point here = legend_next(canvas, &at, 20, "a link that is cut");
		write_cut(canvas, (struct point){here.x + 7, here.y - 4});
	}
	legend_states(canvas, &at);
	return at.x > SIDE ? at.y : at.y - LINE;
}

/* Draws the nodes and all that is between them. */
static void write_canvas(struct canvas *canvas)
{
	write_edges(canvas);
	write_cuts(canvas);
	write_variables(canvas);
	for (uint32_t node = 1; node <= canvas->nodes; node++)
		write_node(canvas, node);
	write_flights(canvas);
}

void moment_draw(const struct moment *moment, struct text *svg)
{
	struct text body = {0}, queue = {0};
	struct canvas canvas = {
	        .moment = moment, .out = &body, .nodes = moment->world->network->graph.nodes};
	const char *name = moment->world->algorithm->name;

	must(canvas.nodes <= MOMENT_NODES_MAX);
	canvas_place(&canvas);
	add_queue(moment, &queue);
	double y = TITLE + LINE;
	y += LINE * write_lines(&canvas, &body, "soft", moment->subtitle, SMALL, y);
	y += LINE * write_lines(&canvas, &body, "soft", queue.bytes, SMALL, y);
	text_format(&body, "<g transform=\"translate(0 %.1f)\">\n", y - LINE);
	write_canvas(&canvas);
	text_add_string(&body, "</g>\n");
	y = write_legend(&canvas, y + canvas.height);
	y += LINE * write_lines(&canvas, &body, "bad", moment->violation, BAD, y + LINE + 6);
	y += moment->violation != NULL ? 22 : 16;
	text_format(svg,
	            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
	            "viewBox=\"0 0 %.0f %.0f\" role=\"img\">\n<title>%s, %u nodes: a "
	            "moment</title>\n",
	            canvas.width, y, canvas.width, y, name, canvas.nodes);
	text_add_string(svg, style);
	write_heads(svg);
	text_format(svg,
	            "<rect class=\"paper\" width=\"100%%\" height=\"100%%\"/>\n"
	            "<text class=\"title\" x=\"%d\" y=\"28\">%s</text>\n",
	            SIDE, name);
	text_add(svg, body.bytes, body.used);
	text_add_string(svg, "</svg>\n");
	text_free(&body);
	text_free(&queue);
	labels_free(&canvas.labels);
}
