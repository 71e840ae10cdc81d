#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "random.h"
#include "samples.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

static void test_quantiles_are_those_of_the_sorted_numbers(void **state)
{
	struct samples *samples = samples_create();
	static uint64_t numbers[2000];
	struct random random;

	(void)state;
	random_seed(&random, 1);
	for (size_t count = 1; count <= 2000; count = count * 5 / 4 + 1) {
		for (uint64_t most = 1; most <= 1000000; most *= 10) {
			samples_clear(samples);
			for (size_t i = 0; i < count; i++) {
				numbers[i] = random_below(&random, most);
				samples_add(samples, numbers[i]);
			}
			qsort(numbers, count, sizeof(*numbers), compare);
			for (unsigned percent = 1; percent <= 100; percent += 9) {
				size_t rank = (count * percent + 99) / 100;
				assert_int_equal(samples_quantile(samples, percent),
				                 numbers[rank - 1]);
			}
		}
	}
	samples_destroy(samples);
}

static void test_many_numbers_are_thinned_out_evenly(void **state)
{
	struct samples *samples = samples_create();

	(void)state;
	assert_int_equal(samples_quantile(samples, 50), 0);
	for (uint64_t i = 1; i <= 3000000; i++)
		samples_add(samples, i);
	assert_in_range(samples_quantile(samples, 50), 1499000, 1501000);
	assert_in_range(samples_quantile(samples, 99), 2969000, 2971000);
	samples_destroy(samples);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_quantiles_are_those_of_the_sorted_numbers),
	        cmocka_unit_test(test_many_numbers_are_thinned_out_evenly),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
