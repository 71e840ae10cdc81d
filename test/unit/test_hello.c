/*
 * The handshake of a connection: who talks to whom, and how it is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "link.h"

#include <string.h>

static uint8_t room[LINK_HELLO_MAX];
static struct link_heard heard;

static enum link_hello_kind greet(const void *bytes, size_t size)
{
	memset(&heard, 0xa5, sizeof(heard));
	link_hello_read(bytes, size, &heard);
	return heard.kind;
}

static struct link_hello make_hello(size_t name_size, size_t peer_size)
{
	struct link_hello hello = {.cluster = UINT64_MAX,
	                           .setup = 0x0102030405060708,
	                           .process = 3,
	                           .peer_process = 4,
	                           .received = 5};
	memset(hello.name, 'n', name_size);
	memset(hello.peer, 'p', peer_size);
	return hello;
}

static void test_a_hello_is_read_as_it_was_written(void **state)
{
	static const size_t sizes[] = {1, 2, 254, 255};
	(void)state;

	for (size_t i = 0; i < 16; i++) {
		struct link_hello hello = make_hello(sizes[i % 4], sizes[i / 4]);
		size_t size = link_hello_write(&hello, room);
		for (size_t cut = 0; cut < size; cut++)
			assert_int_equal(greet(room, cut), HELLO_MORE);
		memset(room + size, 0xff, sizeof(room) - size);
		assert_int_equal(greet(room, sizeof(room)), HELLO_WHOLE);
		assert_int_equal(heard.size, size);
		assert_int_equal(heard.version, LINK_VERSION);
		assert_memory_equal(&heard.hello, &hello, sizeof(hello));
	}
}

/* Checks the exact bytes, because another version of baton must find each field where it was. */
static void test_the_bytes_of_a_hello(void **state)
{
	static const uint8_t bytes[] = {57,  0,   0,   0,   1,                     /* HELLO */
	                                'b', 'a', 't', 'o', 'n', 6,   0,   0,   0, /* version 6 */
	                                255, 255, 255, 255, 255, 255, 255, 255,    /* cluster */
	                                8,   7,   6,   5,   4,   3,   2,   1,      /* setup */
	                                3,   0,   0,   0,   0,   0,   0,   0,      /* process */
	                                4,   0,   0,   0,   0,   0,   0,   0,      /* the peer's */
	                                5,   0,   0,   0,   0,   0,   0,   0,      /* received */
	                                3,   'n', 'n', 'n', 2,   'p', 'p'};
	(void)state;

	struct link_hello hello = make_hello(3, 2);
	assert_int_equal(link_hello_write(&hello, room), sizeof(bytes));
	assert_memory_equal(room, bytes, sizeof(bytes));
}

static void test_a_refusal_says_why(void **state)
{
	char text[LINK_TEXT_MAX + 100];
	(void)state;

	size_t size = link_refusal_write("n2 is not welcome: \xc3\xa4h, no", room);
	for (size_t cut = 0; cut < size; cut++)
		assert_int_equal(greet(room, cut), HELLO_MORE);
	assert_int_equal(greet(room, size), HELLO_REFUSED);
	assert_int_equal(heard.size, size);
	assert_string_equal(heard.text, "n2 is not welcome: \xc3\xa4h, no");

	/* A refusal must be read whatever the version of the refusing side is. */
	room[10] = 77;
	assert_int_equal(greet(room, size), HELLO_REFUSED);

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	size = link_refusal_write(text, room);
	assert_int_equal(greet(room, size), HELLO_REFUSED);
	assert_int_equal(strlen(heard.text), LINK_TEXT_MAX);

	size = link_refusal_write("", room);
	assert_int_equal(greet(room, size), HELLO_REFUSED);
	assert_string_equal(heard.text, "");
}

