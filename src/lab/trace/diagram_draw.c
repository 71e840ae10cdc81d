#include "diagram_draw.h"

#include "diagram_place.h"
#include "diagram_style.h"

#include "grow.h"
#include "memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has_type(const struct diagram *diagram, uint8_t type)
{
	for (size_t i = 0; i < diagram->arrows_count; i++) {
		if (diagram->arrows[i].type == type)
			return true;
	}
	return false;
}

static void write_heads(const struct drawing *page)
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

static bool is_election(const struct diagram *diagram)
{
	return diagram->setup->network.algorithm->kind == KIND_ELECTION;
}

static bool is_dead(const struct diagram *diagram, uint32_t node)
{
	const struct electorate *electorate = &diagram->setup->electorate;

	for (uint32_t i = 0; i < electorate->crashed_count; i++) {
		if (electorate->crashed[i] == node)
			return true;
	}
	return false;
}

/* Draws the line of a node; a dashed one if the node is dead. */
static void write_line(const struct drawing *page, uint32_t node)
{
	const struct diagram *diagram = page->diagram;
	bool dead = is_dead(diagram, node);
	double from = LEFT - OVERHANG;

	for (size_t i = 0; i <= diagram->marks_count; i++) {
		const struct mark *mark = &diagram->marks[i];
		bool last = i == diagram->marks_count;
		if (!last && (mark->node != node ||
		              (mark->kind != MARK_CRASH && mark->kind != MARK_RESTART)))
			continue;
		double to = last ? drawing_edge(page) : drawing_x(page, mark->time);
		text_format(page->out, "<path class=\"line%s\" d=\"M%.1f %.1f H%.1f\"/>\n",
		            dead ? " flying" : "", from, drawing_y(page, node), to);
		dead = !last && mark->kind == MARK_CRASH;
		from = to;
	}
}

/* Writes the node's number before its line, and in an election its identifier. */
static void write_name(const struct drawing *page, uint32_t node, double below)
{
	const struct network *network = &page->diagram->setup->network;
	double y = drawing_y(page, node) + below;

	text_format(page->out,
	            "<text class=\"node\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%" PRIu32
	            "</text>\n",
	            LEFT - 32, y + 4.5, node);
	if (is_election(page->diagram))
		text_format(
		        page->out,
		        "<text class=\"soft\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">id %" PRIu32
		        "</text>\n",
		        LEFT - 26, y + 19, network->identifiers[node - 1]);
	if (is_dead(page->diagram, node))
		text_format(page->out,
		            "<text class=\"soft\" x=\"%d\" y=\"%.1f\">dead from the start</text>\n",
		            LEFT + 4, y - 6);
}

static void write_axis(const struct drawing *page)
{
	double free = 0, bottom = TOP + page->strip_height - BOTTOM + 4;
	char text[32];

	for (size_t i = 0; i < page->times_count; i++) {
		double x = page->places[i];
		/* Times are rounded to two decimals, which are enough in a picture. */
		time_text((page->times[i] + 5000) / 10000 * 10000, text);
		double half = 3.2 * (double)strlen(text) + 5;
		if (x - half < free)
			continue;
		free = x + half;
		text_format(page->out,
		            "<path class=\"tick\" d=\"M%.1f %d V%.1f\"/><text class=\"soft\" "
		            "x=\"%.1f\" y=\"%.1f\" "
		            "text-anchor=\"middle\">%s</text>\n",
		            x, TOP, bottom, x, bottom + 14, text);
	}
	for (uint32_t lane = 1; lane <= diagram_lanes(page->diagram); lane++)
		write_line(page, diagram_node(page->diagram, lane));
}

static void write_bar(const struct drawing *page, const char *class, double from, double to,
                      uint32_t node, int height)
{
	double width = to - from < 2 ? 2 : to - from;
	text_format(page->out,
	            "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" "
	            "rx=\"2\"/>\n",
	            class, from, drawing_y(page, node) - height / 2.0, width, height);
}

/* Returns where the bar that begins at mark `begin` ends: at the node's next mark of that kind,
 * when it crashes, or at the edge of the picture. */
