/*
 * The lock node: what patterns and subscriptions cost, and how many there may be.
 */
#include "whole.h"

#include "../lib/node_fixture.h"

#include "glob.h"
#include "random.h"

#include <stdlib.h>
#include <time.h>

enum { ATTEMPTS = 5 };

/* --- patterns --- */

/* Does the element of the pattern at *i match the byte? Moves *i past the element. It is written as
 * simply as possible, to be compared with the real one. */
static bool element_fits(const char *pattern, uint32_t size, uint32_t *i, char byte)
{
	char element = pattern[(*i)++];
	bool negated = false, found = false;

	if (element == '?')
		return true;
	if (element == '\\' && *i < size)
		return pattern[(*i)++] == byte;
	if (element != '[')
		return element == byte;
	if (*i < size && pattern[*i] == '^') {
		negated = true;
		++*i;
	}
	while (*i < size && pattern[*i] != ']') {
		if (pattern[*i] == '\\' && *i + 1 < size)
			++*i;
		char from = pattern[*i], to = from;
		if (*i + 2 < size && pattern[*i + 1] == '-') {
			to = pattern[*i + 2];
			*i += 2;
		}
		++*i;
		found = found || (from <= byte && byte <= to) || (to <= byte && byte <= from);
	}
	if (*i < size)
		++*i;
	return found != negated;
}

/* Does the pattern match the text? at[j] tells whether the elements so far match the first j
 * bytes. */
static bool fits(const char *pattern, uint32_t size, const char *text, uint32_t text_size)
{
	bool at[NODE_NAME_MAX + 1] = {true}, next[NODE_NAME_MAX + 1];

	for (uint32_t i = 0; i < size;) {
		uint32_t after = i + 1;
		next[0] = pattern[i] == '*' && at[0];
		for (uint32_t j = 1; j <= text_size; j++) {
			if (pattern[i] == '*') {
				next[j] = at[j] || next[j - 1];
				continue;
			}
			after = i;
			next[j] = element_fits(pattern, size, &after, text[j - 1]) && at[j - 1];
		}
		if (text_size == 0 && pattern[i] != '*')
			return false;
		memcpy(at, next, sizeof(at));
		i = after;
	}
	return at[text_size];
}

static void test_patterns_match_as_the_plainest_matcher_says(void **state)
{
	static const char elements[] = "aaaab*?[]^-\\", bytes[] = "aab-";
	struct random random;
	unsigned matched = 0;

	(void)state;
	random_seed(&random, 1);
	for (unsigned k = 0; k < 40000; k++) {
		char pattern[NODE_NAME_MAX], text[NODE_NAME_MAX];
		/* Long patterns have few special bytes and few mismatches, so that matching takes
		 * many attempts. */
		bool is_long = k % 8 == 0;
		uint32_t most = is_long ? NODE_NAME_MAX : 12;
		uint32_t size = 1 + (uint32_t)random_below(&random, most);
		uint32_t text_size = (uint32_t)random_below(&random, most + 1);
		memset(pattern, 'a', sizeof(pattern));
		memset(text, 'a', sizeof(text));
		for (uint32_t i = 0; i < size; i++) {
			if (!is_long || random_below(&random, 16) == 0)
				pattern[i] = elements[random_below(&random, sizeof(elements) - 1)];
		}
		for (uint32_t i = 0; i < text_size; i++) {
			if (!is_long || random_below(&random, 64) == 0)
				text[i] = bytes[random_below(&random, sizeof(bytes) - 1)];
		}
		if (is_long)
			pattern[0] = '*';
		bool expected = fits(pattern, size, text, text_size);
		assert_int_equal(glob_matches((struct slice){(uint8_t *)pattern, size},
		                              (struct slice){(uint8_t *)text, text_size}),
		                 expected);
		matched += expected;
	}
	assert_in_range(matched, 1000, 39000);
}

/* Returns how long it takes to match the pattern 200 times. */
static double match_seconds(struct slice pattern, struct slice text)
{
	clock_t began = clock();

	for (unsigned k = 0; k < 200; k++)
		assert_false(glob_matches(pattern, text));
	return (double)(clock() - began) / CLOCKS_PER_SEC;
}

/* Appends to a pattern of `used` bytes. Returns how many it has now. */
static size_t add(char pattern[NODE_NAME_MAX + 1], size_t used, const char *text)
{
	return used + (size_t)snprintf(pattern + used, NODE_NAME_MAX + 1 - used, "%s", text);
}

