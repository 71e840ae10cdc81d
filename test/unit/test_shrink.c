/*
 * The search for a small set of faults with which a run still fails. The runs are made up: whether
 * a run fails is a function of its faults.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "chance.h"
#include "shrink.h"

#include <stdatomic.h>
#include <string.h>

enum { FAULTS = 40 };

/* The faults that a made-up run needs to fail. */
struct needs {
	uint64_t faults;  /* the faults that must be there, a bit each */
	uint32_t percent; /* how many percent of the sets that have these faults fail */
	uint32_t ends;    /* a fault with a greater number than this never begins */
	uint32_t interrupted_after;
};

static struct needs needs;
static atomic_uint runs;
static volatile sig_atomic_t interrupted;

static uint64_t set_of(const uint32_t *numbers, uint32_t count)
{
	uint64_t set = 0;

	for (uint32_t i = 0; i < count; i++)
		set |= UINT64_C(1) << numbers[i];
	return set;
}

/* Does the run with this set of faults fail? Every fault that is left out changes the rest of a
 * run, and a rare coincidence may disappear. So chance decides for each set of faults, always in
 * the same way. */
static bool fails(uint64_t seed, uint64_t set)
{
	struct chance chance = chance_stream(seed, 100, set);
	uint64_t all = ((UINT64_C(1) << FAULTS) - 1) << 1;

	return set == all ||
	       ((set & needs.faults) == needs.faults && chance_percent(&chance, needs.percent));
}

static void run(void *context, const struct ordeal_plan *plan, struct ordeal_result *ret_result)
{
	(void)context;
	memset(ret_result, 0, sizeof(*ret_result));
	for (uint32_t i = 1; i <= FAULTS; i++) {
		bool wanted = plan->only == NULL;
		for (uint32_t k = 0; k < plan->only_count; k++)
			wanted |= plan->only[k] == i;
		if (wanted && i <= needs.ends)
			ret_result->numbers[ret_result->stories_count++] = i;
	}
	ret_result->failed =
	        fails(plan->seed, set_of(ret_result->numbers, ret_result->stories_count));
	if (++runs == needs.interrupted_after)
		interrupted = 1;
}

/* Shrinks the run of a seed. Returns how many runs that took. */
static uint32_t shrink_seed(uint64_t seed, uint32_t threads, struct ordeal_result *result)
{
	struct ordeal_plan plan = {.seed = seed};
	struct shrink_options options = {
	        .run = run, .threads = threads, .interrupted = &interrupted};

	run(NULL, &plan, result);
	assert_true(result->failed);
	interrupted = 0;
	runs = 0;
	uint32_t took = shrink(&plan, &options, result);
	assert_true(result->failed);
	assert_true(fails(seed, set_of(result->numbers, result->stories_count)));
	return took;
}

static void test_what_is_not_needed_is_left_out(void **state)
{
	struct ordeal_result result;

	(void)state;
	needs = (struct needs){UINT64_C(1) << 17 | UINT64_C(1) << 40, 100, FAULTS, 0};
	shrink_seed(1, 1, &result);
	assert_int_equal(result.stories_count, 2);
	assert_int_equal(result.numbers[0], 17);
	assert_int_equal(result.numbers[1], 40);
	needs.faults = 0;
	shrink_seed(1, 1, &result);
	assert_int_equal(result.stories_count, 0);
}

/* One set of twenty fails, so that soon no fault can be left out alone. */
static void test_a_rare_coincidence_is_shrunk_to_a_dozen(void **state)
{
	struct ordeal_result result;

	(void)state;
	for (uint64_t seed = 1; seed <= 100; seed++) {
		needs = (struct needs){UINT64_C(1) << (1 + seed % FAULTS), 5, FAULTS, 0};
		shrink_seed(seed, 1, &result);
		assert_in_range(result.stories_count, 1, SHRINK_GOAL);
	}
}

static void test_the_number_of_threads_changes_nothing(void **state)
{
	struct ordeal_result one, many;

	(void)state;
	for (uint64_t seed = 1; seed <= 10; seed++) {
		needs = (struct needs){UINT64_C(1) << 3, 10, FAULTS, 0};
		uint32_t took = shrink_seed(seed, 1, &one);
		for (uint32_t threads = 2; threads <= 5; threads++) {
			assert_int_equal(shrink_seed(seed, threads, &many), took);
			assert_int_equal(many.stories_count, one.stories_count);
			assert_memory_equal(many.numbers, one.numbers, sizeof(one.numbers));
		}
	}
}

static void test_an_interrupt_ends_it(void **state)
{
	struct ordeal_result result;

	(void)state;
	needs = (struct needs){0, 0, FAULTS, 30};
	assert_int_equal(shrink_seed(1, 1, &result), 30);
	assert_int_equal(result.stories_count, FAULTS);
}

static void test_it_gives_up_in_the_end(void **state)
{
	struct ordeal_result result;

	(void)state;
	needs = (struct needs){0, 0, FAULTS, 0};
	uint32_t took = shrink_seed(1, 1, &result);
	assert_int_equal(result.stories_count, FAULTS);
	assert_int_equal(took, runs);
	assert_int_equal(shrink_seed(1, 4, &result), took);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_what_is_not_needed_is_left_out),
	        cmocka_unit_test(test_a_rare_coincidence_is_shrunk_to_a_dozen),
	        cmocka_unit_test(test_the_number_of_threads_changes_nothing),
	        cmocka_unit_test(test_an_interrupt_ends_it),
	        cmocka_unit_test(test_it_gives_up_in_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
