/*
 * The space-time diagram: a line for each node, time running to the right, messages as arrows,
 * ready to be put into a paper. It is SVG without scripts or fonts of its own, and looks right on
 * light and on dark paper.
 */
#ifndef LAB_DIAGRAM_H
#define LAB_DIAGRAM_H

#include "setup.h"
#include "text.h"
#include "world.h"

struct diagram;

/* A picture with more messages is unreadable. The rest is left out, and the picture says so. */
enum { DIAGRAM_MESSAGES_MAX = 240 };

/* A message whose label would be longer shows only its type, so that the label does not hide
 * what is beside it. */
enum { DIAGRAM_LABEL_MOST = 26 };

/* The part of a run that is drawn. */
struct diagram_window {
	uint64_t from, to; /* the time that is drawn, in millionths */
	/* The nodes that are drawn, in increasing order; NULL: all. Messages between two of them
	 * are drawn. */
	const uint32_t *nodes;
	uint32_t nodes_count;
};

struct diagram *diagram_create(void);
/* Draws only a part of the run. window->nodes must outlive the diagram. To be called before the
 * first event. */
void diagram_show(struct diagram *diagram, const struct diagram_window *window);
void diagram_destroy(struct diagram *diagram);
/* The setup must outlive the diagram. */
void diagram_start(struct diagram *diagram, const struct setup *setup);

/* Notes that the run itself is random, not only the graph: the picture then names the seed. */
void diagram_seed(struct diagram *diagram);

/* Each call records an event; events are recorded in the order in which they happen. Times are in
 * millionths. */
void diagram_request(struct diagram *diagram, uint64_t time, uint32_t node);
void diagram_enter(struct diagram *diagram, uint64_t time, uint32_t node);
void diagram_exit(struct diagram *diagram, uint64_t time, uint32_t node);
/* Notes that the node is idle from now on. It was leaving since its exit. */
void diagram_idle(struct diagram *diagram, uint64_t time, uint32_t node);
void diagram_elected(struct diagram *diagram, uint64_t time, uint32_t node, uint32_t leader);
/* `label` is written beside the arrow. */
void diagram_send(struct diagram *diagram, uint64_t time, uint64_t number, uint32_t from,
                  uint32_t to, uint8_t type, const char *label);
void diagram_deliver(struct diagram *diagram, uint64_t time, uint64_t number);
void diagram_lose(struct diagram *diagram, uint64_t time, uint64_t number);

/* Notes that the last step violated a property; `sentence` says which. If nodes wait and nothing
 * can happen any more, `stuck` is the world, and the picture shows who waits for whom, unless the
 * algorithm has a token or is an election. Otherwise `stuck` is NULL. */
void diagram_violate(struct diagram *diagram, const char *sentence, const struct world *stuck);
/* Notes that a timer of the node has expired. */
void diagram_expire(struct diagram *diagram, uint64_t time, uint32_t node);
/* Notes that the loop of a scenario begins. */
void diagram_loop(struct diagram *diagram, uint64_t time);
/* Notes that after the last step everything is as it was where the loop begins, so that the loop
 * can be repeated for ever. */
void diagram_loop_closes(struct diagram *diagram);
void diagram_crash(struct diagram *diagram, uint64_t time, uint32_t node);
void diagram_restart(struct diagram *diagram, uint64_t time, uint32_t node);
/* Notes that the link between two nodes is made or removed. */
void diagram_link(struct diagram *diagram, uint64_t time, uint32_t a, uint32_t b, bool linked);
/* Notes that nothing arrives any more over the link between two nodes. */
void diagram_cut_link(struct diagram *diagram, uint64_t time, uint32_t a, uint32_t b);

/* Notes that the run was given up before its end. */
void diagram_cut(struct diagram *diagram);

/* Appends the picture of what has happened until `time`, as SVG. More may happen afterwards. */
void diagram_draw(struct diagram *diagram, uint64_t time, struct text *svg);

#endif
