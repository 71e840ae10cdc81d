/*
 * The data that a diagram keeps about a run until it is drawn.
 */
#ifndef LAB_DIAGRAM_DRAW_H
#define LAB_DIAGRAM_DRAW_H

#include "diagram.h"

enum mark_kind {
	MARK_REQUEST,
	MARK_ENTER,
	MARK_EXIT,
	MARK_IDLE, /* a node that was leaving has become idle */
	MARK_ELECTED,
	MARK_TOKEN_COMES,
	MARK_TOKEN_GOES,
	MARK_CRASH,
	MARK_RESTART,
	MARK_EXPIRE,
	MARK_LINK,
	MARK_UNLINK,
	MARK_CUT, /* a link is cut */
};

/* Something that happened at a node. */
struct mark {
	uint64_t time;
	enum mark_kind kind;
	uint32_t node;
	/* ELECTED: the leader's identifier; LINK, UNLINK and CUT: the node at the other end */
	uint32_t what;
};

enum fate { FATE_FLYING, FATE_DELIVERED, FATE_LOST };

struct arrow {
	uint64_t sent, arrived, number;
	uint32_t from, to;
	uint8_t type;
	enum fate fate;
	char label[DIAGRAM_LABEL_MOST + 1];
};

/* A message with the token to or from a node that is not drawn. */
struct hidden_token {
	uint64_t number;
	uint32_t to;
};

/* `node` waits for ever, because `other` does not do what `node` waits for. */
struct wait {
	uint32_t node, other;
};

struct diagram {
	const struct setup *setup;
	bool seeded; /* the run is random, so the picture names its seed */
	struct hidden_token *hidden;
	size_t hidden_count, hidden_size;
	struct wait *waits; /* who waits for whom when nothing can happen any more */
	size_t waits_count, waits_size;
	struct mark *marks;
	size_t marks_count, marks_size;
	struct arrow arrows[DIAGRAM_MESSAGES_MAX];
	size_t arrows_count;
	uint64_t messages; /* how many messages were sent in the run, drawn or not */
	uint64_t end;      /* the time at which the picture ends */
	bool cut;          /* there were more messages than are drawn */
	bool given_up;     /* the run did not reach its end */
	struct diagram_window window;
	bool loops;       /* a loop begins at `loop` and lasts to the end */
	bool loop_closes; /* the loop ends as it began, so it can be repeated for ever */
	uint64_t loop;
	char *violation; /* a sentence about what is wrong at the end, or NULL */
};

static inline const struct message_type *type_of(const struct diagram *diagram, uint8_t type)
{
	return &diagram->setup->network.algorithm->messages[type];
}

/* Returns which of the drawn lines is the node's, from 1; 0: the node is not drawn. */
static inline uint32_t diagram_lane(const struct diagram *diagram, uint32_t node)
{
	if (diagram->window.nodes == NULL)
		return node;
	for (uint32_t i = 0; i < diagram->window.nodes_count; i++) {
		if (diagram->window.nodes[i] == node)
			return i + 1;
	}
	return 0;
}

static inline uint32_t diagram_lanes(const struct diagram *diagram)
{
	return diagram->window.nodes != NULL ? diagram->window.nodes_count
	                                     : diagram->setup->network.graph.nodes;
}

/* Returns the node of a drawn line. */
static inline uint32_t diagram_node(const struct diagram *diagram, uint32_t lane)
{
	return diagram->window.nodes != NULL ? diagram->window.nodes[lane - 1] : lane;
}

/* Appends the picture as SVG. */
void diagram_draw_picture(const struct diagram *diagram, struct text *svg);

#endif
