/*
 * Links: every frame comes out at the other end once and in order, however often the connection
 * breaks; and the bytes that are sent for this.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "baton/error.h"
#include "link.h"
#include "record.h"

#include <stdio.h>
#include <stdlib.h>

enum { KEPT_MAX = 1 << 16 };

static struct link *a, *b;

static int setup(void **state)
{
	(void)state;
	a = link_create(KEPT_MAX);
	b = link_create(KEPT_MAX);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	link_destroy(a);
	link_destroy(b);
	return 0;
}

static void connect_both(void)
{
	uint64_t a_received = link_received(a), b_received = link_received(b);
	link_detach(a);
	link_detach(b);
	assert_int_equal(link_attach(a, b_received), 0);
	assert_int_equal(link_attach(b, a_received), 0);
}

static void send_text(struct link *link, uint64_t epoch, const char *text)
{
	assert_int_equal(link_send(link, epoch, (const uint8_t *)text, strlen(text)), 0);
}

/* Returns the next record as text: "frame x", "broken x", "nothing". */
static const char *next_text(struct link *link)
{
	static char text[1024];
	static const char *const kinds[] = {"nothing", "frame", "broken"};
	const uint8_t *bytes = NULL;
	size_t size = 0;
	enum link_record kind = link_next(link, &bytes, &size);

	snprintf(text, sizeof(text), "%s%s%.*s", kinds[kind], kind == LINK_NOTHING ? "" : " ",
	         (int)size, bytes == NULL ? "" : (const char *)bytes);
	return text;
}

static void expect_frame(struct link *link, const char *text)
{
	assert_string_equal(next_text(link), text);
	link_take(link);
}

/* Passes the output of `from`, at most `most` bytes, to `to`, which must read it. */
static size_t pass(struct link *from, struct link *to, size_t most)
{
	static uint8_t wire[1 << 22];
	const uint8_t *bytes;
	size_t size = link_output(from, &bytes);

	size = size < most ? size : most;
	assert_true(size <= sizeof(wire));
	if (size > 0)
		memcpy(wire, bytes, size);
	link_written(from, size);
	link_input(to, wire, size);
	return size;
}

/* Returns the types of the records in the output, each with its number: A (ACK) or F (frame). */
static const char *output_kinds(struct link *link)
{
	static char kinds[256];
	const uint8_t *bytes;
	size_t size = link_output(link, &bytes);
	char *end = kinds;

	*end = '\0';
	for (size_t at = 0; at < size; at += record_size(bytes + at)) {
		const uint8_t *record = bytes + at;
		if (at > 0)
			*end++ = ' ';
		assert_true(record_type(record) == RECORD_FRAME ||
		            record_type(record) == RECORD_ACK);
		end += sprintf(end, "%c%d", record_type(record) == RECORD_FRAME ? 'F' : 'A',
		               (int)record_number(record));
	}
	return kinds;
}

/* --- what goes on the wire --- */

static void test_a_batch_is_one_piece(void **state)
{
	(void)state;
	connect_both();
	send_text(a, 1, "one");
	send_text(a, 1, "two");
	send_text(a, 1, "three");
	assert_string_equal(output_kinds(a), "F1 F2 F3");
	pass(a, b, SIZE_MAX);
	expect_frame(b, "frame one");
	expect_frame(b, "frame two");
	expect_frame(b, "frame three");
	assert_string_equal(next_text(b), "nothing");
}

static void test_an_acknowledgement_goes_in_front_of_a_batch(void **state)
{
	(void)state;
	connect_both();
	send_text(a, 1, "question");
	pass(a, b, SIZE_MAX);
	assert_string_equal(next_text(b), "frame question");
	/* b sends its answer before it has acknowledged the question. */
	send_text(b, 1, "answer");
	link_take(b);
	assert_string_equal(output_kinds(b), "A1 F1");
	assert_true(link_pending(a) > 0);
	pass(b, a, SIZE_MAX);
	expect_frame(a, "frame answer");
	assert_int_equal(link_pending(a), 0);
	assert_string_equal(next_text(a), "nothing");

	/* Now there is nothing new to acknowledge. */
	send_text(b, 1, "more");
	assert_string_equal(output_kinds(b), "F2");
	/* Nothing of the batch was written, and now there is something new to acknowledge. */
	link_written(b, 0);
	send_text(a, 1, "x");
	pass(a, b, SIZE_MAX);
	expect_frame(b, "frame x");
	assert_string_equal(output_kinds(b), "A2 F2");
}

