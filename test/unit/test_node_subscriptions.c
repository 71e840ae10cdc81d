/*
 * The lock node: what patterns and subscriptions cost.
 */
#include "../lib/node_fixture.h"

#include "glob.h"
#include "random.h"

#include <stdlib.h>
#include <time.h>

enum { ATTEMPTS = 5 };

/* --- patterns --- */

/* Does the element of the pattern at *i match the byte? Written in the plainest way. */
static bool element_fits(const char *pattern, uint32_t size, uint32_t *i, char byte)
{
	char element = pattern[(*i)++];
	bool negated = false, found = false;

	if (element == '?')
		return true;
	if (element == '\\' && *i < size)
		return pattern[(*i)++] == byte;
	if (element != '[')
		return element == byte;
	if (*i < size && pattern[*i] == '^') {
		negated = true;
		++*i;
	}
	while (*i < size && pattern[*i] != ']') {
		if (pattern[*i] == '\\' && *i + 1 < size)
			++*i;
		char from = pattern[*i], to = from;
		if (*i + 2 < size && pattern[*i + 1] == '-') {
			to = pattern[*i + 2];
			*i += 2;
		}
		++*i;
		found = found || (from <= byte && byte <= to) || (to <= byte && byte <= from);
	}
	if (*i < size)
		++*i;
	return found != negated;
}

/* Which prefixes of the text does the pattern match up to here? One element after the other. */
static bool fits(const char *pattern, uint32_t size, const char *text, uint32_t text_size)
{
	bool at[NODE_NAME_MAX + 1] = {true}, next[NODE_NAME_MAX + 1];

	for (uint32_t i = 0; i < size;) {
		uint32_t after = i + 1;
		next[0] = pattern[i] == '*' && at[0];
		for (uint32_t j = 1; j <= text_size; j++) {
			if (pattern[i] == '*') {
				next[j] = at[j] || next[j - 1];
				continue;
			}
			after = i;
			next[j] = element_fits(pattern, size, &after, text[j - 1]) && at[j - 1];
		}
		if (text_size == 0 && pattern[i] != '*')
			return false;
		memcpy(at, next, sizeof(at));
		i = after;
	}
	return at[text_size];
}

static void test_patterns_match_as_the_plainest_matcher_says(void **state)
{
	static const char elements[] = "aaaab*?[]^-\\", bytes[] = "aab-";
	struct random random;
	unsigned matched = 0;

	(void)state;
	random_seed(&random, 1);
	for (unsigned k = 0; k < 40000; k++) {
		char pattern[NODE_NAME_MAX], text[NODE_NAME_MAX];
		/* Long ones have few special bytes and few mismatches, so that much is tried. */
		bool is_long = k % 8 == 0;
		uint32_t most = is_long ? NODE_NAME_MAX : 12;
		uint32_t size = 1 + (uint32_t)random_below(&random, most);
		uint32_t text_size = (uint32_t)random_below(&random, most + 1);
		memset(pattern, 'a', sizeof(pattern));
		memset(text, 'a', sizeof(text));
		for (uint32_t i = 0; i < size; i++) {
			if (!is_long || random_below(&random, 16) == 0)
				pattern[i] = elements[random_below(&random, sizeof(elements) - 1)];
		}
		for (uint32_t i = 0; i < text_size; i++) {
			if (!is_long || random_below(&random, 64) == 0)
				text[i] = bytes[random_below(&random, sizeof(bytes) - 1)];
		}
		if (is_long)
			pattern[0] = '*';
		bool expected = fits(pattern, size, text, text_size);
		assert_int_equal(glob_matches((struct slice){(uint8_t *)pattern, size},
		                              (struct slice){(uint8_t *)text, text_size}),
		                 expected);
		matched += expected;
	}
	assert_in_range(matched, 1000, 39000);
}

/* Returns how long it takes to match the pattern 200 times. */
static double match_seconds(struct slice pattern, struct slice text)
{
	clock_t began = clock();

	for (unsigned k = 0; k < 200; k++)
		assert_false(glob_matches(pattern, text));
	return (double)(clock() - began) / CLOCKS_PER_SEC;
}

/* Appends to a pattern of `used` bytes. Returns how many it has now. */
static size_t add(char pattern[NODE_NAME_MAX + 1], size_t used, const char *text)
{
	return used + (size_t)snprintf(pattern + used, NODE_NAME_MAX + 1 - used, "%s", text);
}

/* Clients choose patterns and names, and each event is matched with all patterns. So the longest of
 * them may take only some times as long as comparing the name with a text of its size. */
static void test_no_pattern_takes_long(void **state)
{
	static const struct {
		const char *begin, *middle, *end;
	} cases[] = {{"*", "a", "b"},     {"*", "[a-z]", "b"}, {"*", "?", "b"},
	             {"*[", "b", "]"},    {"*", "*a", "b"},    {"a*", "a", "b*b"},
	             {"*[", "b-c", "]*"}, {"*", "\\a", "b"},   {"*", "[^b]", "b"}};
	uint8_t name[NODE_NAME_MAX], plain[NODE_NAME_MAX];

	(void)state;
	memset(name, 'a', sizeof(name));
	memset(plain, 'a', sizeof(plain));
	plain[NODE_NAME_MAX - 1] = 'b';
	for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
		/* A middle of half the size is tried most often. */
		for (uint32_t size = 60; size <= NODE_NAME_MAX; size += 65) {
			char pattern[NODE_NAME_MAX + 1];
			size_t used = add(pattern, 0, cases[c].begin);
			while (used + strlen(cases[c].middle) + strlen(cases[c].end) <= size)
				used = add(pattern, used, cases[c].middle);
			used = add(pattern, used, cases[c].end);
			double least = 1e9;
			for (unsigned k = 0; k < ATTEMPTS; k++) {
				double yardstick =
				        match_seconds((struct slice){plain, NODE_NAME_MAX},
				                      (struct slice){name, NODE_NAME_MAX});
				double taken = match_seconds(
				        (struct slice){(uint8_t *)pattern, (uint32_t)used},
				        (struct slice){name, NODE_NAME_MAX});
				if (taken / yardstick < least)
					least = taken / yardstick;
			}
			assert_true(least < 30);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(test_patterns_match_as_the_plainest_matcher_says),
	        TEST(test_no_pattern_takes_long),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
