#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "resp.h"

#include <stdio.h>

static struct resp_command command;
static size_t needed;
static const char *wrong;

static enum resp_result read_bytes(const char *bytes, size_t size)
{
	/* A copy of exactly that size, so that a sanitizer notices any read beyond it. */
	static char *copy;

	free(copy);
	copy = malloc(size + (size == 0));
	assert_non_null(copy);
	memcpy(copy, bytes, size);
	needed = 0;
	wrong = NULL;
	return resp_read(copy, size, &command, &needed, &wrong);
}

static enum resp_result read_text(const char *text)
{
	return read_bytes(text, strlen(text));
}

static void assert_argument(uint32_t index, const char *bytes, size_t size)
{
	assert_int_equal(command.arguments[index].size, size);
	assert_memory_equal(command.arguments[index].bytes, bytes, size);
}

/* --- commands --- */

static void test_an_array_of_strings_is_a_command(void **state)
{
	static const char bytes[] = "*3\r\n$4\r\nLOCK\r\n$0\r\n\r\n$5\r\n\0\r\n*x\r\nrest";

	(void)state;
	assert_int_equal(read_bytes(bytes, sizeof(bytes) - 1), RESP_COMMAND);
	assert_int_equal(command.arguments_count, 3);
	assert_int_equal(command.size, sizeof(bytes) - 1 - 4);
	assert_argument(0, "LOCK", 4);
	assert_argument(1, "", 0);
	assert_argument(2, "\0\r\n*x", 5);
}

static void test_a_line_of_words_is_a_command(void **state)
{
	(void)state;
	assert_int_equal(read_text("  LOCK \t a\r\nPING\n"), RESP_COMMAND);
	assert_int_equal(command.arguments_count, 2);
	assert_int_equal(command.size, 12);
	assert_argument(0, "LOCK", 4);
	assert_argument(1, "a", 1);
	assert_int_equal(read_text("PING\n"), RESP_COMMAND);
	assert_argument(0, "PING", 4);
}

/* Each line is one word after PING. The results were checked with Redis 7.0. */
static void test_quotes_are_those_of_redis(void **state)
{
	static const struct {
		const char *line, *word;
		size_t size;
	} cases[] = {
	        {"PING \"a b\"\r\n", "a b", 3},
	        {"PING \"\"\r\n", "", 0},
	        {"PING ''\n", "", 0},
	        {"PING \"a\\x41\\n\\r\\t\\b\\a\\\"\\\\\\q\"\r\n", "aA\n\r\t\b\a\"\\q", 10},
	        {"PING \"\\x00\\xfF\"\r\n", "\0\xff", 2},
	        {"PING \"\\xZ0\\x4\\x0g\"\r\n", "xZ0x4x0g", 8},
	        {"PING \"\\x4\"\n", "x4", 2},
	        {"PING 'a\\'b\\n\\\\\"'\r\n", "a'b\\n\\\\\"", 8},
	        {"PING \"it's\"\n", "it's", 4},
	        {"PING a\"b c\"\r\n", "ab c", 4},
	        {"PING a'b c' \t\r\n", "ab c", 4},
	        {"PING a\\\"b\"\r\n", "a\\b", 3}, /* a backslash outside quotes is a backslash */
	        {"PING a\vb\f\n", "a\vb\f", 4},
	        {"PING \v\fa\n", "a", 1},
	        {"\"PING\" \"a\"\v\n", "a", 1},
	        {"PI'NG' a\\n\n", "a\\n", 3},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(read_text(cases[i].line), RESP_COMMAND);
		assert_int_equal(command.arguments_count, 2);
		assert_int_equal(command.size, strlen(cases[i].line));
		assert_argument(0, "PING", 4);
		assert_argument(1, cases[i].word, cases[i].size);
	}
}

