#include "moment.h"

#include "json_text.h"
#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SPACE_X = 120, SPACE_Y = 110, MARGIN = 70, HEAD = 60, FOOT = 50, RADIUS = 19 };

/* There are six colours for variables that name nodes. If there are more variables, some share a
 * colour. */
enum { COLOURS = 6 };

struct point {
	double x, y;
};

struct moment {
	const struct setup *setup;
	const struct graph *graph;
	const struct world *world;
	struct text *out;
	struct point at[MOMENT_NODES_MAX]; /* [node - 1]: where the node is */
	double width, height;
};

/* Colours are literals, because typesetting programs do not know CSS custom properties. The
 * classes f0 to f5 fill, and s0 to s5 stroke, what belongs to a variable. */
static const char style[] =
        "<style>\n"
        "text{font:12px system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;fill:#16191f}\n"
        ".paper{fill:#fcfbf8}.title{font-size:15px;font-weight:600}"
        ".soft{fill:#5f6673;font-size:11px}\n"
        ".edge{stroke:#e2ded5;stroke-width:5;stroke-linecap:round}\n"
        ".node{fill:#fcfbf8;stroke:#16191f;stroke-width:1.4}"
        ".waiting,.leaving{fill:#d9e4f7}.inside{fill:#fbdf9f}\n"
        ".holder{fill:none;stroke:#f0a000;stroke-width:4}\n"
        ".name{font-size:14px;font-weight:600;text-anchor:middle}\n"
        ".state{font-size:11px;fill:#5f6673;paint-order:stroke;stroke:#fcfbf8;"
        "stroke-width:3px}\n"
        ".arrow{fill:none;stroke-width:1.6}.dashed{stroke-dasharray:5 4}\n"
        ".flight{font-size:10.5px;text-anchor:middle;paint-order:stroke;stroke:#fcfbf8;"
        "stroke-width:3.5px;stroke-linejoin:round}.token{fill:#945400;font-weight:600}\n"
        ".f0{fill:#2667d0}.f1{fill:#a8327f}.f2{fill:#0b7a6b}.f3{fill:#945400}.f4{fill:#5f6673}.f5{"
        "fill:#16191f}\n"
        ".s0{stroke:#2667d0}.s1{stroke:#a8327f}.s2{stroke:#0b7a6b}"
        ".s3{stroke:#945400}.s4{stroke:#5f6673}.s5{stroke:#16191f}\n"
        "@media (prefers-color-scheme:dark){text{fill:#eceef1}.paper{fill:#0e1115}"
        ".soft{fill:#98a1ae}.edge{stroke:#2a323c}"
        ".node{fill:#0e1115;stroke:#eceef1}.waiting,.leaving{fill:#1d2c45}"
        ".inside{fill:#5a4310}.holder{fill:none;stroke:#ffb224}"
        ".state{fill:#98a1ae;stroke:#0e1115}.flight{stroke:#0e1115}"
        ".token{fill:#ffc864}"
        ".f0{fill:#73a9ff}.f1{fill:#ee82c4}.f2{fill:#4fd0bd}"
        ".f3{fill:#ffc864}.f4{fill:#98a1ae}.f5{fill:#eceef1}"
        ".s0{stroke:#73a9ff}.s1{stroke:#ee82c4}.s2{stroke:#4fd0bd}"
        ".s3{stroke:#ffc864}.s4{stroke:#98a1ae}.s5{stroke:#eceef1}}\n"
        "</style>\n";

/* --- where the nodes are --- */

/* Places a node and its subtree, and returns the node's x. Leaves are placed side by side. */
static double place_tree(struct moment *picture, uint32_t node, uint32_t parent, uint32_t depth,
                         double *leaves_x)
{
	double first = 0, last = 0;
	uint32_t children = 0;

	for (uint32_t k = 0; k < graph_degree(picture->graph, node); k++) {
		uint32_t child = graph_neighbour(picture->graph, node, k);
		if (child == parent)
			continue;
		last = place_tree(picture, child, node, depth + 1, leaves_x);
		if (children++ == 0)
			first = last;
	}
	double x = (first + last) / 2;
	if (children == 0) {
		x = *leaves_x;
		*leaves_x += SPACE_X;
	}
	double y = HEAD + MARGIN + SPACE_Y * (double)depth;
	picture->at[node - 1] = (struct point){x, y};
	picture->height = fmax(picture->height, y + MARGIN + FOOT);
	return x;
}

