#include "problem.h"

#include "tame.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

int problem_set(struct problem *problem, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(problem->text, sizeof(problem->text), format, arguments);
	va_end(arguments);
	/* The text may quote the user's input, but must stay one line without control
	 * characters. */
	tame_text(problem->text, strlen(problem->text));
	return -1;
}

enum { LENGTH_MAX = 32 };

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static char small(char c)
{
	return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

/* Ignores case. Some names are written in small letters, others (of messages and variables) in
 * capitals, and users mix these up. */
static bool is_same_letter(char a, char b)
{
	return small(a) == small(b);
}

/* Computes Levenshtein's distance, where two exchanged neighbouring letters count as one change. */
static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
	size_t row[3][LENGTH_MAX + 1];

	for (size_t j = 0; j <= b_length; j++)
		row[0][j] = j;
	for (size_t i = 1; i <= a_length; i++) {
		size_t *now = row[i % 3], *before = row[(i + 2) % 3], *earlier = row[(i + 1) % 3];
		now[0] = i;
		for (size_t j = 1; j <= b_length; j++) {
			now[j] = least(least(before[j], now[j - 1]) + 1,
			               before[j - 1] + !is_same_letter(a[i - 1], b[j - 1]));
			if (i > 1 && j > 1 && is_same_letter(a[i - 1], b[j - 2]) &&
			    is_same_letter(a[i - 2], b[j - 1]))
				now[j] = least(now[j], earlier[j - 2] + 1);
		}
	}
	return row[a_length % 3][b_length];
}

const char *nearest_name(const char *given, const char *const *names)
{
	const char *nearest = NULL;
	size_t given_length = strcspn(given, ":");
	size_t nearest_distance = SIZE_MAX;

	if (given_length > LENGTH_MAX)
		return NULL;
	for (; *names != NULL; names++) {
		size_t length = strcspn(*names, ":");
		if (length > LENGTH_MAX)
			continue;
		size_t d = distance(given, given_length, *names, length);
		/* A prefix counts as near, no matter how long the name is. */
		if (given_length >= 2 && strncmp(given, *names, given_length) == 0)
			d = 1;
		if (d < nearest_distance && d <= 1 + length / 3) {
			nearest = *names;
			nearest_distance = d;
		}
	}
	return nearest;
}
