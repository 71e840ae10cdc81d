/*
 * Sessions that end with many locks: the node releases a few at a time, so that one client that
 * closes its connection does not keep the node from everything else.
 */
#include "../lib/node_fixture.h"

/* More locks than are released in one call, but no multiple of that number. */
enum { LOCKS = 100, LEASE_MS = 6000 };

static uint64_t held(uint32_t i)
{
	struct node_figures figures;

	node_figures(nodes.node[i], &figures);
	return figures.locks_held;
}

/* Opens a session that holds this many locks: PREFIX0, PREFIX1 … */
static uint64_t open_holder(const char *prefix, unsigned count)
{
	uint64_t session = nodes_open(&nodes, 0);
	char name[16];

	for (unsigned i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "%s%u", prefix, i);
		assert_int_equal(nodes_lock(&nodes, 0, session, name), 0);
		nodes_deliver_all(&nodes);
		assert_string_not_equal(nodes_said(&nodes, session), "");
	}
	return session;
}

static void tick(void)
{
	node_tick(nodes.node[0], nodes.now);
	nodes_take(&nodes, 0);
	nodes_deliver_all(&nodes);
}

static void begin_with_leases(uint32_t count)
{
	nodes.options.lease_ns = LEASE_MS * MILLISECOND;
	for (uint32_t i = 0; i < count; i++)
		nodes.acknowledged[i] = true;
	nodes_start(&nodes, "neilsen", count);
}

/* Makes the session one of a client that asks LEASE. Returns what is left of the lease. */
static uint64_t ask_lease(uint64_t session)
{
	uint64_t left, lapses;

	assert_int_equal(
	        node_session_lease(nodes.node[0], session_id(session), nodes.now, &left, &lapses),
	        0);
	return left;
}

static void test_many_locks_are_released_a_few_at_a_time(void **state)
{
	uint64_t before, most = 0;
	unsigned ticks = 0;

	(void)state;
	nodes_start(&nodes, "neilsen", 2);
	uint64_t holder = open_holder("x", LOCKS);
	nodes_close(&nodes, 0, holder);
	before = held(0);
	assert_in_range(before, LOCKS / 2, LOCKS - 1);
	/* The others have to be released at once, but not by a call that does something else. */
	assert_true(node_deadline(nodes.node[0]) <= nodes.now);
	uint64_t other = nodes_open(&nodes, 0);
	assert_int_equal(nodes_lock(&nodes, 0, other, "y"), 0);
	assert_int_equal(nodes_unlock(&nodes, 0, other, "y"), 1);
	assert_int_equal(held(0), before);
	for (; held(0) > 0; ticks++) {
		before = held(0);
		tick();
		most = before - held(0) > most ? before - held(0) : most;
	}
	assert_in_range(most, 1, LOCKS / 4);
	assert_true(node_deadline(nodes.node[0]) > nodes.now);
	/* Few locks are released in the call. */
	nodes_close(&nodes, 0, open_holder("z", 3));
	assert_int_equal(held(0), 0);
}

static void test_waiters_are_served_when_their_lock_is_released(void **state)
{
	(void)state;
	nodes_start(&nodes, "neilsen", 2);
	uint64_t holder = open_holder("x", LOCKS);
	uint64_t here = nodes_open(&nodes, 0), there = nodes_open(&nodes, 1);
	/* The oldest locks are released last. */
	assert_int_equal(nodes_lock(&nodes, 0, here, "x0"), 0);
	assert_int_equal(nodes_lock(&nodes, 1, there, "x1"), 0);
	nodes_deliver_all(&nodes);
	nodes_close(&nodes, 0, holder);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, here), "");
	assert_string_equal(nodes_said(&nodes, there), "");
	nodes_pass(&nodes, 0);
	assert_string_equal(nodes_said(&nodes, here), "fence 1:2");
	assert_string_equal(nodes_said(&nodes, there), "fence 1:2");
}

