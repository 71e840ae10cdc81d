#include "drawing.h"

#include "grow.h"
#include "memory.h"

#include <stdlib.h>
#include <string.h>

/* All in pixels. */
enum { LEFT = 70, WIDTH = 1500, TOP = 40, FAULT_HEIGHT = 16, ROW_HEIGHT = 54, RIGHT = 20 };

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

/* --- the picture --- */

struct picture {
	const struct run_drawing *drawing;
	FILE *file;
	double faults_height;
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

static void label(const struct picture *picture, uint64_t time, double y, const char *class,
                  const char *text)
{
	fprintf(picture->file, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", class,
	        x_of(picture, time), y);
	for (; *text != '\0'; text++) {
		if (*text == '<' || *text == '&')
			fputs(*text == '<' ? "&lt;" : "&amp;", picture->file);
		else
			fputc(*text, picture->file);
	}
	fputs("</text>\n", picture->file);
}

/* Returns when the next thing of either kind happens at that place, or the end of the run. */
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
	label(picture, drawn->time, y - 2, "small", text);
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
		label(picture, drawn->time, y + 22, "small", text);
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
		rectangle(picture, drawn->time, drawn->time, TOP, y_of(picture, 0) + 2000, "wrong");
		break;
	case DRAWN_END:
	case DRAWN_RELEASE:
		break;
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
	struct picture picture = {drawing, file, 0};
	uint32_t faults = 0;

	for (size_t i = 0; i < drawing->count; i++)
		faults += drawing->list[i].kind == DRAWN_FAULT;
	picture.faults_height = FAULT_HEIGHT * (double)faults;
	fprintf(file,
	        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\">\n"
	        "<style>text{font:11px sans-serif;fill:#222}.small{font-size:9px}"
	        ".grid{fill:#e4e4e4}.process{fill:#888}.lease{fill:#7bc47b}.view{fill:#36c}"
	        ".hold{fill:#e6a23c}.odd{fill:#9b6fd0}.fault{fill:#f3b6b6}.wrong{fill:#d00}"
	        "</style>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
	        LEFT + WIDTH + RIGHT,
	        TOP + picture.faults_height + ROW_HEIGHT * names_count + 20.0);
	label(&picture, 0, 14, "title", title);
	draw_axis(&picture, names_count);
	for (uint32_t i = 0; i < names_count; i++)
		fprintf(file, "<text x=\"8\" y=\"%.1f\">%s</text>\n", y_of(&picture, i) + 4,
		        names[i]);
	faults = 0;
	for (size_t i = 0; i < drawing->count; i++)
		draw_one(&picture, i, &faults);
	fputs("</svg>\n", file);
	return fflush(file) == 0 && !ferror(file);
}