static void test_what_was_skipped_is_not_written(void **state)
{
	(void)state;
	connect_both();
	send_text(a, 1, "one");
	pass(a, b, 5);
	assert_string_equal(next_text(b), "nothing");
	send_text(a, 1, "two");
	pass(a, b, SIZE_MAX);
	expect_frame(b, "frame one");
	expect_frame(b, "frame two");
	assert_string_equal(next_text(b), "nothing");
	link_ack(b);
	pass(b, a, SIZE_MAX);
	assert_string_equal(next_text(a), "nothing");
	assert_int_equal(link_pending(a), 0);
	assert_int_equal(link_pending(b), 0);
}

static void test_much_that_came_wants_an_acknowledgement(void **state)
{
	static uint8_t large[1 << 15];
	(void)state;
	connect_both();
	for (int i = 1; i <= 256; i++) {
		assert_false(link_wants_ack(b));
		send_text(a, 1, "x");
		pass(a, b, SIZE_MAX);
		expect_frame(b, "frame x");
	}
	assert_true(link_wants_ack(b));
	link_ack(b);
	assert_false(link_wants_ack(b));
	assert_string_equal(output_kinds(b), "A256");
	link_ack(b);
	assert_string_equal(output_kinds(b), "A256");
	pass(b, a, SIZE_MAX);
	assert_string_equal(next_text(a), "nothing");
	assert_int_equal(link_pending(a), 0);

	/* An ACK is also due after 64 KiB of records. */
	const uint8_t *bytes;
	size_t size;
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(link_send(a, 1, large, sizeof(large) - 26 * i), 0);
		pass(a, b, SIZE_MAX);
		assert_int_equal(link_next(b, &bytes, &size), LINK_FRAME);
		assert_false(link_wants_ack(b));
		link_take(b);
		assert_string_equal(next_text(b), "nothing");
	}
	assert_true(link_wants_ack(b));
}

static void test_whole_records_are_not_copied(void **state)
{
	uint8_t wire[64];
	const uint8_t *bytes;
	size_t size;
	(void)state;

	connect_both();
	send_text(a, 1, "one");
	send_text(a, 1, "two");
	size_t all = link_output(a, &bytes);
	assert_true(all <= sizeof(wire));
	memcpy(wire, bytes, all);
	link_input(b, wire, all);
	assert_int_equal(link_next(b, &bytes, &size), LINK_FRAME);
	assert_true(bytes == wire + RECORD_NUMBERED_SIZE);
	link_take(b);
	assert_int_equal(link_next(b, &bytes, &size), LINK_FRAME);
	assert_true(bytes == wire + all - 3);
}

/* --- frames that are not taken, bounds --- */

static void test_a_frame_that_is_not_taken_is_given_again(void **state)
{
	uint8_t *wire = malloc(256);
	const uint8_t *bytes;
	(void)state;

	connect_both();
	send_text(a, 1, "one");
	send_text(a, 1, "two");
	size_t size = link_output(a, &bytes);
	memcpy(wire, bytes, size);
	link_written(a, size);
	link_input(b, wire, size - 1);
	assert_string_equal(next_text(b), "frame one");
	assert_string_equal(next_text(b), "frame one");
	link_keep(b);
	uint8_t last = wire[size - 1];
	memset(wire, 0xff, 256);
	free(wire);
	assert_string_equal(next_text(b), "frame one");
	assert_int_equal(link_received(b), 0);
	expect_frame(b, "frame one");
	assert_int_equal(link_received(b), 1);
	assert_string_equal(next_text(b), "nothing");
	link_input(b, &last, 1);
	expect_frame(b, "frame two");
	assert_string_equal(next_text(b), "nothing");
}