static void test_a_session_with_many_locks_does_not_delay_others(void **state)
{
	(void)state;
	nodes_start(&nodes, "neilsen", 1);
	uint64_t many = open_holder("x", 4 * LOCKS), few = open_holder("y", LOCKS / 4);
	nodes_close(&nodes, 0, many);
	nodes_close(&nodes, 0, few);
	uint64_t waiter = nodes_open(&nodes, 0);
	assert_int_equal(nodes_lock(&nodes, 0, waiter, "y0"), 0);
	while (strcmp(nodes_said(&nodes, waiter), "") == 0)
		tick();
	assert_true(held(0) > 2UL * LOCKS);
}

/* The user's sessions are gone, but its locks are not. Room for new sessions is there at once. */
static void test_locks_count_for_the_user_until_they_are_released(void **state)
{
	static struct node_user user;

	(void)state;
	nodes.options.limits.sessions = 1;
	nodes_start(&nodes, "neilsen", 1);
	uint64_t holder = nodes_open(&nodes, 0);
	node_session_user(nodes.node[0], session_id(holder), &user);
	for (unsigned i = 0; i < LOCKS; i++) {
		char name[16];
		snprintf(name, sizeof(name), "x%u", i);
		assert_int_equal(nodes_lock(&nodes, 0, holder, name), 0);
		nodes_said(&nodes, holder);
	}
	node_session_quit(nodes.node[0], session_id(holder), nodes.now);
	assert_int_equal(user.locks, held(0));
	assert_int_equal(user.holds, held(0));
	assert_int_equal(user.sessions, 1);
	assert_in_range(held(0), LOCKS / 2, LOCKS - 1);
	assert_int_equal(node_session_holds(nodes.node[0], session_id(holder)), 0);
	nodes_open(&nodes, 0);
	nodes_pass(&nodes, 0);
	assert_int_equal(user.locks, 0);
	assert_int_equal(user.sessions, 0);
}

static void test_orphans_whose_time_is_over_together_are_released_a_few_at_a_time(void **state)
{
	uint64_t left = 0;
	char prefix[16];

	(void)state;
	begin_with_leases(1);
	for (unsigned i = 0; i < LOCKS; i++) {
		snprintf(prefix, sizeof(prefix), "x%u.", i);
		uint64_t session = open_holder(prefix, 1);
		left = ask_lease(session);
		nodes_close(&nodes, 0, session);
	}
	nodes_pass(&nodes, left - 1);
	assert_int_equal(held(0), LOCKS);
	nodes.now++;
	tick();
	assert_in_range(held(0), LOCKS / 2, LOCKS - 1);
	nodes_pass(&nodes, 0);
	assert_int_equal(held(0), 0);
}

static unsigned count_losses(uint64_t session)
{
	unsigned count = 0;

	for (const char *said; *(said = nodes_said(&nodes, session)) != '\0';)
		count += strstr(said, "lost") != NULL;
	return count;
}

static bool evict(uint64_t session)
{
	bool more = node_session_evict(nodes.node[0], session_id(session), NODE_LOST_CONNECTION,
	                               nodes.now);

	nodes_take(&nodes, 0);
	return more;
}

/* The session lingers: it is told at once, and others get the locks when its time is over. */
static void test_many_locks_are_taken_away_a_few_at_a_time(void **state)
{
	unsigned count, all = 0;
	uint64_t before;
	bool more;

	(void)state;
	nodes_start(&nodes, "neilsen", 1);
	uint64_t session = open_holder("x", LOCKS), waiter = nodes_open(&nodes, 0);
	node_session_linger(nodes.node[0], session_id(session));
	do {
		more = evict(session);
		count = count_losses(session);
		assert_in_range(count, 1, LOCKS / 4);
		all += count;
	} while (more);
	/* Each loss is told once. */
	assert_int_equal(all, LOCKS);
	assert_false(evict(session));
	assert_int_equal(count_losses(session), 0);
	assert_int_equal(held(0), LOCKS);
	assert_int_equal(node_session_holds(nodes.node[0], session_id(session)), LOCKS);
	assert_int_equal(nodes_lock(&nodes, 0, waiter, "x0"), 0);
	do {
		before = held(0);
		more = node_session_forfeit(nodes.node[0], session_id(session), nodes.now);
		nodes_take(&nodes, 0);
		assert_in_range(before - held(0), 1, LOCKS / 4);
	} while (more);
	assert_false(node_session_losing(nodes.node[0], session_id(session)));
	assert_string_equal(nodes_said(&nodes, waiter), "fence 1:2");
	assert_int_equal(held(0), 1);
}

