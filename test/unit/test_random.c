/* The streams must never change: recorded seeds must draw the same numbers on every machine. */
#include "random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { DRAWS = 1000000 };

/* These numbers are from the authors' own program, started at 1, 2, 3, 4. */
static void test_generator_is_xoshiro256starstar(void **state)
{
	static const uint64_t expected[] = {
	        11520, 0, 1509978240, 1215971899390074240, 1216172134540287360, 607988272756665600,
	};
	struct random random = {{1, 2, 3, 4}};

	(void)state;
	for (size_t i = 0; i < COUNT(expected); i++)
		assert_true(random_next(&random) == expected[i]);
}

static void test_seed_is_spread_by_splitmix64(void **state)
{
	struct random random;

	(void)state;
	random_seed(&random, 0);
	assert_true(random.s[0] == 0xe220a8397b1dcdaf);
	random_seed(&random, 1);
	assert_true(random.s[0] == 0x910a2dec89025cc1);
	assert_true(random.s[1] == 0xbeeb8da1658eec67);
	assert_true(random.s[2] == 0xf893a2eefb32555e);
	assert_true(random.s[3] == 0x71c18690ee42c90b);
}

static void test_seed_one_draws_what_it_always_drew(void **state)
{
	static const uint64_t next[] = {
	        0xb3f2af6d0fc710c5, 0x853b559647364cea, 0x92f89756082a4514,
	        0x642e1c7bc266a3a7, 0xb27a48e29a233673, 0x24c123126ffda722,
	};
	static const uint64_t below_10[] = {7, 5, 5, 3, 6, 1, 0, 3, 8, 5, 9, 9};
	static const uint64_t below_3_2_62[] = {
	        0x86f60391cbd54c93, 0x63ec8030b568b9af, 0x4b22955cd1ccfabd,
	        0x85dbb6a9f39a68d6, 0x1b90da4dd3fe3d59, 0x0da403b3aa77ccac,
	};
	static const uint64_t exponential[] = {1391328, 3080455, 45820,   463230,
	                                       1211940, 1010981, 1235827, 3505085};
	static const uint64_t exponential_long[] = {6265986973705832, 13873140242456708,
	                                            206355695417142, 2086203332793103};
	struct random random;

	(void)state;
	random_seed(&random, 1);
	for (size_t i = 0; i < COUNT(next); i++)
		assert_true(random_next(&random) == next[i]);
	random_seed(&random, 1);
	for (size_t i = 0; i < COUNT(below_10); i++)
		assert_true(random_below(&random, 10) == below_10[i]);
	random_seed(&random, 1);
	for (size_t i = 0; i < COUNT(below_3_2_62); i++)
		assert_true(random_below(&random, UINT64_C(3) << 62) == below_3_2_62[i]);
	random_seed(&random, 1);
	for (size_t i = 0; i < COUNT(exponential); i++)
		assert_true(random_exponential(&random, 1000000) == exponential[i]);
	random_seed(&random, 1);
	for (size_t i = 0; i < COUNT(exponential_long); i++)
		assert_true(random_exponential(&random, (UINT64_C(1) << 52) - 1) ==
		            exponential_long[i]);
}

static void test_draws_stay_below_every_bound(void **state)
{
	static const uint64_t bounds[] = {
	        1,
	        2,
	        3,
	        UINT32_MAX,
	        UINT64_C(1) << 32,
	        (UINT64_C(1) << 32) + 1,
	        (UINT64_C(1) << 63) + 1,
	        UINT64_MAX,
	};
	struct random random;

	(void)state;
	random_seed(&random, 7);
	for (size_t i = 0; i < COUNT(bounds); i++)
		for (int draw = 0; draw < 1000; draw++)
			assert_true(random_below(&random, bounds[i]) < bounds[i]);
}

static void assert_within_2_percent(double value, double expected)
{
	assert_true(value > 0.98 * expected && value < 1.02 * expected);
}

static void test_draws_below_seven_are_even(void **state)
{
	uint32_t count[7] = {0};
	struct random random;

	(void)state;
	random_seed(&random, 1);
	for (int i = 0; i < DRAWS; i++)
		count[random_below(&random, 7)]++;
	for (int i = 0; i < 7; i++)
		assert_within_2_percent(count[i], DRAWS / 7.0);
}

/* Without rejection, every third number below 3 * 2^62 would come twice as often as the others. */
static void test_draws_below_a_vast_bound_are_even(void **state)
{
	uint32_t count[3] = {0};
	struct random random;

	(void)state;
	random_seed(&random, 1);
	for (int i = 0; i < DRAWS; i++)
		count[random_below(&random, UINT64_C(3) << 62) % 3]++;
	for (int i = 0; i < 3; i++)
		assert_within_2_percent(count[i], DRAWS / 3.0);
}

static void test_exponential_has_its_mean_and_variance(void **state)
{
	static const uint64_t means[] = {1000, 1000000, (UINT64_C(1) << 52) - 1};

	(void)state;
	for (size_t m = 0; m < COUNT(means); m++) {
		double mean = (double)means[m], sum = 0, squares = 0;
		struct random random;
		random_seed(&random, m + 1);
		for (int i = 0; i < DRAWS; i++) {
			double x = (double)random_exponential(&random, means[m]) / mean;
			sum += x;
			squares += x * x;
		}
		sum /= DRAWS;
		assert_within_2_percent(sum, 1);
		assert_within_2_percent(squares / DRAWS - sum * sum, 1);
	}
}

/* Many distributions share mean and variance. So check that parts of e^-1, e^-2 and e^-3 are in the
 * tail. */
static void test_exponential_has_its_tail(void **state)
{
	static const double tail[] = {1, 0.367879, 0.135335, 0.049787};
	uint32_t beyond[COUNT(tail)] = {0};
	struct random random;

	(void)state;
	random_seed(&random, 1);
	for (int i = 0; i < DRAWS; i++) {
		uint64_t x = random_exponential(&random, 1000000);
		for (size_t k = 0; k < COUNT(tail); k++)
			beyond[k] += x >= k * 1000000;
	}
	for (size_t k = 0; k < COUNT(tail); k++)
		assert_within_2_percent(beyond[k], tail[k] * DRAWS);
}

static void test_exponential_of_mean_nothing_is_nothing(void **state)
{
	struct random random;

	(void)state;
	random_seed(&random, 1);
	for (int i = 0; i < 1000; i++)
		assert_true(random_exponential(&random, 0) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_generator_is_xoshiro256starstar),
	        cmocka_unit_test(test_seed_is_spread_by_splitmix64),
	        cmocka_unit_test(test_seed_one_draws_what_it_always_drew),
	        cmocka_unit_test(test_draws_stay_below_every_bound),
	        cmocka_unit_test(test_draws_below_seven_are_even),
	        cmocka_unit_test(test_draws_below_a_vast_bound_are_even),
	        cmocka_unit_test(test_exponential_has_its_mean_and_variance),
	        cmocka_unit_test(test_exponential_has_its_tail),
	        cmocka_unit_test(test_exponential_of_mean_nothing_is_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