static void test_what_was_not_taken_comes_again_on_the_next_connection(void **state)
{
	(void)state;
	connect_both();
	send_text(a, 1, "one");
	send_text(a, 1, "two");
	pass(a, b, SIZE_MAX);
	expect_frame(b, "frame one");
	assert_string_equal(next_text(b), "frame two");
	connect_both();
	assert_string_equal(output_kinds(a), "F2");
	pass(a, b, SIZE_MAX);
	expect_frame(b, "frame two");
}

static void test_a_link_that_is_not_read_keeps_so_much_and_no_more(void **state)
{
	uint8_t frame[1000] = {0};
	size_t taken = 0;
	(void)state;

	while (taken < 1000 && link_send(a, 1, frame, sizeof(frame)) == 0)
		taken++;
	assert_int_equal(taken, KEPT_MAX / (1000 + 13));
	assert_true(link_pending(a) <= KEPT_MAX);
	/* The frames after a lost one must not arrive without it. */
	assert_int_equal(link_send(a, 1, frame, 1), BATON_ELINK);
	connect_both();
	pass(a, b, SIZE_MAX);
	const uint8_t *bytes;
	size_t size, seen = 0;
	while (link_next(b, &bytes, &size) == LINK_FRAME) {
		link_take(b);
		seen++;
	}
	assert_int_equal(seen, taken);
	link_ack(b);
	pass(b, a, SIZE_MAX);
	assert_string_equal(next_text(a), "nothing");
	assert_int_equal(link_pending(a), 0);
	assert_int_equal(link_send(a, 1, frame, 1), BATON_ELINK);
	assert_int_equal(link_send(a, 2, frame, sizeof(frame)), 0);
	assert_int_equal(link_received(b), taken);
}

static size_t frames_until_full(struct link *link, uint64_t epoch)
{
	uint8_t frame[1000] = {0};
	size_t taken = 0;

	link_forget(link, epoch);
	while (taken < 10000 && link_send(link, epoch, frame, sizeof(frame)) == 0)
		taken++;
	return taken;
}

/* If the limit stayed the same and the first frames of an epoch needed more, the node would end one
 * epoch after another for ever. */
static void test_an_epoch_that_ends_for_lack_of_room_leaves_twice_the_room(void **state)
{
	(void)state;

	for (uint64_t epoch = 1; epoch <= 6; epoch++) {
		size_t doubled = (size_t)1 << (epoch <= 4 ? epoch - 1 : 3);
		assert_int_equal(frames_until_full(a, epoch), doubled * KEPT_MAX / (1000 + 13));
	}
}

static void test_the_largest_frame_passes(void **state)
{
	uint8_t *large = malloc(LINK_FRAME_MAX);
	const uint8_t *bytes;
	size_t size;
	(void)state;

	memset(large, 'x', LINK_FRAME_MAX);
	struct link *wide = link_create(SIZE_MAX);
	assert_int_equal(link_attach(wide, 0), 0);
	assert_int_equal(link_attach(b, 0), 0);
	assert_int_equal(link_send(wide, 1, large, LINK_FRAME_MAX), 0);
	pass(wide, b, SIZE_MAX);
	assert_int_equal(link_next(b, &bytes, &size), LINK_FRAME);
	assert_int_equal(size, LINK_FRAME_MAX);
	assert_memory_equal(bytes, large, size);
	link_destroy(wide);
	free(large);
}

/* --- connections --- */

static void test_only_what_did_not_come_is_sent_again(void **state)
{
	(void)state;
	connect_both();
	send_text(a, 1, "one");
	send_text(a, 1, "two");
	send_text(a, 1, "three");
	pass(a, b, (size_t)2 * (13 + 3) + 4);
	expect_frame(b, "frame one");
	expect_frame(b, "frame two");
	assert_string_equal(next_text(b), "nothing");
	connect_both();
	assert_string_equal(output_kinds(a), "F3");
	pass(a, b, SIZE_MAX);
	expect_frame(b, "frame three");
}

