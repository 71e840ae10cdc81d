/*
 * The links that the members of a view need, especially where links are given by name.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "wiring.h"

#include <stdio.h>
#include <string.h>

/* A line with a triangle at its end, and a name that is in no view. */
static const struct named_link links[] = {{"a", "b"}, {"b", "c"}, {"d", "c"}, {"d", "e"},
                                          {"e", "f"}, {"d", "f"}, {"x", "a"}};
static const struct wiring named = {.links = {links, sizeof(links) / sizeof(*links)}};

static struct seat seats[8];
static uint32_t count;

static void set_view(const char *names)
{
	memset(seats, 0, sizeof(seats));
	for (count = 0; names[count] != '\0'; count++)
		seats[count].name[0] = names[count];
}

static const char *neighbours(char name)
{
	static char text[9];
	bool linked[8] = {0};
	uint32_t self = 0, size = 0;

	while (seats[self].name[0] != name)
		self++;
	wiring_of_seats(&named, seats, count, self, linked);
	for (uint32_t i = 0; i < count; i++) {
		if (linked[i])
			text[size++] = seats[i].name[0];
	}
	text[size] = '\0';
	return text;
}

/* Returns the members of the part that goes on. */
static const char *stays(const struct wiring *wiring)
{
	static char text[9];
	uint32_t parts[8], size = 0, best = wiring_parts(wiring, seats, count, parts);

	for (uint32_t i = 0; i < count; i++) {
		if (parts[i] == best)
			text[size++] = seats[i].name[0];
	}
	text[size] = '\0';
	return text;
}

static void test_named_links_hold_in_both_directions_and_for_members_only(void **context)
{
	(void)context;
	set_view("abcdef");
	assert_string_equal(neighbours('a'), "b");
	assert_string_equal(neighbours('c'), "bd");
	assert_string_equal(neighbours('d'), "cef");
	set_view("abdef");
	assert_string_equal(neighbours('b'), "a");
	assert_string_equal(neighbours('d'), "ef");
}

static void test_of_a_graph_in_parts_the_largest_stays(void **context)
{
	(void)context;
	set_view("abcdef");
	assert_string_equal(stays(&named), "abcdef");
	set_view("abdef");
	assert_string_equal(stays(&named), "def");
	set_view("abce");
	assert_string_equal(stays(&named), "abc");
}

static void test_of_two_parts_of_one_size_the_one_with_the_smallest_name_stays(void **context)
{
	(void)context;
	set_view("abde");
	assert_string_equal(stays(&named), "ab");
	set_view("bde");
	assert_string_equal(stays(&named), "de");
	set_view("bf");
	assert_string_equal(stays(&named), "b");
}

static void test_a_topology_has_one_part(void **context)
{
	struct wiring ring = {0};

	(void)context;
	assert_null(topology_parse("ring", &ring.topology));
	set_view("abdef");
	assert_string_equal(stays(&ring), "abdef");
	assert_string_equal(stays(&(struct wiring){.complete = true}), "abdef");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_named_links_hold_in_both_directions_and_for_members_only),
	        cmocka_unit_test(test_of_a_graph_in_parts_the_largest_stays),
	        cmocka_unit_test(
	                test_of_two_parts_of_one_size_the_one_with_the_smallest_name_stays),
	        cmocka_unit_test(test_a_topology_has_one_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
