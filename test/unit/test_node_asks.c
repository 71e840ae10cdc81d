/*
 * The lock node: questions to all members, elections, events and BREAK.
 */
#include "../lib/node_fixture.h"

/* --- elections --- */

static void leader_everywhere(const char *expected)
{
	for (uint32_t i = 0; i < nodes.count; i++) {
		uint64_t session = nodes_open(&nodes, i);
		assert_int_equal(nodes_leader(&nodes, i, session, "job"), 0);
		nodes_deliver_all(&nodes);
		assert_string_equal(nodes_said(&nodes, session), expected);
		nodes_close(&nodes, i, session);
	}
}

static void test_an_elected_leader_is_known_everywhere(void **state)
{
	(void)state;
	nodes.options.topology = "line"; /* on a line, news must travel over several links */
	nodes_start(&nodes, "raymond", 4);
	leader_everywhere("nil");
	uint64_t leader = nodes_open(&nodes, 3), next = nodes_open(&nodes, 0);
	assert_int_equal(nodes_elect(&nodes, 3, leader, "job", "http://d"), 0);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, leader), "fence 1:1");
	leader_everywhere("leader 1:1 d http://d");
	assert_int_equal(nodes_elect(&nodes, 0, next, "job", ""), 0);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, next), "");
	assert_int_equal(nodes_unlock(&nodes, 3, leader, "job"), 1);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, next), "fence 1:2");
	leader_everywhere("leader 1:2 a ");
	assert_int_equal(nodes_unlock(&nodes, 0, next, "job"), 1);
	leader_everywhere("nil");
	/* A client that only holds the lock does not lead. */
	assert_int_equal(nodes_lock(&nodes, 0, next, "job"), 0);
	nodes_deliver_all(&nodes);
	leader_everywhere("nil");
}

static void test_elect_is_answered_when_all_have_heard(void **state)
{
	(void)state;
	nodes_start(&nodes, "neilsen", 3);
	uint64_t leader = nodes_open(&nodes, 0);
	const char *name = nodes_name_at(&nodes, 0, 0);
	nodes.link[2][0].cut = true;
	assert_int_equal(nodes_elect(&nodes, 0, leader, name, "v"), 0);
	nodes_pass(&nodes, 10000 * MILLISECOND);
	assert_string_equal(nodes_said(&nodes, leader), "");
	assert_int_equal(nodes_lock(&nodes, 0, leader, "other"), BATON_EBUSY);
	nodes.link[2][0].cut = false;
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, leader), "fence 1:1");
}

/* A client that was let in first refuses the others that said NOWAIT; they lead nothing. */
static void test_an_elect_that_is_refused_leaves_room_for_a_leader(void **state)
{
	(void)state;
	nodes.options.limits.leaders = 1;
	nodes_start(&nodes, "central", 2);
	uint64_t first = nodes_open(&nodes, 1), refused = nodes_open(&nodes, 1);
	const char *name = nodes_name_at(&nodes, 0, 0);
	assert_int_equal(nodes_lock_for(&nodes, 1, first, name, NODE_NOWAIT, 0), 0);
	assert_int_equal(nodes_elect_for(&nodes, 1, refused, name, "v", NODE_NOWAIT), 0);
	assert_int_equal(nodes_elect(&nodes, 1, nodes_open(&nodes, 1), "other", "v"),
	                 BATON_ELEADERS);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, first), "fence 1:1");
	assert_string_equal(nodes_said(&nodes, refused), "nil");
	assert_int_equal(nodes_elect(&nodes, 1, refused, "other", "v"), 0);
}

static void test_elect_does_not_wait_for_who_left_the_view(void **state)
{
	(void)state;
	nodes_start(&nodes, "neilsen", 3);
	uint64_t leader = nodes_open(&nodes, 0), asking = nodes_open(&nodes, 1);
	const char *name = nodes_name_at(&nodes, 0, 0);
	nodes.link[2][0].cut = true;
	assert_int_equal(nodes_elect(&nodes, 0, leader, name, "v"), 0);
	nodes_deliver_all(&nodes);
	nodes.member[2] = false;
	nodes_view(&nodes);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, leader), "fence 1:1");
	assert_int_equal(nodes_leader(&nodes, 1, asking, name), 0);
	nodes_deliver_all(&nodes);
	char expected[64];
	snprintf(expected, sizeof(expected), "leader 1:1 a v");
	assert_string_equal(nodes_said(&nodes, asking), expected);
}