static double end_of(const struct drawing *page, size_t begin, enum mark_kind kind)
{
	const struct diagram *diagram = page->diagram;
	for (size_t i = begin + 1; i < diagram->marks_count; i++) {
		if ((diagram->marks[i].kind == kind || diagram->marks[i].kind == MARK_CRASH) &&
		    diagram->marks[i].node == diagram->marks[begin].node)
			return drawing_x(page, diagram->marks[i].time);
	}
	return drawing_edge(page);
}

static void write_held(const struct drawing *page, double from, double to, uint32_t node)
{
	if (to > from)
		text_format(page->out, "<path class=\"held\" d=\"M%.1f %.1f H%.1f\"/>\n", from,
		            drawing_y(page, node), to);
}

/* Draws where the token rests, from its arrival at a node to its departure, below everything
 * else. */
static void write_token_rests(const struct drawing *page)
{
	const struct diagram *diagram = page->diagram;
	const struct network *network = &diagram->setup->network;
	size_t first = 0;

	if (!network->algorithm->has_token)
		return;
	for (size_t i = 0; i < diagram->marks_count; i++) {
		if (diagram->marks[i].kind == MARK_TOKEN_COMES)
			write_held(page, drawing_x(page, diagram->marks[i].time),
			           end_of(page, i, MARK_TOKEN_GOES), diagram->marks[i].node);
	}
	/* If the token is not in flight at the start, it rests at the holder. */
	if (network->algorithm->circulates || diagram_lane(diagram, network->holder) == 0)
		return;
	while (first < diagram->marks_count && (diagram->marks[first].node != network->holder ||
	                                        (diagram->marks[first].kind != MARK_TOKEN_GOES &&
	                                         diagram->marks[first].kind != MARK_CRASH)))
		first++;
	double end = first < diagram->marks_count ? drawing_x(page, diagram->marks[first].time)
	                                          : drawing_edge(page);
	write_held(page, LEFT - OVERHANG, end, network->holder);
}

/* Does the bar that begins with this mark end before the window begins? */
static bool end_before(const struct diagram *diagram, size_t begin)
{
	for (size_t i = begin + 1; i < diagram->marks_count; i++) {
		if (diagram->marks[i].node == diagram->marks[begin].node &&
		    diagram->marks[i].kind < MARK_TOKEN_COMES)
			return diagram->marks[i].time <= diagram->window.from;
	}
	return false;
}

/* Is the node still leaving after this mark? */
static bool is_leaving(const struct drawing *page, size_t i)
{
	const struct mark *mark = &page->diagram->marks[i];
	return mark->kind == MARK_EXIT && end_of(page, i, MARK_IDLE) > drawing_x(page, mark->time);
}

/* Notes where a label of a mark is, so that labels of messages keep away from it. */
static void take_place(struct drawing *page, double x, double y)
{
	page->boxes[page->boxes_count++] =
	        (struct box){.x = x, .y = y - 10, .width = 64, .height = 12};
}

/* Draws a cross where a node crashes, and a ring where it restarts. */
static void write_fault(struct drawing *page, const struct mark *mark)
{
	double x = drawing_x(page, mark->time), y = drawing_y(page, mark->node);

	if (mark->kind == MARK_CRASH)
		text_format(
		        page->out,
		        "<path class=\"cross s-ink\" d=\"M%.1f %.1f l12 12 m0 -12 l-12 12\"/>\n",
		        x - 6, y - 6);
	else
		text_format(page->out,
		            "<circle class=\"cross s-ink\" cx=\"%.1f\" cy=\"%.1f\" r=\"5\"/>\n", x,
		            y);
	text_format(page->out, "<text class=\"label\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", x + 8,
	            y + 18, mark->kind == MARK_CRASH ? "crashes" : "begins again");
	take_place(page, x + 8, y + 18);
}

/* Draws an hourglass where a timer expires. */
static void write_timer(struct drawing *page, const struct mark *mark)
{
	double x = drawing_x(page, mark->time), y = drawing_y(page, mark->node);

	text_format(page->out,
	            "<path class=\"f-soft\" d=\"M%.1f %.1f h9 l-9 11 h9 z\"/><text class=\"label\" "
	            "x=\"%.1f\" y=\"%.1f\">time out</text>\n",
	            x - 4.5, y - 5.5, x - 20, y - 10);
	take_place(page, x - 20, y - 10);
}

