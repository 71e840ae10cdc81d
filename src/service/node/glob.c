#include "glob.h"

#include <string.h>

/* --- one byte after the other --- */

/* The bytes from `low` to `high`. */
struct range {
	uint8_t low, high;
};

/* Reads the next range of a [set]; *i is inside the set. At the end of the set, moves past it and
 * returns false. A set without ']' ends with the pattern, as in Redis. */
static bool set_next(struct slice pattern, uint32_t *i, struct range *ret_range)
{
	if (*i >= pattern.size || pattern.bytes[*i] == ']') {
		*i += *i < pattern.size;
		return false;
	}
	if (pattern.bytes[*i] == '\\' && *i + 1 < pattern.size)
		++*i;
	uint8_t low = pattern.bytes[*i], high = low;
	if (*i + 2 < pattern.size && pattern.bytes[*i + 1] == '-') {
		*i += 2;
		high = pattern.bytes[*i];
	}
	++*i;
	*ret_range = low <= high ? (struct range){low, high} : (struct range){high, low};
	return true;
}

/* Is the [set] negated? *i is just after '[' and moves past the '^'. */
static bool set_negated(struct slice pattern, uint32_t *i)
{
	bool negated = *i < pattern.size && pattern.bytes[*i] == '^';

	*i += negated;
	return negated;
}

static bool set_matches(struct slice pattern, uint32_t *i, uint8_t byte)
{
	bool negated = set_negated(pattern, i), found = false;
	struct range range;

	while (set_next(pattern, i, &range))
		found = found || (range.low <= byte && byte <= range.high);
	return found != negated;
}

/* Does the element of the pattern at *i, which is not '*', match the byte? *i moves past it. */
static bool element_matches(struct slice pattern, uint32_t *i, uint8_t byte)
{
	uint8_t element = pattern.bytes[(*i)++];

	if (element == '?')
		return true;
	if (element == '[')
		return set_matches(pattern, i, byte);
	if (element == '\\' && *i < pattern.size)
		element = pattern.bytes[(*i)++];
	return element == byte;
}

/* --- all places of the text at once --- */

static void make_index(struct glob_text *text)
{
	const uint8_t *bytes = text->text.bytes;

	memset(text->below, 0, sizeof(text->below));
	for (uint32_t j = 0; j < text->text.size; j++)
		text->below[bytes[j] + 1].words[j / 64] |= UINT64_C(1) << j % 64;
	for (unsigned byte = 1; byte <= UINT8_MAX + 1; byte++) {
#pragma GCC unroll 4
		for (unsigned w = 0; w < GLOB_WORDS; w++)
			text->below[byte].words[w] |= text->below[byte - 1].words[w];
	}
	text->indexed = true;
}

/* Adds the places that have a byte of the range. */
static void add_places(struct glob_places *places, const struct glob_text *text, struct range range)
{
	const uint64_t *low = text->below[range.low].words;
	const uint64_t *high = text->below[range.high + 1].words;

#pragma GCC unroll 4
	for (unsigned w = 0; w < GLOB_WORDS; w++)
		places->words[w] |= high[w] & ~low[w];
}

/* Returns the places whose byte matches the element of the pattern at *i, which is not '*'. *i
 * moves past it. */
static struct glob_places element_places(const struct glob_text *text, struct slice pattern,
                                         uint32_t *i)
{
	struct glob_places found = {0};
	struct range range = {0, UINT8_MAX};
	uint8_t element = pattern.bytes[(*i)++];

	if (element == '[') {
		bool negated = set_negated(pattern, i);
		while (set_next(pattern, i, &range))
			add_places(&found, text, range);
		for (unsigned w = 0; negated && w < GLOB_WORDS; w++)
			found.words[w] = ~found.words[w];
		return found;
	}
	if (element == '\\' && *i < pattern.size)
		range.low = range.high = pattern.bytes[(*i)++];
	else if (element != '?')
		range.low = range.high = element;
	add_places(&found, text, range);
	return found;
}

/* Adds all places after the first one. */
static void add_later(struct glob_places *places)
{
	bool found = false;

	for (unsigned w = 0; w < GLOB_WORDS; w++) {
		/* x | -x has the lowest bit of x and all bits above it. */
		places->words[w] = found ? UINT64_MAX : places->words[w] | -places->words[w];
		found = found || places->words[w] != 0;
	}
}

/* Keeps the places whose byte matches, each moved on by one byte. Returns false if there are
 * none. */
static bool move_on(struct glob_places *places, struct glob_places matching)
{
	uint64_t carry = 0, any = 0;

#pragma GCC unroll 4
	for (unsigned w = 0; w < GLOB_WORDS; w++) {
		uint64_t word = places->words[w] & matching.words[w];
		places->words[w] = word << 1 | carry;
		carry = word >> 63;
		any |= word;
	}
	return any != 0;
}

/* Follows the pattern from all places of the text at once, so that no part is tried again. */
static bool matches_by_places(struct glob_text *text, struct slice pattern)
{
	struct glob_places places = {.words = {1}};
	uint32_t size = text->text.size;

	if (!text->indexed)
		make_index(text);
	for (uint32_t i = 0; i < pattern.size;) {
		if (pattern.bytes[i] == '*') {
			add_later(&places);
			i++;
		} else if (!move_on(&places, element_places(text, pattern, &i))) {
			return false;
		}
	}
	return (places.words[size / 64] >> size % 64 & 1) != 0;
}

/* --- */

/* After a mismatch only the last '*' is tried again. That is quick for most patterns. For the
 * others the time could be the product of both sizes, so they are matched at all places at once. */
bool glob_text_matches(struct glob_text *text, struct slice pattern)
{
	uint32_t i = 0, j = 0, star = UINT32_MAX, star_text = 0, wasted = 0;

	while (j < text->text.size) {
		if (i < pattern.size && pattern.bytes[i] == '*') {
			star = ++i;
			if (star == pattern.size)
				return true;
			star_text = j;
			continue;
		}
		if (i < pattern.size && element_matches(pattern, &i, text->text.bytes[j])) {
			j++;
			continue;
		}
		if (star == UINT32_MAX)
			return false;
		wasted += i - star;
		if (wasted > GLOB_TEXT_MAX && text->text.size <= GLOB_TEXT_MAX)
			return matches_by_places(text, pattern);
		i = star;
		j = ++star_text;
	}
	while (i < pattern.size && pattern.bytes[i] == '*')
		i++;
	return i == pattern.size;
}

bool glob_matches(struct slice pattern, struct slice text)
{
	struct glob_text one;

	glob_text_set(&one, text);
	return glob_text_matches(&one, pattern);
}