static void test_quoted_words_keep_apart(void **state)
{
	(void)state;
	assert_int_equal(read_text("LOCK \"a b\" plain 'c d' x\"\\x65\" last\r\nPING\r\n"),
	                 RESP_COMMAND);
	assert_int_equal(command.arguments_count, 6);
	assert_argument(0, "LOCK", 4);
	assert_argument(1, "a b", 3);
	assert_argument(2, "plain", 5);
	assert_argument(3, "c d", 3);
	assert_argument(4, "xe", 2);
	assert_argument(5, "last", 4);
}

static void test_what_is_empty_is_passed_over(void **state)
{
	static const char *const texts[] = {"*0\r\n", "\r\n", "\n", " \t \r\n"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		assert_int_equal(read_text(texts[i]), RESP_COMMAND);
		assert_int_equal(command.arguments_count, 0);
		assert_int_equal(command.size, strlen(texts[i]));
	}
}

/* Every incomplete command asks for more bytes, but never for more than will come; otherwise the
 * reader would wait for ever. */
static void test_every_beginning_needs_more_but_not_too_much(void **state)
{
	static const char *const texts[] = {
	        "*2\r\n$4\r\nPING\r\n$2\r\nhi\r\n",
	        "*1\r\n$0\r\n\r\n",
	        "*0\r\n",
	        "PING hello\r\n",
	        "*3\r\n$1\r\n1\r\n$0\r\n\r\n$12\r\ntwelve bytes\r\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		size_t whole = strlen(texts[i]);
		for (size_t size = 0; size < whole; size++) {
			assert_int_equal(read_bytes(texts[i], size), RESP_MORE);
			assert_in_range(needed, size + 1, whole);
		}
		assert_int_equal(read_bytes(texts[i], whole), RESP_COMMAND);
	}
}

static void assert_wrong(const char *text, const char *reason)
{
	assert_int_equal(read_text(text), RESP_WRONG);
	if (strstr(wrong, reason) == NULL)
		fail_msg("'%s': '%s' does not say '%s'", text, wrong, reason);
}

static void test_what_is_not_the_protocol_is_said(void **state)
{
	static const char *const counts[] = {
	        "*-1\r\n", "*x",  "*\r\n",  "*1026\r\n", "*1\n",
	        "*1\rx",   "*+1", "*/\r\n", "*:\r\n",    "*18446744073709551617\r\n"};
	static const char *const sizes[] = {
	        "*1\r\n$-1\r\n",     "*1\r\n:1\r\n", "*1\r\nPING",
	        "*1\r\n$\r\n",       "*1\r\n$/\r\n", "*1\r\n$:\r\n",
	        "*1\r\n$524289\r\n", "*1\r\n$4\n",   "*1\r\n$18446744073709551617\r\n"};

	(void)state;
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		assert_wrong(counts[i], "an array of 0 to 1025 strings");
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		assert_wrong(sizes[i], "every argument is a bulk string");
	assert_wrong("*1\r\n$4\r\nPINGxx", "ends with CR LF");
	assert_wrong("*1\r\n$4\r\nPING\rx", "ends with CR LF");
	assert_wrong("*1\r\n$524288\r\n", "at most 524288 bytes");
}

static void test_quotes_that_do_not_match_are_said(void **state)
{
	static const char *const lines[] = {"PING \"\r\n",      "PING '\n",     "PING \"a\n",
	                                    "PING \"a\\\"\r\n", "PING \"a\\\n", "PING 'a\\'\n",
	                                    "PING \"a\"b\r\n",  "PING 'a'b\n",  "PING 'a'\"b\"\n",
	                                    "PING a\"\r\n",     "\"\n",         "PING \"a' b\n"};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		assert_wrong(lines[i], "unbalanced quotes in request");
}

static void test_a_line_is_text(void **state)
{
	static const char *const lines[] = {
	        "\x16\x03\x01\nLOCK x\n", "\x16",           "\x7f", "PING \x01\n",
	        "PING \x1b[A\r\n",        "PING \"\x1f\"\n"};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		assert_wrong(lines[i], "control characters");
	assert_int_equal(read_bytes("\0PING\n", 6), RESP_WRONG);
	assert_int_equal(read_text("PING \xc3\xa4\xff\n"), RESP_COMMAND);
	assert_true(command.is_line);
	/* The bytes of the next line do not matter yet. */
	assert_int_equal(read_text("PING\n\x16"), RESP_COMMAND);
	assert_int_equal(read_text("*1\r\n$1\r\n\x16\r\n"), RESP_COMMAND);
	assert_false(command.is_line);
}