/* If the leader's node is silent, what the other members remember counts. If that node answers,
 * only its answer counts. */
static void test_a_silent_leader_is_remembered(void **state)
{
	(void)state;
	nodes_start(&nodes, "neilsen", 3);
	uint64_t leader = nodes_open(&nodes, 0), asking = nodes_open(&nodes, 1);
	const char *name = nodes_name_at(&nodes, 0, 0);
	assert_int_equal(nodes_elect(&nodes, 0, leader, name, "v"), 0);
	nodes_deliver_all(&nodes);
	nodes.link[0][1].cut = true;
	assert_int_equal(nodes_leader(&nodes, 1, asking, name), 0);
	nodes_pass(&nodes, NODE_SILENCE_NS - 1);
	assert_string_equal(nodes_said(&nodes, asking), "");
	nodes_pass(&nodes, 1);
	assert_string_equal(nodes_said(&nodes, asking), "leader 1:1 a v, silent a");
	nodes.link[2][1].cut = true;
	assert_int_equal(nodes_leader(&nodes, 1, asking, "other"), 0);
	nodes_pass(&nodes, NODE_SILENCE_NS);
	assert_string_equal(nodes_said(&nodes, asking), "nil, silent a c");
	nodes.link[0][1].cut = nodes.link[2][1].cut = false;
	nodes_deliver_all(&nodes);
	/* c has not heard that a resigned. */
	nodes.link[0][2].cut = true;
	assert_int_equal(nodes_unlock(&nodes, 0, leader, name), 1);
	assert_int_equal(nodes_leader(&nodes, 1, asking, name), 0);
	nodes_deliver(&nodes, 0, 1);
	nodes_deliver(&nodes, 1, 0);
	nodes_deliver(&nodes, 1, 2);
	nodes_deliver_all(&nodes);
	nodes.link[0][2].cut = false;
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, asking), "nil");
}

/* Everybody hears that the leader has resigned; then the leader's node is silent. */
static void test_who_led_is_forgotten(void **state)
{
	(void)state;
	nodes_start(&nodes, "neilsen", 3);
	uint64_t leader = nodes_open(&nodes, 0), asking = nodes_open(&nodes, 1);
	assert_int_equal(nodes_elect(&nodes, 0, leader, "job", "v"), 0);
	nodes_deliver_all(&nodes);
	assert_int_equal(nodes_unlock(&nodes, 0, leader, "job"), 1);
	nodes_deliver_all(&nodes);
	nodes.link[0][1].cut = true;
	assert_int_equal(nodes_leader(&nodes, 1, asking, "job"), 0);
	nodes_pass(&nodes, NODE_SILENCE_NS);
	assert_string_equal(nodes_said(&nodes, asking), "nil, silent a");
}

/* The campaign of a is over before c hears of it, and b leads. The late news of a must not replace
 * b. */
static void test_late_news_of_an_older_leader_hide_nobody(void **state)
{
	(void)state;
	nodes_start(&nodes, "neilsen", 3);
	const char *name = nodes_name_at(&nodes, 0, 0);
	uint64_t first = nodes_open(&nodes, 0), second = nodes_open(&nodes, 1),
	         asking = nodes_open(&nodes, 2);
	nodes.link[0][2].cut = true;
	assert_int_equal(nodes_elect(&nodes, 0, first, name, "v"), 0);
	nodes_deliver_all(&nodes);
	nodes_close(&nodes, 0, first);
	assert_int_equal(nodes_elect(&nodes, 1, second, name, "w"), 0);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, second), "fence 1:2");
	nodes.link[0][2].cut = false;
	nodes_deliver_all(&nodes);
	/* Now c must rely on what it remembers. */
	nodes.link[0][2].cut = nodes.link[1][2].cut = true;
	assert_int_equal(nodes_leader(&nodes, 2, asking, name), 0);
	nodes_pass(&nodes, NODE_SILENCE_NS);
	assert_string_equal(nodes_said(&nodes, asking), "leader 1:2 b w, silent a b");
}

