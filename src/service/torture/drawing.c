#include "drawing.h"

#include "grow.h"
#include "memory.h"

#include <stdlib.h>
#include <string.h>

/* Lengths in pixels. */
enum { LEFT = 70, WIDTH = 1500, TOP = 40, FAULT_HEIGHT = 18, ROW_HEIGHT = 60, RIGHT = 20 };
enum { LEGEND_HEIGHT = 46 };

/* A browser uses the second set of colours in dark mode; other programs know only the first. */
static const char style[] =
        "<style>text{font:13px system-ui,'Liberation Sans',sans-serif;fill:#16191f}"
        ".title{font-weight:600}.small{font-size:11px}.paper{fill:#fcfbf8}"
        ".grid{fill:#e2ded5}.process{fill:#5f6673}.lease{fill:#0b7a6b;opacity:.45}"
        ".view{fill:#2667d0}.hold{fill:#f0a000;stroke:#945400;stroke-width:.6}.odd{fill:#fbdf9f}"
        ".fault{fill:#a8327f;opacity:.3}.wrong{fill:#c2352b}.bad{fill:#c2352b;font-weight:600}\n"
        "@media (prefers-color-scheme:dark){text{fill:#eceef1}.paper{fill:#0e1115}"
        ".grid{fill:#2a323c}.process{fill:#98a1ae}.lease{fill:#4fd0bd}.view{fill:#73a9ff}"
        ".hold{fill:#ffb224;stroke:#ffc864}.odd{fill:#5a4310}.fault{fill:#ee82c4}"
        ".wrong{fill:#ff7a6e}.bad{fill:#ff7a6e}}</style>\n";

struct drawn {
	enum drawn_kind kind;
	uint64_t time;
	uint32_t place;
	uint64_t number, other;
	char *text;
};

struct run_drawing {
	struct drawn *list;
	size_t count, size;
	uint64_t end;
};

struct run_drawing *drawing_create(void)
{
	struct run_drawing *drawing = calloc(1, sizeof(*drawing));

	memory_must(drawing != NULL);
	return drawing;
}

void drawing_destroy(struct run_drawing *drawing)
{
	for (size_t i = 0; i < drawing->count; i++)
		free(drawing->list[i].text);
	free(drawing->list);
	free(drawing);
}

void drawing_add(struct run_drawing *drawing, enum drawn_kind kind, uint64_t time, uint32_t place,
                 uint64_t number, uint64_t other, const char *text)
{
	char *copy = text == NULL ? NULL : strdup(text);

	memory_must(text == NULL || copy != NULL);
	drawing->list =
	        grow(drawing->list, &drawing->size, drawing->count + 1, sizeof(*drawing->list));
	drawing->list[drawing->count++] = (struct drawn){kind, time, place, number, other, copy};
	if (time > drawing->end)
		drawing->end = time;
}

bool drawing_has_process(const struct run_drawing *drawing, uint32_t place)
{
	for (size_t i = 0; i < drawing->count; i++) {
		if (drawing->list[i].kind == DRAWN_START && drawing->list[i].place == place)
			return true;
	}
	return false;
}

/* --- the picture --- */

struct picture {
	const struct run_drawing *drawing;
	FILE *file;
	double faults_height;
	uint32_t rows;
	/* For each row, where its last label of a lock and of a view ends, so that the next label
	 * does not cover it. */
	double *locks_end, *views_end;
};

static double x_of(const struct picture *picture, uint64_t time)
{
	uint64_t end = picture->drawing->end + 1;

	return LEFT + (double)(time < end ? time : end) / (double)end * WIDTH;
}

static double y_of(const struct picture *picture, uint32_t place)
{
	return TOP + picture->faults_height + ROW_HEIGHT * (double)place + ROW_HEIGHT / 2.0;
}

static void rectangle(const struct picture *picture, uint64_t from, uint64_t to, double y,
                      double height, const char *class)
{
	double x = x_of(picture, from), width = x_of(picture, to) - x;

	fprintf(picture->file,
	        "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n",
	        class, x, y, width < 0.5 ? 0.5 : width, height);
}

