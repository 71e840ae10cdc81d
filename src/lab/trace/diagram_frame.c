/*
 * Draws the things around a diagram: the heads of its arrows, the caption, the legend, and the
 * sentence about what is violated.
 */
#include "diagram_parts.h"
#include "diagram_style.h"
#include "memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEGEND_LINE = 17 };

/* The place where the next entry of the legend begins. */
struct legend_place {
	double x, y;
};

static bool has_type(const struct diagram *diagram, uint8_t type)
{
	for (size_t i = 0; i < diagram->arrows_count; i++) {
		if (diagram->arrows[i].type == type)
			return true;
	}
	return false;
}

void frame_write_heads(const struct drawing *page)
{
	const struct algorithm *algorithm = page->diagram->setup->network.algorithm;

	text_add_string(page->out, "<defs>\n");
	for (uint8_t type = 0; type < algorithm->messages_count; type++) {
		if (algorithm->messages[type].rare && !has_type(page->diagram, type))
			continue;
		text_format(
		        page->out,
		        "<marker id=\"m%u\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" "
		        "markerWidth=\"7\" markerHeight=\"7\" "
		        "markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0 1 10 5 0 9z\" "
		        "class=\"f-%s\"/></marker>\n",
		        type, diagram_colour(page->diagram, type));
	}
	if (page->diagram->waits_count != 0)
		text_add_string(page->out,
		                "<marker id=\"waits\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" "
		                "markerWidth=\"8\" markerHeight=\"8\" "
		                "markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path "
		                "d=\"M0 1 10 5 0 9z\" class=\"bad\"/></marker>\n");
	text_add_string(page->out, "</defs>\n");
}

/* Adds at most `most` bytes of a text, without cutting a character in half. */
static void add_short(struct text *text, const char *string, size_t most)
{
	size_t length = strlen(string);

	if (length > most) {
		length = most;
		while (length > 0 && ((unsigned char)string[length] & 0xc0) == 0x80)
			length--;
	}
	text_add(text, string, length);
	if (string[length] != '\0')
		text_add_string(text, "…");
}

/* Writes what was run, so that pictures of different variants can be told apart. */
static void write_caption(const struct drawing *page)
{
	const struct setup *setup = page->diagram->setup;
	const struct network *network = &setup->network;
	bool drawn = strncmp(setup->topology, "random:", strlen("random:")) == 0;
	struct text caption = {0};

	add_short(&caption, setup->topology, 60);
	for (size_t i = 0; i < setup->parameters_count; i++) {
		text_format(&caption, "; %s=", setup->parameters[i].name);
		add_short(&caption, setup->parameters[i].value, 40);
	}
	if (network->algorithm->has_token)
		text_format(&caption, "; token at %" PRIu32, network->holder);
	text_add_string(&caption, setup->fifo ? "; channels keep order"
	                                      : "; messages may overtake each other");
	if (page->diagram->seeded || drawn)
		text_format(&caption, "; seed %" PRIu64, setup->seed);
	char *text = text_take(&caption);
	text_format(page->out, "<text class=\"soft\" x=\"%d\" y=\"%d\">", LEFT - 32, CAPTION);
	text_add_xml(page->out, text);
	text_add_string(page->out, "</text>\n");
	free(text);
}

/* Writes an entry of the legend after its sample, which is `sample` wide, and moves on to the next
 * place. A new line begins where the entry does not fit. Returns where the sample is. */
static struct legend_place legend_next(const struct drawing *page, struct legend_place *at,
                                       double sample, const char *text)
{
	double width = sample + labels_width(text, 11);

	if (at->x > LEFT && at->x + width > page->width - 10) {
		at->x = LEFT - 32;
		at->y += LEGEND_LINE;
	}
	struct legend_place here = *at;
	text_format(page->out, "<text class=\"soft\" x=\"%.1f\" y=\"%.1f\">%s</text>\n",
	            here.x + sample, here.y, text);
	at->x += width + 16;
	return here;
}

static void legend_bar(const struct drawing *page, struct legend_place *at, const char *class,
                       int height, const char *text)
{
	struct legend_place here = legend_next(page, at, 28, text);

	text_format(page->out,
	            "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"22\" height=\"%d\" "
	            "rx=\"2\"/>\n",
	            class, here.x, here.y - 3.5 - height / 2.0, height);
}