/* Draws a stroke between two nodes where their link is made or removed. */
static void write_link(struct drawing *page, const struct mark *mark)
{
	double x = drawing_x(page, mark->time), a = drawing_y(page, mark->node),
	       b = drawing_y(page, mark->what);
	bool made = mark->kind == MARK_LINK;

	text_format(page->out,
	            "<path class=\"link%s\" d=\"M%.1f %.1f V%.1f\"/><text class=\"label\" "
	            "x=\"%.1f\" y=\"%.1f\">%s</text>\n",
	            made ? "" : " flying", x, a, b, x + 6, (a + b) / 2 - 14,
	            made ? "link made" : "link removed");
	take_place(page, x + 6, (a + b) / 2 - 14);
}

/* Returns how much of a box would be cut off at the edge of a strip. */
static double on_cuts(const struct drawing *page, const struct box *box)
{
	for (size_t i = 1; i < page->strips_count; i++) {
		if (page->cuts[i] > box->x && page->cuts[i] < box->x + box->width)
			return box->width * box->height;
	}
	return 0;
}

/* Marks that a place has learned the leader. The label is on the other side if the edge of a
 * strip would cut it. */
static void write_leader(struct drawing *page, const struct mark *mark)
{
	double x = drawing_x(page, mark->time), y = drawing_y(page, mark->node);
	struct box right = {.x = x, .y = y, .width = 64, .height = 12};
	bool left = on_cuts(page, &right) > 0;

	text_format(page->out,
	            "<circle class=\"f-known\" cx=\"%.1f\" cy=\"%.1f\" r=\"4.5\"/><text "
	            "class=\"label\" "
	            "x=\"%.1f\" y=\"%.1f\"%s>leader %" PRIu32 "</text>\n",
	            x, y, left ? x - 7 : x + 7, y + 16, left ? " text-anchor=\"end\"" : "",
	            mark->what);
	take_place(page, left ? x - 55 : x + 7, y + 16);
}

static void write_marks(struct drawing *page)
{
	const struct diagram *diagram = page->diagram;
	bool election = is_election(diagram);

	for (size_t i = 0; i < diagram->marks_count; i++) {
		const struct mark *mark = &diagram->marks[i];
		double x = drawing_x(page, mark->time);
		bool before = mark->time < diagram->window.from;
		if (before && (mark->kind >= MARK_ELECTED || end_before(diagram, i)))
			continue;
		if (mark->kind == MARK_REQUEST)
			write_bar(page, "wait", x,
			          end_of(page, i, election ? MARK_ELECTED : MARK_ENTER), mark->node,
			          WAIT);
		else if (mark->kind == MARK_ENTER)
			write_bar(page, "inside", x, end_of(page, i, MARK_EXIT), mark->node, BAR);
		else if (is_leaving(page, i))
			write_bar(page, "leave", x, end_of(page, i, MARK_IDLE), mark->node, BAR);
		else if (mark->kind == MARK_CRASH || mark->kind == MARK_RESTART)
			write_fault(page, mark);
		else if (mark->kind == MARK_EXPIRE)
			write_timer(page, mark);
		else if (mark->kind == MARK_LINK || mark->kind == MARK_UNLINK)
			write_link(page, mark);
		else if (mark->kind == MARK_ELECTED)
			write_leader(page, mark);
	}
}

static double overlap(const struct box *a, const struct box *b)
{
	double width = (a->x + a->width < b->x + b->width ? a->x + a->width : b->x + b->width) -
	               (a->x > b->x ? a->x : b->x);
	double height =
	        (a->y + a->height < b->y + b->height ? a->y + a->height : b->y + b->height) -
	        (a->y > b->y ? a->y : b->y);
	return width > 0 && height > 0 ? width * height : 0;
}

/* Returns how much of a box would cover the nodes' lines, where the bars are. */
static double on_lines(const struct drawing *page, const struct box *box)
{
	double above = box->y + box->height / 2 - TOP - page->lane / 2;
	double off = above - page->lane * (double)(int)(above / page->lane + 0.5);

	off = off < 0 ? -off : off;
	return off < 13 ? (13 - off) * box->width : 0;
}

