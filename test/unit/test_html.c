/* Text and numbers as a page shows them. */

#include "html.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_numbers_are_short_and_have_no_exponent(void **state)
{
	static const struct {
		double number;
		const char *text;
	} rows[] = {
	        {0, "0"},
	        {0.83842, "0.8384"},
	        {126.54, "126.5"},
	        {65536, "65536"},
	        {1e15, "1000000000000000"},
	        {0.001, "0.001"},
	        {0.00025, "0.00025"},
	        {0.0009999, "0.001"},
	        {0.000001, "0.000001"},
	        {-0.00025, "-0.00025"},
	        /* A number that is 0 with six decimals is written as 0. */
	        {0.0000005, "0"},
	        {0.00000051, "0.000001"},
	        {0.0000004, "0"},
	        {-0.0000004, "0"},
	        {1e-300, "0"},
	        {-0.0, "0"},
	};
	char text[HTML_NUMBER_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_string_equal(html_number(rows[i].number, text), rows[i].text);
	assert_string_equal(html_number(NAN, text), "–");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_numbers_are_short_and_have_no_exponent),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