static void test_a_leader_is_known_to_who_joins(void **state)
{
	(void)state;
	nodes_create(&nodes, "neilsen", 3);
	nodes.member[2] = false;
	nodes_view(&nodes);
	nodes_deliver_all(&nodes);
	uint64_t leader = nodes_open(&nodes, 0), asking = nodes_open(&nodes, 2);
	assert_int_equal(nodes_elect(&nodes, 0, leader, "job", "v"), 0);
	nodes_deliver_all(&nodes);
	assert_int_equal(nodes_leader(&nodes, 2, asking, "job"), BATON_ENOVIEW);
	nodes.member[2] = true;
	nodes_view(&nodes);
	nodes_deliver_all(&nodes);
	nodes.link[0][2].cut = true;
	assert_int_equal(nodes_leader(&nodes, 2, asking, "job"), 0);
	nodes_pass(&nodes, NODE_SILENCE_NS);
	assert_string_equal(nodes_said(&nodes, asking), "leader 1:1 a v, silent a");
}

/* --- BREAK --- */

static void test_break_takes_the_lock_from_its_holder(void **state)
{
	(void)state;
	nodes.options.topology = "ring";
	nodes_start(&nodes, "helary", 5);
	uint64_t holder = nodes_open(&nodes, 3),
	         waiter = nodes_open(&nodes, 1), operator= nodes_open(&nodes, 0);
	assert_int_equal(nodes_lock(&nodes, 3, holder, "x"), 0);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, holder), "fence 1:1");
	assert_int_equal(nodes_lock(&nodes, 1, waiter, "x"), 0);
	nodes_deliver_all(&nodes);
	assert_int_equal(nodes_break(&nodes, 0, operator, "x", 1, 2), 0);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, operator), "number 0");
	assert_int_equal(nodes_break(&nodes, 0, operator, "x", 1, 1), 0);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, operator), "number 1");
	assert_string_equal(nodes_said(&nodes, holder), "lost x 1:1");
	assert_string_equal(nodes_said(&nodes, waiter), "fence 1:2");
	assert_int_equal(nodes_unlock(&nodes, 3, holder, "x"), 0);
	/* Break the lock of a client here, and the lock of a client that leads and was not told
	 * yet. */
	assert_int_equal(nodes_elect(&nodes, 0, holder = nodes_open(&nodes, 0), "y", "v"), 0);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, holder), "fence 1:1");
	assert_int_equal(nodes_break(&nodes, 0, operator, "y", 1, 1), 0);
	assert_string_equal(nodes_said(&nodes, operator), "number 1");
	assert_string_equal(nodes_said(&nodes, holder), "lost y 1:1");
}

