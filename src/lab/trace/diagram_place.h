/*
 * The layout of a diagram: where each time and each node is drawn, and how a wide picture is cut
 * into strips.
 */
#ifndef LAB_DIAGRAM_PLACE_H
#define LAB_DIAGRAM_PLACE_H

#include "diagram_draw.h"
#include "labels.h"

/* The layout, in units of the picture. */
enum {
	LEFT = 74,
	RIGHT = 45, /* the width from the last event to the end of the lines */
	MARGIN = 45,
	OVERHANG = 22, /* how far before the first event the lines begin */
	TOP = 82,
	LANE = 78,
	LANE_LEAST = 40, /* the smallest distance between two lines, for pictures with many nodes */
	HEIGHT_GOAL = 800,
	WIDTH_GOAL = 6000, /* the width of all strips together, if there are very many events */
	BOTTOM = 34,
	STEP = 84, /* the width of a median wait between two events */
	STEP_LEAST = 16,
	STEP_MOST = 150,
	BAR = 13,
	WAIT = 5,
	LABEL_HEIGHT = 12,
	CAPTION = 42, /* room for the line below the title, which says what was run */
	LEGEND = 62,
	SENTENCE = 28, /* room for the first line of the sentence about a violation */
	SENTENCE_LINE = 18,
	WAITS = 80 /* room for the arrows of who waits for whom */
};

/* The size of the font of labels. */
extern const double LABEL_SIZE;

struct drawing {
	const struct diagram *diagram;
	struct text *out;
	uint64_t *times; /* the times at which something happens, increasing, each once */
	double *places;  /* where each element of `times` is drawn */
	size_t times_count;
	double *cuts; /* the places where the picture is cut into strips, the edges included */
	size_t strips_count;
	double lane; /* the distance from one node's line to the next */
	double width, strip_height;
	/* The factor by which events are further apart than usual, so that labels find a place. The
	 * distance between lines (`lane`) grows half as much. */
	double room;
	struct labels labels; /* the things that labels keep away from */
	uint32_t unlabelled;  /* the number of arrows whose whole label would cover something */
	/* The number of arrows that should have a label, including `unlabelled`. */
	uint32_t labelled;
	double crossed; /* the sum of the costs (labels_cost) of the arrows' labels */
	bool leaves;    /* a node is drawn that has left but is not idle yet */
};

/* Places the times, and cuts the picture into strips. `diagram`, `lane` and `room` must be set. The
 * caller frees times, places and cuts. */
void drawing_place(struct drawing *page);

/* Returns where a time is drawn; at the left edge, if it is before the window. */
double drawing_x(const struct drawing *page, uint64_t time);
double drawing_y(const struct drawing *page, uint32_t node);
/* Returns where the lines of the nodes end. */
double drawing_edge(const struct drawing *page);

/* Returns how bad it would be to place a label here (labels_cost); 1000 and more if the edge of a
 * strip or of the picture would cut it. */
double drawing_cost(const struct drawing *page, const struct box *box);
/* Writes a label with this class into the box. No other label covers it. */
void drawing_write_label(struct drawing *page, const char *class, const char *text,
                         const struct box *box);
/* Writes a label of something that happened at a point, at the best place around it. */
void drawing_label_near(struct drawing *page, const char *text, double x, double y);

#endif
