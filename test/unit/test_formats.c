/*
 * The formats of what nodes send each other have a version. Nodes that would misread each other see
 * this from the version and refuse to talk. These tests compare the bytes of samples with those of
 * the present version.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "call.h"
#include "frame.h"
#include "inquiry.h"
#include "outbuffer.h"
#include "petition.h"
#include "state.h"

#include <string.h>

/* FNV-1a */
static uint64_t digest(uint64_t before, const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		before = (before ^ bytes[i]) * UINT64_C(0x100000001b3);
	return before;
}

static struct out out;
static uint64_t sum;

static void take(void)
{
	sum = digest(sum, out.bytes, out.bytes_count);
	out_clear(&out);
}

static int setup(void **context)
{
	(void)context;
	out_init(&out);
	sum = UINT64_C(0xcbf29ce484222325);
	return 0;
}

static int teardown(void **context)
{
	(void)context;
	out_free(&out);
	return 0;
}

/* If this fails, the format has changed: raise LINK_VERSION, then change the sum. */
static void expect(uint64_t right)
{
	assert_int_equal(LINK_VERSION, 6);
	assert_int_equal(FRAME_VERSION, 2);
	assert_int_equal(sum, right);
}

static void test_the_first_records_are_those_of_this_version(void **context)
{
	struct link_hello hello = {.cluster = 1,
	                           .setup = 2,
	                           .process = 3,
	                           .peer_process = 4,
	                           .received = 5,
	                           .name = "ant",
	                           .peer = "bee"};
	struct call call = {.charter = {.cluster = {6, 7}, .base = 8, .settings = "lease = 3s\n"},
	                    .process = 9,
	                    .server = 10,
	                    .witness = true,
	                    .name = "ant",
	                    .address = "host:1",
	                    .peer = "bee"};
	uint8_t room[LINK_HELLO_MAX];

	(void)context;
	sum = digest(sum, room, link_hello_write(&hello, room));
	sum = digest(sum, room, link_refusal_write("no", room));
	call_write(&out, &call);
	take();
	expect(UINT64_C(0xd2729c324f1176ff));
}

static void test_petitions_and_bulletins_are_those_of_this_version(void **context)
{
	static const uint64_t lacks[] = {300, 301}, unreported[] = {302};
	struct petition petition = {.kind = PETITION_RENEW,
	                            .process = 1,
	                            .epoch = 2,
	                            .limit = 3,
	                            .name = entry_text_of("ant"),
	                            .address = entry_text_of("host:1"),
	                            .incarnation = 4,
	                            .number = 5,
	                            .acknowledged = 6,
	                            .lease_ns = 7,
	                            .prospect = 8,
	                            .electors = 9,
	                            .server = 10,
	                            .witness = true,
	                            .version_least = 11,
	                            .version = 12,
	                            .active = true,
	                            .removed = true};
	struct seat seat = {.name = "bee", .address = "host:2", .process = 13, .incarnation = 14};
	struct agreed_state state = {.settings = {.lease_ns = 15},
	                             .index = 16,
	                             .epoch = 17,
	                             .base = 18,
	                             .limit = 19,
	                             .seats = &seat,
	                             .seats_count = 1};
	struct prospect prospect = {entry_text_of("crow"), entry_text_of("host:3"), 20};
	struct electors electors = {0};

	(void)context;
	petition_write(&out, &petition, lacks, 2, unreported, 1);
	take();
	petition.kind = PETITION_EXTEND;
	petition_write(&out, &petition, NULL, 0, NULL, 0);
	take();
	petition.kind = PETITION_BUMP;
	petition_write(&out, &petition, NULL, 0, NULL, 0);
	take();
	bulletin_write_ack(&out, 21, 22);
	take();
	bulletin_write_view(&out, &state, "bee", true, 23, &prospect, 1);
	take();
	electors_clear(&electors, 24);
	electors_add(&electors, 25, entry_text_of("dog"), entry_text_of("host:4"));
	bulletin_write_electors(&out, &electors);
	take();
	electors_free(&electors);
	expect(UINT64_C(0x373a36870e21050e));
}

static void write_orders(struct order_id id)
{
	struct log_entry order = {.name = entry_text_of("ant"), .order = id};

	order.kind = ENTRY_FORBID;
	entry_write_order(&out, &order);
	take();
	order.kind = ENTRY_ALLOW;
	order.known = true;
	entry_write_order(&out, &order);
	take();
	order.kind = ENTRY_VOTE;
	order.vote = VOTE_WANTED;
	entry_write_order(&out, &order);
	take();
}

static void test_entries_are_those_of_this_version(void **context)
{
	const struct entry_part ticks[] = {
	        {.kind = PART_RENEWAL, .name = entry_text_of("ant"), .incarnation = 1, .number = 2},
	        {.kind = PART_PARDON, .name = entry_text_of("bee")}};
	const struct entry_part changes[] = {
	        {.kind = PART_REMOVAL,
	         .name = entry_text_of("ant"),
	         .incarnation = 3,
	         .renewed = 4},
	        {.kind = PART_LEAVE, .name = entry_text_of("bee"), .incarnation = 5},
	        {.kind = PART_JOIN,
	         .name = entry_text_of("crow"),
	         .address = entry_text_of("host:1"),
	         .process = 6,
	         .number = 7}};

	(void)context;
	entry_write_tick(&out, ticks, 2);
	take();
	entry_write_change(&out, 8, changes, 3);
	take();
	entry_write_extend(&out, 9, 10);
	take();
	entry_write_bump(&out, 11);
	take();
	write_orders((struct order_id){0});
	entry_write_version(&out, 12);
	take();
	expect(UINT64_C(0x1218bd700bee63fb));
	entry_write_invite(&out, &(struct entry_digest){{1}}, 13, 14);
	take();
	entry_write_admit(&out, &(struct entry_digest){{1}}, &(struct entry_digest){{2}}, 15,
	                  entry_text_of("dog"));
	take();
	expect(UINT64_C(0x3d31e2b8e900da27));
	write_orders((struct order_id){16, 17});
	expect(UINT64_C(0xdc02f9da7c90f1d4));
}

static void test_answers_to_inquiries_are_those_of_this_version(void **context)
{
	const struct inquiry_answer answer = {.number = 1,
	                                      .leads = true,
	                                      .done = true,
	                                      .refusal = REFUSAL_ROOM,
	                                      .taken = true,
	                                      .forbidden = true,
	                                      .known = true,
	                                      .expiry = 2,
	                                      .user = "ant",
	                                      .ticket = {{3}}};

	(void)context;
	inquiry_answer_write(&out, &answer);
	take();
	expect(UINT64_C(0x06e8d4843743bb90));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(test_the_first_records_are_those_of_this_version,
	                                        setup, teardown),
	        cmocka_unit_test_setup_teardown(
	                test_petitions_and_bulletins_are_those_of_this_version, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_entries_are_those_of_this_version, setup,
	                                        teardown),
	        cmocka_unit_test_setup_teardown(test_answers_to_inquiries_are_those_of_this_version,
	                                        setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