static void test_who_lingers_is_inside_until_it_has_stopped(void **state)
{
	(void)state;
	nodes_start(&nodes, "neilsen", 3);
	uint64_t holder = nodes_open(&nodes, 0),
	         waiter = nodes_open(&nodes, 1), operator= nodes_open(&nodes, 2);
	uint64_t listener = nodes_open(&nodes, 0);
	node_session_linger(nodes.node[0], session_id(holder));
	assert_int_equal(nodes_subscribe(&nodes, 0, listener, false, "x"), 0);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, listener), "number 1");
	for (uint64_t round = 0; round < 2; round++) {
		assert_int_equal(nodes_lock(&nodes, 0, holder, "x"), 0);
		nodes_deliver_all(&nodes);
		assert_string_equal(nodes_said(&nodes, holder),
		                    round == 0 ? "fence 1:1" : "fence 1:3");
		assert_int_equal(nodes_lock(&nodes, 1, waiter, "x"), 0);
		nodes_deliver_all(&nodes);
		assert_int_equal(nodes_break(&nodes, 2, operator, "x", 1, 1 + 2 * round), 0);
		nodes_deliver_all(&nodes);
		assert_string_equal(nodes_said(&nodes, operator), "number 1");
		assert_string_equal(nodes_said(&nodes, holder),
		                    round == 0 ? "lost x 1:1" : "lost x 1:3");
		/* The holder was told, and nobody else is let in. The lock cannot be broken
		 * again. */
		assert_string_equal(nodes_said(&nodes, waiter), "");
		assert_int_equal(nodes_break(&nodes, 2, operator, "x", 1, 1 + 2 * round), 0);
		nodes_deliver_all(&nodes);
		assert_string_equal(nodes_said(&nodes, operator), "number 0");
		assert_string_equal(nodes_said(&nodes, holder), "");
		if (round == 0)
			assert_int_equal(nodes_unlock(&nodes, 0, holder, "x"), 0);
		else
			nodes_close(&nodes, 0, holder);
		nodes_deliver_all(&nodes);
		assert_string_equal(nodes_said(&nodes, waiter),
		                    round == 0 ? "fence 1:2" : "fence 1:4");
		assert_int_equal(nodes_unlock(&nodes, 1, waiter, "x"), 1);
		nodes_deliver_all(&nodes);
		/* The end of the hold is reported only once. */
		assert_string_equal(nodes_said(&nodes, listener),
		                    round == 0 ? "x granted 1:1 a" : "x granted 1:3 a");
		assert_string_equal(nodes_said(&nodes, listener),
		                    round == 0 ? "x lost 1:1 a broken uid 7 pid 102 at c"
		                               : "x lost 1:3 a broken uid 7 pid 102 at c");
		assert_string_equal(nodes_said(&nodes, listener),
		                    round == 0 ? "x granted 1:2 b" : "x granted 1:4 b");
		assert_string_equal(nodes_said(&nodes, listener),
		                    round == 0 ? "x released 1:2 b" : "x released 1:4 b");
	}
}

static void test_who_is_evicted_has_lost_all(void **state)
{
	(void)state;
	nodes_start(&nodes, "neilsen", 2);
	for (int lingers = 0; lingers < 2; lingers++) {
		uint64_t holder = nodes_open(&nodes, 0), waiter = nodes_open(&nodes, 1);
		if (lingers)
			node_session_linger(nodes.node[0], session_id(holder));
		assert_false(nodes_evict(&nodes, 0, holder));
		for (char name[] = "x"; name[0] <= 'y'; name[0]++) {
			assert_int_equal(nodes_lock(&nodes, 0, holder, name), 0);
			nodes_deliver_all(&nodes);
			assert_memory_equal(nodes_said(&nodes, holder), "fence", 5);
		}
		assert_int_equal(nodes_lock(&nodes, 1, waiter, "x"), 0);
		nodes_deliver_all(&nodes);
		assert_int_equal(nodes_evict(&nodes, 0, holder), lingers);
		nodes_deliver_all(&nodes);
		assert_memory_equal(nodes_said(&nodes, holder), "lost y", 6);
		assert_memory_equal(nodes_said(&nodes, holder), "lost x", 6);
		assert_int_equal(nodes_evict(&nodes, 0, holder), lingers);
		nodes_deliver_all(&nodes);
		assert_string_equal(nodes_said(&nodes, holder),
		                    ""); /* the holder is told only once */
		const char *granted = nodes_said(&nodes, waiter);
		assert_int_equal(granted[0] == '\0', lingers);
		nodes_close(&nodes, 0, holder);
		nodes_deliver_all(&nodes);
		if (lingers)
			assert_memory_equal(nodes_said(&nodes, waiter), "fence", 5);
		nodes_close(&nodes, 1, waiter);
		nodes_deliver_all(&nodes);
	}
}