/* Clients choose patterns and names, and each event is matched with all patterns. So even the
 * slowest pattern may take only a few times as long as comparing the name with a text of the same
 * size. */
static void test_no_pattern_takes_long(void **state)
{
	static const struct {
		const char *begin, *middle, *end;
	} cases[] = {{"*", "a", "b"},     {"*", "[a-z]", "b"}, {"*", "?", "b"},
	             {"*[", "b", "]"},    {"*", "*a", "b"},    {"a*", "a", "b*b"},
	             {"*[", "b-c", "]*"}, {"*", "\\a", "b"},   {"*", "[^b]", "b"}};
	uint8_t name[NODE_NAME_MAX], plain[NODE_NAME_MAX];

	(void)state;
	memset(name, 'a', sizeof(name));
	memset(plain, 'a', sizeof(plain));
	plain[NODE_NAME_MAX - 1] = 'b';
	for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
		/* Try several sizes: a pattern of half the name's size takes the most attempts. */
		for (uint32_t size = 60; size <= NODE_NAME_MAX; size += 65) {
			char pattern[NODE_NAME_MAX + 1];
			size_t used = add(pattern, 0, cases[c].begin);
			while (used + strlen(cases[c].middle) + strlen(cases[c].end) <= size)
				used = add(pattern, used, cases[c].middle);
			used = add(pattern, used, cases[c].end);
			double least = 1e9;
			for (unsigned k = 0; k < ATTEMPTS; k++) {
				double yardstick =
				        match_seconds((struct slice){plain, NODE_NAME_MAX},
				                      (struct slice){name, NODE_NAME_MAX});
				double taken = match_seconds(
				        (struct slice){(uint8_t *)pattern, (uint32_t)used},
				        (struct slice){name, NODE_NAME_MAX});
				if (taken / yardstick < least)
					least = taken / yardstick;
			}
			assert_true(least < 30);
		}
	}
}

/* --- what subscriptions cost --- */

enum { MANY = 16000 };

static void subscribe_here(uint64_t session, bool pattern, const char *text)
{
	struct node_effect effect;

	assert_int_equal(node_subscribe(nodes.node[0], session, pattern, text, strlen(text), 0), 0);
	while (node_effect(nodes.node[0], &effect))
		;
}

/* Returns how long it takes to make so many subscriptions and to end them: of one session to
 * different texts, or of different sessions to the same text. */
static double subscribe_seconds(unsigned count, bool pattern, bool same)
{
	struct node_client client = {.pid = 1};
	static uint64_t sessions[MANY];
	char text[32] = "same";

	for (unsigned k = 0; k < count; k++)
		sessions[k] =
		        same || k == 0 ? node_session_open(nodes.node[0], &client, 0) : sessions[0];
	clock_t began = clock();
	for (unsigned k = 0; k < count; k++) {
		if (!same)
			snprintf(text, sizeof(text), "name-%u", k);
		subscribe_here(sessions[k], pattern, text);
	}
	for (unsigned k = count; k-- > 0;) {
		if (!same)
			snprintf(text, sizeof(text), "name-%u", k);
		node_unsubscribe(nodes.node[0], sessions[k], pattern, text, strlen(text), 0);
	}
	double taken = (double)(clock() - began) / CLOCKS_PER_SEC;
	for (unsigned k = 0; k < count; k++)
		node_session_close(nodes.node[0], sessions[k], 0);
	return taken;
}

/* If each cost more than the one before, eight times as many would cost 64 times as much. */
static void test_a_subscription_costs_the_same_however_many_there_are(void **state)
{
	static const struct {
		bool pattern, same;
	} cases[] = {{false, false}, {false, true}, {true, false}, {true, true}};

	(void)state;
	nodes.options.limits = (struct node_limits){.subscriptions = MANY, .patterns = MANY};
	nodes_start(&nodes, "central", 1);
	for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
		double least = 1e9;
		for (unsigned k = 0; k < ATTEMPTS; k++) {
			double few = subscribe_seconds(MANY / 8, cases[c].pattern, cases[c].same);
			double many = subscribe_seconds(MANY, cases[c].pattern, cases[c].same);
			if (many / few < least)
				least = many / few;
		}
		assert_true(least < 24);
	}
}

