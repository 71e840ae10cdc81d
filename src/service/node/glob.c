#include "glob.h"

/* Does one [set] of a pattern match the byte? *i is just after '[' and moves past the set. A set
 * without ']' ends with the pattern, as in Redis. */
static bool set_matches(struct slice pattern, uint32_t *i, uint8_t byte)
{
	bool negated = *i < pattern.size && pattern.bytes[*i] == '^';
	bool found = false;

	for (*i += negated; *i < pattern.size && pattern.bytes[*i] != ']'; ++*i) {
		if (pattern.bytes[*i] == '\\' && *i + 1 < pattern.size)
			++*i;
		uint8_t low = pattern.bytes[*i], high = low;
		if (*i + 2 < pattern.size && pattern.bytes[*i + 1] == '-') {
			*i += 2;
			high = pattern.bytes[*i];
		}
		found = found || (low <= byte && byte <= high) || (high <= byte && byte <= low);
	}
	*i += *i < pattern.size;
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

/* After a mismatch only the last '*' is tried again. So the time is at most the product of both
 * sizes. */
bool glob_matches(struct slice pattern, struct slice text)
{
	uint32_t i = 0, j = 0, star = UINT32_MAX, star_text = 0;

	while (j < text.size) {
		if (i < pattern.size && pattern.bytes[i] == '*') {
			star = ++i;
			star_text = j;
			continue;
		}
		if (i < pattern.size && element_matches(pattern, &i, text.bytes[j])) {
			j++;
			continue;
		}
		if (star == UINT32_MAX)
			return false;
		i = star;
		j = ++star_text;
	}
	while (i < pattern.size && pattern.bytes[i] == '*')
		i++;
	return i == pattern.size;
}
