/* A client's connection reports why it has ended. */
#include "exchange.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <baton/baton.h>
#include <cmocka.h>
#include <sys/socket.h>
#include <unistd.h>

/* A node may answer before it has read the question, and never read it: for example if there are
 * too many clients. */
static void test_the_last_words_of_a_node_are_told(void **state)
{
	static const char words[] = "-ERR too many clients at this node\r\n";
	struct exchange exchange = {.reader = redisReaderCreate()};
	struct why why;
	int ends[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	assert_int_equal(write(ends[1], words, sizeof(words) - 1), sizeof(words) - 1);
	close(ends[1]);
	exchange.fd = ends[0];
	assert_int_equal(
	        exchange_send(&exchange, &(struct word){.bytes = "PING", .size = 4}, 1, &why),
	        BATON_ECONNECTION);
	assert_string_equal(why.text, "the node has closed the connection: "
	                              "ERR too many clients at this node");
	assert_int_equal(
	        exchange_send(&exchange, &(struct word){.bytes = "PING", .size = 4}, 1, &why),
	        BATON_ECONNECTION);
	assert_string_equal(why.text, "the connection to the node has ended: Broken pipe");
	exchange_close(&exchange);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_the_last_words_of_a_node_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
