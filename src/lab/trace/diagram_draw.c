#include "diagram_draw.h"

#include "diagram_parts.h"
#include "diagram_style.h"

#include "memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void write_bar(struct drawing *page, const char *class, double from, double to,
                      uint32_t node, int height)
{
	double width = to - from < 2 ? 2 : to - from, y = drawing_y(page, node) - height / 2.0;

	labels_take(&page->labels, (struct box){from, y, width, height});
	text_format(page->out,
	            "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" "
	            "rx=\"2\"/>\n",
	            class, from, y, width, height);
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

/* Draws where the token rests, from its arrival at a node to its departure. To be called before
 * marks and messages are drawn, which must be on top of it. */
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
	drawing_label_near(page, mark->kind == MARK_CRASH ? "crashes" : "begins again", x, y);
}

/* Draws an hourglass where a timer expires; a diamond where it only ends a pause of the
 * algorithm. */
static void write_timer(struct drawing *page, const struct mark *mark)
{
	/* The sign is above the line, so that neither a bar nor a mark of the same time covers
	 * it. */
	double x = drawing_x(page, mark->time), y = drawing_y(page, mark->node) - 13;
	bool pauses = page->diagram->setup->network.algorithm->pauses;

	text_format(page->out, "<path class=\"f-soft\" d=\"M%.1f %.1f %s\"/>\n", x - 4.5,
	            y - (pauses ? 0 : 5.5),
	            pauses ? "l4.5 -5.5 l4.5 5.5 l-4.5 5.5 z" : "h9 l-9 11 h9 z");
	labels_take(&page->labels, (struct box){x - 5, y - 6, 10, 12});
	drawing_label_near(page, pauses ? "goes on" : "time out", x, y + 6);
}

/* Draws a stroke between two nodes where their link is made, removed or cut. */
static void write_link(struct drawing *page, const struct mark *mark)
{
	double x = drawing_x(page, mark->time), a = drawing_y(page, mark->node),
	       b = drawing_y(page, mark->what);
	char cut[48];

	text_format(page->out, "<path class=\"link%s\" d=\"M%.1f %.1f V%.1f\"/>\n",
	            mark->kind == MARK_LINK ? "" : " flying", x, a, b);
	labels_cross(&page->labels, x, a, x, b);
	/* The stroke may pass other nodes between its ends, so the label names the two ends. */
	snprintf(cut, sizeof(cut), "link %" PRIu32 "–%" PRIu32 " cut", mark->node, mark->what);
	drawing_label_near(page,
	                   mark->kind == MARK_LINK     ? "link made"
	                   : mark->kind == MARK_UNLINK ? "link removed"
	                                               : cut,
	                   x, (a + b) / 2);
}

/* Marks that a place has learned the leader. */
static void write_leader(struct drawing *page, const struct mark *mark)
{
	double x = drawing_x(page, mark->time), y = drawing_y(page, mark->node);
	char text[24];

	snprintf(text, sizeof(text), "leader %" PRIu32, mark->what);
	text_format(page->out, "<circle class=\"f-known\" cx=\"%.1f\" cy=\"%.1f\" r=\"4.5\"/>\n", x,
	            y);
	drawing_label_near(page, text, x, y);
}

/* Draws what happened at the nodes: first the bars, then what has a label. */
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
		else if (is_leaving(page, i)) {
			write_bar(page, "leave", x, end_of(page, i, MARK_IDLE), mark->node, BAR);
			page->leaves = true;
		}
	}
	for (size_t i = 0; i < diagram->marks_count; i++) {
		const struct mark *mark = &diagram->marks[i];
		if (mark->time < diagram->window.from)
			continue;
		if (mark->kind == MARK_CRASH || mark->kind == MARK_RESTART)
			write_fault(page, mark);
		else if (mark->kind == MARK_EXPIRE)
			write_timer(page, mark);
		else if (mark->kind == MARK_LINK || mark->kind == MARK_UNLINK ||
		         mark->kind == MARK_CUT)
			write_link(page, mark);
		else if (mark->kind == MARK_ELECTED)
			write_leader(page, mark);
	}
}

/* Draws two strokes on the axis where a long wait is drawn shorter than it is. */
static void write_breaks(const struct drawing *page)
{
	double y = TOP + page->strip_height - BOTTOM + 13;

	for (size_t i = 1; i < page->times_count; i++) {
		double middle = (page->places[i - 1] + page->places[i]) / 2;
		if (page->places[i] - page->places[i - 1] >= STEP_MOST * page->room)
			text_format(page->out,
			            "<path class=\"line\" d=\"M%.1f %.1f l4 -9 m3 0 l-4 9\"/>\n",
			            middle - 3, y);
	}
}