static void write_escaped(FILE *file, const char *text)
{
	for (; *text != '\0'; text++) {
		if (*text == '<' || *text == '&')
			fputs(*text == '<' ? "&lt;" : "&amp;", file);
		else
			fputc(*text, file);
	}
}

static void label(const struct picture *picture, uint64_t time, double y, const char *class,
                  const char *text)
{
	fprintf(picture->file, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", class,
	        x_of(picture, time), y);
	write_escaped(picture->file, text);
	fputs("</text>\n", picture->file);
}

/* Writes a small label unless it would cover the last one, which ends at *end. */
static void label_apart(const struct picture *picture, double *end, uint64_t time, double y,
                        const char *text)
{
	double x = x_of(picture, time);

	if (x < *end)
		return;
	*end = x + 7.2 * (double)strlen(text) + 3;
	label(picture, time, y, "small", text);
}

/* Returns when the next thing of one of the two kinds happens at that place, or the end of the
 * run. */
static uint64_t next_of(const struct run_drawing *drawing, size_t from, enum drawn_kind kind,
                        enum drawn_kind other, bool same_number)
{
	const struct drawn *first = &drawing->list[from];

	for (size_t i = from + 1; i < drawing->count; i++) {
		const struct drawn *drawn = &drawing->list[i];
		if (drawn->place == first->place && (drawn->kind == kind || drawn->kind == other) &&
		    (!same_number || drawn->number == first->number))
			return drawn->time;
	}
	return drawing->end;
}

static void draw_lease(const struct picture *picture, size_t i)
{
	const struct drawn *drawn = &picture->drawing->list[i];
	uint64_t next = next_of(picture->drawing, i, DRAWN_LEASE, DRAWN_LEASE, false);
	uint64_t end = drawn->number < next ? drawn->number : next;

	if (end > drawn->time)
		rectangle(picture, drawn->time, end, y_of(picture, drawn->place) + 4, 6, "lease");
}

static void draw_hold(const struct picture *picture, size_t i)
{
	const struct drawn *drawn = &picture->drawing->list[i];
	double y = y_of(picture, drawn->place) - 8;
	char text[24];

	rectangle(picture, drawn->time,
	          next_of(picture->drawing, i, DRAWN_RELEASE, DRAWN_RELEASE, true), y, 8,
	          drawn->other % 2 == 0 ? "hold" : "hold odd");
	snprintf(text, sizeof(text), "%llu", (unsigned long long)drawn->other);
	label_apart(picture, &picture->locks_end[drawn->place], drawn->time, y - 2, text);
}

/* Draws a line where the run goes wrong, and says what is wrong. */
static void draw_wrong(const struct picture *picture, const struct drawn *drawn)
{
	double x = x_of(picture, drawn->time),
	       bottom = y_of(picture, picture->rows) - ROW_HEIGHT / 2.0;

	rectangle(picture, drawn->time, drawn->time, TOP, bottom - TOP, "wrong");
	if (drawn->text == NULL)
		return;
	fprintf(picture->file, "<text class=\"bad\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x,
	        bottom + 14, x > LEFT + WIDTH / 2.0 ? "end" : "start");
	write_escaped(picture->file, drawn->text);
	fputs("</text>\n", picture->file);
}