static void test_the_longest_quoted_line(void **state)
{
	static char line[RESP_LINE_MAX];

	(void)state;
	memset(line, 'x', sizeof(line));
	line[0] = line[sizeof(line) - 2] = '"';
	line[sizeof(line) - 1] = '\n';
	assert_int_equal(read_bytes(line, sizeof(line)), RESP_COMMAND);
	assert_argument(0, line + 1, sizeof(line) - 3);
}

static void test_the_limits_of_a_line(void **state)
{
	static char line[RESP_LINE_MAX + 1];

	(void)state;
	memset(line, 'x', sizeof(line));
	assert_int_equal(read_bytes(line, RESP_LINE_MAX - 1), RESP_MORE);
	assert_int_equal(read_bytes(line, RESP_LINE_MAX), RESP_WRONG);
	assert_non_null(strstr(wrong, "16384 bytes"));
	line[RESP_LINE_MAX - 1] = '\n';
	assert_int_equal(read_bytes(line, sizeof(line)), RESP_COMMAND);
	assert_argument(0, line, RESP_LINE_MAX - 1);
	size_t size = 0;
	for (int i = 0; i < RESP_ARGUMENTS_MAX; i++) {
		line[size++] = 'x';
		line[size++] = ' ';
	}
	line[size] = '\n';
	assert_int_equal(read_bytes(line, size + 1), RESP_COMMAND);
	assert_int_equal(command.arguments_count, RESP_ARGUMENTS_MAX);
	line[size] = 'x';
	line[size + 1] = '\n';
	assert_int_equal(read_bytes(line, size + 2), RESP_WRONG);
	assert_non_null(strstr(wrong, "1025 words"));
}

static void test_the_most_arguments(void **state)
{
	struct buffer bytes = {0};

	(void)state;
	buffer_append(&bytes, "*1025\r\n", 7);
	for (int i = 0; i < RESP_ARGUMENTS_MAX; i++)
		buffer_append(&bytes, "$3\r\nabc\r\n", 9);
	assert_int_equal(read_bytes(buffer_front(&bytes), buffer_size(&bytes)), RESP_COMMAND);
	assert_int_equal(command.arguments_count, RESP_ARGUMENTS_MAX);
	assert_int_equal(command.size, buffer_size(&bytes));
	assert_argument(RESP_ARGUMENTS_MAX - 1, "abc", 3);
	buffer_free(&bytes);
}

static void test_the_largest_command(void **state)
{
	enum { HEAD = 13 }; /* *1 CR LF $524273 CR LF */
	static char bytes[RESP_COMMAND_MAX];

	(void)state;
	memset(bytes, 'x', sizeof(bytes));
	int head = snprintf(bytes, sizeof(bytes), "*1\r\n$%d\r\n", RESP_COMMAND_MAX - HEAD - 2);
	assert_int_equal(head, HEAD);
	bytes[head] = 'x';
	assert_int_equal(read_bytes(bytes, 100), RESP_MORE);
	assert_int_equal(needed, RESP_COMMAND_MAX);
	bytes[RESP_COMMAND_MAX - 2] = '\r';
	bytes[RESP_COMMAND_MAX - 1] = '\n';
	assert_int_equal(read_bytes(bytes, sizeof(bytes)), RESP_COMMAND);
	assert_int_equal(command.arguments[0].size, RESP_COMMAND_MAX - HEAD - 2);
	snprintf(bytes, sizeof(bytes), "*1\r\n$%d\r\n", RESP_COMMAND_MAX - HEAD - 1);
	assert_int_equal(read_bytes(bytes, 100), RESP_WRONG);
}

/* --- replies --- */