/* Draws two lines around the loop. */
static void write_loop(const struct drawing *page)
{
	const struct diagram *diagram = page->diagram;

	if (!diagram->loops || diagram->cut || diagram->loop > diagram->end)
		return;
	double from = drawing_x(page, diagram->loop) - 8, to = drawing_x(page, diagram->end) + 12;
	text_format(page->out,
	            "<path class=\"arrow flying s-ink\" d=\"M%.1f %d H%.1f V%.1f M%.1f %d V%.1f\"/>"
	            "<text class=\"soft\" x=\"%.1f\" y=\"%d\">%s</text>\n",
	            from, TOP + 2, to, TOP + page->strip_height - BOTTOM, from, TOP + 2,
	            TOP + page->strip_height - BOTTOM, from + 6, TOP + 14,
	            diagram->loop_closes ? "this can be repeated for ever" : "marked as a loop");
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

/* Notes where the lines of the nodes are, so that labels keep away from them. */
static void take_lines(struct drawing *page)
{
	for (uint32_t lane = 1; lane <= diagram_lanes(page->diagram); lane++) {
		double y = drawing_y(page, diagram_node(page->diagram, lane));
		labels_cross(&page->labels, LEFT - OVERHANG, y, drawing_edge(page), y);
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
	take_lines(page);
	arrows_take_place(page);
	write_marks(page);
	arrows_write(page);
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
		if (page->places[i] - page->places[i - 1] >= STEP_MOST * page->room)
			return true;
	}
	return false;
}

/* Writes the title, and which part of the run is drawn. */
static void write_title(const struct drawing *page)
{
	const struct diagram *diagram = page->diagram;
	const struct setup *setup = diagram->setup;
	bool whole = diagram->window.from == 0 && diagram->window.to == UINT64_MAX;
	char some[32] = "";

	if (diagram->window.nodes != NULL)
		snprintf(some, sizeof(some), "%" PRIu32 " of ", diagram->window.nodes_count);
	text_format(page->out,
	            "<text x=\"%d\" y=\"24\"><tspan class=\"title\">%s</tspan>"
	            "<tspan class=\"soft\" dx=\"10\">%s%" PRIu32 " nodes; time to the right%s%s",
	            LEFT - 32, setup->network.algorithm->name, some, setup->network.graph.nodes,
	            has_breaks(page) ? ", // where a long wait is cut short" : "",
	            whole ? "" : ", a part of the run");
	text_add_string(page->out, "</tspan></text>\n");
}

static void write_page(struct drawing *page, struct text *body, struct text *svg)
{
	const struct setup *setup = page->diagram->setup;
	double below = TOP + page->strip_height * (double)page->strips_count;
	uint32_t lines = frame_write_sentence(page, 0);
	struct text frame = {0};

	page->out = &frame;
	frame_write_heads(page);
	text_add_string(&frame, "<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n");
	write_title(page);
	double more = frame_write_legend(page);
	if (more > 0)
		text_format(&frame, "<g transform=\"translate(0 %.1f)\">\n", more);
	text_add(&frame, body->bytes, body->used);
	frame_write_sentence(page, below + SENTENCE - 12);
	text_add_string(&frame, more > 0 ? "</g>\n</svg>\n" : "</svg>\n");
	double height = below + more;
	if (lines > 0)
		height += SENTENCE + SENTENCE_LINE * (double)(lines - 1);
	text_format(svg,
	            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" "
	            "width=\"%.0f\" height=\"%.0f\" "
	            "role=\"img\">\n<title>%s, %" PRIu32 " nodes: a space-time diagram</title>\n",
	            page->width, height, page->width, height, setup->network.algorithm->name,
	            setup->network.graph.nodes);
	text_add_string(svg, diagram_style);
	text_add(svg, frame.bytes, frame.used);
	page->out = svg;
	text_free(&frame);
}

static void free_drawing(struct drawing *page)
{
	labels_free(&page->labels);
	free(page->times);
	free(page->places);
	free(page->cuts);
}

/* The greatest mean cost of the places of labels (labels_cost). If it is exceeded, the picture gets
 * more room. */
static const double CROSSED_MOST = 0.22;

void diagram_draw_picture(const struct diagram *diagram, struct text *svg)
{
	/* The amounts of room to try, one after the other, until the labels find places. */
	static const double rooms[] = {1, 1.3, 1.7};
	enum { LAST = sizeof(rooms) / sizeof(*rooms) - 1 };
	struct text body = {0};

	for (size_t i = 0; i <= LAST; i++) {
		struct drawing page = {.diagram = diagram, .out = &body, .room = rooms[i]};
		page.lane = HEIGHT_GOAL / (double)diagram_lanes(diagram);
		page.lane = page.lane > LANE         ? LANE
		            : page.lane < LANE_LEAST ? LANE_LEAST
		                                     : page.lane;
		page.lane *= 1 + (rooms[i] - 1) / 2;
		text_clear(&body);
		drawing_place(&page);
		write_picture(&page);
		bool done = i == LAST || (page.unlabelled == 0 &&
		                          page.crossed <= CROSSED_MOST * (double)page.labelled);
		if (done)
			write_page(&page, &body, svg);
		free_drawing(&page);
		if (done)
			break;
	}
	text_free(&body);
}