static void test_a_topic_stays_while_a_member_is_interested(void **state)
{
	(void)state;
	nodes_start(&nodes, "central", 2);
	uint64_t here = nodes_open(&nodes, 0), there = nodes_open(&nodes, 1);
	for (unsigned k = 0; k < 2; k++) {
		assert_int_equal(nodes_subscribe(&nodes, 0, here, k == 0, "x"), 0);
		nodes_deliver_all(&nodes);
		assert_int_equal(nodes_subscribe(&nodes, 1, there, k == 0, "x"), 0);
		nodes_deliver_all(&nodes);
		nodes_said(&nodes, there);
	}
	nodes_close(&nodes, 0, here);
	assert_int_equal(nodes_lock(&nodes, 0, nodes_open(&nodes, 0), "x"), 0);
	nodes_deliver_all(&nodes);
	assert_string_not_equal(nodes_said(&nodes, there), "");
	assert_string_not_equal(nodes_said(&nodes, there), "");
}

/* After a view each member hears of a topic once, however many sessions are interested. */
static void test_a_view_tells_each_topic_once(void **state)
{
	(void)state;
	nodes_start(&nodes, "central", 2);
	for (unsigned k = 0; k < 10; k++) {
		uint64_t session = nodes_open(&nodes, 0);
		assert_int_equal(nodes_subscribe(&nodes, 0, session, true, "*"), 0);
		nodes_deliver_all(&nodes);
	}
	nodes.frames = 0;
	nodes_view(&nodes);
	nodes_deliver_all(&nodes);
	uint64_t with_topics = nodes.frames;
	again();
	nodes_start(&nodes, "central", 2);
	nodes.frames = 0;
	nodes_view(&nodes);
	nodes_deliver_all(&nodes);
	assert_int_equal(with_topics, nodes.frames + 1);
}

/* --- how many there may be --- */

static void expect_subscribed(uint64_t session, bool pattern, const char *text, int expected)
{
	assert_int_equal(nodes_subscribe(&nodes, 0, session, pattern, text), expected);
	nodes_said(&nodes, session);
}

static void test_a_node_has_a_limit_for_all_its_sessions(void **state)
{
	(void)state;
	nodes.options.limits = (struct node_limits){.all_subscriptions = 3, .patterns = 2};
	nodes_start(&nodes, "central", 1);
	uint64_t first = nodes_open(&nodes, 0), second = nodes_open(&nodes, 0);
	expect_subscribed(first, true, "a*", 0);
	expect_subscribed(second, true, "a*", 0);
	expect_subscribed(first, true, "b*", BATON_EPATTERNS);
	expect_subscribed(first, true, "a*", 0); /* this subscription exists already */
	expect_subscribed(first, false, "b*", 0);
	expect_subscribed(second, false, "x", BATON_ESUBSCRIPTIONS);
	expect_subscribed(second, true, "a*", 0);
	/* A subscription that ends makes room, and so does a session. */
	assert_int_equal(
	        node_unsubscribe(nodes.node[0], session_id(first), true, "a*", 2, nodes.now), 1);
	expect_subscribed(first, true, "b*", 0);
	nodes_close(&nodes, 0, first);
	expect_subscribed(second, true, "c*", 0);
	expect_subscribed(second, false, "x", 0);
	expect_subscribed(second, false, "y", BATON_ESUBSCRIPTIONS);
}

static void test_a_user_leaves_room_for_others(void **state)
{
	static struct node_user one, other; /* sessions refer to them until the node is destroyed */

	(void)state;
	nodes.options.limits = (struct node_limits){.all_subscriptions = 16, .patterns = 8};
	nodes_start(&nodes, "central", 1);
	uint64_t session[3];
	char text[8];
	for (unsigned k = 0; k < 3; k++) {
		session[k] = nodes_open(&nodes, 0);
		node_session_user(nodes.node[0], session_id(session[k]), k < 2 ? &one : &other);
	}
	for (unsigned k = 0; k < 14; k++) {
		snprintf(text, sizeof(text), "%u", k);
		expect_subscribed(session[k % 2], k < 7, text, 0);
		if (k == 6)
			expect_subscribed(session[0], true, "more", BATON_EPATTERNS);
	}
	expect_subscribed(session[0], false, "more", BATON_ESUBSCRIPTIONS);
	expect_subscribed(session[2], true, "more", 0);
	expect_subscribed(session[2], true, "most", BATON_EPATTERNS);
	expect_subscribed(session[2], false, "more", 0);
	expect_subscribed(session[2], false, "most", BATON_ESUBSCRIPTIONS);
	nodes_close(&nodes, 0, session[1]);
	expect_subscribed(session[0], true, "more", 0);
	assert_int_equal(one.subscriptions, 8);
	assert_int_equal(one.patterns, 5);
	nodes_close(&nodes, 0, session[0]);
	nodes_close(&nodes, 0, session[2]);
	assert_int_equal(one.subscriptions + one.patterns + one.sessions, 0);
	assert_int_equal(other.subscriptions + other.patterns + other.sessions, 0);
}