/* Places node 1 at the top and the others clockwise; for a ring, in the ring's direction. */
static void place_circle(struct moment *picture)
{
	uint32_t nodes = picture->graph->nodes, node = 1;
	double radius = fmax(SPACE_X * nodes / 6.5, 70);

	for (uint32_t k = 0; k < nodes; k++) {
		double angle = 2 * 3.14159265358979 * k / nodes;
		picture->at[node - 1] = (struct point){MARGIN + radius * (1 + sin(angle)),
		                                       HEAD + MARGIN + radius * (1 - cos(angle))};
		node = picture->setup->network.right != NULL
		               ? picture->setup->network.right[node - 1]
		               : node % nodes + 1;
	}
	picture->width = 2 * (radius + MARGIN);
	picture->height = 2 * (radius + MARGIN) + HEAD + FOOT;
}

static void place_nodes(struct moment *picture)
{
	uint32_t scratch[MOMENT_NODES_MAX];
	double leaves_x = MARGIN;

	if (picture->graph->nodes > 1 && graph_is(picture->graph, GRAPH_TREE, scratch)) {
		place_tree(picture, picture->setup->network.holder, 0, 0, &leaves_x);
		picture->width = leaves_x - SPACE_X + MARGIN;
	} else {
		place_circle(picture);
	}
	picture->width = fmax(picture->width, 420);
}

/* --- drawing --- */

static void write_edges(const struct moment *picture)
{
	const struct graph *graph = picture->graph;

	if (graph->complete)
		return;
	for (uint32_t node = 1; node <= graph->nodes; node++) {
		for (uint32_t k = 0; k < graph_degree(graph, node); k++) {
			uint32_t other = graph_neighbour(graph, node, k);
			if (other < node)
				continue;
			text_format(picture->out,
			            "<line class=\"edge\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" "
			            "y2=\"%.1f\"/>\n",
			            picture->at[node - 1].x, picture->at[node - 1].y,
			            picture->at[other - 1].x, picture->at[other - 1].y);
		}
	}
}

/* Returns a point of the line from one node to another, moved by `aside` to the right of the
 * line. `way` says how far along the line it is. */
static struct point beside(const struct moment *picture, uint32_t from, uint32_t to, double way,
                           double aside)
{
	struct point a = picture->at[from - 1], b = picture->at[to - 1];
	double length = fmax(hypot(b.x - a.x, b.y - a.y), 1);

	return (struct point){a.x + (b.x - a.x) * way - (b.y - a.y) / length * aside,
	                      a.y + (b.y - a.y) * way + (b.x - a.x) / length * aside};
}

/* Returns the point where a line from the centre of a node towards another point crosses the
 * node's outline. */
static struct point rim(struct point node, struct point towards, double radius)
{
	double length = fmax(hypot(towards.x - node.x, towards.y - node.y), 1);

	return (struct point){node.x + (towards.x - node.x) / length * radius,
	                      node.y + (towards.y - node.y) / length * radius};
}

/* Draws an arrow for a variable that names a node. The arrows of each variable have their own
 * curvature, so that they do not cover each other. */
static void write_arrow(const struct moment *picture, uint32_t variable, uint32_t from, uint32_t to)
{
	struct point middle = beside(picture, from, to, 0.5, 16 + 22.0 * variable);
	struct point start = rim(picture->at[from - 1], middle, RADIUS);
	struct point end = rim(picture->at[to - 1], middle, RADIUS + 4);

	text_format(picture->out,
	            "<path class=\"arrow%s s%u\" d=\"M%.1f %.1f Q%.1f %.1f %.1f "
	            "%.1f\" marker-end=\"url(#v%u)\"/>\n",
	            variable == 0 ? "" : " dashed", variable % COLOURS, start.x, start.y, middle.x,
	            middle.y, end.x, end.y, variable % COLOURS);
}

