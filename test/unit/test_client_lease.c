/*
 * libbaton and the lease of a node that follows a script. Checks how long locks are held, and what
 * a program is told when the lease ends.
 */
#include "../lib/fake_node.h"

#include <baton/baton.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <setjmp.h>

#include <cmocka.h>

#define NIL "$-1\r\n"
#define X BULK(1, "x")
#define SUBSCRIBED "*3\r\n" BULK(9, "subscribe") X ":1\r\n"
/* The reply to LOCK: fence 7, five lapses, and what is left. */
#define GRANT(left) "*3\r\n:7\r\n:5\r\n:" left "\r\n"
#define LEASE(lapses, left) "*2\r\n:" lapses "\r\n:" left "\r\n"
#define LEASES_ON "*2\r\n:1\r\n:3000\r\n"
#define WITH_WORD                                                                                  \
	{                                                                                          \
		0, "CLIENT LEASES WORD", PASS_WORD                                                 \
	}

#define BEGIN_AT(tcp, ...)                                                                         \
	const struct step steps[] = {__VA_ARGS__};                                                 \
	struct fake_node *node = fake_node_start(steps, sizeof(steps) / sizeof(*steps), tcp);      \
	struct baton *baton = baton_open(fake_node_address(node));                                 \
	const char *text;                                                                          \
	assert_non_null(baton);                                                                    \
	(void)text
#define BEGIN(...) BEGIN_AT(false, __VA_ARGS__)

enum { LONG_MS = 20000 };

