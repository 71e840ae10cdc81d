/*
 * The lease clock, read while the process is stopped or the machine suspended between the two
 * clocks of which it consists; and the sub-leases of clients on other hosts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "clock.h"
#include "lease_clock.h"
#include "sublease.h"

#define MS UINT64_C(1000000)
#define SECOND (1000 * MS)

/* A machine: its true time, how long it was suspended, and after how many readings it stops. */
static uint64_t now, suspended, readings, stop_after;
static uint64_t stopped_for, suspended_for;

static uint64_t read_part(void *context, enum lease_clock_part part)
{
	(void)context;
	uint64_t awake = now - suspended;
	uint64_t value = part == LEASE_CLOCK_RAW         ? awake
	                 : part == LEASE_CLOCK_MONOTONIC ? awake + awake / 20
	                                                 : awake + awake / 20 + suspended;
	if (++readings == stop_after) {
		now += stopped_for + suspended_for;
		suspended += suspended_for;
	}
	now += 100;
	return value;
}

static uint64_t read_with(uint64_t after, uint64_t stop, uint64_t suspend)
{
	now = 1000 * SECOND;
	suspended = 50 * SECOND;
	readings = 0;
	stop_after = after;
	stopped_for = stop;
	suspended_for = suspend;
	return lease_clock_read(read_part, NULL);
}

static void test_counts_suspended_time_and_is_not_slewed(void **context)
{
	(void)context;
	assert_in_range(read_with(0, 0, 0), 1000 * SECOND, 1000 * SECOND + MS);
	assert_int_equal(readings, 4);
}

static void test_a_stop_between_two_readings_is_noticed(void **context)
{
	(void)context;
	for (uint64_t after = 1; after <= 3; after++) {
		uint64_t clock = read_with(after, 5 * SECOND, 0);
		assert_in_range(clock, now - MS, now + MS);
		assert_int_equal(readings, 8);
	}
}

static void test_a_suspend_between_two_readings_is_noticed(void **context)
{
	(void)context;
	for (uint64_t after = 1; after <= 3; after++) {
		uint64_t clock = read_with(after, 0, 5 * SECOND);
		assert_in_range(clock, now - MS, now + MS);
		assert_int_equal(readings, 8);
	}
}

/* A stop of half a millisecond is normal on a busy machine. The clocks are not read again after
 * it. */
static void test_a_short_stop_is_not(void **context)
{
	(void)context;
	uint64_t clock = read_with(1, MS / 2, 0);
	assert_int_equal(readings, 4);
	assert_in_range(clock, now - MS, now);
}

static void test_the_clock_of_this_machine_goes_on(void **context)
{
	(void)context;
	uint64_t before = clock_lease_ns(), after = clock_lease_ns();
	assert_true(after >= before);
	assert_in_range(after, clock_monotonic_ns() / 2, 2 * clock_boot_ns());
}

/* Takes the slowest client and the fastest node: in the same true time the client's clock counts
 * 999 and the node's 1001. */
static void test_a_sub_lease_ends_before_the_lease_by_any_clocks(void **context)
{
	(void)context;
	for (uint64_t left = 0; left < 60 * SECOND; left += 777 * MS) {
		/* The least time until the node's lease ends. */
		uint64_t true_left = left / 1001 * 1000;
		uint64_t own = sublease_end(SECOND, left) - SECOND;
		assert_true(own == 0 || own * 1000 / 999 < true_left);
	}
	assert_int_equal(sublease_end(SECOND, 0), SECOND);
	assert_int_equal(sublease_end(SECOND, MS), SECOND);
}

static void test_a_client_asks_more_often_when_little_is_left(void **context)
{
	(void)context;
	assert_int_equal(sublease_interval(3 * SECOND, 18 * SECOND / 10), SECOND / 2);
	assert_int_equal(sublease_interval(3 * SECOND, 18 * SECOND / 10 - 1), SECOND / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_counts_suspended_time_and_is_not_slewed),
	        cmocka_unit_test(test_a_stop_between_two_readings_is_noticed),
	        cmocka_unit_test(test_a_suspend_between_two_readings_is_noticed),
	        cmocka_unit_test(test_a_short_stop_is_not),
	        cmocka_unit_test(test_the_clock_of_this_machine_goes_on),
	        cmocka_unit_test(test_a_sub_lease_ends_before_the_lease_by_any_clocks),
	        cmocka_unit_test(test_a_client_asks_more_often_when_little_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