static void test_break_of_a_candidate_that_waits_for_ears(void **state)
{
	(void)state;
	nodes_start(&nodes, "central", 2);
	uint64_t leader = nodes_open(&nodes, 0), operator= nodes_open(&nodes, 0);
	nodes.link[1][0].cut = true;
	assert_int_equal(nodes_elect(&nodes, 0, leader, "x", "v"), 0);
	assert_int_equal(nodes_break(&nodes, 0, operator, "x", 1, 1), 0);
	assert_string_equal(nodes_said(&nodes, leader), "lost x 1:1");
	assert_string_equal(nodes_said(&nodes, leader), "error -14");
}

static void test_break_of_one_lock_is_nothing_to_another(void **state)
{
	(void)state;
	nodes_start(&nodes, "central", 1);
	uint64_t session = nodes_open(&nodes, 0),
	         other = nodes_open(&nodes, 0), operator= nodes_open(&nodes, 0);
	assert_int_equal(nodes_lock(&nodes, 0, other, "x"), 0);
	assert_int_equal(nodes_lock(&nodes, 0, session, "y"), 0);
	assert_string_equal(nodes_said(&nodes, session), "fence 1:1");
	assert_int_equal(nodes_elect(&nodes, 0, session, "x", "v"), 0);
	assert_int_equal(nodes_break(&nodes, 0, operator, "y", 1, 1), 0);
	assert_string_equal(nodes_said(&nodes, session), "lost y 1:1");
	assert_string_equal(nodes_said(&nodes, session), "");
	assert_int_equal(nodes_unlock(&nodes, 0, other, "x"), 1);
	assert_string_equal(nodes_said(&nodes, session), "fence 1:2");
}

static void test_break_says_if_somebody_is_silent(void **state)
{
	(void)state;
	nodes_start(&nodes, "central", 3);
	uint64_t operator= nodes_open(&nodes, 0);
	nodes.link[2][0].cut = true;
	assert_int_equal(nodes_break(&nodes, 0, operator, "x", 1, 1), 0);
	nodes_pass(&nodes, NODE_SILENCE_NS);
	assert_string_equal(nodes_said(&nodes, operator), "error -15 c");
}

static void test_break_ends_a_hold_that_was_carried_over(void **state)
{
	(void)state;
	nodes_start(&nodes, "neilsen", 3);
	uint64_t holder = nodes_open(&nodes, 1), operator= nodes_open(&nodes, 0),
	         waiter = nodes_open(&nodes, 2);
	assert_int_equal(nodes_lock(&nodes, 1, holder, "x"), 0);
	nodes_deliver_all(&nodes);
	nodes_view(&nodes);
	nodes_deliver_all(&nodes);
	assert_int_equal(nodes_lock(&nodes, 2, waiter, "x"), 0);
	assert_int_equal(nodes_break(&nodes, 0, operator, "x", 1, 1), 0);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, operator), "number 1");
	assert_string_equal(nodes_said(&nodes, waiter), "fence 2:1");
}

/* --- events --- */

