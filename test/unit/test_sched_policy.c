/* The node yields the processor as long as it need not wait long to get it back. */
#include "sched_policy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { SHORT_NS = 20000, LONG_NS = 2000000 };

struct world {
	struct sched_policy policy;
	uint64_t now_ms, waited_ns, runs;
};

static struct world begin(void)
{
	struct world world = {.now_ms = 5000, .waited_ns = 123456789, .runs = 4711};

	world.policy = (struct sched_policy){.stat_fd = -1,
	                                     .yields = true,
	                                     .since_ms = world.now_ms,
	                                     .since_runs = world.runs,
	                                     .waited_ns = world.waited_ns,
	                                     .runs = world.runs};
	return world;
}

/* Lets the process run some times, each time after waiting that long, and looks at the result. */
static bool run(struct world *world, uint32_t runs, uint64_t each_ns)
{
	world->runs += runs;
	world->waited_ns += runs * each_ns;
	world->now_ms += runs * each_ns / 1000000 + 1;
	return sched_policy_judge(&world->policy, world->now_ms, world->waited_ns, world->runs);
}

/* Returns how long the process does not yield, in milliseconds, if it runs every millisecond. */
static uint64_t sulk(struct world *world)
{
	uint64_t begin_ms = world->now_ms;

	while (!run(world, 1, SHORT_NS))
		assert_true(world->now_ms < begin_ms + 1000000);
	return world->now_ms - begin_ms;
}

static void be_disappointed(struct world *world)
{
	assert_true(run(world, 4, LONG_NS));
	assert_false(run(world, 4, LONG_NS));
}

static void test_it_yields_while_it_waits_little(void **state)
{
	struct world world = begin();

	(void)state;
	for (int i = 0; i < 1000; i++)
		assert_true(run(&world, 64, SHORT_NS));
}

static void test_one_long_wait_says_nothing(void **state)
{
	struct world world = begin();

	(void)state;
	for (int i = 0; i < 1000; i++)
		assert_true(run(&world, 4, i % 2 == 0 ? LONG_NS : SHORT_NS));
}

static void test_it_yields_no_more_where_it_waits_long(void **state)
{
	struct world world = begin();

	(void)state;
	be_disappointed(&world);
	assert_false(run(&world, 1, SHORT_NS));
}

static void test_it_tries_again_later_and_later(void **state)
{
	struct world world = begin();
	uint64_t before_ms = 0;

	(void)state;
	for (int i = 0; i < 7; i++) {
		be_disappointed(&world);
		uint64_t took_ms = sulk(&world);
		assert_in_range(took_ms, (uint64_t)1000 << i, (uint64_t)1100 << i);
		assert_true(took_ms > before_ms);
		before_ms = took_ms;
	}
	for (int i = 0; i < 3; i++) { /* but the penalty does not grow for ever */
		be_disappointed(&world);
		assert_in_range(sulk(&world), 64000, 65000);
	}
}

static void test_not_before_it_has_run_some_times(void **state)
{
	struct world world = begin();

	(void)state;
	be_disappointed(&world);
	world.now_ms += 1000000;
	for (int i = 1; i < 128; i++)
		assert_false(run(&world, 1, SHORT_NS));
	assert_true(run(&world, 1, SHORT_NS));
}

static void test_a_long_time_without_trouble_is_a_new_beginning(void **state)
{
	struct world world = begin();

	(void)state;
	for (int i = 0; i < 5; i++) {
		be_disappointed(&world);
		sulk(&world);
	}
	world.now_ms += 64000;
	assert_true(run(&world, 64, SHORT_NS));
	be_disappointed(&world);
	assert_in_range(sulk(&world), 1000, 1100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_it_yields_while_it_waits_little),
	        cmocka_unit_test(test_one_long_wait_says_nothing),
	        cmocka_unit_test(test_it_yields_no_more_where_it_waits_long),
	        cmocka_unit_test(test_it_tries_again_later_and_later),
	        cmocka_unit_test(test_not_before_it_has_run_some_times),
	        cmocka_unit_test(test_a_long_time_without_trouble_is_a_new_beginning),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