/* A HELLO may have been written before the last frames were taken from the old connection. */
static void test_what_comes_twice_is_dropped(void **state)
{
	(void)state;
	connect_both();
	send_text(a, 1, "one");
	send_text(a, 1, "two");
	pass(a, b, SIZE_MAX);
	expect_frame(b, "frame one");
	expect_frame(b, "frame two");
	link_detach(a);
	link_detach(b);
	assert_int_equal(link_attach(a, 0), 0);
	assert_int_equal(link_attach(b, 0), 0);
	send_text(a, 1, "three");
	assert_string_equal(output_kinds(a), "F1 F2 F3");
	pass(a, b, (size_t)2 * (13 + 3));
	assert_string_equal(next_text(b), "nothing");
	assert_string_equal(output_kinds(b), "A2");
	/* The acknowledgement arrives before everything was written for the second time. */
	pass(b, a, SIZE_MAX);
	assert_string_equal(next_text(a), "nothing");
	pass(a, b, SIZE_MAX);
	expect_frame(b, "frame three");
	/* A HELLO that is older than what was acknowledged does no harm. */
	link_detach(a);
	assert_int_equal(link_attach(a, 1), 0);
	assert_string_equal(output_kinds(a), "F3");
}

static void test_a_number_that_was_never_sent_is_refused(void **state)
{
	(void)state;
	send_text(a, 1, "one");
	assert_int_equal(link_attach(a, 2), BATON_EMESSAGE);
	assert_false(link_attached(a));
	assert_int_equal(link_attach(a, 1), 0);
	assert_int_equal(link_pending(a), 0);
	assert_string_equal(output_kinds(a), "");
}

static void add_text(void *context, const uint8_t *bytes, size_t size)
{
	strncat(context, (const char *)bytes, size);
}

static void test_frames_on_their_way_are_shown(void **state)
{
	char text[16] = "";

	(void)state;
	connect_both();
	for (const char *frame = "abc"; *frame != '\0'; frame++)
		send_text(a, 1, (char[]){*frame, '\0'});
	link_each_kept(a, 0, add_text, text);
	assert_string_equal(text, "abc");
	pass(a, b, SIZE_MAX);
	expect_frame(b, "frame a");
	text[0] = '\0';
	link_each_kept(a, link_received(b), add_text, text);
	assert_string_equal(text, "bc");
}

static void test_frames_of_old_epochs_are_forgotten(void **state)
{
	(void)state;
	send_text(a, 1, "one");
	send_text(a, 1, "two");
	send_text(a, 2, "three");
	link_forget(a, 2);
	connect_both();
	assert_string_equal(output_kinds(a), "F3");
	pass(a, b, SIZE_MAX);
	expect_frame(b, "frame three");
	assert_int_equal(link_received(b), 3);
	link_forget(a, 7);
	assert_int_equal(link_pending(a), 0);
	link_forget(a, 7);
	send_text(a, 7, "four");
	assert_string_equal(output_kinds(a), "F4");
}

static void test_what_is_half_written_is_not_forgotten(void **state)
{
	(void)state;
	connect_both();
	send_text(a, 1, "one");
	send_text(a, 1, "two");
	send_text(a, 1, "three");
	send_text(a, 2, "four");
	pass(a, b, 16 + 1); /* frame two is half written */
	expect_frame(b, "frame one");
	assert_string_equal(next_text(b), "nothing");
	link_forget(a, 2);
	pass(a, b, SIZE_MAX);
	expect_frame(b, "frame two");
	expect_frame(b, "frame four");
	assert_string_equal(next_text(b), "nothing");
	link_ack(b);
	pass(b, a, SIZE_MAX);
	assert_string_equal(next_text(a), "nothing");
	assert_int_equal(link_pending(a), 0);

	/* On the next connection frame two is no longer half written. */
	send_text(a, 2, "five");
	pass(a, b, 3);
	assert_string_equal(next_text(b), "nothing");
	link_forget(a, 3);
	connect_both();
	assert_string_equal(output_kinds(a), "");
}

static void test_an_empty_batch_leaves_no_room_behind(void **state)
{
	(void)state;
	connect_both();
	send_text(a, 1, "one");
	link_forget(a, 2);
	assert_int_equal(link_pending(a), 0);
	assert_string_equal(output_kinds(a), "");
	send_text(a, 2, "two");
	assert_string_equal(output_kinds(a), "F2");
}

/* --- a peer that does not keep to the protocol --- */

