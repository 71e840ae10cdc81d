/*
 * The layout of the picture of a moment: the places of the nodes and the arrows of variables, which
 * keep away from nodes that they do not name.
 */
#ifndef LAB_MOMENT_PLACE_H
#define LAB_MOMENT_PLACE_H

#include "labels.h"
#include "moment.h"

/* The layout, in units of the picture. */
enum { RADIUS = 19, SIDE = 20, WIDTH_LEAST = 460 };

struct point {
	double x, y;
};

/* A curve with one control point. */
struct bow {
	struct point start, control, end;
};

struct canvas {
	const struct moment *moment;
	struct text *out;
	uint32_t nodes;
	struct point at[MOMENT_NODES_MAX]; /* [node - 1]: where the node is */
	double width, height;              /* the part of the picture with the nodes */
	struct labels labels;              /* the things that labels keep away from */
};

/* Places the nodes, and sets width and height. */
void canvas_place(struct canvas *canvas);

/* Returns the curve from one node to another that meets the fewest other things. `lane` tells the
 * curves of several variables apart. Labels then keep away from the curve. */
struct bow canvas_bow(struct canvas *canvas, uint32_t from, uint32_t to, uint32_t lane);

/* Returns the point where a line from the centre of a node towards another point has this distance
 * from the centre. */
struct point canvas_rim(struct point node, struct point towards, double distance);

#endif
