#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "algorithm.h"

#include <string.h>

static uint8_t bytes[256];
static struct effect effects[8];

static struct out make_out(void)
{
	return (struct out){
	        .effects = effects, .effects_size = 8, .bytes = bytes, .bytes_size = sizeof(bytes)};
}

static struct in read_back(const struct out *out)
{
	struct message message = {.size = out->bytes_count - out->message,
	                          .body = out->bytes + out->message};
	return in_message(&message);
}

static void test_numbers_come_back(void **state)
{
	static const uint64_t numbers[] = {
	        0, 1, 127, 128, 16383, 16384, UINT32_MAX, UINT64_MAX - 1, UINT64_MAX};
	static const int64_t signed_numbers[] = {0, -1, 1, -64, 64, INT64_MIN, INT64_MAX};

	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		struct out out = make_out();
		out_message(&out, 3);
		out_uint(&out, numbers[i]);
		struct in in = read_back(&out);
		assert_int_equal(in_uint(&in), numbers[i]);
		assert_true(in_end(&in));
	}
	for (size_t i = 0; i < sizeof(signed_numbers) / sizeof(*signed_numbers); i++) {
		struct out out = make_out();
		out_message(&out, 3);
		out_int(&out, signed_numbers[i]);
		struct in in = read_back(&out);
		assert_int_equal(in_int(&in), signed_numbers[i]);
		assert_true(in_end(&in));
	}
}

static bool decodes(const char *body, uint32_t size)
{
	struct message message = {.size = size, .body = (const uint8_t *)body};
	struct in in = in_message(&message);
	in_uint(&in);
	return in_end(&in);
}

static void test_a_number_has_one_encoding(void **state)
{
	(void)state;
	assert_true(decodes("\0\x05", 2));
	assert_false(decodes("\0\x85\x00", 3)); /* an overlong number */
	assert_false(decodes("\0\x85", 2));     /* a number that is cut short */
	assert_false(decodes("\0", 1));         /* there is no number */
	assert_false(decodes("\0\x05\x05", 3)); /* there are bytes after the end */
	assert_true(decodes("\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11));
	assert_false(decodes("\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02",
	                     11)); /* numbers of 2^64 and more */
	assert_false(decodes("\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12));
}

static void test_numbers_that_repeat_are_found(void **state)
{
	struct out out = make_out();

	(void)state;
	out_message(&out, 1);
	for (uint64_t i = 0; i < 5; i++)
		out_uint(&out, 1000 * i);
	out_uint(&out, 3000);
	struct in in = read_back(&out);
	assert_true(in_distinct(&in, 5, 5000));
	assert_false(in_distinct(&in, 6, 5000));
	assert_true(in_distinct(&in, 0, 5000));
	assert_int_equal(in_uint(&in), 0);
}

static void test_a_message_can_be_sent_to_several(void **state)
{
	struct out out = make_out();

	(void)state;
	out_message(&out, 1);
	out_uint(&out, 300);
	out_send(&out, 2);
	out_send(&out, 3);
	out_message(&out, 2);
	out_send(&out, 4);
	assert_int_equal(out.effects_count, 3);
	assert_int_equal(out.effects[0].send.offset, out.effects[1].send.offset);
	assert_int_equal(out.effects[1].send.size, 3);
	assert_int_equal(out.effects[2].send.size, 1);
	assert_int_equal(out.bytes[out.effects[2].send.offset], 2);
}

static void test_a_writer_counts_beyond_its_buffer(void **state)
{
	char text[8];
	struct writer writer;

	(void)state;
	writer_init(&writer, text, sizeof(text));
	writer_open(&writer, '{');
	writer_key(&writer, "RN");
	writer_open(&writer, '[');
	writer_int(&writer, -1);
	writer_int(&writer, INT64_MIN);
	writer_close(&writer, ']');
	writer_key(&writer, "a\"b");
	writer_bool(&writer, true);
	writer_close(&writer, '}');
	assert_int_equal(writer.used, strlen("{\"RN\":[-1,-9223372036854775808],\"a\\\"b\":true}"));
	assert_memory_equal(text, "{\"RN\":[-", sizeof(text));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_numbers_come_back),
	        cmocka_unit_test(test_a_number_has_one_encoding),
	        cmocka_unit_test(test_numbers_that_repeat_are_found),
	        cmocka_unit_test(test_a_message_can_be_sent_to_several),
	        cmocka_unit_test(test_a_writer_counts_beyond_its_buffer),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