static void test_what_is_wrong_is_said(void **state)
{
	static const struct {
		size_t size;
		uint8_t bytes[32];
		const char *text;
	} cases[] = {
	        {4, {0}, "broken a record of 0 bytes: 1 to 1048585 may follow the length"},
	        {4,
	         {0, 0, 0, 255},
	         "broken a record of 4278190080 bytes: 1 to 1048585 may follow the length"},
	        {5, {1, 0, 0, 0, 0}, "broken a record of type 0 in the middle of a link"},
	        {5, {1, 0, 0, 0, 1}, "broken a record of type 1 in the middle of a link"},
	        {5, {1, 0, 0, 0, 6}, "broken a record of type 6 in the middle of a link"},
	        {5, {1, 0, 0, 0, 2}, "broken a record of type 2 in the middle of a link"},
	        {5, {1, 0, 0, 0, 5}, "broken a record of type 5 in the middle of a link"},
	        {12, {8, 0, 0, 0, 4}, "broken a malformed record of type 4 and 12 bytes"},
	        {14, {10, 0, 0, 0, 4}, "broken a malformed record of type 4 and 14 bytes"},
	        {13,
	         {9, 0, 0, 0, 4, 2},
	         "broken an acknowledgement of frame 2: the last one sent is 1"},
	        {13, {9, 0, 0, 0, 3, 1}, "broken a malformed record of type 3 and 13 bytes"},
	        {14, {10, 0, 0, 0, 3, 0}, "broken a malformed record of type 3 and 14 bytes"},
	};
	(void)state;

	send_text(a, 1, "x");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (size_t cut = 1; cut <= cases[i].size; cut++) {
			assert_int_equal(link_attach(a, 0), 0);
			link_input(a, cases[i].bytes, cut);
			if (cut < cases[i].size) {
				assert_string_equal(next_text(a), "nothing");
				link_input(a, cases[i].bytes + cut, cases[i].size - cut);
			}
			assert_string_equal(next_text(a), cases[i].text);
			assert_string_equal(next_text(a), cases[i].text);
			link_detach(a);
		}
	}
	assert_int_equal(link_attach(a, 0), 0);
	assert_string_equal(next_text(a), "nothing");
	assert_string_equal(output_kinds(a), "F1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(test_a_batch_is_one_piece, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_an_acknowledgement_goes_in_front_of_a_batch,
	                                        setup, teardown),
	        cmocka_unit_test_setup_teardown(test_what_was_skipped_is_not_written, setup,
	                                        teardown),
	        cmocka_unit_test_setup_teardown(test_much_that_came_wants_an_acknowledgement, setup,
	                                        teardown),
	        cmocka_unit_test_setup_teardown(test_whole_records_are_not_copied, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_a_frame_that_is_not_taken_is_given_again,
	                                        setup, teardown),
	        cmocka_unit_test_setup_teardown(
	                test_what_was_not_taken_comes_again_on_the_next_connection, setup,
	                teardown),
	        cmocka_unit_test_setup_teardown(
	                test_a_link_that_is_not_read_keeps_so_much_and_no_more, setup, teardown),
	        cmocka_unit_test_setup_teardown(
	                test_an_epoch_that_ends_for_lack_of_room_leaves_twice_the_room, setup,
	                teardown),
	        cmocka_unit_test_setup_teardown(test_the_largest_frame_passes, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_only_what_did_not_come_is_sent_again, setup,
	                                        teardown),
	        cmocka_unit_test_setup_teardown(test_what_comes_twice_is_dropped, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_a_number_that_was_never_sent_is_refused, setup,
	                                        teardown),
	        cmocka_unit_test_setup_teardown(test_frames_on_their_way_are_shown, setup,
	                                        teardown),
	        cmocka_unit_test_setup_teardown(test_frames_of_old_epochs_are_forgotten, setup,
	                                        teardown),
	        cmocka_unit_test_setup_teardown(test_what_is_half_written_is_not_forgotten, setup,
	                                        teardown),
	        cmocka_unit_test_setup_teardown(test_an_empty_batch_leaves_no_room_behind, setup,
	                                        teardown),
	        cmocka_unit_test_setup_teardown(test_what_is_wrong_is_said, setup, teardown),
	};
	return cmocka_run_group_tests_name("link", tests, NULL, NULL);
}