/* Moves a box off the edge of a strip that would cut it, to the side on which the box begins. */
static void keep_off_cuts(const struct drawing *page, struct box *box)
{
	for (size_t i = 1; i < page->strips_count; i++) {
		if (page->cuts[i] > box->x && page->cuts[i] < box->x + box->width)
			box->x = page->cuts[i] - box->width - 3;
	}
}

/* Places a label beside its arrow, where it covers other labels and lines least. */
static void write_label(struct drawing *page, const char *text, double x1, double y1, double x2,
                        double y2)
{
	static const double along[] = {0.5,  0.42, 0.58, 0.35, 0.65, 0.28,
	                               0.72, 0.22, 0.78, 0.16, 0.84};
	struct box best = {0};
	double best_overlap = -1;

	for (size_t i = 0; i < sizeof(along) / sizeof(*along); i++) {
		struct box box = {.width = 6.6 * (double)strlen(text), .height = 12};
		double covered;
		box.x = x1 + (x2 - x1) * along[i] + 5;
		box.y = y1 + (y2 - y1) * along[i] - 6;
		if (box.x + box.width > drawing_edge(page) + MARGIN)
			box.x = drawing_edge(page) + MARGIN - box.width;
		keep_off_cuts(page, &box);
		covered = on_lines(page, &box);
		for (size_t k = 0; k < page->boxes_count; k++)
			covered += overlap(&box, &page->boxes[k]);
		if (best_overlap < 0 || covered < best_overlap - 0.01) {
			best = box;
			best_overlap = covered;
		}
	}
	page->boxes[page->boxes_count++] = best;
	text_format(page->out, "<text class=\"label\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", best.x,
	            best.y + 10, text);
}

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

static void write_arrow(const struct drawing *page, const struct arrow *arrow)
{
	const struct message_type *type = type_of(page->diagram, arrow->type);
	double shift = shift_of(page->diagram, arrow);
	double x1 = drawing_x(page, arrow->sent) + shift, y1 = drawing_y(page, arrow->from),
	       y2 = drawing_y(page, arrow->to);
	double x2 = arrow->fate != FATE_FLYING ? drawing_x(page, arrow->arrived) + shift : x1 + 60;
	const char *token = type->token ? " token" : "",
	           *flying = arrow->fate == FATE_FLYING ? " flying" : "";
	const char *colour = diagram_colour(page->diagram, arrow->type);
	char path[128];

	if (arrow->from == arrow->to) {
		snprintf(path, sizeof(path), "M%.1f %.1f C%.1f %.1f %.1f %.1f %.1f %.1f", x1, y1,
		         x1, y1 - 34, x2, y2 - 34, x2, y2);
	} else {
		if (arrow->fate != FATE_DELIVERED) {
			/* The arrow of a message that did not arrive ends on the way. */
			x2 = x1 + (x2 - x1) * 0.6;
			y2 = y1 + (y2 - y1) * 0.6;
		}
		snprintf(path, sizeof(path), "M%.1f %.1f L%.1f %.1f", x1, y1, x2, y2);
	}
	text_format(page->out,
	            "<path class=\"arrow%s%s s-%s\" d=\"%s\" marker-end=\"url(#m%u)\"/>\n", token,
	            flying, colour, path, arrow->type);
	if (arrow->fate == FATE_LOST)
		text_format(page->out,
		            "<path class=\"cross s-%s\" d=\"M%.1f %.1f l10 10 m0 -10 l-10 "
		            "10\"/>\n",
		            colour, x2 - 5, y2 - 5);
}

/* Draws tokens above other messages, and places their labels first. */
static void write_arrows(struct drawing *page)
{
	const struct diagram *diagram = page->diagram;

	for (int pass = 0; pass < 4; pass++) {
		bool labels = pass >= 2, tokens = pass == 1 || pass == 2;
		for (size_t i = 0; i < diagram->arrows_count; i++) {
			const struct arrow *arrow = &diagram->arrows[i];
			const struct message_type *type = type_of(diagram, arrow->type);
			if (type->token != tokens)
				continue;
			if (!labels) {
				write_arrow(page, arrow);
				if (i > 0 && is_labelled(diagram, i) &&
				    !is_labelled(diagram, i - 1))
					write_fan(page, arrow);
			} else if (is_labelled(diagram, i)) {
				double x1 = drawing_x(page, arrow->sent);
				double x2 = arrow->fate != FATE_FLYING
				                    ? drawing_x(page, arrow->arrived)
				                    : x1 + 60;
				write_label(page, arrow->label, x1, drawing_y(page, arrow->from),
				            x2, drawing_y(page, arrow->to));
			}
		}
	}
}

