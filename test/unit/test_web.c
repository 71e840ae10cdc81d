/*
 * The parts of baton-web that parse what strangers and the node send, and the event stream of the
 * viewers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bound.h"
#include "changes.h"
#include "feed.h"
#include "figures.h"
#include "pace.h"
#include "request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- requests --- */

static void test_only_own_names_are_the_host(void **state)
{
	(void)state;
	assert_true(request_is_host("localhost:7480", "10.0.0.1", 7480));
	assert_true(request_is_host("LOCALHOST:7480", "10.0.0.1", 7480));
	assert_true(request_is_host("10.0.0.1:7480", "10.0.0.1", 7480));
	assert_true(request_is_host("[::1]:7480", "10.0.0.1", 7480));
	assert_true(request_is_host("[fe80::1]:7480", "fe80::1", 7480));
	assert_true(request_is_host("localhost", "10.0.0.1", 80));
	assert_false(request_is_host("localhost", "10.0.0.1", 7480));
	assert_false(request_is_host("localhost:7481", "10.0.0.1", 7480));
	assert_false(request_is_host("localhost.evil:7480", "10.0.0.1", 7480));
	assert_false(request_is_host("", "10.0.0.1", 7480));
}

static void test_only_the_page_itself_is_the_origin(void **state)
{
	(void)state;
	assert_true(request_is_own_origin("http://localhost:7480", "localhost:7480"));
	assert_false(request_is_own_origin("http://localhost:7481", "localhost:7480"));
	assert_false(request_is_own_origin("https://localhost:7480", "localhost:7480"));
	assert_false(request_is_own_origin("null", "localhost:7480"));
	assert_false(request_is_own_origin("", ""));
}

static void test_numbers_have_limits(void **state)
{
	static const char *const wrong[] = {"",    "-1",  "+1", " 1", "1 ",
	                                    "0x1", "1e1", "0",  "11", "18446744073709551617"};
	struct problem problem;
	uint64_t number = 77;

	(void)state;
	assert_int_equal(request_number("10", "count", 1, 10, &number, &problem), 0);
	assert_int_equal(number, 10);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		assert_int_equal(request_number(wrong[i], "count", 1, 10, &number, &problem), -1);
		assert_int_equal(number, 10);
		assert_non_null(strstr(problem.text, "count"));
	}
}

static void test_an_order_is_a_name_and_a_fence(void **state)
{
	static const char good[] =
	        "{\"fence\": 9007199254740991, \"name\": \"a\\u0000b\", \"x\": 1}";
	struct break_order order;
	struct problem problem;

	(void)state;
	assert_int_equal(request_break(good, strlen(good), &order, &problem),
	                 -1); /* the name has a 0 in it */
	static const char plain[] = "{\"fence\": 9007199254740991, \"name\": \"a b\"}";
	assert_int_equal(request_break(plain, strlen(plain), &order, &problem), 0);
	assert_int_equal(order.name_size, 3);
	assert_memory_equal(order.name, "a b", 3);
	assert_true(order.fence == UINT64_C(9007199254740991));
	assert_int_equal(request_break(plain, strlen(plain) - 1, &order, &problem), -1);
	static const char zero[] = "{\"fence\": 0, \"name\": \"a\"}";
	assert_int_equal(request_break(zero, strlen(zero), &order, &problem), -1);
	/* The node shows the byte 80 in this way, so nobody knows which lock is meant. */
	static const char byte[] = "{\"fence\": 1, \"name\": \"a\\\\x80\"}";
	assert_int_equal(request_break(byte, strlen(byte), &order, &problem), -1);
	assert_non_null(strstr(problem.text, "another lock"));
	static const char nul[] = "{\"fence\": 1, \"name\": \"\\\\x00b\"}";
	assert_int_equal(request_break(nul, strlen(nul), &order, &problem), -1);
	static const char ascii[] = "{\"fence\": 1, \"name\": \"\\\\x41 \\\\x8\"}";
	assert_int_equal(request_break(ascii, strlen(ascii), &order, &problem), 0);
}