/* Returns the node that a variable names, or 0. The node may be the first element of an array. */
static uint32_t read_node(const struct json_member *member)
{
	const char *digits = member->value + (member->value[0] == '[' ? 1 : 0);

	return (uint32_t)strtoul(digits, NULL, 10);
}

static void write_variables(const struct moment *picture)
{
	uint32_t number = 0;

	for (const struct variable *v = picture->world->algorithm->variables; v->name != NULL;
	     v++) {
		if (v->kind != VARIABLE_NODE)
			continue;
		for (uint32_t node = 1; node <= picture->graph->nodes; node++) {
			char *variables = world_describe(picture->world, node);
			struct json_member member;
			uint32_t to = json_find_member(variables, v->name, &member)
			                      ? read_node(&member)
			                      : 0;
			if (to != 0 && to != node && to <= picture->graph->nodes)
				write_arrow(picture, number, node, to);
			free(variables);
		}
		number++;
	}
}

static void write_node(const struct moment *picture, uint32_t node)
{
	const struct algorithm *algorithm = picture->world->algorithm;
	struct site site = network_site(&picture->setup->network, node);
	const void *state = world_state(picture->world, node);
	struct point at = picture->at[node - 1];
	const char *name = phase_name((enum world_phase)picture->world->phases[node - 1]);

	text_format(picture->out, "<circle class=\"node %s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%d\"/>\n",
	            strcmp(name, "in") == 0 ? "inside" : name, at.x, at.y, RADIUS);
	if (algorithm->has_privilege != NULL && algorithm->has_privilege(&site, state))
		text_format(picture->out,
		            "<circle class=\"holder\" cx=\"%.1f\" cy=\"%.1f\" r=\"%d\"/>\n", at.x,
		            at.y, RADIUS + 4);
	text_format(picture->out, "<text class=\"name\" x=\"%.1f\" y=\"%.1f\">%u</text>\n", at.x,
	            at.y + 5, site.identifier);
	if (algorithm->figure != NULL && algorithm->figure->state(&site, state) != NULL)
		name = algorithm->figure->state(&site, state);
	text_format(picture->out, "<text class=\"state\" x=\"%.1f\" y=\"%.1f\">%s</text>\n",
	            at.x + RADIUS + 7, at.y - RADIUS + 7, name);
}

static void write_flight(const struct moment *picture, const struct envelope *flight,
                         uint32_t above)
{
	struct point at = beside(picture, flight->from, flight->to, 0.45, -6);
	char *message = world_show(picture->world, flight->body, flight->size);

	if (flight->from == flight->to)
		at = (struct point){picture->at[flight->to - 1].x,
		                    picture->at[flight->to - 1].y - RADIUS - 12};
	text_format(picture->out, "<text class=\"flight%s\" x=\"%.1f\" y=\"%.1f\">",
	            picture->world->algorithm->messages[flight->body[0]].token ? " token" : "",
	            at.x, at.y - 14.0 * above);
	text_add_xml(picture->out, message);
	text_format(picture->out, " %u→%u</text>\n", flight->from, flight->to);
	free(message);
}

static void write_flights(const struct moment *picture, const struct envelope *flights,
                          size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t above = 0;
		for (size_t k = 0; k < i; k++)
			above += (flights[k].from == flights[i].from &&
			          flights[k].to == flights[i].to) ||
			         (flights[k].from == flights[i].to &&
			          flights[k].to == flights[i].from);
		write_flight(picture, &flights[i], above);
	}
}

static void write_heads(const struct moment *picture)
{
	text_add_string(picture->out, "<defs>\n");
	for (unsigned i = 0; i < COLOURS; i++)
		text_format(picture->out,
		            "<marker id=\"v%u\" viewBox=\"0 0 8 8\" refX=\"6\" refY=\"4\" "
		            "markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0 "
		            "L8 4 L0 8 z\" class=\"f%u\"/></marker>\n",
		            i, i);
	text_add_string(picture->out, "</defs>\n");
}

