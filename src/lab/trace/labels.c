#include "labels.h"

#include "grow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void labels_free(struct labels *labels)
{
	free(labels->boxes);
	free(labels->lines);
	*labels = (struct labels){0};
}

void labels_take(struct labels *labels, struct box box)
{
	labels->boxes = grow(labels->boxes, &labels->boxes_size, labels->boxes_count + 1,
	                     sizeof(*labels->boxes));
	labels->boxes[labels->boxes_count++] = box;
}

void labels_cross(struct labels *labels, double x1, double y1, double x2, double y2)
{
	labels->lines = grow(labels->lines, &labels->lines_size, labels->lines_count + 1,
	                     sizeof(*labels->lines));
	labels->lines[labels->lines_count++] =
	        (struct labels_line){.x1 = x1, .y1 = y1, .x2 = x2, .y2 = y2};
}

static double overlap(const struct box *a, const struct box *b)
{
	double width = fmin(a->x + a->width, b->x + b->width) - fmax(a->x, b->x);
	double height = fmin(a->y + a->height, b->y + b->height) - fmax(a->y, b->y);

	return width > 0 && height > 0 ? width * height : 0;
}

/* Narrows the range from *from to *to to those numbers `way` for which `start + way * length` is
 * between 0 and `most`. */
static void clip(double start, double length, double most, double *from, double *to)
{
	if (length == 0) {
		if (start < 0 || start > most)
			*to = *from;
		return;
	}
	double a = -start / length, b = (most - start) / length;

	*from = fmax(*from, fmin(a, b));
	*to = fmin(*to, fmax(a, b));
}

/* Returns how long the part of a line within a box is. */
static double length_within(const struct labels_line *line, const struct box *box)
{
	double dx = line->x2 - line->x1, dy = line->y2 - line->y1, from = 0, to = 1;

	clip(line->x1 - box->x, dx, box->width, &from, &to);
	if (to <= from)
		return 0;
	clip(line->y1 - box->y, dy, box->height, &from, &to);
	return to > from ? (to - from) * hypot(dx, dy) : 0;
}

bool labels_meet(const struct labels_line *line, const struct box *box)
{
	return length_within(line, box) > 0;
}

double labels_cost(const struct labels *labels, const struct box *box)
{
	double covered = 0, crossed = 0;

	for (size_t i = 0; i < labels->boxes_count; i++)
		covered += overlap(box, &labels->boxes[i]);
	if (covered > 0)
		return 1 + covered;
	for (size_t i = 0; i < labels->lines_count; i++)
		crossed += length_within(&labels->lines[i], box);
	return crossed / (crossed + 30);
}

/* Returns how wide the character is that begins with this byte, as a part of the font's size. */
static double letter_width(char byte)
{
	/* The other bytes of a UTF-8 character are 10xxxxxx. */
	if (((unsigned char)byte & 0xc0) == 0x80)
		return 0;
	if (byte != '\0' && strchr(" ,.:;()[]'|/!iIjlftr", byte) != NULL)
		return 0.41;
	if ((byte >= 'A' && byte <= 'Z') || byte == 'm' || byte == 'w')
		return 0.74;
	return (unsigned char)byte > 0x7f ? 0.84 : 0.62;
}

double labels_width(const char *text, double font_size)
{
	double width = 0;

	for (; *text != '\0'; text++)
		width += letter_width(*text);
	return width * font_size;
}

size_t labels_fit(const char *text, double font_size, double width)
{
	double used = 0;
	size_t space = 0, i = 0;

	for (; text[i] != '\0'; i++) {
		used += letter_width(text[i]) * font_size;
		if (i > 0 && used > width)
			return space != 0 ? space : i;
		if (text[i] == ' ')
			space = i;
	}
	return i;
}