/* The sample is a stroke with this class, and with a head if `head` is not NULL. */
static void legend_stroke(const struct drawing *page, struct legend_place *at, const char *class,
                          const char *head, const char *text)
{
	struct legend_place here = legend_next(page, at, 30, text);

	text_format(page->out, "<path class=\"%s\" d=\"M%.1f %.1f h24\"", class, here.x,
	            here.y - 4);
	if (head != NULL)
		text_format(page->out, " marker-end=\"url(#%s)\"", head);
	text_add_string(page->out, "/>\n");
}

static void legend_messages(const struct drawing *page, struct legend_place *at)
{
	const struct algorithm *algorithm = page->diagram->setup->network.algorithm;

	for (uint8_t type = 0; type < algorithm->messages_count; type++) {
		char class[48], head[8];
		if (!has_type(page->diagram, type))
			continue;
		snprintf(class, sizeof(class), "arrow%s s-%s",
		         algorithm->messages[type].token ? " token" : "",
		         diagram_colour(page->diagram, type));
		snprintf(head, sizeof(head), "m%u", type);
		legend_stroke(page, at, class, head, algorithm->messages[type].name);
	}
}

/* Says what the picture leaves out. */
static void legend_notes(const struct drawing *page, struct legend_place *at)
{
	const struct diagram *diagram = page->diagram;
	char text[96];

	if (diagram->cut) {
		snprintf(text, sizeof(text), "the first %d of %" PRIu64 " messages%s",
		         DIAGRAM_MESSAGES_MAX, diagram->messages,
		         diagram->given_up ? " before the run was stopped" : "");
		legend_next(page, at, 0, text);
	} else if (diagram->given_up) {
		legend_next(page, at, 0, "the run was stopped here");
	}
	if (page->unlabelled != 0)
		legend_next(page, at, 0, "some messages are shown without what they carry");
}

double frame_write_legend(const struct drawing *page)
{
	const struct diagram *diagram = page->diagram;
	const struct algorithm *algorithm = diagram->setup->network.algorithm;
	bool election = algorithm->kind == KIND_ELECTION, lost = false, flying = false;
	struct legend_place at = {LEFT - 32, LEGEND};

	for (size_t i = 0; i < diagram->arrows_count; i++) {
		lost = lost || diagram->arrows[i].fate == FATE_LOST;
		flying = flying || diagram->arrows[i].fate == FATE_FLYING;
	}
	write_caption(page);
	legend_bar(page, &at, "wait", WAIT, election ? "has initiated" : "waits");
	if (election) {
		struct legend_place here = legend_next(page, &at, 15, "knows the leader");
		text_format(page->out,
		            "<circle class=\"f-known\" cx=\"%.1f\" cy=\"%.1f\" r=\"4.5\"/>\n",
		            here.x + 4.5, here.y - 3.5);
	} else {
		legend_bar(page, &at, "inside", BAR, "inside");
	}
	if (page->leaves)
		legend_bar(page, &at, "leave", BAR, "leaves");
	if (algorithm->has_token)
		legend_stroke(page, &at, "held", NULL, "has the token");
	legend_messages(page, &at);
	if (diagram->waits_count != 0)
		legend_stroke(page, &at, "waits", "waits", "waits for");
	if (flying)
		legend_stroke(page, &at, "arrow s-soft flying", NULL, "still under way");
	if (lost) {
		struct legend_place here = legend_next(page, &at, 14, "lost");
		text_format(page->out,
		            "<path class=\"cross s-ink\" d=\"M%.1f %.1f l8 8 m0 -8 l-8 8\"/>\n",
		            here.x, here.y - 8);
	}
	legend_notes(page, &at);
	return at.y - LEGEND;
}

uint32_t frame_write_sentence(const struct drawing *page, double y)
{
	const char *sentence = page->diagram->violation;
	uint32_t lines = 0;

	for (; sentence != NULL && *sentence != '\0'; lines++) {
		size_t length = labels_fit(sentence, 12, page->width - LEFT);
		char *line = strndup(sentence, length);
		memory_must(line != NULL);
		if (y != 0) {
			text_format(page->out, "<text class=\"bad\" x=\"%d\" y=\"%.1f\">",
			            LEFT - 32, y + SENTENCE_LINE * (double)lines);
			text_add_xml(page->out, line);
			text_add_string(page->out, "</text>\n");
		}
		free(line);
		sentence += length;
		sentence += strspn(sentence, " ");
	}
	return lines;
}