static void test_events_of_all_members_are_told(void **state)
{
	(void)state;
	nodes.options.topology = "line";
	nodes_start(&nodes, "raymond", 3);
	uint64_t named = nodes_open(&nodes, 0), client = nodes_open(&nodes, 2);
	assert_int_equal(nodes_subscribe(&nodes, 0, named, false, "x"), 0);
	assert_string_equal(nodes_said(&nodes, named),
	                    ""); /* no reply before all members have heard */
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, named), "number 1");
	assert_int_equal(nodes_subscribe(&nodes, 0, named, true, "[xy]*"), 0);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, named), "number 2");
	assert_int_equal(nodes_lock(&nodes, 2, client, "x"), 0);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, named), "x granted 1:1 c");
	assert_string_equal(nodes_said(&nodes, named),
	                    "x granted 1:1 c"); /* the event of the pattern follows */
	assert_int_equal(nodes_unlock(&nodes, 2, client, "x"), 1);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, named), "x released 1:1 c");
	assert_string_equal(nodes_said(&nodes, named), "x released 1:1 c");
	nodes_said(&nodes, client);
	assert_int_equal(nodes_elect(&nodes, 2, client, "yes", "v"), 0);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, named), "yes granted 1:1 c");
	assert_string_equal(nodes_said(&nodes, named), "yes leader 1:1 c v");
	assert_int_equal(nodes_break(&nodes, 0, nodes_open(&nodes, 0), "yes", 1, 1), 0);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, named), "yes lost 1:1 c broken uid 7 pid 100 at a");
	assert_string_equal(nodes_said(&nodes, named), "");
	/* Events that nobody subscribed to are not sent. */
	assert_int_equal(
	        node_unsubscribe(nodes.node[0], session_id(named), true, NULL, 0, nodes.now), 1);
	assert_int_equal(
	        node_unsubscribe(nodes.node[0], session_id(named), false, "x", 1, nodes.now), 0);
	nodes_take(&nodes, 0);
	nodes_deliver_all(&nodes);
	uint64_t last = nodes_open(&nodes, 2);
	assert_int_equal(nodes_lock(&nodes, 2, last, "x"), 0);
	assert_string_equal(nodes_said(&nodes, last), "fence 1:2");
	nodes.frames = 0;
	assert_int_equal(nodes_unlock(&nodes, 2, last, "x"), 1);
	assert_int_equal(nodes.frames, 0);
}

static void test_subscriptions_outlive_a_view(void **state)
{
	(void)state;
	nodes_start(&nodes, "neilsen", 3);
	uint64_t listener = nodes_open(&nodes, 0), client = nodes_open(&nodes, 2);
	assert_int_equal(nodes_subscribe(&nodes, 0, listener, false, "x"), 0);
	nodes_deliver_all(&nodes);
	nodes_said(&nodes, listener);
	assert_int_equal(nodes_lock(&nodes, 2, client, "x"), 0);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, listener), "x granted 1:1 c");
	nodes_view(&nodes);
	nodes_deliver_all(&nodes);
	nodes_close(&nodes, 2, client);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, listener), "x released 1:1 c");
	client = nodes_open(&nodes, 1);
	assert_int_equal(nodes_lock(&nodes, 1, client, "x"), 0);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, listener), "x granted 2:1 b");
}

/* b releases, c is let in, and c's event arrives first. */
static uint64_t overtake(void)
{
	nodes_start(&nodes, "neilsen", 3);
	uint64_t listener = nodes_open(&nodes, 0), one = nodes_open(&nodes, 1),
	         two = nodes_open(&nodes, 2);
	assert_int_equal(nodes_subscribe(&nodes, 0, listener, false, "x"), 0);
	nodes_deliver_all(&nodes);
	nodes_said(&nodes, listener);
	assert_int_equal(nodes_lock(&nodes, 1, one, "x"), 0);
	nodes_deliver_all(&nodes);
	assert_int_equal(nodes_lock(&nodes, 2, two, "x"), 0);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, listener), "x granted 1:1 b");
	nodes.link[1][0].cut = true;
	assert_int_equal(nodes_unlock(&nodes, 1, one, "x"), 1);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, two), "fence 1:2");
	assert_string_equal(nodes_said(&nodes, listener), "");
	return listener;
}

static void test_events_come_in_the_order_of_their_fences(void **state)
{
	(void)state;
	uint64_t listener = overtake();
	nodes.link[1][0].cut = false;
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, listener), "x released 1:1 b");
	assert_string_equal(nodes_said(&nodes, listener), "x granted 1:2 c");
}

static void test_the_end_of_a_carried_hold_is_told_before_the_next_grant(void **state)
{
	(void)state;
	nodes_start(&nodes, "neilsen", 3); /* all members are linked, and c is on nobody's route */
	uint64_t listener = nodes_open(&nodes, 2), client = nodes_open(&nodes, 0),
	         next = nodes_open(&nodes, 1);
	assert_int_equal(nodes_subscribe(&nodes, 2, listener, false, "x"), 0);
	nodes_deliver_all(&nodes);
	nodes_said(&nodes, listener);
	assert_int_equal(nodes_lock(&nodes, 0, client, "x"), 0);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, listener), "x granted 1:1 a");
	nodes_view(&nodes);
	nodes_deliver_all(&nodes);
	nodes.link[0][2].cut = true;
	nodes_close(&nodes, 0, client);
	assert_int_equal(nodes_lock(&nodes, 1, next, "x"), 0);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, listener), "");
	nodes.link[0][2].cut = false;
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, listener), "x released 1:1 a");
	assert_string_equal(nodes_said(&nodes, listener), "x granted 2:1 b");
}