static void test_more_locks_are_counted_for_each_member(void **state)
{
	json_t *locks = json_loads("[{\"holder\":{\"node\":\"a\"},\"waiters\":[{\"node\":\"b\"},"
	                           "{\"node\":\"b\"}]},"
	                           "{\"holder\":{\"node\":\"c\"},\"waiters\":[]},"
	                           "{\"holder\":null,\"waiters\":[{\"node\":\"b\"}]}]",
	                           0, NULL);

	(void)state;
	assert_non_null(locks);
	assert_false(figures_locks_more(locks, 3)); /* three in all, and b has two */
	assert_true(figures_locks_more(locks, 2));
	json_decref(locks);
}

static void test_waiters_are_counted_before_lists_are_shortened(void **state)
{
	json_t *locks =
	        json_loads("[{\"name\":\"x\",\"waiters\":[{\"node\":\"b\",\"since_ms\":5},{"
	                   "\"node\":\"b\",\"since_ms\":9}]},"
	                   "{\"name\":\"y\",\"waiters\":[]},"
	                   "{\"name\":\"z\",\"waiters\":[{\"node\":\"a\",\"since_ms\":7}]}, 3, {}]",
	                   0, NULL);
	const char *expected = "{\"waiters_by_member\":{\"a\":1,\"b\":2},\"waiters_more\":true,"
	                       "\"waiters_total\":3,"
	                       "\"waits_longest\":{\"name\":\"x\",\"node\":\"b\",\"since_ms\":9}}";

	(void)state;
	assert_non_null(locks);
	json_t *waiting = figures_waiting(locks, 3);
	assert_false(json_is_true(json_object_get(waiting, "waiters_more")));
	json_decref(waiting);
	waiting = figures_waiting(locks, 2);
	char *text = json_dumps(waiting, JSON_COMPACT | JSON_SORT_KEYS);
	assert_string_equal(text, expected);
	free(text);
	json_decref(waiting);
	/* Only a lock that may have more waiters says so. */
	assert_true(json_is_true(json_object_get(json_array_get(locks, 0), "waiters_more")));
	assert_null(json_object_get(json_array_get(locks, 2), "waiters_more"));
	json_decref(locks);
	waiting = figures_waiting(NULL, 2);
	assert_true(json_is_null(json_object_get(waiting, "waits_longest")));
	json_decref(waiting);
}

/* --- what the node has counted --- */

static json_t *parse(const char *text)
{
	return figures_parse(text, strlen(text));
}

static void test_info_becomes_json(void **state)
{
	json_t *json = parse("# Server\r\nnode:n1\r\nused_cpu_sys:0.25\r\n\r\nepoch:7\r\nodd\r\n"
	                     "topology:edges:1-2,2-3\r\nmember0:name=n1,up=1\r\nbad:\xff\r\n");

	(void)state;
	assert_string_equal(json_string_value(json_object_get(json, "node")), "n1");
	assert_int_equal(json_integer_value(json_object_get(json, "epoch")), 7);
	assert_true(json_real_value(json_object_get(json, "used_cpu_sys")) == 0.25);
	assert_string_equal(json_string_value(json_object_get(json, "topology")), "edges:1-2,2-3");
	const json_t *member = json_object_get(json, "member0");
	assert_string_equal(json_string_value(json_object_get(member, "name")), "n1");
	assert_int_equal(json_integer_value(json_object_get(member, "up")), 1);
	assert_string_equal(json_string_value(json_object_get(json, "bad")), "\\xff");
	assert_null(json_object_get(json, "odd"));
	assert_int_equal(json_object_size(json), 6);
	json_decref(json);
}

static void assert_line(const char *text, const char *line)
{
	size_t size = strlen(line);

	for (const char *at = text; (at = strstr(at, line)) != NULL; at++) {
		if ((at == text || at[-1] == '\n') && at[size] == '\n')
			return;
	}
	fail_msg("'%s' is no line of\n%s", line, text);
}