static void test_a_node_does_not_leave_before_all_are_released(void **state)
{
	(void)state;
	begin_with_leases(1);
	nodes_close(&nodes, 0, open_holder("x", LOCKS));
	node_depart(nodes.node[0], nodes.now);
	nodes_take(&nodes, 0);
	assert_int_equal(nodes.departures[0], 0);
	while (held(0) > 0) {
		assert_int_equal(nodes.departures[0], 0);
		tick();
	}
	assert_int_equal(nodes.departures[0], 1);
}

/* The new view has the locks that are left as held, and they are returned one after the other. */
static void test_a_view_may_begin_in_between(void **state)
{
	(void)state;
	nodes_start(&nodes, "neilsen", 2);
	uint64_t there = nodes_open(&nodes, 1);
	nodes_close(&nodes, 0, open_holder("x", LOCKS));
	tick();
	nodes_view(&nodes);
	nodes_deliver_all(&nodes);
	assert_int_equal(nodes_lock(&nodes, 1, there, "x0"), 0);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, there), "");
	nodes_pass(&nodes, 0);
	assert_string_equal(nodes_said(&nodes, there), "fence 2:1");
	assert_int_equal(held(0), 0);
}

/* A break hands the lock on: the client that held it has stopped. */
static void test_a_lock_may_be_broken_in_between(void **state)
{
	(void)state;
	nodes_start(&nodes, "neilsen", 1);
	uint64_t holder = open_holder("x", LOCKS), other = nodes_open(&nodes, 0);
	nodes_close(&nodes, 0, holder);
	uint64_t before = held(0);
	assert_int_equal(nodes_break(&nodes, 0, other, "x0", 1, 1), 0);
	assert_string_equal(nodes_said(&nodes, other), "number 1");
	assert_int_equal(held(0), before - 1);
	assert_int_equal(nodes_lock(&nodes, 0, other, "x0"), 0);
	assert_string_equal(nodes_said(&nodes, other), "fence 1:2");
	nodes_pass(&nodes, 0);
	assert_int_equal(held(0), 1);
}

/* Nothing is left to release after a lapse. */
static void test_a_lease_may_end_in_between(void **state)
{
	(void)state;
	begin_with_leases(1);
	nodes_close(&nodes, 0, open_holder("x", LOCKS));
	nodes.acknowledged[0] = false;
	nodes.now += LEASE_MS * MILLISECOND;
	node_renew(nodes.node[0], nodes.now);
	assert_int_equal(held(0), 0);
	node_tick(nodes.node[0], nodes.now);
	assert_true(node_deadline(nodes.node[0]) > nodes.now);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(test_many_locks_are_released_a_few_at_a_time),
	        TEST(test_waiters_are_served_when_their_lock_is_released),
	        TEST(test_a_session_with_many_locks_does_not_delay_others),
	        TEST(test_locks_count_for_the_user_until_they_are_released),
	        TEST(test_orphans_whose_time_is_over_together_are_released_a_few_at_a_time),
	        TEST(test_many_locks_are_taken_away_a_few_at_a_time),
	        TEST(test_a_node_does_not_leave_before_all_are_released),
	        TEST(test_a_view_may_begin_in_between),
	        TEST(test_a_lock_may_be_broken_in_between),
	        TEST(test_a_lease_may_end_in_between),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
