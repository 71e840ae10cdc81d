/*
 * Patterns of names, as in Redis: * ? [abc] [^a-z] and \ before a byte that stands for itself.
 * The time to match does not grow with the product of the sizes, whatever a client sends as a
 * pattern.
 */
#ifndef NODE_GLOB_H
#define NODE_GLOB_H

#include "slice.h"

#include <stdbool.h>

enum {
	/* A longer text is matched correctly too, but the time may be the product of the sizes. */
	GLOB_TEXT_MAX = 255,
	GLOB_WORDS = GLOB_TEXT_MAX / 64 + 1,
};

/* A set of places in a text: bit j stands for the place just before byte j. */
struct glob_places {
	uint64_t words[GLOB_WORDS];
};

/* A text that is matched with many patterns. */
struct glob_text {
	struct slice text;
	bool indexed; /* `below` has been filled; only few patterns need it */
	/* For each byte value, the places that have a byte with a lower value. */
	struct glob_places below[UINT8_MAX + 2];
};

static inline void glob_text_set(struct glob_text *text, struct slice slice)
{
	text->text = slice;
	text->indexed = false;
}

bool glob_text_matches(struct glob_text *text, struct slice pattern);
bool glob_matches(struct slice pattern, struct slice text);

#endif
