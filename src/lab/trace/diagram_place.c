#include "diagram_place.h"

#include "memory.h"

#include <stdlib.h>
#include <string.h>

const double LABEL_SIZE = 10.5;

static int compare_times(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

static void gather_times(struct drawing *page)
{
	const struct diagram *diagram = page->diagram;
	size_t count = 0, distinct = 0;

	page->times = malloc((diagram->marks_count + 2 * diagram->arrows_count + 3) *
	                     sizeof(*page->times));
	memory_must(page->times != NULL);
	page->times[count++] = diagram->window.from;
	page->times[count++] = diagram->end;
	if (diagram->loops && diagram->loop < diagram->end)
		page->times[count++] = diagram->loop;
	for (size_t i = 0; i < diagram->marks_count; i++)
		page->times[count++] = diagram->marks[i].time;
	for (size_t i = 0; i < diagram->arrows_count; i++) {
		page->times[count++] = diagram->arrows[i].sent;
		if (diagram->arrows[i].fate != FATE_FLYING)
			page->times[count++] = diagram->arrows[i].arrived;
	}
	for (size_t i = 0; i < count; i++) {
		if (page->times[i] < diagram->window.from)
			page->times[i] = diagram->window.from;
	}
	qsort(page->times, count, sizeof(*page->times), compare_times);
	for (size_t i = 0; i < count; i++) {
		if (distinct == 0 || page->times[i] != page->times[distinct - 1])
			page->times[distinct++] = page->times[i];
	}
	page->times_count = distinct;
}

/*
 * Distances are proportional to time where possible. A very long wait is drawn shorter and a very
 * short one longer, so that arrows can be told apart. The axis shows the true times.
 */
static void place_times(struct drawing *page)
{
	uint64_t *gaps = malloc(page->times_count * sizeof(*gaps));

	page->places = malloc(page->times_count * sizeof(*page->places));
	memory_must(gaps != NULL && page->places != NULL);
	for (size_t i = 1; i < page->times_count; i++)
		gaps[i - 1] = page->times[i] - page->times[i - 1];
	qsort(gaps, page->times_count - 1, sizeof(*gaps), compare_times);
	size_t middle = (page->times_count - 1) / 2;
	double median = page->times_count > 1 ? (double)gaps[middle] : 1;
	/* Very many events are drawn closer together, so that the picture has few strips. */
	double usual = WIDTH_GOAL / (double)page->times_count;
	usual = usual > STEP ? STEP : usual < STEP_LEAST ? STEP_LEAST : usual;
	double least = usual < STEP ? usual / 4 : STEP_LEAST;
	usual *= page->room;
	page->places[0] = LEFT;
	for (size_t i = 1; i < page->times_count; i++) {
		double step = usual * (double)(page->times[i] - page->times[i - 1]) / median;
		step = step < least                    ? least
		       : step > STEP_MOST * page->room ? STEP_MOST * page->room
		                                       : step;
		page->places[i] = page->places[i - 1] + step;
	}
	free(gaps);
}

/* Returns the middle of a gap between events near `place`, preferably a wide gap: a cut there
 * goes through few arrows. */
static double cut_near(const struct drawing *page, double place)
{
	double best = place, best_worth = 0;

	for (size_t i = 1; i < page->times_count; i++) {
		double middle = (page->places[i - 1] + page->places[i]) / 2;
		double off = middle > place ? middle - place : place - middle;
		double worth = page->places[i] - page->places[i - 1] - off / 2;
		if (off < STEP && worth > best_worth) {
			best_worth = worth;
			best = middle;
		}
	}
	return best;
}

/* A picture that is too wide is cut into strips of about the same width, one below the other,
 * like a musical score. */
static void cut_strips(struct drawing *page)
{
	enum { WIDTH_LEAST = 760, WIDTH_MOST = 1100 };
	double begin = LEFT - OVERHANG;
	double end = page->places[page->times_count - 1] + RIGHT;

	if (end < WIDTH_LEAST - MARGIN)
		end = WIDTH_LEAST - MARGIN;
	page->strips_count = 1 + (size_t)((end - begin) / WIDTH_MOST);
	page->cuts = malloc((page->strips_count + 1) * sizeof(*page->cuts));
	memory_must(page->cuts != NULL);
	page->cuts[0] = begin;
	page->cuts[page->strips_count] = end;
	page->width = 0;
	for (size_t i = 1; i <= page->strips_count; i++) {
		double share = (double)i / (double)page->strips_count;
		if (i < page->strips_count)
			page->cuts[i] = cut_near(page, begin + (end - begin) * share);
		double width = page->cuts[i] - page->cuts[i - 1];
		page->width = width > page->width ? width : page->width;
	}
	page->width += begin + MARGIN;
	/* The arrows that show who waits for whom need room beside the band. */
	if (page->diagram->waits_count != 0)
		page->width += WAITS;
	page->strip_height = page->lane * diagram_lanes(page->diagram) + BOTTOM;
}

double drawing_edge(const struct drawing *page)
{
	return page->cuts[page->strips_count];
}

double drawing_x(const struct drawing *page, uint64_t time)
{
	if (time < page->diagram->window.from)
		return LEFT - OVERHANG;
	const uint64_t *found =
	        bsearch(&time, page->times, page->times_count, sizeof(time), compare_times);
	must(found != NULL);
	return page->places[found - page->times];
}

double drawing_y(const struct drawing *page, uint32_t node)
{
	return TOP + page->lane * (diagram_lane(page->diagram, node) - 0.5);
}

double drawing_cost(const struct drawing *page, const struct box *box)
{
	double cost = labels_cost(&page->labels, box), right = drawing_edge(page) + MARGIN - 4;

	for (size_t i = 1; i < page->strips_count; i++) {
		if (page->cuts[i] > box->x - 2 && page->cuts[i] < box->x + box->width + 2)
			cost += 1000;
	}
	return box->x < LEFT - OVERHANG || box->x + box->width > right || box->y < TOP - 8
	               ? cost + 1000
	               : cost;
}

void drawing_write_label(struct drawing *page, const char *class, const char *text,
                         const struct box *box)
{
	labels_take(&page->labels, *box);
	text_format(page->out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", class,
	            box->x, box->y + 10, text);
}

void drawing_label_near(struct drawing *page, const char *text, double x, double y)
{
	/* Try below and to the right first, where no bar is; then the other corners, then places
	 * further away. */
	static const signed char corners[][2] = {{1, 1}, {1, -1}, {-1, 1}, {-1, -1}};
	struct box best = {0};
	double best_cost = -1;

	for (int i = 0; i < 24; i++) {
		double away = 8 + 6.0 * (i / 4);
		struct box box = {.width = labels_width(text, LABEL_SIZE), .height = LABEL_HEIGHT};
		box.x = corners[i % 4][0] > 0 ? x + 6 : x - 6 - box.width;
		box.y = corners[i % 4][1] > 0 ? y + away : y - away - LABEL_HEIGHT;
		double cost = drawing_cost(page, &box) + 0.02 * i;
		if (best_cost < 0 || cost < best_cost) {
			best_cost = cost;
			best = box;
		}
	}
	drawing_write_label(page, "label", text, &best);
}

void drawing_place(struct drawing *page)
{
	gather_times(page);
	place_times(page);
	cut_strips(page);
}