static bool is_seen_leaving(const struct drawing *page)
{
	size_t i = 0;
	while (i < page->diagram->marks_count && !is_leaving(page, i))
		i++;
	return i < page->diagram->marks_count;
}

static void write_sample(const struct drawing *page, const char *class, double x, double y,
                         int height, const char *text)
{
	text_format(page->out,
	            "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"22\" height=\"%d\" "
	            "rx=\"2\"/><text class=\"soft\" x=\"%.1f\" y=\"%.1f\">%s</text>\n",
	            class, x, y, height, x + 28, (double)LEGEND, text);
}

static void write_legend(const struct drawing *page)
{
	const struct algorithm *algorithm = page->diagram->setup->network.algorithm;
	double x = LEFT - 32, y = LEGEND;
	bool lost = false, flying = false, election = is_election(page->diagram);

	write_sample(page, "wait", x, y - 6, WAIT, election ? "has initiated" : "waits");
	x += election ? 114 : 70;
	if (election) {
		text_format(
		        page->out,
		        "<rect class=\"f-known\" x=\"%.1f\" y=\"%.1f\" width=\"9\" height=\"9\" "
		        "rx=\"5\"/><text class=\"soft\" x=\"%.1f\" y=\"%.1f\">knows the "
		        "leader</text>\n",
		        x, y - 8, x + 15, y);
		x += 124;
	} else {
		write_sample(page, "inside", x, y - 10, BAR, "inside");
		x += 74;
	}
	if (is_seen_leaving(page)) {
		write_sample(page, "leave", x, y - 10, BAR, "leaves");
		x += 76;
	}
	if (algorithm->has_token) {
		text_format(page->out,
		            "<path class=\"held\" d=\"M%.1f %.1f h22\"/><text class=\"soft\" "
		            "x=\"%.1f\" y=\"%.1f\">has the token</text>\n",
		            x, y - 4, x + 28, y);
		x += 114;
	}
	for (uint8_t type = 0; type < algorithm->messages_count; type++) {
		const char *colour = diagram_colour(page->diagram, type);
		const char *name = algorithm->messages[type].name;
		if (!has_type(page->diagram, type))
			continue;
		text_format(page->out,
		            "<path class=\"arrow%s s-%s\" d=\"M%.1f %.1f h24\" "
		            "marker-end=\"url(#m%u)\"/><text class=\"soft\" x=\"%.1f\" "
		            "y=\"%.1f\">%s</text>\n",
		            algorithm->messages[type].token ? " token" : "", colour, x, y - 4, type,
		            x + 30, y, name);
		x += 44 + 7.2 * (double)strlen(name);
	}
	for (size_t i = 0; i < page->diagram->arrows_count; i++) {
		lost = lost || page->diagram->arrows[i].fate == FATE_LOST;
		flying = flying || page->diagram->arrows[i].fate == FATE_FLYING;
	}
	if (page->diagram->waits_count != 0) {
		text_format(
		        page->out,
		        "<path class=\"waits\" d=\"M%.1f %.1f h24\" marker-end=\"url(#waits)\"/>"
		        "<text class=\"soft\" x=\"%.1f\" y=\"%.1f\">waits for</text>\n",
		        x, y - 4, x + 30, y);
		x += 90;
	}
	if (flying) {
		text_format(
		        page->out,
		        "<path class=\"line flying\" d=\"M%.1f %.1f h24\"/><text class=\"soft\" "
		        "x=\"%.1f\" "
		        "y=\"%.1f\">still under way</text>\n",
		        x, y - 4, x + 30, y);
		x += 124;
	}
	if (lost)
		text_format(page->out,
		            "<path class=\"cross s-ink\" d=\"M%.1f %.1f l8 8 m0 -8 l-8 "
		            "8\"/><text class=\"soft\" x=\"%.1f\" y=\"%.1f\">lost</text>\n",
		            x, y - 8, x + 14, y);
}

