#include "diagram_draw.h"
#include "grow.h"
#include "json_text.h"
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
	free(diagram->hidden);
	free(diagram->waits);
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

/* Remembers a token on its way to or from a node that is not drawn, so that the picture shows when
 * a drawn node has the token. */
static void hide_token(struct diagram *diagram, uint64_t time, uint64_t number, uint32_t from,
                       uint32_t to)
{
	add_mark(diagram, time, MARK_TOKEN_GOES, from, 0);
	if (diagram_lane(diagram, to) == 0)
		return;
	diagram->hidden = grow(diagram->hidden, &diagram->hidden_size, diagram->hidden_count + 1,
	                       sizeof(*diagram->hidden));
	diagram->hidden[diagram->hidden_count++] =
	        (struct hidden_token){.number = number, .to = to};
}

/* Notes the arrival of a token that came from a node that is not drawn. */
static void show_token(struct diagram *diagram, uint64_t time, uint64_t number, enum fate fate)
{
	for (size_t i = 0; i < diagram->hidden_count; i++) {
		if (diagram->hidden[i].number != number)
			continue;
		if (fate == FATE_DELIVERED)
			add_mark(diagram, time, MARK_TOKEN_COMES, diagram->hidden[i].to, 0);
		diagram->hidden[i] = diagram->hidden[--diagram->hidden_count];
		return;
	}
}

void diagram_send(struct diagram *diagram, uint64_t time, uint64_t number, uint32_t from,
                  uint32_t to, uint8_t type, const char *label)
{
	bool token = type_of(diagram, type)->token;

	if (diagram_lane(diagram, from) == 0 || diagram_lane(diagram, to) == 0) {
		if (token)
			hide_token(diagram, time, number, from, to);
		return;
	}
	if (time > diagram->window.to)
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
	if (token)
		add_mark(diagram, time, MARK_TOKEN_GOES, from, 0);
}

static void end_arrow(struct diagram *diagram, uint64_t time, uint64_t number, enum fate fate)
{
	if (diagram->cut)
		return;
	show_token(diagram, time, number, fate);
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

void diagram_loop_closes(struct diagram *diagram)
{
	diagram->loop_closes = true;
}

void diagram_crash(struct diagram *diagram, uint64_t time, uint32_t node)
{
	add_mark(diagram, time, MARK_CRASH, node, 0);
}

void diagram_restart(struct diagram *diagram, uint64_t time, uint32_t node)
{
	add_mark(diagram, time, MARK_RESTART, node, 0);
}

/* Returns the node that a variable names, or 0. */
static uint32_t named_node(const struct world *world, uint32_t node, const char *variable)
{
	char *variables = world_describe(world, node);
	struct json_member member;
	uint32_t named = 0;

	if (json_find_member(variables, variable, &member)) {
		const char *digits = member.value + (member.value[0] == '[' ? 1 : 0);
		named = (uint32_t)strtoul(digits, NULL, 10);
	}
	free(variables);
	return named;
}

/* Returns the waiting node to which `other` has given its permission instead of `node`, as a
 * variable of `other` tells; or 0. */
static uint32_t held_by(const struct world *world, uint32_t other, uint32_t node)
{
	for (const struct variable *v = world->algorithm->variables; v->name != NULL; v++) {
		if (v->kind != VARIABLE_NODE)
			continue;
		uint32_t named = named_node(world, other, v->name);
		if (named != 0 && named != node && named <= world->network->graph.nodes &&
		    world->phases[named - 1] == PHASE_WAITING)
			return named;
	}
	return 0;
}

/* Has the mark's node received a permission from `other` since this mark? */
static bool is_permitted(const struct diagram *diagram, const struct mark *since, uint32_t other)
{
	for (size_t i = 0; i < diagram->arrows_count; i++) {
		const struct arrow *arrow = &diagram->arrows[i];
		if (arrow->from == other && arrow->to == since->node &&
		    arrow->fate == FATE_DELIVERED && arrow->arrived >= since->time &&
		    type_of(diagram, arrow->type)->role == ROLE_PERMITS)
			return true;
	}
	return false;
}

/* Notes for which permissions a node still waits, if it asked for them after this mark. */
static void find_waits(struct diagram *diagram, const struct world *world, const struct mark *since)
{
	for (size_t i = 0; i < diagram->arrows_count; i++) {
		const struct arrow *arrow = &diagram->arrows[i];
		if (arrow->from != since->node || arrow->sent < since->time ||
		    type_of(diagram, arrow->type)->role != ROLE_ASKS ||
		    is_permitted(diagram, since, arrow->to))
			continue;
		uint32_t held = held_by(world, arrow->to, since->node);
		diagram->waits = grow(diagram->waits, &diagram->waits_size,
		                      diagram->waits_count + 1, sizeof(*diagram->waits));
		diagram->waits[diagram->waits_count++] =
		        (struct wait){.node = since->node, .other = held != 0 ? held : arrow->to};
	}
}

void diagram_violate(struct diagram *diagram, const char *sentence, const struct world *stuck)
{
	struct text text = {0};

	text_add_string(&text, sentence);
	free(diagram->violation);
	diagram->violation = text_take(&text);
	diagram->waits_count = 0;
	/* Where there is a token, everybody waits for it, and the picture shows where it is. In an
	 * election a message asks nobody in particular. */
	if (stuck == NULL || diagram->cut || stuck->algorithm->has_token ||
	    stuck->algorithm->kind == KIND_ELECTION)
		return;
	for (size_t i = 0; i < diagram->marks_count; i++) {
		const struct mark *mark = &diagram->marks[i];
		bool last = true;
		for (size_t k = i + 1; k < diagram->marks_count; k++)
			last = last && (diagram->marks[k].node != mark->node ||
			                diagram->marks[k].kind > MARK_IDLE);
		if (mark->kind == MARK_REQUEST && last)
			find_waits(diagram, stuck, mark);
	}
}

void diagram_link(struct diagram *diagram, uint64_t time, uint32_t a, uint32_t b, bool linked)
{
	if (diagram_lane(diagram, b) != 0)
		add_mark(diagram, time, linked ? MARK_LINK : MARK_UNLINK, a, b);
}

void diagram_cut_link(struct diagram *diagram, uint64_t time, uint32_t a, uint32_t b)
{
	if (diagram_lane(diagram, b) != 0)
		add_mark(diagram, time, MARK_CUT, a, b);
}

void diagram_seed(struct diagram *diagram)
{
	diagram->seeded = true;
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