static void write_legend(const struct moment *picture)
{
	const struct algorithm *algorithm = picture->world->algorithm;
	double x = 20, y = picture->height - 18;
	uint32_t number = 0;

	for (const struct variable *v = algorithm->variables; v->name != NULL; v++) {
		if (v->kind != VARIABLE_NODE)
			continue;
		text_format(picture->out,
		            "<path class=\"arrow%s s%u\" d=\"M%.1f %.1f h26\" "
		            "marker-end=\"url(#v%u)\"/><text class=\"soft\" x=\"%.1f\" "
		            "y=\"%.1f\">%s</text>\n",
		            number == 0 ? "" : " dashed", number % COLOURS, x, y - 4,
		            number % COLOURS, x + 34, y, v->name);
		x += 50 + 7.2 * (double)strlen(v->name);
		number++;
	}
	if (!algorithm->has_token)
		return;
	text_format(picture->out,
	            "<circle class=\"holder\" cx=\"%.1f\" cy=\"%.1f\" r=\"6\"/><text "
	            "class=\"soft\" x=\"%.1f\" y=\"%.1f\">has the token</text>\n",
	            x + 6, y - 4, x + 20, y);
}

/* Writes the nodes that wait, in the order in which they will be served, as far as the states
 * tell it. */
static void write_queue(const struct moment *picture, const struct envelope *flights,
                        size_t flights_count)
{
	const struct world *world = picture->world;
	const struct algorithm *algorithm = world->algorithm;
	const void *states[MOMENT_NODES_MAX];
	uint32_t queue[MOMENT_NODES_MAX];

	if (algorithm->queue == NULL)
		return;
	struct flight *list = malloc((flights_count + 1) * sizeof(*list));
	memory_must(list != NULL);
	for (uint32_t node = 1; node <= picture->graph->nodes; node++)
		states[node - 1] = world_state(world, node);
	for (size_t i = 0; i < flights_count; i++) {
		struct message message = {.side = side_opposite(flights[i].side),
		                          .size = flights[i].size,
		                          .body = flights[i].body};
		list[i] = (struct flight){
		        .to = flights[i].to,
		        .origin = algorithm->origin != NULL ? algorithm->origin(&message) : 0,
		        .message = message,
		};
	}
	struct snapshot snapshot = {
	        .network = &picture->setup->network,
	        .states = states,
	        .flights = list,
	        .flights_count = flights_count,
	};
	uint32_t count = algorithm->queue(&snapshot, queue);
	text_add_string(picture->out, "<text class=\"soft\" x=\"20\" y=\"46\">waiting queue: ");
	for (uint32_t k = 0; k < count; k++)
		text_format(picture->out, "%s%u", k == 0 ? "" : ", ", queue[k]);
	text_add_string(picture->out, count == 0 ? "nobody" : "");
	if (count < world->waiting_count)
		text_format(picture->out, "; %u more, in an order that is not certain yet",
		            world->waiting_count - count);
	text_add_string(picture->out, "</text>\n");
	free(list);
}

void moment_draw(const struct setup *setup, const struct world *world,
                 const struct envelope *flights, size_t flights_count, const char *title,
                 struct text *svg)
{
	struct moment picture = {
	        .setup = setup, .graph = &setup->network.graph, .world = world, .out = svg};

	must(picture.graph->nodes <= MOMENT_NODES_MAX);
	place_nodes(&picture);
	text_format(svg,
	            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
	            "viewBox=\"0 0 %.0f %.0f\" role=\"img\">\n",
	            picture.width, picture.height, picture.width, picture.height);
	text_add_string(svg, style);
	write_heads(&picture);
	text_add_string(svg, "<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n");
	text_add_string(svg, "<text class=\"title\" x=\"20\" y=\"28\">");
	text_add_xml(svg, title);
	text_add_string(svg, "</text>\n");
	write_queue(&picture, flights, flights_count);
	write_edges(&picture);
	write_variables(&picture);
	for (uint32_t node = 1; node <= picture.graph->nodes; node++)
		write_node(&picture, node);
	write_flights(&picture, flights, flights_count);
	write_legend(&picture);
	text_add_string(svg, "</svg>\n");
}
