/* The choice of the stranger that is closed when there are too many. */
#include "strangers.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void test_the_oldest_of_all_goes_if_each_has_its_own_network(void **state)
{
	(void)state;
	assert_int_equal(strangers_choose((uint64_t[]){5}, 1), 0);
	assert_int_equal(strangers_choose((uint64_t[]){5, 6, 7}, 3), 2);
}

static void test_the_oldest_of_the_greatest_network_goes(void **state)
{
	(void)state;
	assert_int_equal(strangers_choose((uint64_t[]){5, 9, 9, 6, 9, 7, 8}, 7), 4);
	assert_int_equal(strangers_choose((uint64_t[]){6, 9, 6, 9, 9, 6, 6, 7}, 8), 6);
	/* Of two networks that are equally great, the one with the oldest stranger is chosen. */
	assert_int_equal(strangers_choose((uint64_t[]){9, 6, 6, 9, 7}, 5), 3);
	assert_int_equal(strangers_choose((uint64_t[]){9, 6, 9, 6, 7}, 5), 3);
}

static uint64_t network(const char *text)
{
	struct sockaddr_in four = {.sin_family = AF_INET};
	struct sockaddr_in6 six = {.sin6_family = AF_INET6};

	if (inet_pton(AF_INET, text, &four.sin_addr) == 1)
		return strangers_network((struct sockaddr *)&four);
	assert_int_equal(inet_pton(AF_INET6, text, &six.sin6_addr), 1);
	return strangers_network((struct sockaddr *)&six);
}

static void test_a_network_is_an_address_or_the_half_of_one(void **state)
{
	(void)state;
	assert_true(network("10.0.0.1") != network("10.0.0.2"));
	assert_true(network("::ffff:10.0.0.1") == network("10.0.0.1"));
	assert_true(network("2001:db8:0:1::5") == network("2001:db8:0:1:ffff::6"));
	assert_true(network("2001:db8:0:1::5") != network("2001:db8:0:2::5"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_the_oldest_of_all_goes_if_each_has_its_own_network),
	        cmocka_unit_test(test_the_oldest_of_the_greatest_network_goes),
	        cmocka_unit_test(test_a_network_is_an_address_or_the_half_of_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