static void test_metrics_have_base_units_and_escaped_labels(void **state)
{
	json_t *json = parse("baton_version:1\nalgorithm:a\"b\\c\ntopology:star\nlease_ms:3000\n"
	                     "member0:name=n1,up=1,lease_left_ms=1500\n"
	                     "member1:name=2,up=0,sent_bytes=12\n"
	                     "locks_held:3\nlosses_lease:2\n"
	                     "hold:sum_us=2500000,le_100=1,le_2500000=4,count=5\n"
	                     "messages_sent:REQUEST=9,PRIVILEGE=8\n");
	char *text = figures_metrics(json);

	(void)state;
	assert_line(text, "baton_up 1");
	assert_line(
	        text,
	        "baton_build_info{version=\"1\",algorithm=\"a\\\"b\\\\c\",topology=\"star\"} 1");
	assert_line(text, "baton_lease_seconds 3");
	assert_line(text, "baton_member_lease_seconds{member=\"n1\"} 1.5");
	assert_line(text, "baton_member_up{member=\"2\"} 0");
	assert_line(text, "baton_link_sent_bytes_total{peer=\"2\"} 12");
	assert_line(text, "baton_locks{state=\"held\"} 3");
	assert_line(text, "baton_losses_total{reason=\"lease\"} 2");
	assert_line(text, "baton_hold_seconds_bucket{le=\"0.0001\"} 1");
	assert_line(text, "baton_hold_seconds_bucket{le=\"2.5\"} 4");
	assert_line(text, "baton_hold_seconds_bucket{le=\"+Inf\"} 5");
	assert_line(text, "baton_hold_seconds_sum 2.5");
	assert_line(text, "baton_hold_seconds_count 5");
	assert_line(text, "baton_messages_sent_total{type=\"REQUEST\"} 9");
	free(text);
	json_decref(json);
	text = figures_metrics(NULL);
	assert_line(text, "baton_up 0");
	assert_null(strstr(text, "\nbaton_up 1"));
	assert_null(strstr(text, "epoch"));
	free(text);
}

static void test_bounds_are_those_of_the_documents(void **state)
{
	(void)state;
	assert_true(bound_messages("neilsen", "star", 5) == 3);
	assert_true(bound_messages("neilsen", "line", 5) == 5);
	assert_true(bound_messages("raymond", "line", 5) == 8);
	assert_true(bound_messages("lamport", "complete", 5) == 12);
	assert_true(bound_messages("suzuki-kasami", "complete", 5) == 5);
	assert_true(bound_messages("helary", "ring", 5) == 14); /* 2E + N - 1 */
	assert_true(bound_messages("maekawa", "complete", 5) < 0);
	assert_true(bound_messages("neilsen", "edges:1-2,2-3", 5) < 0);
	assert_true(bound_messages("neilsen", "random:2", 5) < 0);
	assert_true(bound_messages("neilsen", "star", 0) < 0);
	assert_true(bound_messages("nobody", "star", 5) < 0);
}

/* --- changes --- */

static void add(struct changes *changes, int64_t now_ms, const char *message)
{
	changes_add(changes, now_ms, "x", 1, message, strlen(message));
}

static void test_changes_are_parsed(void **state)
{
	struct changes changes = {0};

	(void)state;
	assert_null(changes_take(&changes));
	add(&changes, 1, "granted 12 n1");
	add(&changes, 2, "lost 12 n1 broken uid 0");
	add(&changes, 3, "leader 13 n2 ");
	add(&changes, 4, "granted");
	add(&changes, 5, "granted x n1");
	add(&changes, 6, "granted 12345678901234567 n1");
	json_t *bundle = changes_take(&changes), *events = json_object_get(bundle, "events");
	assert_int_equal(json_array_size(events), 3);
	const json_t *lost = json_array_get(events, 1);
	assert_string_equal(json_string_value(json_object_get(lost, "what")), "lost");
	assert_int_equal(json_integer_value(json_object_get(lost, "fence")), 12);
	assert_string_equal(json_string_value(json_object_get(lost, "node")), "n1");
	assert_string_equal(json_string_value(json_object_get(lost, "value")), "broken uid 0");
	assert_int_equal(json_integer_value(json_object_get(lost, "at_ms")), 2);
	assert_null(json_object_get(json_array_get(events, 0), "value"));
	assert_string_equal(json_string_value(json_object_get(json_array_get(events, 2), "value")),
	                    "");
	json_decref(bundle);
	assert_null(changes_take(&changes));
}

static size_t take_events(struct changes *changes, uint64_t *ret_more)
{
	json_t *bundle = changes_take(changes);
	size_t count = json_array_size(json_object_get(bundle, "events"));

	*ret_more = (uint64_t)json_integer_value(json_object_get(bundle, "more"));
	json_decref(bundle);
	return count;
}