static void test_a_refusal_cannot_drive_a_terminal(void **state)
{
	(void)state;
	size_t size = link_refusal_write("a\x1b[2Jb\nc\x7f \xc2\x9b \xc2\xa0", room);
	assert_int_equal(greet(room, size), HELLO_REFUSED);
	assert_string_equal(heard.text, "a?[2Jb?c? ?? \xc2\xa0");
}

static void test_another_version_is_recognised_by_its_first_bytes(void **state)
{
	(void)state;
	struct link_hello hello = make_hello(1, 1);
	link_hello_write(&hello, room);
	room[10] = LINK_VERSION + 1;
	room[3] = 200; /* the refusal is recognised whatever its length is */
	for (size_t cut = 0; cut < 14; cut++)
		assert_int_equal(greet(room, cut), HELLO_MORE);
	assert_int_equal(greet(room, 14), HELLO_VERSION);
	assert_int_equal(heard.version, LINK_VERSION + 1);
}

static void test_nonsense_is_recognised_early(void **state)
{
	(void)state;
	assert_int_equal(greet("GET / HTTP/1.1\r\n", 4), HELLO_MORE);
	assert_int_equal(greet("GET / HTTP/1.1\r\n", 5), HELLO_NONSENSE);
	assert_int_equal(greet("\x16\x03\x01\x02\x00\x01", 5), HELLO_NONSENSE);
	assert_int_equal(greet("\x39\0\0\0\x01"
	                       "bato",
	                       9),
	                 HELLO_MORE);
	assert_int_equal(greet("\x39\0\0\0\x01"
	                       "batm",
	                       9),
	                 HELLO_NONSENSE);
	assert_int_equal(greet("\x39\0\0\0\x03"
	                       "baton",
	                       10),
	                 HELLO_NONSENSE);
	/* The record has our version, but an impossible length. */
	assert_int_equal(greet("\x00\0\0\0\x01"
	                       "baton\x06\0\0\0",
	                       14),
	                 HELLO_NONSENSE);
	assert_int_equal(greet("\x00\x10\0\0\x01"
	                       "baton\x06\0\0\0",
	                       14),
	                 HELLO_NONSENSE);
	assert_int_equal(greet("\x00\x04\0\0\x02"
	                       "baton\x06\0\0\0",
	                       14),
	                 HELLO_NONSENSE);
}

static void test_a_hello_that_is_not_right_is_nonsense(void **state)
{
	struct link_hello hello = make_hello(3, 2);
	size_t size = link_hello_write(&hello, room);
	static const struct {
		size_t at;
		uint8_t byte;
	} cases[] = {
	        {0, 58},   /* bytes after the names */
	        {0, 56},   /* the last name is cut */
	        {0, 49},   /* no names */
	        {30, 0},   /* no process */
	        {54, 0},   /* an empty name */
	        {54, 255}, /* a name longer than the record */
	        {54, 6},   /* no second name */
	        {58, 0},   /* an empty second name */
	        {55, 0},   /* a name with a 0 in it */
	        {56, 27},  /* a name with a control character */
	        {59, 127},
	};
	(void)state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t bytes[LINK_HELLO_MAX];
		memcpy(bytes, room, sizeof(bytes));
		bytes[cases[i].at] = cases[i].byte;
		assert_int_equal(greet(bytes, size + 1), HELLO_NONSENSE);
	}
	assert_int_equal(greet(room, size), HELLO_WHOLE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_a_hello_is_read_as_it_was_written),
	        cmocka_unit_test(test_the_bytes_of_a_hello),
	        cmocka_unit_test(test_a_refusal_says_why),
	        cmocka_unit_test(test_a_refusal_cannot_drive_a_terminal),
	        cmocka_unit_test(test_another_version_is_recognised_by_its_first_bytes),
	        cmocka_unit_test(test_nonsense_is_recognised_early),
	        cmocka_unit_test(test_a_hello_that_is_not_right_is_nonsense),
	};
	return cmocka_run_group_tests_name("hello", tests, NULL, NULL);
}
