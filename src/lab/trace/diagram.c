#include "diagram_draw.h"
#include "grow.h"
#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct diagram *diagram_create(void)
{
	struct diagram *diagram = calloc(1, sizeof(*diagram));

	memory_must(diagram != NULL);
	diagram->window.to = UINT64_MAX;
	return diagram;
}

void diagram_show(struct diagram *diagram, const struct diagram_window *window)
{
	diagram->window = *window;
}

void diagram_destroy(struct diagram *diagram)
{
	free(diagram->marks);
	free(diagram->violation);
	free(diagram);
}

void diagram_start(struct diagram *diagram, const struct setup *setup)
{
	diagram->setup = setup;
}

static void add_mark(struct diagram *diagram, uint64_t time, enum mark_kind kind, uint32_t node,
                     uint32_t what)
{
	if (diagram->cut || diagram_lane(diagram, node) == 0 || time > diagram->window.to)
		return;
	diagram->marks = grow(diagram->marks, &diagram->marks_size, diagram->marks_count + 1,
	                      sizeof(*diagram->marks));
	diagram->marks[diagram->marks_count++] =
	        (struct mark){.time = time, .kind = kind, .node = node, .what = what};
	diagram->end = time;
}

void diagram_request(struct diagram *diagram, uint64_t time, uint32_t node)
{
	add_mark(diagram, time, MARK_REQUEST, node, 0);
}

void diagram_enter(struct diagram *diagram, uint64_t time, uint32_t node)
{
	add_mark(diagram, time, MARK_ENTER, node, 0);
}

void diagram_exit(struct diagram *diagram, uint64_t time, uint32_t node)
{
	add_mark(diagram, time, MARK_EXIT, node, 0);
}

void diagram_idle(struct diagram *diagram, uint64_t time, uint32_t node)
{
	size_t i = diagram->marks_count;

	while (i > 0 &&
	       (diagram->marks[i - 1].node != node || diagram->marks[i - 1].kind > MARK_IDLE))
		i--;
	if (i > 0 && diagram->marks[i - 1].kind == MARK_EXIT)
		add_mark(diagram, time, MARK_IDLE, node, 0);
}

void diagram_elected(struct diagram *diagram, uint64_t time, uint32_t node, uint32_t leader)
{
	add_mark(diagram, time, MARK_ELECTED, node, leader);
}

void diagram_send(struct diagram *diagram, uint64_t time, uint64_t number, uint32_t from,
                  uint32_t to, uint8_t type, const char *label)
{
	if (diagram_lane(diagram, from) == 0 || diagram_lane(diagram, to) == 0 ||
	    time > diagram->window.to)
		return;
	diagram->messages++;
	if (diagram->arrows_count == DIAGRAM_MESSAGES_MAX)
		diagram->cut = true;
	if (diagram->cut)
		return;
	struct arrow *arrow = &diagram->arrows[diagram->arrows_count++];
	*arrow = (struct arrow){
	        .sent = time, .number = number, .from = from, .to = to, .type = type};
	snprintf(arrow->label, sizeof(arrow->label), "%s", label);
	diagram->end = time;
	if (type_of(diagram, type)->token)
		add_mark(diagram, time, MARK_TOKEN_GOES, from, 0);
}

static void end_arrow(struct diagram *diagram, uint64_t time, uint64_t number, enum fate fate)
{
	if (diagram->cut)
		return;
	for (size_t i = diagram->arrows_count; i-- > 0;) {
		struct arrow *arrow = &diagram->arrows[i];
		if (arrow->number != number)
			continue;
		if (time > diagram->window.to)
			return;
		if (fate == FATE_DELIVERED && type_of(diagram, arrow->type)->token)
			add_mark(diagram, time, MARK_TOKEN_COMES, arrow->to, 0);
		if (time < diagram->window.from) {
			/* The message arrived before the window begins. */
			memmove(arrow, arrow + 1, (--diagram->arrows_count - i) * sizeof(*arrow));
			diagram->messages--;
			return;
		}
		arrow->arrived = time;
		arrow->fate = fate;
		diagram->end = time;
		return;
	}
}

void diagram_deliver(struct diagram *diagram, uint64_t time, uint64_t number)
{
	end_arrow(diagram, time, number, FATE_DELIVERED);
}

void diagram_lose(struct diagram *diagram, uint64_t time, uint64_t number)
{
	end_arrow(diagram, time, number, FATE_LOST);
}

void diagram_expire(struct diagram *diagram, uint64_t time, uint32_t node)
{
	add_mark(diagram, time, MARK_EXPIRE, node, 0);
}

void diagram_loop(struct diagram *diagram, uint64_t time)
{
	diagram->loops = true;
	diagram->loop = time;
}

void diagram_crash(struct diagram *diagram, uint64_t time, uint32_t node)
{
	add_mark(diagram, time, MARK_CRASH, node, 0);
}

void diagram_restart(struct diagram *diagram, uint64_t time, uint32_t node)
{
	add_mark(diagram, time, MARK_RESTART, node, 0);
}

void diagram_violate(struct diagram *diagram, const char *sentence)
{
	struct text text = {0};

	for (; *sentence != '\0'; sentence++) {
		if (*sentence == '<')
			text_add_string(&text, "&lt;");
		else if (*sentence == '&')
			text_add_string(&text, "&amp;");
		else
			text_add(&text, sentence, 1);
	}
	free(diagram->violation);
	diagram->violation = text_take(&text);
}

void diagram_cut(struct diagram *diagram)
{
	diagram->given_up = true;
}

void diagram_draw(struct diagram *diagram, uint64_t time, struct text *svg)
{
	if (!diagram->cut)
		diagram->end = time < diagram->window.to ? time : diagram->window.to;
	diagram_draw_picture(diagram, svg);
}