static void end(struct fake_node *node, struct baton *baton)
{
	baton_close(baton);
	fake_node_stop(node);
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Waits until the program is told of a loss. Returns false if it is not told in that time. */
static bool is_told(struct baton *baton, int64_t ms)
{
	struct pollfd item = {.fd = baton_watch(baton), .events = POLLIN};
	int64_t until_ms = now_ms() + ms;

	while (now_ms() < until_ms) {
		if (poll(&item, 1, (int)(until_ms - now_ms())) == 1 &&
		    baton_lost(baton, NULL, NULL) == 1)
			return true;
	}
	return false;
}

static int finish(struct baton *baton)
{
	struct pollfd item = {.fd = baton_fd(baton), .events = POLLIN};
	int error;

	do
		error = poll(&item, 1, -1) == 1 ? baton_finish(baton, NULL) : BATON_EPENDING;
	while (error == BATON_EPENDING);
	return error;
}

static void test_left_follows_the_word(void **state)
{
	(void)state;
	fake_word_set(3000, 5);
	BEGIN(WITH_WORD, {0, "LOCK x", GRANT("3000")}, {0, "UNLOCK x 7", ":1\r\n"});

	assert_int_equal(baton_left(baton), BATON_ENOTHELD);
	assert_int_equal(baton_lock(baton, "x", BATON_FOREVER, NULL), 0);
	assert_in_range(baton_left(baton), 1, 3000);
	fake_word_set(100000, 5);
	assert_in_range(baton_left(baton), 3001, 100000);
	fake_word_set(0, 5);
	assert_int_equal(baton_left(baton), 0);
	fake_word_set(100000, 5);
	assert_int_equal(baton_unlock(baton, "x"), 0);
	assert_int_equal(baton_sync(baton), 0);
	end(node, baton);
}

static void test_a_lapse_is_a_loss_for_good(void **state)
{
	(void)state;
	fake_word_set(100000, 5);
	BEGIN(WITH_WORD, {0, "LOCK x", GRANT("3000")});

	assert_int_equal(baton_lock(baton, "x", BATON_FOREVER, NULL), 0);
	fake_word_set(100000, 6);
	assert_int_equal(baton_left(baton), BATON_ELOST);
	assert_int_equal(baton_unlock(baton, "x"), BATON_ELOST);
	assert_int_equal(baton_lost_reason(baton, &text), BATON_LOST_LEASE);
	end(node, baton);
}

/* Nothing goes on in a session whose lease has ended. */
static void test_after_a_lapse_the_next_lock_has_a_new_session(void **state)
{
	(void)state;
	fake_word_set(100000, 5);
	BEGIN(WITH_WORD, {0, "LOCK x", GRANT("3000")}, {1, "CLIENT LEASES WORD", PASS_WORD},
	      {1, "LOCK x", "*3\r\n:8\r\n:6\r\n:3000\r\n"});

	assert_int_equal(baton_lock(baton, "x", BATON_FOREVER, NULL), 0);
	fake_word_set(100000, 6);
	assert_int_equal(baton_lost(baton, NULL, NULL), 1);
	assert_int_equal(baton_lock_start(baton, "x", BATON_FOREVER), 0);
	assert_int_equal(finish(baton), 0);
	assert_in_range(baton_left(baton), 1, 100000);
	end(node, baton);
}

static void test_a_grant_that_is_read_too_late_is_none(void **state)
{
	(void)state;
	fake_word_set(-1, 5);
	BEGIN(WITH_WORD, {0, "LOCK x", GRANT("3000")});

	assert_int_equal(baton_lock(baton, "x", BATON_FOREVER, NULL), BATON_ELOST);
	end(node, baton);
}

static void test_the_descriptor_wakes_when_the_lease_ends(void **state)
{
	(void)state;
	fake_word_set(200, 5);
	BEGIN({1, "SUBSCRIBE x", SUBSCRIBED}, WITH_WORD, {0, "LOCK x", GRANT("200")});

	assert_true(baton_watch(baton) >= 0);
	int64_t from_ms = now_ms();
	assert_int_equal(baton_lock(baton, "x", BATON_FOREVER, NULL), 0);
	assert_true(is_told(baton, LONG_MS));
	assert_in_range(now_ms() - from_ms, 150, 30000);
	assert_int_equal(baton_lost_reason(baton, &text), BATON_LOST_LEASE);
	assert_string_equal(text, "lease");
	end(node, baton);
}

static void test_a_renewed_lease_is_not_lost(void **state)
{
	(void)state;
	fake_word_set(300, 5);
	BEGIN({1, "SUBSCRIBE x", SUBSCRIBED}, WITH_WORD, {0, "LOCK x", GRANT("300")});

	assert_true(baton_watch(baton) >= 0);
	assert_int_equal(baton_lock(baton, "x", BATON_FOREVER, NULL), 0);
	fake_word_set(100000, 5);
	assert_false(is_told(baton, 700));
	assert_int_equal(baton_fence(baton, "x", NULL), 0);
	end(node, baton);
}

/* The grace is 600 ms, the margin a tenth of the lease, 300 ms. */
static void test_a_program_with_grace_is_told_early_enough(void **state)
{
	(void)state;
	fake_word_set(60000, 5);
	BEGIN({0, "CLIENT GRACE 600", "+OK\r\n"}, {1, "SUBSCRIBE x", SUBSCRIBED}, WITH_WORD,
	      {0, "LOCK x", GRANT("3000")});

	assert_true(baton_watch(baton) >= 0);
	assert_int_equal(baton_grace(baton, 600), 0);
	assert_int_equal(baton_lock(baton, "x", BATON_FOREVER, NULL), 0);
	fake_word_set(50000, 5);
	assert_int_equal(baton_lost(baton, NULL, NULL), 0);
	fake_word_set(899, 5);
	assert_in_range(baton_left(baton), 0, 899);
	assert_int_equal(baton_lost(baton, NULL, NULL), 1);
	assert_int_equal(baton_lost_reason(baton, &text), BATON_LOST_LEASE);
	end(node, baton);
}

/* The node closes sessions that have lapsed. The client may notice the closing before the lapse. */
static void test_the_end_of_a_session_that_lapsed_is_the_lease(void **state)
{
	(void)state;
	fake_word_set(100000, 5);
	BEGIN({1, "SUBSCRIBE x", SUBSCRIBED}, WITH_WORD, {0, "LOCK x", GRANT("3000")},
	      {0, NULL, PAUSE}, {0, NULL, CLOSE});

	assert_true(baton_watch(baton) >= 0);
	assert_int_equal(baton_lock(baton, "x", BATON_FOREVER, NULL), 0);
	fake_word_set(100000, 6);
	fake_node_go(node);
	assert_true(is_told(baton, LONG_MS));
	assert_int_equal(baton_lost_reason(baton, &text), BATON_LOST_LEASE);
	end(node, baton);
}

static void test_a_node_that_tells_nothing_has_no_lease(void **state)
{
	(void)state;
	BEGIN({0, "LOCK x", ":7\r\n"});

	assert_int_equal(baton_lock(baton, "x", BATON_FOREVER, NULL), 0);
	assert_true(baton_left(baton) == BATON_UNENDING);
	end(node, baton);
}

static void test_who_reads_another_clock_asks(void **state)
{
	(void)state;
	fake_word_set(100000, 5);
	BEGIN({0, "CLIENT LEASES WORD", PASS_WORD_BEHIND}, {0, "CLIENT LEASES ON", LEASES_ON},
	      {0, "LEASE", LEASE("5", "2000")}, {0, "LOCK x", GRANT("2000")});

	assert_int_equal(baton_lock_start(baton, "x", BATON_FOREVER), 0);
	assert_int_equal(finish(baton), 0);
	assert_in_range(baton_left(baton), 1, 1997);
	end(node, baton);
}

/* --- over TCP --- */

static void test_over_tcp_the_lease_is_asked_for(void **state)
{
	(void)state;
	BEGIN_AT(true, {0, "CLIENT LEASES ON", LEASES_ON}, {0, "LEASE", LEASE("5", "100000")},
	         {0, "LOCK x", GRANT("100000")});

	assert_int_equal(baton_lock(baton, "x", BATON_FOREVER, NULL), 0);
	/* Each of the two clocks may be off by a thousandth, and reading them takes 2 ms. */
	assert_in_range(baton_left(baton), 1, 99798);
	end(node, baton);
}

/* The first answers are valid for 300 ms only, so that each later answer is needed. */
static void test_over_tcp_it_is_asked_for_again(void **state)
{
	(void)state;
	BEGIN_AT(true, {1, "SUBSCRIBE x", SUBSCRIBED}, {0, "CLIENT LEASES ON", LEASES_ON},
	         {0, "LEASE", LEASE("5", "300")}, {0, "LOCK x", GRANT("300")},
	         {0, "LEASE", LEASE("5", "100000")}, {0, "LEASE", LEASE("6", "100000")});

	assert_true(baton_watch(baton) >= 0);
	assert_int_equal(baton_lock(baton, "x", BATON_FOREVER, NULL), 0);
	assert_false(is_told(baton, 300));
	assert_in_range(baton_left(baton), 1000, 100000);
	assert_true(is_told(baton, LONG_MS));
	assert_int_equal(baton_lost_reason(baton, &text), BATON_LOST_LEASE);
	end(node, baton);
}

static void test_over_tcp_silence_is_a_loss(void **state)
{
	(void)state;
	BEGIN_AT(true, {1, "SUBSCRIBE x", SUBSCRIBED}, {0, "CLIENT LEASES ON", LEASES_ON},
	         {0, "LEASE", LEASE("5", "300")}, {0, "LOCK x", GRANT("300")}, {0, "LEASE", NULL});

	assert_true(baton_watch(baton) >= 0);
	assert_int_equal(baton_lock(baton, "x", BATON_FOREVER, NULL), 0);
	assert_true(is_told(baton, LONG_MS));
	assert_int_equal(baton_lost_reason(baton, &text), BATON_LOST_LEASE);
	end(node, baton);
}

/* The rest of the lease in the grant counts from when the lock was asked for, which is long ago. */
static void test_over_tcp_a_lock_that_was_waited_for_is_asked_about(void **state)
{
	(void)state;
	BEGIN_AT(true, {0, "CLIENT LEASES ON", LEASES_ON}, {0, "LEASE", LEASE("5", "3000")},
	         {0, "LOCK x", NULL}, {0, NULL, PAUSE}, {0, NULL, GRANT("3000")},
	         {0, "LEASE", LEASE("5", "100000")});
	const struct timespec while_it_waits = {.tv_nsec = 600000000};

	assert_int_equal(baton_lock_start(baton, "x", BATON_FOREVER), 0);
	nanosleep(&while_it_waits, NULL);
	fake_node_go(node);
	assert_int_equal(finish(baton), 0);
	assert_in_range(baton_left(baton), 3000, 100000);
	end(node, baton);
}

/* Answers to LEASE and to UNLOCK come in order. */
static void test_over_tcp_answers_do_not_mix(void **state)
{
	(void)state;
	BEGIN_AT(true, {1, "SUBSCRIBE x", SUBSCRIBED}, {0, "CLIENT LEASES ON", LEASES_ON},
	         {0, "LEASE", LEASE("5", "300")}, {0, "LOCK x", GRANT("3000")}, {0, "LEASE", NULL},
	         {0, "UNLOCK x 7", LEASE("5", "100000") ":1\r\n"});
	struct pollfd item = {.fd = baton_watch(baton), .events = POLLIN};

	assert_int_equal(baton_lock(baton, "x", BATON_FOREVER, NULL), 0);
	const struct timespec tick = {.tv_nsec = 600000000};
	nanosleep(&tick, NULL);
	assert_int_equal(poll(&item, 1, 0), 1);
	assert_int_equal(baton_lost(baton, NULL, NULL), 0);
	assert_int_equal(baton_unlock(baton, "x"), 0);
	assert_int_equal(baton_sync(baton), 0);
	end(node, baton);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_left_follows_the_word),
	        cmocka_unit_test(test_a_lapse_is_a_loss_for_good),
	        cmocka_unit_test(test_after_a_lapse_the_next_lock_has_a_new_session),
	        cmocka_unit_test(test_a_grant_that_is_read_too_late_is_none),
	        cmocka_unit_test(test_the_descriptor_wakes_when_the_lease_ends),
	        cmocka_unit_test(test_a_renewed_lease_is_not_lost),
	        cmocka_unit_test(test_a_program_with_grace_is_told_early_enough),
	        cmocka_unit_test(test_the_end_of_a_session_that_lapsed_is_the_lease),
	        cmocka_unit_test(test_a_node_that_tells_nothing_has_no_lease),
	        cmocka_unit_test(test_who_reads_another_clock_asks),
	        cmocka_unit_test(test_over_tcp_the_lease_is_asked_for),
	        cmocka_unit_test(test_over_tcp_it_is_asked_for_again),
	        cmocka_unit_test(test_over_tcp_silence_is_a_loss),
	        cmocka_unit_test(test_over_tcp_a_lock_that_was_waited_for_is_asked_about),
	        cmocka_unit_test(test_over_tcp_answers_do_not_mix),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
