/* Text that grows, UTF-8, and the little JSON that scenarios need. */

#include "json_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Returns the compact form, or "no JSON". */
static const char *compact(const char *value)
{
	static char kept[512];
	struct text text = {0};
	const char *result = "no JSON";

	if (json_compact(value, &text)) {
		assert_true(text.used < sizeof(kept));
		memcpy(kept, text.bytes, text.used + 1);
		result = kept;
	}
	text_free(&text);
	return result;
}

static void test_a_value_has_one_form(void **state)
{
	(void)state;
	assert_string_equal(compact(" [ -1 ,0,\t2 ] "), "[-1,0,2]");
	assert_string_equal(compact("-0"), "0");
	assert_string_equal(compact("{\"a\" : {} , \"b\":[]}"), "{\"a\":{},\"b\":[]}");
	assert_string_equal(compact("\"\\u0041\\n\\u000b\\/\\u20ac\\ud83d\\ude00\""),
	                    "\"A\\n\\u000B/\xe2\x82\xac\xf0\x9f\x98\x80\"");
	assert_string_equal(compact("9223372036854775807"), "9223372036854775807");
	assert_string_equal(compact("-9223372036854775808"), "-9223372036854775808");
	assert_string_equal(compact("1.50e+3"), "1.50e+3");
	assert_string_equal(compact("null"), "null");
}

static void test_what_is_no_json_is_refused(void **state)
{
	static const char *const wrong[] = {
	        "",
	        "tru",
	        "01",
	        "1.",
	        "-",
	        "1e",
	        "+1",
	        "[1,]",
	        "[,1]",
	        "[1 2]",
	        "{a:1}",
	        "{\"a\"}",
	        "{\"a\":1,}",
	        "\"\\x\"",
	        "\"\\u12\"",
	        "\"\\ud800\"",
	        "\"\\ud800\\u0041\"",
	        "\"\\udc00\"",
	        "\"\\u0000\"",
	        "\"a",
	        "1 2",
	        "nulll",
	        "{\"a\":1,\"a\":2}",
	        "9223372036854775808",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_string_equal(compact(wrong[i]), "no JSON");
}

static void test_nesting_has_an_end(void **state)
{
	char deep[801] = "";

	(void)state;
	memset(deep, '[', 400);
	memset(deep + 400, ']', 400);
	assert_string_equal(compact(deep), "no JSON");
}

static void test_members_are_found(void **state)
{
	static const char object[] = "{\"a\":{\"x\":1,\"b\":2},\"b\":[\"}\",\"\\\"\"],\"c\":null}";
	struct json_member member;

	(void)state;
	assert_true(json_find_member(object, "b", &member));
	assert_int_equal(member.value_length, strlen("[\"}\",\"\\\"\"]"));
	assert_memory_equal(member.value, "[\"}\"", 4);
	assert_true(json_find_member(object, "c", &member));
	assert_memory_equal(member.value, "null", 4);
	assert_false(json_find_member(object, "x", &member));
	assert_false(json_find_member("{}", "x", &member));
}

static void test_utf8_is_strict(void **state)
{
	static const char *const wrong[] = {"\x80",         "\xc0\x80",         "\xc3",
	                                    "\xe0\x80\x80", "\xed\xa0\x80",     "\xf0\x80\x80\x80",
	                                    "\xff",         "\xf4\x90\x80\x80", "a\xe2\x82"};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_false(text_is_utf8(wrong[i], strlen(wrong[i])));
	assert_true(text_is_utf8("", 0));
	assert_true(text_is_utf8("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80z", 10));
}

static void test_text_grows(void **state)
{
	struct text text = {0};

	(void)state;
	for (int i = 0; i < 1000; i++)
		text_format(&text, "%d,", i % 10);
	text_format(&text, "%0200d", 7);
	assert_int_equal(text.used, 2200);
	assert_int_equal(strlen(text.bytes), 2200);
	text_clear(&text);
	assert_string_equal(text.bytes, "");
	char *taken = text_take(&text);
	assert_string_equal(taken, "");
	free(taken);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_a_value_has_one_form),
	        cmocka_unit_test(test_what_is_no_json_is_refused),
	        cmocka_unit_test(test_nesting_has_an_end),
	        cmocka_unit_test(test_members_are_found),
	        cmocka_unit_test(test_utf8_is_strict),
	        cmocka_unit_test(test_text_grows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