/* Every event is matched with the patterns of all members, so a member that has more of them than
 * its own limit allows is cut off. */
static void test_a_member_has_a_limit_of_patterns(void **state)
{
	(void)state;
	nodes.options.limits.patterns = 3;
	nodes_start(&nodes, "central", 2);
	nodes.node[0]->limits.patterns = 2;
	uint64_t session = nodes_open(&nodes, 1);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(nodes_subscribe(&nodes, 1, session, true, i == 0 ? "a*" : "b*"),
		                 0);
		nodes_deliver_all(&nodes);
		nodes_said(&nodes, session);
	}
	/* A pattern that ends makes room for another. */
	node_unsubscribe(nodes.node[1], session_id(session), true, "a*", 2, nodes.now);
	nodes_take(&nodes, 1);
	nodes_deliver_all(&nodes);
	assert_int_equal(nodes_subscribe(&nodes, 1, session, true, "c*"), 0);
	nodes_deliver_all(&nodes);
	nodes_said(&nodes, session);
	assert_int_equal(nodes_subscribe(&nodes, 1, session, true, "d*"), 0);
	const struct test_frame *frame = nodes.link[1][0].first;
	assert_int_equal(node_receive(nodes.node[0], "b", frame->bytes, frame->size, nodes.now),
	                 BATON_EMESSAGE);
}

static void drop_two_events(uint64_t session)
{
	node_congested(nodes.node[0], 2, true, nodes.now);
	assert_int_equal(nodes_lock(&nodes, 0, session, "x"), 0);
	assert_int_equal(nodes_unlock(&nodes, 0, session, "x"), 1);
	node_congested(nodes.node[0], 2, false, nodes.now);
	nodes_take(&nodes, 0);
	nodes_deliver_all(&nodes);
}

/* All subscriptions are told that events were dropped, so this must not happen often. */
static void test_dropped_events_are_told_together(void **state)
{
	(void)state;
	nodes_start(&nodes, "suzuki-kasami", 2);
	uint64_t here = nodes_open(&nodes, 0), there = nodes_open(&nodes, 1);
	assert_int_equal(nodes_lock(&nodes, 0, here, "x"), 0); /* the token is here now */
	nodes_deliver_all(&nodes);
	assert_int_equal(nodes_unlock(&nodes, 0, here, "x"), 1);
	nodes_deliver_all(&nodes);
	assert_int_equal(nodes_subscribe(&nodes, 1, there, false, "x"), 0);
	nodes_deliver_all(&nodes);
	nodes_said(&nodes, there);
	drop_two_events(here);
	assert_string_equal(nodes_said(&nodes, there), "x dropped 0:2 a");
	for (unsigned i = 0; i < 4; i++)
		drop_two_events(here);
	assert_string_equal(nodes_said(&nodes, there), "");
	nodes_pass(&nodes, NODE_SILENCE_NS);
	assert_string_equal(nodes_said(&nodes, there), "x dropped 0:8 a");
	/* Nor is anything forgotten when the view ends. */
	drop_two_events(here);
	assert_string_equal(nodes_said(&nodes, there), "");
	nodes_view(&nodes);
	assert_string_equal(nodes_said(&nodes, there), "x dropped 0:2 a");
	assert_string_equal(nodes_said(&nodes, there), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(test_patterns_match_as_the_plainest_matcher_says),
	        TEST(test_no_pattern_takes_long),
	        TEST(test_a_subscription_costs_the_same_however_many_there_are),
	        TEST(test_a_topic_stays_while_a_member_is_interested),
	        TEST(test_a_view_tells_each_topic_once),
	        TEST(test_a_node_has_a_limit_for_all_its_sessions),
	        TEST(test_a_user_leaves_room_for_others),
	        TEST(test_a_member_has_a_limit_of_patterns),
	        TEST(test_dropped_events_are_told_together),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
