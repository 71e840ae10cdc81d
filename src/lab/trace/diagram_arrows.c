/*
 * The messages of a diagram: arrows, fans, and their labels.
 */
#include "diagram_parts.h"
#include "diagram_style.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The curve along which an arrow is drawn. If it is not bent, the control point is its middle. */
struct course {
	double x1, y1, x2, y2;
	double control_x, control_y;
	bool bent;
};

enum { PIECES = 8 };

/* A message that is sent to several nodes at once is a fan, labelled once, on its last arrow. */
static bool is_labelled(const struct diagram *diagram, size_t i)
{
	const struct arrow *arrow = &diagram->arrows[i];
	if (i + 1 == diagram->arrows_count)
		return true;
	const struct arrow *next = &diagram->arrows[i + 1];
	return next->sent != arrow->sent || next->from != arrow->from ||
	       next->type != arrow->type || strcmp(next->label, arrow->label) != 0;
}

/* Draws a dot where the arrows of a fan begin. */
static void write_fan(const struct drawing *page, const struct arrow *arrow)
{
	if (arrow->sent >= page->diagram->window.from)
		text_format(page->out,
		            "<circle class=\"f-%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"2.8\"/>\n",
		            diagram_colour(page->diagram, arrow->type),
		            drawing_x(page, arrow->sent), drawing_y(page, arrow->from));
}

/* Returns how far an arrow is moved to the side. Without that, messages between the same nodes
 * at the same times would hide each other. */
static double shift_of(const struct diagram *diagram, const struct arrow *arrow)
{
	double shift = 0;

	for (const struct arrow *other = diagram->arrows; other != arrow; other++) {
		if (other->from == arrow->from && other->to == arrow->to &&
		    other->sent == arrow->sent && other->arrived == arrow->arrived &&
		    other->fate == arrow->fate)
			shift += 6;
	}
	return shift;
}

/* Is the point on the arrow, but not at one of its ends? */
static bool is_on(const struct course *course, double x, double y)
{
	double dx = course->x2 - course->x1, dy = course->y2 - course->y1;
	double length = fmax(hypot(dx, dy), 1);
	double along = ((x - course->x1) * dx + (y - course->y1) * dy) / length;
	double off = ((x - course->x1) * dy - (y - course->y1) * dx) / length;

	return along > 8 && along < length - 8 && fabs(off) < 4;
}

/* Does the arrow pass through the beginning or the end of another one? If it were straight, the two
 * would look like one arrow. */
static bool is_confusing(const struct drawing *page, const struct arrow *arrow,
                         const struct course *course)
{
	const struct diagram *diagram = page->diagram;

	for (size_t i = 0; i < diagram->arrows_count; i++) {
		const struct arrow *other = &diagram->arrows[i];
		if (other == arrow)
			continue;
		if (is_on(course, drawing_x(page, other->sent), drawing_y(page, other->from)) ||
		    (other->fate == FATE_DELIVERED &&
		     is_on(course, drawing_x(page, other->arrived), drawing_y(page, other->to))))
			return true;
	}
	return false;
}

/* Returns the course of a message between two nodes. */
static struct course course_of(const struct drawing *page, const struct arrow *arrow)
{
	double shift = shift_of(page->diagram, arrow), x1 = drawing_x(page, arrow->sent) + shift;
	struct course course = {
	        .x1 = x1,
	        .y1 = drawing_y(page, arrow->from),
	        .x2 = arrow->fate != FATE_FLYING ? drawing_x(page, arrow->arrived) + shift
	                                         : x1 + 60,
	        .y2 = drawing_y(page, arrow->to),
	};

	if (arrow->fate != FATE_DELIVERED && arrow->from != arrow->to) {
		/* The arrow of a message that did not arrive ends on the way. */
		course.x2 = x1 + (course.x2 - x1) * 0.6;
		course.y2 = course.y1 + (course.y2 - course.y1) * 0.6;
	}
	double dx = course.x2 - course.x1, dy = course.y2 - course.y1;
	double length = fmax(hypot(dx, dy), 1);
	course.control_x = (course.x1 + course.x2) / 2;
	course.control_y = (course.y1 + course.y2) / 2;
	if (arrow->from == arrow->to) {
		course.control_y -= 52;
		course.bent = true;
	} else if (is_confusing(page, arrow, &course)) {
		course.control_x += 34 * fabs(dy) / length;
		course.control_y += 34 * dx / length * (dy > 0 ? -1 : 1);
		course.bent = true;
	}
	return course;
}

static void point_of(const struct course *course, double way, double *ret_x, double *ret_y)
{
	double back = 1 - way, a = back * back, b = 2 * back * way, c = way * way;

	*ret_x = a * course->x1 + b * course->control_x + c * course->x2;
	*ret_y = a * course->y1 + b * course->control_y + c * course->y2;
}