static void draw_one(const struct picture *picture, size_t i, uint32_t *faults)
{
	const struct drawn *drawn = &picture->drawing->list[i];
	double y = y_of(picture, drawn->place);
	char text[32];

	switch (drawn->kind) {
	case DRAWN_START:
		rectangle(picture, drawn->time,
		          next_of(picture->drawing, i, DRAWN_END, DRAWN_START, false), y, 3,
		          "process");
		break;
	case DRAWN_VIEW:
		snprintf(text, sizeof(text), "E%llu", (unsigned long long)drawn->number);
		rectangle(picture, drawn->time, drawn->time, y - 14, 28, "view");
		label_apart(picture, &picture->views_end[drawn->place], drawn->time, y + 24, text);
		break;
	case DRAWN_LEASE:
		draw_lease(picture, i);
		break;
	case DRAWN_GRANT:
		draw_hold(picture, i);
		break;
	case DRAWN_FAULT:
		y = TOP + FAULT_HEIGHT * (double)(*faults)++;
		rectangle(picture, drawn->time, drawn->other, y, FAULT_HEIGHT - 3, "fault");
		label(picture, drawn->time, y + FAULT_HEIGHT - 6, "small", drawn->text);
		break;
	case DRAWN_WRONG:
		draw_wrong(picture, drawn);
		break;
	case DRAWN_END:
	case DRAWN_RELEASE:
		break;
	}
}

static void draw_legend(const struct picture *picture, double y)
{
	static const struct {
		const char *class, *text;
	} items[] = {
	        {"process", "the process runs"},
	        {"lease", "its lease"},
	        {"hold", "a client holds a lock, whose number (above) is even"},
	        {"hold odd", "the same, odd"},
	        {"view", "a new view (below: its epoch)"},
	        {"fault", "a fault"},
	        {"wrong", "the violation"},
	};
	double x = LEFT;

	for (size_t i = 0; i < sizeof(items) / sizeof(*items); i++) {
		fprintf(picture->file,
		        "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"22\" height=\"8\"/>"
		        "<text class=\"small\" x=\"%.1f\" y=\"%.1f\">%s</text>\n",
		        items[i].class, x, y - 8, x + 28, y, items[i].text);
		x += 60 + 6.6 * (double)strlen(items[i].text);
	}
}

static void draw_axis(const struct picture *picture, uint32_t rows)
{
	uint64_t second = UINT64_C(1000000000), step = second;
	char text[24];

	while (picture->drawing->end / step > 30)
		step += second;
	for (uint64_t time = 0; time <= picture->drawing->end; time += step) {
		rectangle(picture, time, time, TOP - 8,
		          8 + picture->faults_height + ROW_HEIGHT * (double)rows, "grid");
		snprintf(text, sizeof(text), "%llu s", (unsigned long long)(time / second));
		label(picture, time, TOP - 10, "small", text);
	}
}

bool drawing_write(const struct run_drawing *drawing, FILE *file, const char *const *names,
                   uint32_t names_count, const char *title)
{
	struct picture picture = {.drawing = drawing, .file = file, .rows = names_count};
	uint32_t faults = 0;

	for (size_t i = 0; i < drawing->count; i++)
		faults += drawing->list[i].kind == DRAWN_FAULT;
	picture.faults_height = FAULT_HEIGHT * (double)faults;
	double height = TOP + picture.faults_height + ROW_HEIGHT * names_count + LEGEND_HEIGHT;
	fprintf(file,
	        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" "
	        "viewBox=\"0 0 %d %.0f\" role=\"img\">\n%s"
	        "<rect class=\"paper\" width=\"100%%\" height=\"100%%\"/>\n",
	        LEFT + WIDTH + RIGHT, height, LEFT + WIDTH + RIGHT, height, style);
	label(&picture, 0, 14, "title", title);
	draw_axis(&picture, names_count);
	for (uint32_t i = 0; i < names_count; i++)
		fprintf(file, "<text x=\"8\" y=\"%.1f\">%s</text>\n", y_of(&picture, i) + 4,
		        names[i]);
	picture.locks_end = calloc(names_count + 1, sizeof(*picture.locks_end));
	picture.views_end = calloc(names_count + 1, sizeof(*picture.views_end));
	memory_must(picture.locks_end != NULL && picture.views_end != NULL);
	faults = 0;
	for (size_t i = 0; i < drawing->count; i++)
		draw_one(&picture, i, &faults);
	draw_legend(&picture, height - 8);
	free(picture.locks_end);
	free(picture.views_end);
	fputs("</svg>\n", file);
	return fflush(file) == 0 && !ferror(file);
}
