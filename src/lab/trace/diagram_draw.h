/*
 * What a diagram remembers of a run until it is drawn.
 */
#ifndef LAB_DIAGRAM_DRAW_H
#define LAB_DIAGRAM_DRAW_H

#include "diagram.h"

enum mark_kind {
	MARK_REQUEST,
	MARK_ENTER,
	MARK_EXIT,
	MARK_IDLE, /* after an exit */
	MARK_ELECTED,
	MARK_TOKEN_COMES,
	MARK_TOKEN_GOES
};

/* An event at a node. */
struct mark {
	uint64_t time;
	enum mark_kind kind;
	uint32_t node;
	uint32_t what; /* the leader */
};

enum fate { FATE_FLYING, FATE_DELIVERED, FATE_LOST };

struct arrow {
	uint64_t sent, arrived, number;
	uint32_t from, to;
	uint8_t type;
	enum fate fate;
	char label[DIAGRAM_LABEL_MOST + 1];
};

struct diagram {
	const struct setup *setup;
	struct mark *marks;
	size_t marks_count, marks_size;
	struct arrow arrows[DIAGRAM_MESSAGES_MAX];
	size_t arrows_count;
	uint64_t messages; /* sent in the run, drawn or not */
	uint64_t end;      /* the time up to which it is drawn */
	bool cut;          /* there were more messages than are drawn */
	bool given_up;     /* the run did not reach its end */
};

static inline const struct message_type *type_of(const struct diagram *diagram, uint8_t type)
{
	return &diagram->setup->network.algorithm->messages[type];
}

/* Appends the picture, which ends at diagram->end. */
void diagram_draw_picture(const struct diagram *diagram, struct text *svg);

#endif