void arrows_take_place(struct drawing *page)
{
	for (size_t i = 0; i < page->diagram->arrows_count; i++) {
		struct course course = course_of(page, &page->diagram->arrows[i]);
		double x = course.x1, y = course.y1, next_x, next_y;
		int pieces = course.bent ? PIECES : 1;
		for (int k = 1; k <= pieces; k++) {
			point_of(&course, (double)k / pieces, &next_x, &next_y);
			labels_cross(&page->labels, x, y, next_x, next_y);
			x = next_x;
			y = next_y;
		}
		/* A message that is lost gets a cross. */
		if (page->diagram->arrows[i].fate == FATE_LOST)
			labels_take(&page->labels, (struct box){x - 6, y - 6, 12, 12});
	}
}

static void write_arrow(const struct drawing *page, const struct arrow *arrow)
{
	const struct message_type *type = type_of(page->diagram, arrow->type);
	struct course course = course_of(page, arrow);
	const char *colour = diagram_colour(page->diagram, arrow->type);
	char path[128];

	if (course.bent)
		snprintf(path, sizeof(path), "M%.1f %.1f Q%.1f %.1f %.1f %.1f", course.x1,
		         course.y1, course.control_x, course.control_y, course.x2, course.y2);
	else
		snprintf(path, sizeof(path), "M%.1f %.1f L%.1f %.1f", course.x1, course.y1,
		         course.x2, course.y2);
	text_format(page->out,
	            "<path class=\"arrow%s%s s-%s\" d=\"%s\" marker-end=\"url(#m%u)\"/>\n",
	            type->token ? " token" : "", arrow->fate == FATE_FLYING ? " flying" : "",
	            colour, path, arrow->type);
	if (arrow->fate == FATE_LOST)
		text_format(page->out,
		            "<path class=\"cross s-%s\" d=\"M%.1f %.1f l10 10 m0 -10 l-10 "
		            "10\"/>\n",
		            colour, course.x2 - 5, course.y2 - 5);
}

/* Finds the best place for a text beside an arrow. Returns how bad that place is (labels_cost). */
static double find_place(const struct drawing *page, const struct course *course, const char *text,
                         struct box *ret_box)
{
	static const double along[] = {0.5,  0.42, 0.58, 0.35, 0.65, 0.28,
	                               0.72, 0.22, 0.78, 0.16, 0.84};
	double best_cost = -1, width = labels_width(text, LABEL_SIZE);

	for (size_t i = 0; i < 6 * sizeof(along) / sizeof(*along); i++) {
		double x, y;
		point_of(course, along[i / 6], &x, &y);
		/* The places to try: right and left of the point, and above or below it, on the
		 * side that the arrow leaves free. */
		struct box boxes[] = {
		        {x + 5, y - 6, width, LABEL_HEIGHT},
		        {x - 5 - width, y - 6, width, LABEL_HEIGHT},
		        {x - width / 2, y - 15, width, LABEL_HEIGHT},
		        {x - width / 2, y + 3, width, LABEL_HEIGHT},
		        {x + 3, y + (course->y2 > course->y1 ? -13 : 2), width, LABEL_HEIGHT},
		        {x - 3 - width, y + (course->y2 > course->y1 ? 2 : -13), width,
		         LABEL_HEIGHT},
		};
		double cost = drawing_cost(page, &boxes[i % 6]) + 0.004 * (double)i;
		if (best_cost < 0 || cost < best_cost) {
			best_cost = cost;
			*ret_box = boxes[i % 6];
		}
	}
	return best_cost;
}

/* Labels an arrow. Where there is no room, only the type is written, or nothing: the colour tells
 * the type too. */
static void write_label(struct drawing *page, const struct arrow *arrow)
{
	struct course course = course_of(page, arrow);
	const char *text = arrow->label, *type = type_of(page->diagram, arrow->type)->name;
	struct box box;

	double cost = find_place(page, &course, text, &box);
	page->labelled++;
	page->crossed += cost < 1 ? cost : 1;
	/* A cost of 1 or more means that the label would cover another one, which is not
	 * allowed. */
	if (cost >= 1) {
		page->unlabelled++;
		text = type;
		if (find_place(page, &course, text, &box) >= 1)
			return;
	}
	/* The label has the arrow's colour, so that readers see which arrow it belongs to. The
	 * palest colour is too pale for letters. */
	const char *colour = diagram_colour(page->diagram, arrow->type);
	char class[32];
	snprintf(class, sizeof(class), "label f-%s", strcmp(colour, "line") == 0 ? "soft" : colour);
	drawing_write_label(page, class, text, &box);
}

/* Draws tokens on top of other messages, and places the labels of tokens first. */
void arrows_write(struct drawing *page)
{
	const struct diagram *diagram = page->diagram;

	for (int pass = 0; pass < 4; pass++) {
		bool labels = pass >= 2, tokens = pass == 1 || pass == 2;
		for (size_t i = 0; i < diagram->arrows_count; i++) {
			const struct arrow *arrow = &diagram->arrows[i];
			if (type_of(diagram, arrow->type)->token != tokens)
				continue;
			if (labels) {
				if (is_labelled(diagram, i))
					write_label(page, arrow);
				continue;
			}
			write_arrow(page, arrow);
			if (i > 0 && is_labelled(diagram, i) && !is_labelled(diagram, i - 1))
				write_fan(page, arrow);
		}
	}
}
