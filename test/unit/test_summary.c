/*
 * Means and intervals of many runs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "summary.h"

static void assert_near(double found, double expected, double most)
{
	assert_true(found - expected <= most && expected - found <= most);
}

/* Printed tables of the distribution have five or six digits. */
static void test_quantiles_are_those_of_the_tables(void **state)
{
	static const struct {
		uint64_t freedom;
		double quantile;
	} table[] = {{1, 12.7062},    {2, 4.30265},      {10, 2.22814}, {30, 2.04227},
	             {31, 2.03951},   {40, 2.02108},     {60, 2.00030}, {100, 1.98397},
	             {1000, 1.96234}, {1000000, 1.95997}};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		assert_near(student_quantile(table[i].freedom), table[i].quantile, 1e-4);
}

/* A figure that only some runs have is counted where it occurs. Times that depend on the machine
 * are left out. */
static void test_each_figure_by_its_path(void **state)
{
	json_t *runs = json_loads("[{\"seed\":1,\"a\":{\"b\":1,\"c\":null},\"seconds\":3},"
	                          "{\"seed\":2,\"a\":{\"b\":3,\"c\":5},\"seconds\":4}]",
	                          0, NULL);
	json_t *summary = summary_make(runs);
	const json_t *figure = json_object_get(summary, "a.b");

	(void)state;
	assert_int_equal(json_object_size(summary), 2);
	assert_near(json_number_value(json_object_get(figure, "mean")), 2, 1e-12);
	/* One degree of freedom, a deviation of sqrt(2), two runs: 12.7062 either way. */
	const json_t *interval = json_object_get(figure, "ci95");
	assert_near(json_number_value(json_array_get(interval, 0)), 2 - 12.7062, 1e-4);
	assert_near(json_number_value(json_array_get(interval, 1)), 2 + 12.7062, 1e-4);
	assert_true(json_is_null(json_object_get(json_object_get(summary, "a.c"), "ci95")));
	json_decref(summary);
	json_decref(runs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_quantiles_are_those_of_the_tables),
	        cmocka_unit_test(test_each_figure_by_its_path),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