static void test_at_most_so_many_changes_in_any_second(void **state)
{
	struct changes changes = {0};
	uint64_t more;

	(void)state;
	for (int i = 0; i < CHANGES_A_SECOND + 37; i++)
		add(&changes, 1000 + i / 2, "granted 1 n1");
	assert_int_equal(take_events(&changes, &more), CHANGES_A_SECOND);
	assert_int_equal(more, 37);
	/* The first two were told at 1000: a second later there is room for two. */
	for (int i = 0; i < 5; i++)
		add(&changes, 1999, "granted 1 n1");
	for (int i = 0; i < 5; i++)
		add(&changes, 2000, "granted 1 n1");
	assert_int_equal(take_events(&changes, &more), 2);
	assert_int_equal(more, 8);
	changes_clear(&changes);
}

/* --- the pace --- */

/* Counts changes until a pause begins. Returns how many there were; 0: no pause has begun. */
static unsigned count_to_pause(struct pace *pace, int64_t now_ms)
{
	for (unsigned i = 1; i <= PACE_A_SECOND + 1; i++) {
		if (pace_count(pace, now_ms))
			return i;
	}
	return 0;
}

static void test_a_busy_node_is_listened_to_less_and_less(void **state)
{
	static const int64_t pauses[] = {1000, 2000, 4000, 8000, 8000};
	struct pace pace = {0};
	int64_t now = 5000;

	(void)state;
	for (size_t i = 0; i < sizeof(pauses) / sizeof(*pauses); i++) {
		pace_begin(&pace, now);
		assert_int_equal(count_to_pause(&pace, now + 999), PACE_A_SECOND + 1);
		now += 999 + pauses[i];
		assert_true(pace_is_paused(&pace, now - 1));
		assert_false(pace_is_paused(&pace, now));
		assert_true(pace_is_busy(&pace));
	}
	/* After a calm second, without any change, pauses begin with a short one again. */
	pace_begin(&pace, now);
	pace_look(&pace, now + 999);
	assert_true(pace_is_busy(&pace));
	pace_look(&pace, now + 1000);
	assert_false(pace_is_busy(&pace));
	assert_int_equal(count_to_pause(&pace, now + 1000), PACE_A_SECOND + 1);
	assert_true(pace_is_paused(&pace, now + 1999));
	assert_false(pace_is_paused(&pace, now + 2000));
}

static void test_a_node_that_is_not_too_busy_is_listened_to_always(void **state)
{
	struct pace pace = {0};

	(void)state;
	pace_begin(&pace, 0);
	for (int64_t i = 0; i < INT64_C(10) * PACE_A_SECOND; i++)
		assert_false(pace_count(&pace, i * 1000 / PACE_A_SECOND));
	assert_false(pace_is_busy(&pace));
}

/* --- the feed --- */

struct watcher {
	struct viewer viewer; /* must be the first member */
	bool paused;
	char text[20000];
};

static void on_pause(struct viewer *viewer)
{
	((struct watcher *)(void *)viewer)->paused = true;
}

static void on_wake(struct viewer *viewer)
{
	((struct watcher *)(void *)viewer)->paused = false;
}

static int set_up_feed(void **state)
{
	struct feed *feed = malloc(sizeof(*feed));

	feed_init(feed);
	feed->pause = on_pause;
	feed->wake = on_wake;
	*state = feed;
	return 0;
}

static int tear_down_feed(void **state)
{
	feed_free(*state);
	free(*state);
	return 0;
}

/* Reads in small pieces until the viewer is paused. */
static const char *read_all(struct feed *feed, struct watcher *watcher)
{
	size_t size = 0;

	for (ssize_t count; !watcher->paused; size += (size_t)count) {
		count = feed_read(feed, &watcher->viewer, watcher->text + size, 7);
		assert_true(count >= 0 && count <= 7 && size + 14 < sizeof(watcher->text));
		assert_int_equal(count == 0, watcher->paused);
	}
	watcher->text[size] = '\0';
	return watcher->text;
}