/* Draws two strokes on the axis where a long wait is drawn shorter than it is. */
static void write_breaks(const struct drawing *page)
{
	double y = TOP + page->strip_height - BOTTOM + 13;

	for (size_t i = 1; i < page->times_count; i++) {
		double middle = (page->places[i - 1] + page->places[i]) / 2;
		if (page->places[i] - page->places[i - 1] >= STEP_MOST)
			text_format(page->out,
			            "<path class=\"line\" d=\"M%.1f %.1f l4 -9 m3 0 l-4 9\"/>\n",
			            middle - 3, y);
	}
}

/* Draws two lines around the part that may be repeated for ever. */
static void write_loop(const struct drawing *page)
{
	const struct diagram *diagram = page->diagram;

	if (!diagram->loops || diagram->cut || diagram->loop >= diagram->end)
		return;
	double from = drawing_x(page, diagram->loop) - 8, to = drawing_x(page, diagram->end) + 12;
	text_format(
	        page->out,
	        "<path class=\"arrow flying s-ink\" d=\"M%.1f %d H%.1f V%.1f M%.1f %d V%.1f\"/>"
	        "<text class=\"soft\" x=\"%.1f\" y=\"%d\">this can be repeated for ever</text>\n",
	        from, TOP + 2, to, TOP + page->strip_height - BOTTOM, from, TOP + 2,
	        TOP + page->strip_height - BOTTOM, from + 6, TOP + 14);
}

/* Draws a band at the step that violates the property. */
static void write_band(const struct drawing *page)
{
	const struct diagram *diagram = page->diagram;

	if (diagram->violation != NULL && !diagram->cut)
		text_format(page->out,
		            "<rect class=\"band\" x=\"%.1f\" y=\"%d\" width=\"20\" height=\"%.1f\" "
		            "rx=\"4\"/>\n",
		            drawing_x(page, diagram->end) - 10, TOP + 4,
		            page->strip_height - BOTTOM - 4);
}

/* Draws arrows beside the band from each node that waits to the one that would have to act. */
static void write_waits(const struct drawing *page)
{
	const struct diagram *diagram = page->diagram;

	for (size_t i = 0; i < diagram->waits_count; i++) {
		const struct wait *wait = &diagram->waits[i];
		double x = drawing_x(page, diagram->end) + 12;
		double a = drawing_y(page, wait->node), b = drawing_y(page, wait->other);
		/* Arrows that point up are further to the right, so that two opposite arrows can
		 * both be seen. */
		double bulge =
		        x + 22 + (a > b ? a - b : b - a) / page->lane * 16 + (a > b ? 26 : 0);
		text_format(page->out,
		            "<path class=\"waits\" d=\"M%.1f %.1f C%.1f %.1f %.1f %.1f %.1f %.1f\" "
		            "marker-end=\"url(#waits)\"/>\n",
		            x, a, bulge, a, bulge, b, x + 3, b);
	}
}

/* The picture is drawn once, in its whole width. If it is cut into strips, each strip shows a
 * part of it. */
static void write_picture(struct drawing *page)
{
	bool cut = page->strips_count > 1;
	uint32_t lanes = diagram_lanes(page->diagram);

	text_add_string(page->out, cut ? "<defs><g id=\"all\">\n" : "");
	write_axis(page);
	write_breaks(page);
	write_loop(page);
	write_band(page);
	write_token_rests(page);
	write_marks(page);
	write_arrows(page);
	write_waits(page);
	text_add_string(page->out, cut ? "</g></defs>\n" : "");
	for (size_t i = 0; i < page->strips_count; i++) {
		double below = page->strip_height * (double)i;
		double width = page->cuts[i + 1] - page->cuts[i];
		if (i + 1 == page->strips_count)
			width += MARGIN + (page->diagram->waits_count != 0 ? WAITS : 0);
		for (uint32_t lane = 1; lane <= lanes; lane++)
			write_name(page, diagram_node(page->diagram, lane), below);
		if (cut)
			text_format(page->out,
			            "<svg x=\"%d\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
			            "viewBox=\"%.1f %d %.1f %.1f\"><use href=\"#all\"/></svg>\n",
			            LEFT - OVERHANG, TOP + below, width, page->strip_height,
			            page->cuts[i], TOP, width, page->strip_height);
	}
}