static void assert_written(struct buffer *buffer, const char *text)
{
	assert_int_equal(buffer_size(buffer), strlen(text));
	assert_memory_equal(buffer_front(buffer), text, strlen(text));
	buffer_free(buffer);
}

static void test_replies_as_redis_writes_them(void **state)
{
	struct buffer out = {0};

	(void)state;
	resp_simple(&out, "OK");
	assert_written(&out, "+OK\r\n");
	resp_error(&out, "ERR", "no such thing");
	assert_written(&out, "-ERR no such thing\r\n");
	resp_error(&out, "ERR", "");
	assert_written(&out, "-ERR \r\n");
	resp_integer(&out, 0);
	assert_written(&out, ":0\r\n");
	resp_integer(&out, UINT64_MAX);
	assert_written(&out, ":18446744073709551615\r\n");
	resp_negative(&out, 12);
	assert_written(&out, ":-12\r\n");
	resp_bulk(&out, "", 0);
	assert_written(&out, "$0\r\n\r\n");
	resp_text(&out, "a text of twenty byte");
	assert_written(&out, "$21\r\na text of twenty byte\r\n");
	resp_array(&out, 10);
	assert_written(&out, "*10\r\n");
}

static void test_numbers_of_every_length(void **state)
{
	struct buffer out = {0};
	char text[32];

	(void)state;
	for (uint64_t power = 1; power <= UINT64_MAX / 10; power *= 10) {
		const uint64_t numbers[] = {power - 1, power, power + power / 10 + 7, 9 * power};
		for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
			snprintf(text, sizeof(text), ":%llu\r\n", (unsigned long long)numbers[i]);
			resp_integer(&out, numbers[i]);
			assert_written(&out, text);
		}
	}
}

static void test_an_error_stays_one_line(void **state)
{
	struct buffer out = {0};

	(void)state;
	resp_error(&out, "ERR", "unknown command 'a\r\n+OK\r\n\x1b\x7f'");
	assert_written(&out, "-ERR unknown command 'a  +OK    '\r\n");
}

static void test_the_versions_differ(void **state)
{
	static const struct {
		int version;
		const char *text;
	} cases[] = {{2, "$-1\r\n*4\r\n*3\r\n"}, {3, "_\r\n%2\r\n>3\r\n"}};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct buffer out = {0};
		resp_nil(&out, cases[i].version);
		resp_map(&out, 2, cases[i].version);
		resp_push(&out, 3, cases[i].version);
		assert_written(&out, cases[i].text);
	}
}

static void test_bytes_of_a_bulk_string_are_not_looked_at(void **state)
{
	struct buffer out = {0};

	(void)state;
	resp_bulk(&out, "\0\r\n", 3);
	assert_int_equal(buffer_size(&out), 9);
	assert_memory_equal(buffer_front(&out), "$3\r\n\0\r\n\r\n", 9);
	buffer_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_an_array_of_strings_is_a_command),
	        cmocka_unit_test(test_a_line_of_words_is_a_command),
	        cmocka_unit_test(test_quotes_are_those_of_redis),
	        cmocka_unit_test(test_quoted_words_keep_apart),
	        cmocka_unit_test(test_what_is_empty_is_passed_over),
	        cmocka_unit_test(test_every_beginning_needs_more_but_not_too_much),
	        cmocka_unit_test(test_what_is_not_the_protocol_is_said),
	        cmocka_unit_test(test_quotes_that_do_not_match_are_said),
	        cmocka_unit_test(test_a_line_is_text),
	        cmocka_unit_test(test_the_longest_quoted_line),
	        cmocka_unit_test(test_the_limits_of_a_line),
	        cmocka_unit_test(test_the_most_arguments),
	        cmocka_unit_test(test_the_largest_command),
	        cmocka_unit_test(test_replies_as_redis_writes_them),
	        cmocka_unit_test(test_numbers_of_every_length),
	        cmocka_unit_test(test_an_error_stays_one_line),
	        cmocka_unit_test(test_the_versions_differ),
	        cmocka_unit_test(test_bytes_of_a_bulk_string_are_not_looked_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