static void test_a_viewer_begins_with_a_state(void **state)
{
	struct feed *feed = *state;
	struct watcher *one = calloc(1, sizeof(*one)), *two = calloc(1, sizeof(*two));

	assert_true(feed_join(feed, &one->viewer));
	assert_false(feed_has_state(feed));
	assert_string_equal(read_all(feed, one), "retry: 1000\n\n");
	feed_publish(feed, FEED_CHANGES, "changes", "1");
	assert_string_equal(read_all(feed, one), "");
	feed_publish(feed, FEED_STATE, "status", "2");
	assert_string_equal(read_all(feed, one), "event: status\ndata: 2\n\n");
	feed_publish(feed, FEED_CHANGES, "changes", "3");
	assert_false(feed_join(feed, &two->viewer));
	assert_string_equal(read_all(feed, one), "event: changes\ndata: 3\n\n");
	assert_string_equal(read_all(feed, two), "retry: 1000\n\nevent: status\ndata: 2\n\n");
	feed_publish(feed, FEED_BEAT, NULL, ":");
	assert_string_equal(read_all(feed, one), ":\n\n");
	assert_string_equal(read_all(feed, two), ":\n\n");
	feed_leave(feed, &two->viewer);
	feed_leave(feed, &one->viewer);
	/* Without viewers nobody keeps the state up to date. */
	assert_false(feed_has_state(feed));
	free(one);
	free(two);
}

static void test_a_slow_viewer_skips_and_is_told(void **state)
{
	struct feed *feed = *state;
	struct watcher *slow = calloc(1, sizeof(*slow));
	char data[16];

	feed_join(feed, &slow->viewer);
	feed_publish(feed, FEED_STATE, "status", "first");
	read_all(feed, slow);
	feed_publish(feed, FEED_CHANGES, "changes", "long");
	assert_int_equal(feed_read(feed, &slow->viewer, slow->text, 9), 9);
	for (int i = 0; i < FEED_RING; i++) {
		snprintf(data, sizeof(data), "%d", i);
		feed_publish(feed, i == 40 ? FEED_STATE : FEED_CHANGES, "event", data);
	}
	/* Read as many events as the ring has. Nothing is missed, and an event that was begun is
	 * ended. */
	const char *text = read_all(feed, slow);
	assert_int_equal(strncmp(text, "anges\ndata: long\n\nevent: event\ndata: 0\n\n", 40), 0);
	assert_null(strstr(text, "skipped"));
	assert_non_null(strstr(text, "data: 63\n\n"));
	for (int i = 0; i <= FEED_RING; i++)
		feed_publish(feed, FEED_CHANGES, "changes", "x");
	assert_string_equal(read_all(feed, slow), "event: skipped\ndata: {\"events\":65}\n\n"
	                                          "event: event\ndata: 40\n\n");
	feed_leave(feed, &slow->viewer);
	free(slow);
}

static void test_the_end_reaches_those_that_wait(void **state)
{
	struct feed *feed = *state;
	struct watcher *one = calloc(1, sizeof(*one));

	feed_join(feed, &one->viewer);
	read_all(feed, one);
	feed_end(feed);
	assert_false(one->paused);
	assert_int_equal(feed_read(feed, &one->viewer, one->text, 10), -1);
	feed_leave(feed, &one->viewer);
	free(one);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_only_own_names_are_the_host),
	        cmocka_unit_test(test_only_the_page_itself_is_the_origin),
	        cmocka_unit_test(test_numbers_have_limits),
	        cmocka_unit_test(test_an_order_is_a_name_and_a_fence),
	        cmocka_unit_test(test_info_becomes_json),
	        cmocka_unit_test(test_metrics_have_base_units_and_escaped_labels),
	        cmocka_unit_test(test_bounds_are_those_of_the_documents),
	        cmocka_unit_test(test_changes_are_parsed),
	        cmocka_unit_test(test_more_locks_are_counted_for_each_member),
	        cmocka_unit_test(test_waiters_are_counted_before_lists_are_shortened),
	        cmocka_unit_test(test_at_most_so_many_changes_in_any_second),
	        cmocka_unit_test(test_a_busy_node_is_listened_to_less_and_less),
	        cmocka_unit_test(test_a_node_that_is_not_too_busy_is_listened_to_always),
	        cmocka_unit_test_setup_teardown(test_a_viewer_begins_with_a_state, set_up_feed,
	                                        tear_down_feed),
	        cmocka_unit_test_setup_teardown(test_a_slow_viewer_skips_and_is_told, set_up_feed,
	                                        tear_down_feed),
	        cmocka_unit_test_setup_teardown(test_the_end_reaches_those_that_wait, set_up_feed,
	                                        tear_down_feed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