static bool has_breaks(const struct drawing *page)
{
	for (size_t i = 1; i < page->times_count; i++) {
		if (page->places[i] - page->places[i - 1] >= STEP_MOST)
			return true;
	}
	return false;
}

/* Adds at most so many bytes of a text, without cutting a character in half. */
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

/* Writes what was run, so that the picture can be told from one of another variant. */
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

/* Returns how many bytes of the sentence about a violation fit into a line: up to the last space
 * that does, or all that is left. */
static size_t line_length(const struct drawing *page, const char *sentence)
{
	size_t most = (size_t)((page->width - LEFT) / 7.2), length = strlen(sentence);

	if (length <= most)
		return length;
	for (length = most; length > 0 && sentence[length] != ' '; length--)
		;
	return length > 0 ? length : strlen(sentence);
}

/* Writes what is violated, in lines as wide as the picture. If `y` is 0, it writes nothing. Returns
 * how many lines there are. */
static uint32_t write_sentence(const struct drawing *page, double y)
{
	const char *sentence = page->diagram->violation;
	uint32_t lines = 0;

	for (; sentence != NULL && *sentence != '\0'; lines++) {
		size_t length = line_length(page, sentence);
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

static void write_page(struct drawing *page)
{
	const struct diagram *diagram = page->diagram;
	const struct setup *setup = diagram->setup;
	double below = TOP + page->strip_height * (double)page->strips_count, height = below;
	uint32_t lines = write_sentence(page, 0);

	char some[32] = "";
	bool whole = diagram->window.from == 0 && diagram->window.to == UINT64_MAX;

	if (lines > 0)
		height += SENTENCE + SENTENCE_LINE * (double)(lines - 1);
	if (diagram->window.nodes != NULL)
		snprintf(some, sizeof(some), "%" PRIu32 " of ", diagram->window.nodes_count);
	text_format(page->out,
	            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" "
	            "width=\"%.0f\" height=\"%.0f\" "
	            "role=\"img\">\n<title>%s, %" PRIu32 " nodes: a space-time diagram</title>\n",
	            page->width, height, page->width, height, setup->network.algorithm->name,
	            setup->network.graph.nodes);
	text_add_string(page->out, diagram_style);
	write_heads(page);
	text_format(page->out,
	            "<rect class=\"paper\" width=\"100%%\" height=\"100%%\"/>\n"
	            "<text x=\"%d\" y=\"24\"><tspan class=\"title\">%s</tspan>"
	            "<tspan class=\"soft\" dx=\"10\">%s%" PRIu32
	            " nodes; time to the right%s%s</tspan></text>\n",
	            LEFT - 32, setup->network.algorithm->name, some, setup->network.graph.nodes,
	            has_breaks(page) ? ", // where a long wait is cut short" : "",
	            whole ? "" : ", a part of the run");
	if (diagram->cut)
		text_format(
		        page->out,
		        "<text class=\"soft\" x=\"%.1f\" y=\"24\" text-anchor=\"end\">the first %d "
		        "of %" PRIu64 " messages%s</text>\n",
		        page->width - MARGIN, DIAGRAM_MESSAGES_MAX, diagram->messages,
		        diagram->given_up ? " before the run was stopped" : "");
	else if (diagram->given_up)
		text_format(
		        page->out,
		        "<text class=\"soft\" x=\"%.1f\" y=\"24\" text-anchor=\"end\">the run was "
		        "stopped here</text>\n",
		        page->width - MARGIN);
	write_caption(page);
	write_legend(page);
	write_picture(page);
	write_sentence(page, below + SENTENCE - 12);
	text_add_string(page->out, "</svg>\n");
}

void diagram_draw_picture(const struct diagram *diagram, struct text *svg)
{
	struct drawing page = {.diagram = diagram, .out = svg};

	page.lane = HEIGHT_GOAL / (double)diagram_lanes(diagram);
	page.lane = page.lane > LANE ? LANE : page.lane < LANE_LEAST ? LANE_LEAST : page.lane;
	page.boxes =
	        malloc((diagram->arrows_count + diagram->marks_count + 1) * sizeof(*page.boxes));
	memory_must(page.boxes != NULL);
	drawing_place(&page);
	write_page(&page);
	free(page.boxes);
	free(page.times);
	free(page.places);
	free(page.cuts);
}
