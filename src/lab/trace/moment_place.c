#include "moment_place.h"

#include <math.h>

enum { SPACE_X = 132, SPACE_Y = 112, MARGIN = 64, HALF_LABEL = 60 };

/* A curve counts as this many straight pieces when its distance from other things is computed. */
enum { PIECES = 16 };

/* --- nodes --- */

/* Places a node and its subtree, and returns the node's x. Leaves are placed side by side. */
static double place_tree(struct canvas *canvas, uint32_t node, uint32_t parent, uint32_t depth,
                         double *leaves_x)
{
	const struct graph *graph = &canvas->moment->setup->network.graph;
	double first = 0, last = 0;
	uint32_t children = 0;

	for (uint32_t k = 0; k < graph_degree(graph, node); k++) {
		uint32_t child = graph_neighbour(graph, node, k);
		if (child == parent)
			continue;
		last = place_tree(canvas, child, node, depth + 1, leaves_x);
		if (children++ == 0)
			first = last;
	}
	double x = (first + last) / 2;
	if (children == 0) {
		x = *leaves_x;
		*leaves_x += SPACE_X;
	}
	double y = MARGIN + SPACE_Y * (double)depth;
	canvas->at[node - 1] = (struct point){x, y};
	canvas->height = fmax(canvas->height, y + MARGIN);
	return x;
}

/* Places node 1 at the top and the others clockwise; for a ring, in the ring's direction. */
static void place_circle(struct canvas *canvas)
{
	const uint32_t *right = canvas->moment->setup->network.right;
	uint32_t node = 1;
	double radius = fmax(SPACE_X * canvas->nodes / 6.0, 88);

	for (uint32_t k = 0; k < canvas->nodes; k++) {
		double angle = 2 * 3.14159265358979 * k / canvas->nodes;
		canvas->at[node - 1] =
		        (struct point){MARGIN + HALF_LABEL + radius * (1 + sin(angle)),
		                       MARGIN + radius * (1 - cos(angle))};
		node = right != NULL ? right[node - 1] : node % canvas->nodes + 1;
	}
	canvas->width = 2 * (radius + MARGIN + HALF_LABEL);
	canvas->height = 2 * (radius + MARGIN);
}

void canvas_place(struct canvas *canvas)
{
	const struct network *network = &canvas->moment->setup->network;
	uint32_t scratch[MOMENT_NODES_MAX];
	double leaves_x = MARGIN + HALF_LABEL;

	if (canvas->nodes > 1 && graph_is(&network->graph, GRAPH_TREE, scratch)) {
		place_tree(canvas, network->holder, 0, 0, &leaves_x);
		canvas->width = leaves_x - SPACE_X + MARGIN + HALF_LABEL;
	} else {
		place_circle(canvas);
	}
	double narrow = WIDTH_LEAST - canvas->width;
	if (narrow > 0) {
		canvas->width = WIDTH_LEAST;
		for (uint32_t i = 0; i < canvas->nodes; i++)
			canvas->at[i].x += narrow / 2;
	}
	for (uint32_t i = 0; i < canvas->nodes; i++)
		labels_take(&canvas->labels, (struct box){.x = canvas->at[i].x - RADIUS - 7,
		                                          .y = canvas->at[i].y - RADIUS - 7,
		                                          .width = 2 * RADIUS + 14,
		                                          .height = 2 * RADIUS + 14});
}

/* --- arrows --- */

struct point canvas_rim(struct point node, struct point towards, double distance)
{
	double length = fmax(hypot(towards.x - node.x, towards.y - node.y), 1);

	return (struct point){node.x + (towards.x - node.x) / length * distance,
	                      node.y + (towards.y - node.y) / length * distance};
}

/* Returns the curve whose control point is beside the middle of the straight line, by `aside` to
 * its right. */
static struct bow bow_aside(const struct canvas *canvas, uint32_t from, uint32_t to, double aside)
{
	struct point a = canvas->at[from - 1], b = canvas->at[to - 1];
	double length = fmax(hypot(b.x - a.x, b.y - a.y), 1);
	struct point control = {(a.x + b.x) / 2 - (b.y - a.y) / length * aside,
	                        (a.y + b.y) / 2 + (b.x - a.x) / length * aside};

	return (struct bow){.start = canvas_rim(a, control, RADIUS),
	                    .control = control,
	                    .end = canvas_rim(b, control, RADIUS + 4)};
}

static struct point bow_point(const struct bow *bow, double way)
{
	double back = 1 - way, a = back * back, b = 2 * back * way, c = way * way;

	return (struct point){a * bow->start.x + b * bow->control.x + c * bow->end.x,
	                      a * bow->start.y + b * bow->control.y + c * bow->end.y};
}

/* Returns how near a curve comes to things that it has nothing to do with. */
static double bow_cost(const struct canvas *canvas, const struct bow *bow, uint32_t from,
                       uint32_t to)
{
	double cost = 0;

	for (int i = 0; i <= PIECES; i++) {
		struct point point = bow_point(bow, (double)i / PIECES);
		struct box around = {.x = point.x - 3, .y = point.y - 3, .width = 6, .height = 6};
		for (uint32_t node = 1; node <= canvas->nodes; node++) {
			struct point at = canvas->at[node - 1];
			if (node != from && node != to &&
			    hypot(at.x - point.x, at.y - point.y) < RADIUS + 8)
				cost += 20;
		}
		for (size_t k = 0; i > 1 && i + 1 < PIECES && k < canvas->labels.lines_count; k++)
			cost += labels_meet(&canvas->labels.lines[k], &around) ? 1 : 0;
		if (point.x < SIDE || point.x > canvas->width - SIDE || point.y < 8 ||
		    point.y > canvas->height - 8)
			cost += 20;
	}
	return cost;
}

struct bow canvas_bow(struct canvas *canvas, uint32_t from, uint32_t to, uint32_t lane)
{
	static const double more[] = {0, 30, 60, 100, 150, 210};
	struct bow best = {0};
	double best_cost = -1;

	for (size_t i = 0; i < 2 * sizeof(more) / sizeof(*more); i++) {
		double aside = (16 + 22.0 * lane + more[i / 2]) * (i % 2 == 0 ? 1 : -1);
		struct bow bow = bow_aside(canvas, from, to, aside);
		double cost = bow_cost(canvas, &bow, from, to) + 0.3 * (double)i;
		if (best_cost < 0 || cost < best_cost) {
			best_cost = cost;
			best = bow;
		}
	}
	struct point last = best.start;
	for (int i = 1; i <= PIECES; i++) {
		struct point next = bow_point(&best, (double)i / PIECES);
		labels_cross(&canvas->labels, last.x, last.y, next.x, next.y);
		last = next;
	}
	return best;
}