/* Here the subscriber was not told of the beginning of the hold. */
static void test_the_end_of_an_unknown_hold_is_told_before_the_next_grant(void **state)
{
	(void)state;
	nodes_start(&nodes, "neilsen", 3);
	uint64_t listener = nodes_open(&nodes, 2), client = nodes_open(&nodes, 0),
	         next = nodes_open(&nodes, 1);
	assert_int_equal(nodes_lock(&nodes, 0, client, "x"), 0);
	nodes_deliver_all(&nodes);
	nodes_view(&nodes);
	nodes_deliver_all(&nodes);
	assert_int_equal(nodes_subscribe(&nodes, 2, listener, false, "x"), 0);
	nodes_deliver_all(&nodes);
	nodes_said(&nodes, listener);
	nodes.link[0][2].cut = true;
	nodes_close(&nodes, 0, client);
	assert_int_equal(nodes_lock(&nodes, 1, next, "x"), 0);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, listener), "");
	nodes.link[0][2].cut = false;
	nodes_pass(&nodes, NODE_SILENCE_NS);
	assert_string_equal(nodes_said(&nodes, listener), "x released 1:1 a");
	assert_string_equal(nodes_said(&nodes, listener), "x granted 2:1 b");
}

static void test_events_do_not_wait_for_ever(void **state)
{
	(void)state;
	uint64_t listener = overtake();
	nodes_pass(&nodes, NODE_SILENCE_NS);
	assert_string_equal(nodes_said(&nodes, listener), "x granted 1:2 c");
	nodes.link[1][0].cut = false;
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, listener), ""); /* the event is too late */
}

/* The missing event belongs to the old epoch, and never arrives. */
static void test_events_do_not_wait_for_what_a_new_view_has_lost(void **state)
{
	(void)state;
	uint64_t listener = overtake();
	nodes_view(&nodes);
	assert_string_equal(nodes_said(&nodes, listener), "x granted 1:2 c");
}

static void test_subscribe_does_not_wait_for_who_is_silent(void **state)
{
	(void)state;
	nodes_start(&nodes, "central", 2);
	uint64_t listener = nodes_open(&nodes, 0);
	nodes.link[1][0].cut = true;
	assert_int_equal(nodes_subscribe(&nodes, 0, listener, false, "x"), 0);
	nodes_pass(&nodes, NODE_SILENCE_NS);
	assert_string_equal(nodes_said(&nodes, listener), "number 1");
}

static void test_patterns_match_as_in_redis(void **state)
{
	static const struct {
		const char *pattern, *text;
		bool matches;
	} cases[] = {
	        {"*", "x", true},       {"a*c", "abbc", true},      {"a*c", "abcd", false},
	        {"a?c", "abc", true},   {"a?c", "ac", false},       {"[abc]", "b", true},
	        {"[abc]", "d", false},  {"[^abc]", "d", true},      {"[^abc]", "a", false},
	        {"[a-c]x", "bx", true}, {"[c-a]x", "bx", true},     {"[a-c]x", "dx", false},
	        {"\\*", "*", true},     {"\\*", "x", false},        {"[\\]]", "]", true},
	        {"a**b", "ab", true},   {"*a*b*c", "xaybzc", true}, {"*a*b*c", "xaybz", false},
	        {"[abc", "b", true},    {"x", "xy", false},         {"xy", "x", false},
	};

	(void)state;
	nodes_start(&nodes, "central", 1);
	for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
		uint64_t listener = nodes_open(&nodes, 0), client = nodes_open(&nodes, 0);
		assert_int_equal(nodes_subscribe(&nodes, 0, listener, true, cases[k].pattern), 0);
		nodes_said(&nodes, listener);
		assert_int_equal(nodes_lock(&nodes, 0, client, cases[k].text), 0);
		nodes_pass(&nodes,
		           /* Names occur again, so not every grant is a first one. */
		           NODE_SILENCE_NS);
		assert_int_equal(strlen(nodes_said(&nodes, listener)) != 0, cases[k].matches);
		nodes_close(&nodes, 0, listener);
		nodes_close(&nodes, 0, client);
	}
}

/* Trying all combinations would take ages. */
static void test_a_pattern_of_stars_takes_no_time(void **state)
{
	char pattern[NODE_NAME_MAX + 1], name[NODE_NAME_MAX + 1];

	(void)state;
	for (size_t i = 0; i < NODE_NAME_MAX; i++) {
		pattern[i] = i % 2 == 0 ? '*' : 'a';
		name[i] = 'a';
	}
	pattern[NODE_NAME_MAX - 1] = 'b';
	pattern[NODE_NAME_MAX] = name[NODE_NAME_MAX] = '\0';
	nodes_start(&nodes, "central", 1);
	uint64_t listener = nodes_open(&nodes, 0);
	assert_int_equal(nodes_subscribe(&nodes, 0, listener, true, pattern), 0);
	nodes_said(&nodes, listener);
	assert_int_equal(nodes_lock(&nodes, 0, nodes_open(&nodes, 0), name), 0);
	assert_string_equal(nodes_said(&nodes, listener), "");
}

/* A question to all crosses each link of a ring at most once in each direction, and ends. */
static void test_a_flood_ends(void **state)
{
	(void)state;
	nodes.options.topology = "ring";
	nodes_start(&nodes, "helary", 6);
	uint64_t session = nodes_open(&nodes, 0);
	nodes.frames = 0;
	assert_int_equal(nodes_leader(&nodes, 0, session, "x"), 0);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, session), "nil");
	/* The question takes 7 frames: 2 from the origin, and each other member passes it on once
	 * or not at all. The answers take 1 + 2 + 3 + 2 + 1 hops. */
	assert_int_equal(nodes.frames, 7 + 9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(test_an_elected_leader_is_known_everywhere),
	        TEST(test_elect_is_answered_when_all_have_heard),
	        TEST(test_an_elect_that_is_refused_leaves_room_for_a_leader),
	        TEST(test_elect_does_not_wait_for_who_left_the_view),
	        TEST(test_a_silent_leader_is_remembered),
	        TEST(test_who_led_is_forgotten),
	        TEST(test_late_news_of_an_older_leader_hide_nobody),
	        TEST(test_a_leader_is_known_to_who_joins),
	        TEST(test_break_takes_the_lock_from_its_holder),
	        TEST(test_who_lingers_is_inside_until_it_has_stopped),
	        TEST(test_who_is_evicted_has_lost_all),
	        TEST(test_break_of_a_candidate_that_waits_for_ears),
	        TEST(test_break_of_one_lock_is_nothing_to_another),
	        TEST(test_break_says_if_somebody_is_silent),
	        TEST(test_break_ends_a_hold_that_was_carried_over),
	        TEST(test_events_of_all_members_are_told),
	        TEST(test_subscriptions_outlive_a_view),
	        TEST(test_events_come_in_the_order_of_their_fences),
	        TEST(test_the_end_of_a_carried_hold_is_told_before_the_next_grant),
	        TEST(test_the_end_of_an_unknown_hold_is_told_before_the_next_grant),
	        TEST(test_events_do_not_wait_for_ever),
	        TEST(test_events_do_not_wait_for_what_a_new_view_has_lost),
	        TEST(test_subscribe_does_not_wait_for_who_is_silent),
	        TEST(test_patterns_match_as_in_redis),
	        TEST(test_a_pattern_of_stars_takes_no_time),
	        TEST(test_a_flood_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
