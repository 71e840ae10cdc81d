/*
 * The lock node: locks, queues, tokens that circulate, limits.
 */
#include "../lib/node_fixture.h"

static const struct algorithm *mutex_number(size_t k)
{
	for (size_t i = 0; algorithms[i] != NULL; i++) {
		if (algorithms[i]->kind == KIND_MUTEX && k-- == 0)
			return algorithms[i];
	}
	return NULL;
}

static void test_a_cluster_of_one_sends_nothing(void **state)
{
	(void)state;
	for (size_t k = 0; mutex_number(k) != NULL; k++) {
		nodes_start(&nodes, mutex_number(k)->name, 1);
		uint64_t session = nodes_open(&nodes, 0);
		for (unsigned i = 1; i <= 3; i++) {
			char fence[32];
			snprintf(fence, sizeof(fence), "fence 1:%u", i);
			assert_int_equal(nodes_lock(&nodes, 0, session, "x"), 0);
			assert_string_equal(nodes_said(&nodes, session), fence);
			assert_int_equal(nodes_unlock(&nodes, 0, session, "x"), 1);
		}
		assert_int_equal(nodes.frames, 0);
		assert_true(nodes_deadline(&nodes) == NODE_NEVER);
		again();
	}
}

/* Runs every algorithm on every possible number of members, and asks at each of them in turn. */
static void test_every_algorithm_serves_every_member(void **state)
{
	(void)state;
	for (size_t k = 0; mutex_number(k) != NULL; k++) {
		for (uint32_t count = 2; count <= 6; count++) {
			nodes_start(&nodes, mutex_number(k)->name, count);
			uint64_t session[NODES_MOST];
			for (uint32_t i = 0; i < count; i++)
				session[i] = nodes_open(&nodes, i);
			for (unsigned turn = 1; turn <= 4 * count; turn++) {
				uint32_t i = turn * 7 % count;
				char fence[32];
				snprintf(fence, sizeof(fence), "fence 1:%u", turn);
				assert_int_equal(nodes_lock(&nodes, i, session[i], "x"), 0);
				nodes_pass(&nodes, 1000 * MILLISECOND);
				assert_string_equal(nodes_said(&nodes, session[i]), fence);
				assert_int_equal(nodes_unlock(&nodes, i, session[i], "x"), 1);
			}
			nodes_pass(&nodes, 1000 * MILLISECOND);
			assert_true(nodes_deadline(&nodes) == NODE_NEVER);
			again();
		}
	}
}

/* All members ask at once, again and again. At most one client may be inside, and all must get
 * in. */
static void test_every_algorithm_serves_a_crowd(void **state)
{
	enum { MEMBERS = 4, EACH = 2, ROUNDS = 5 };

	(void)state;
	for (size_t k = 0; mutex_number(k) != NULL; k++) {
		nodes_start(&nodes, mutex_number(k)->name, MEMBERS);
		uint64_t session[MEMBERS * EACH], last = 0;
		for (uint32_t s = 0; s < MEMBERS * EACH; s++)
			session[s] = nodes_open(&nodes, s % MEMBERS);
		for (unsigned round = 0; round < ROUNDS; round++) {
			for (uint32_t s = 0; s < MEMBERS * EACH; s++)
				assert_int_equal(nodes_lock(&nodes, s % MEMBERS, session[s], "x"),
				                 0);
			for (unsigned turn = 0; turn < MEMBERS * EACH; turn++) {
				nodes_pass(&nodes, 1000 * MILLISECOND);
				assert_int_equal(nodes.said_count, 1);
				unsigned long long epoch, counter;
				assert_int_equal(sscanf(nodes.said[0].text, "fence %llu:%llu",
				                        &epoch, &counter),
				                 2);
				assert_true(counter == ++last);
				uint32_t s = 0;
				while (session[s] != nodes.said[0].session)
					s++;
				nodes.said_count = 0;
				assert_int_equal(nodes_unlock(&nodes, s % MEMBERS, session[s], "x"),
				                 1);
			}
		}
		nodes_pass(&nodes, 1000 * MILLISECOND);
		assert_true(nodes_deadline(&nodes) == NODE_NEVER);
		again();
	}
}

/* With INITIALIZE, nobody may ask before the home has been told of the lock. */
static void test_a_lock_that_must_start_is_touched_at_home(void **state)
{
	static const uint64_t wave[PARAMETERS_MAX] = {1};

	(void)state;
	nodes.options.parameters = wave;
	nodes_start(&nodes, "neilsen", 3);
	const char *name = nodes_name_at(&nodes, 2, 0);
	uint64_t session = nodes_open(&nodes, 1);
	assert_int_equal(nodes_lock(&nodes, 1, session, name), 0);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, session), "fence 1:1");
}

/* --- the queue of a node --- */

static void test_local_clients_are_served_in_order(void **state)
{
	uint64_t session[4];

	(void)state;
	nodes_start(&nodes, "suzuki-kasami", 2);
	for (unsigned s = 0; s < 4; s++) {
		session[s] = nodes_open(&nodes, 1);
		assert_int_equal(nodes_lock(&nodes, 1, session[s], "x"), 0);
	}
	for (unsigned s = 0; s < 4; s++) {
		nodes_deliver_all(&nodes);
		assert_int_equal(nodes.said_count, 1);
		assert_int_not_equal(strlen(nodes_said(&nodes, session[s])), 0);
		assert_int_equal(nodes_unlock(&nodes, 1, session[s], "x"), 1);
	}
}

/* Lets two clients of a ask, and one client of b, which asks while the first is inside. */
static void order_with_turns(uint32_t turns, const char *second, const char *third)
{
	nodes.options.turns = turns;
	nodes_start(&nodes, "neilsen", 2);
	const char *name = nodes_name_at(&nodes, 0, 0);
	uint64_t first = nodes_open(&nodes, 0), other = nodes_open(&nodes, 0),
	         far = nodes_open(&nodes, 1);
	assert_int_equal(nodes_lock(&nodes, 0, first, name), 0);
	assert_int_equal(nodes_lock(&nodes, 0, other, name), 0);
	assert_int_equal(nodes_lock(&nodes, 1, far, name), 0);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, first), "fence 1:1");
	assert_int_equal(nodes_unlock(&nodes, 0, first, name), 1);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, other), turns == 1 ? "" : second);
	assert_string_equal(nodes_said(&nodes, far), turns == 1 ? second : "");
	assert_int_equal(turns == 1 ? nodes_unlock(&nodes, 1, far, name)
	                            : nodes_unlock(&nodes, 0, other, name),
	                 1);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, turns == 1 ? other : far), third);
}

static void test_a_busy_node_lets_its_neighbour_in_between(void **state)
{
	(void)state;
	order_with_turns(1, "fence 1:2", "fence 1:3");
}

static void test_turns_let_local_clients_go_before(void **state)
{
	(void)state;
	order_with_turns(2, "fence 1:2", "fence 1:3");
}

static void test_turns_end(void **state)
{
	uint64_t local[4], far;

	(void)state;
	nodes.options.turns = 2;
	nodes_start(&nodes, "neilsen", 2);
	const char *name = nodes_name_at(&nodes, 0, 0);
	for (unsigned s = 0; s < 4; s++) {
		local[s] = nodes_open(&nodes, 0);
		assert_int_equal(nodes_lock(&nodes, 0, local[s], name), 0);
	}
	far = nodes_open(&nodes, 1);
	assert_int_equal(nodes_lock(&nodes, 1, far, name), 0);
	nodes_deliver_all(&nodes);
	assert_int_equal(nodes_unlock(&nodes, 0, local[0], name), 1);
	assert_int_equal(nodes_unlock(&nodes, 0, local[1], name), 1);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, far), "fence 1:3");
	assert_string_equal(nodes_said(&nodes, local[2]), "");
}

static void test_a_session_that_closes_releases_and_withdraws(void **state)
{
	(void)state;
	nodes_start(&nodes, "neilsen", 3);
	const char *name = nodes_name_at(&nodes, 0, 0);
	uint64_t holder = nodes_open(&nodes, 0), waiter = nodes_open(&nodes, 1),
	         last = nodes_open(&nodes, 2);
	assert_int_equal(nodes_lock(&nodes, 0, holder, name), 0);
	assert_int_equal(nodes_lock(&nodes, 1, waiter, name), 0);
	nodes_deliver_all(&nodes);
	assert_int_equal(nodes_lock(&nodes, 2, last, name), 0);
	nodes_deliver_all(&nodes);
	nodes_close(&nodes, 1, waiter);
	nodes_close(&nodes, 0, holder);
	nodes_deliver_all(&nodes);
	/* b was let in without a client that waits, and left at once, without a grant. */
	assert_string_equal(nodes_said(&nodes, last), "fence 1:2");
	assert_string_equal(nodes_said(&nodes, waiter), "");
}

static void test_a_timeout_gives_nil_in_time_and_not_before(void **state)
{
	(void)state;
	nodes_start(&nodes, "central", 2);
	uint64_t holder = nodes_open(&nodes, 0), waiter = nodes_open(&nodes, 1);
	assert_int_equal(nodes_lock(&nodes, 0, holder, "x"), 0);
	assert_int_equal(nodes_lock_for(&nodes, 1, waiter, "x", NODE_TIMEOUT, 5 * MILLISECOND), 0);
	nodes_pass(&nodes, 5 * MILLISECOND - 1);
	assert_string_equal(nodes_said(&nodes, waiter), "");
	nodes_pass(&nodes, 1);
	assert_string_equal(nodes_said(&nodes, waiter), "nil");
	/* The wait is over. The lock, which arrives later, is handed on, and the session may ask
	 * again. */
	assert_int_equal(nodes_unlock(&nodes, 0, holder, "x"), 1);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, waiter), "");
	assert_int_equal(nodes_lock(&nodes, 0, holder, "x"), 0);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, holder), "fence 1:1");
	assert_string_equal(nodes_said(&nodes, holder), "fence 1:2");
}

static void test_what_is_due_happens_before_what_comes(void **state)
{
	(void)state;
	nodes_start(&nodes, "central", 2);
	uint64_t waiter = nodes_open(&nodes, 1);
	assert_int_equal(nodes_lock_for(&nodes, 1, waiter, "x", NODE_NOWAIT, 0), 0);
	/* The grant has arrived, but the node was not called for longer than a NOWAIT may take. */
	nodes.now += NODE_NOWAIT_NS;
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, waiter), "error -15 a");
}

static void test_not_in_time_means_that_it_is_known_to_be_busy(void **state)
{
	(void)state;
	nodes_start(&nodes, "neilsen", 3);
	const char *name = nodes_name_at(&nodes, 2, 0);
	uint64_t waiter = nodes_open(&nodes, 0), other = nodes_open(&nodes, 1);
	/* The lock is free, but the member that has the token cannot be reached. */
	nodes.link[0][2].cut = nodes.link[2][0].cut = true;
	assert_int_equal(nodes_lock_for(&nodes, 0, waiter, name, NODE_TIMEOUT, MILLISECOND), 0);
	nodes_pass(&nodes, MILLISECOND);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, waiter), "");
	nodes_pass(&nodes, NODE_SILENCE_NS);
	assert_string_equal(nodes_said(&nodes, waiter), "error -15 c");
	/* The member cannot be reached either, but another client waits for the lock. */
	assert_int_equal(nodes_lock(&nodes, 1, other, name), 0);
	assert_int_equal(nodes_lock_for(&nodes, 0, waiter, name, NODE_TIMEOUT, MILLISECOND), 0);
	nodes.link[1][2].cut = true;
	nodes_pass(&nodes, MILLISECOND);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, waiter), "nil");
}

/* Another client of the same node waits for the same lock. The node knows from this alone that the
 * lock is not free. */
static void test_not_in_time_because_another_waits_here(void **state)
{
	(void)state;
	nodes_start(&nodes, "central", 2);
	uint64_t first = nodes_open(&nodes, 1), second = nodes_open(&nodes, 1);
	nodes.link[1][0].cut = true;
	assert_int_equal(nodes_lock(&nodes, 1, first, "x"), 0);
	assert_int_equal(nodes_lock_for(&nodes, 1, second, "x", NODE_TIMEOUT, MILLISECOND), 0);
	nodes_pass(&nodes, MILLISECOND);
	assert_string_equal(nodes_said(&nodes, second), "nil");
}

/* The lock arrives while the members are asked a last time. */
static void test_a_lock_that_comes_late_is_taken(void **state)
{
	(void)state;
	nodes_start(&nodes, "central", 2);
	uint64_t waiter = nodes_open(&nodes, 1);
	nodes.link[0][1].cut = true;
	assert_int_equal(nodes_lock_for(&nodes, 1, waiter, "x", NODE_TIMEOUT, MILLISECOND), 0);
	nodes_pass(&nodes, MILLISECOND);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, waiter), "");
	nodes.link[0][1].cut = false;
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, waiter), "fence 1:1");
}

/* --- NOWAIT --- */

static void test_nowait_gets_what_is_free_elsewhere(void **state)
{
	(void)state;
	nodes_start(&nodes, "raymond", 4);
	const char *name = nodes_name_at(&nodes, 3, 0);
	uint64_t session = nodes_open(&nodes, 1);
	assert_int_equal(nodes_lock_for(&nodes, 1, session, name, NODE_NOWAIT, 0), 0);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, session), "fence 1:1");
}

static void test_nowait_is_told_by_whoever_is_inside(void **state)
{
	(void)state;
	/* On a line, the question and the answer pass through others. */
	nodes.options.topology = "line";
	nodes_start(&nodes, "raymond", 4);
	uint64_t holder = nodes_open(&nodes, 0), session = nodes_open(&nodes, 3);
	assert_int_equal(nodes_lock(&nodes, 0, holder, "x"), 0);
	nodes_deliver_all(&nodes);
	assert_int_equal(nodes_lock_for(&nodes, 3, session, "x", NODE_NOWAIT, 0), 0);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, session), "nil");
	/* No client waits any more for the pending request. */
	assert_int_equal(nodes_unlock(&nodes, 0, holder, "x"), 1);
	nodes_deliver_all(&nodes);
	assert_int_equal(nodes_lock(&nodes, 0, holder, "x"), 0);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, holder), "fence 1:1");
	assert_string_equal(nodes_said(&nodes, holder), "fence 1:2");
}

static void test_nowait_is_told_by_whoever_waits_firmly(void **state)
{
	(void)state;
	nodes_start(&nodes, "neilsen", 3);
	const char *name = nodes_name_at(&nodes, 0, 0);
	uint64_t waiter = nodes_open(&nodes, 1), session = nodes_open(&nodes, 2);
	nodes.link[1][0].cut = true; /* b's request never reaches the token */
	assert_int_equal(nodes_lock(&nodes, 1, waiter, name), 0);
	nodes.link[2][0].cut = true;
	assert_int_equal(nodes_lock_for(&nodes, 2, session, name, NODE_NOWAIT, 0), 0);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, session), "nil");
}

static void test_nowait_here_needs_no_question(void **state)
{
	(void)state;
	nodes_start(&nodes, "central", 2);
	uint64_t holder = nodes_open(&nodes, 0), session = nodes_open(&nodes, 0);
	assert_int_equal(nodes_lock(&nodes, 0, holder, "x"), 0);
	assert_int_equal(nodes_lock_for(&nodes, 0, session, "x", NODE_NOWAIT, 0), 0);
	assert_string_equal(nodes_said(&nodes, session), "nil");
	assert_int_equal(nodes.frames, 0);
}

/* A client that has given up no longer waits. */
static void test_nowait_is_not_told_of_who_gave_up(void **state)
{
	(void)state;
	nodes_start(&nodes, "central", 2);
	uint64_t first = nodes_open(&nodes, 1), firm = nodes_open(&nodes, 1),
	         second = nodes_open(&nodes, 1);
	nodes.link[1][0].cut = true;
	assert_int_equal(nodes_lock_for(&nodes, 1, first, "x", NODE_NOWAIT, 0), 0);
	assert_int_equal(nodes_lock_for(&nodes, 1, firm, "x", NODE_TIMEOUT, MILLISECOND), 0);
	nodes_pass(&nodes, MILLISECOND);
	nodes_pass(&nodes, NODE_SILENCE_NS);
	assert_string_equal(nodes_said(&nodes, firm), "error -15 a");
	assert_int_equal(nodes_lock_for(&nodes, 1, second, "x", NODE_NOWAIT, 0), 0);
	assert_string_equal(nodes_said(&nodes, second), "");
}

static void test_of_two_nowaits_one_gets_it_and_the_other_is_told(void **state)
{
	(void)state;
	nodes_start(&nodes, "neilsen", 3);
	const char *name = nodes_name_at(&nodes, 0, 0);
	uint64_t one = nodes_open(&nodes, 1), other = nodes_open(&nodes, 2);
	assert_int_equal(nodes_lock_for(&nodes, 1, one, name, NODE_NOWAIT, 0), 0);
	assert_int_equal(nodes_lock_for(&nodes, 2, other, name, NODE_NOWAIT, 0), 0);
	/* Deliver the questions first, while no client is inside. */
	nodes.link[1][0].cut = nodes.link[2][0].cut = true;
	nodes_deliver_all(&nodes);
	assert_int_equal(nodes.said_count, 0);
	nodes.link[1][0].cut = nodes.link[2][0].cut = false;
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, one), "fence 1:1");
	assert_string_equal(nodes_said(&nodes, other), "nil");
}

static void test_nowait_waits_a_second_at_most(void **state)
{
	(void)state;
	nodes_start(&nodes, "central", 2);
	uint64_t session = nodes_open(&nodes, 1);
	nodes.link[1][0].cut = true;
	assert_int_equal(nodes_lock_for(&nodes, 1, session, "x", NODE_NOWAIT, 0), 0);
	nodes_pass(&nodes, NODE_NOWAIT_NS - 1);
	assert_string_equal(nodes_said(&nodes, session), "");
	nodes_pass(&nodes, 1);
	assert_string_equal(nodes_said(&nodes, session), "error -15 a");
}

/* --- tokens that circulate --- */

/* After an entry, the token passes its home at most three more times; then everything stays
 * quiet. */
static void test_an_idle_token_is_parked_at_home(void **state)
{
	static const char *const names[] = {"le-lann", "misra"};

	(void)state;
	for (size_t k = 0; k < 2; k++) {
		nodes_start(&nodes, names[k], 4);
		const char *name = nodes_name_at(&nodes, 2, 0);
		uint64_t session = nodes_open(&nodes, 0);
		assert_int_equal(nodes_lock(&nodes, 0, session, name), 0);
		nodes_pass(&nodes, 100 * MILLISECOND);
		assert_string_equal(nodes_said(&nodes, session), "fence 1:1");
		assert_int_equal(nodes_unlock(&nodes, 0, session, name), 1);
		uint64_t begin = nodes.now;
		nodes_pass(&nodes, 1000 * MILLISECOND);
		assert_true(nodes_deadline(&nodes) == NODE_NEVER);
		for (uint32_t i = 0; i < 4; i++)
			assert_int_equal(node_has_token(nodes.node[i], name, strlen(name)), i == 2);
		uint64_t frames = nodes.frames;
		nodes_pass(&nodes, 10000 * MILLISECOND);
		assert_int_equal(nodes.frames, frames);
		assert_true(nodes.now - begin > 10000 * MILLISECOND);
		/* The token comes when a client anywhere wants it. */
		for (uint32_t i = 0; i < 4; i++) {
			uint64_t other = nodes_open(&nodes, i);
			assert_int_equal(nodes_lock(&nodes, i, other, name), 0);
			nodes_pass(&nodes, 100 * MILLISECOND);
			assert_int_not_equal(strlen(nodes_said(&nodes, other)), 0);
			assert_int_equal(nodes_unlock(&nodes, i, other, name), 1);
			nodes_pass(&nodes, 1000 * MILLISECOND);
			assert_true(nodes_deadline(&nodes) == NODE_NEVER);
		}
		again();
	}
}

/* Each hop of an idle token takes --idle-hop. The token is parked after its home has seen two
 * rounds without news. */
static void test_an_idle_token_hops_slowly(void **state)
{
	(void)state;
	nodes_start(&nodes, "le-lann", 3);
	const char *name = nodes_name_at(&nodes, 0, 0);
	uint64_t session = nodes_open(&nodes, 0);
	assert_int_equal(nodes_lock(&nodes, 0, session, name), 0);
	/* The token sets out from its home, and comes back after b and c have let it rest. */
	nodes_pass(&nodes, 20 * MILLISECOND - 1);
	assert_string_equal(nodes_said(&nodes, session), "");
	nodes_pass(&nodes, 1);
	assert_string_equal(nodes_said(&nodes, session), "fence 1:1");
	assert_int_equal(nodes.frames, 3);
	assert_int_equal(nodes_unlock(&nodes, 0, session, name), 1);
	/* Since the grant, neither the first nor the second return of the token brings news to its
	 * home. */
	nodes_pass(&nodes, 1000 * MILLISECOND);
	assert_int_equal(nodes.frames, 3 + 3 * 3);
}

/* b asks just after the token has passed it for the last time before parking: the TOUCH reaches the
 * home before the token does. */
static void test_a_touch_overtakes_the_token(void **state)
{
	(void)state;
	nodes_start(&nodes, "le-lann", 3);
	const char *name = nodes_name_at(&nodes, 0, 0);
	uint64_t session = nodes_open(&nodes, 0), waiter = nodes_open(&nodes, 1);
	assert_int_equal(nodes_lock(&nodes, 0, session, name), 0);
	nodes_pass(&nodes, 20 * MILLISECOND);
	assert_int_equal(nodes_unlock(&nodes, 0, session, name), 1);
	nodes_pass(&nodes, 75 * MILLISECOND);
	assert_true(node_has_token(nodes.node[2], name, strlen(name)));
	assert_int_equal(nodes_lock(&nodes, 1, waiter, name), 0);
	nodes_pass(&nodes, 1000 * MILLISECOND);
	assert_string_equal(nodes_said(&nodes, waiter), "fence 1:2");
}

/* A client that waits while the token is in use does not make other tokens circulate; and the
 * client is not forgotten. */
static void test_a_waiter_is_served_after_a_long_hold(void **state)
{
	static const char *const names[] = {"le-lann", "misra"};

	(void)state;
	for (size_t k = 0; k < 2; k++) {
		for (uint32_t home = 0; home < 4; home++) {
			nodes_start(&nodes, names[k], 4);
			const char *name = nodes_name_at(&nodes, home, 0);
			uint64_t holder = nodes_open(&nodes, 1), waiter = nodes_open(&nodes, 3);
			assert_int_equal(nodes_lock(&nodes, 1, holder, name), 0);
			nodes_pass(&nodes, 100 * MILLISECOND);
			assert_int_equal(nodes_lock(&nodes, 3, waiter, name), 0);
			nodes_pass(&nodes, 60000 * MILLISECOND);
			assert_string_equal(nodes_said(&nodes, waiter), "");
			assert_int_equal(nodes_unlock(&nodes, 1, holder, name), 1);
			nodes_pass(&nodes, 1000 * MILLISECOND);
			assert_string_equal(nodes_said(&nodes, waiter), "fence 1:2");
			again();
		}
	}
}

static void test_tokens_of_a_hop_go_in_one_frame(void **state)
{
	enum { LOCKS = 20 };
	char names[LOCKS][16];

	(void)state;
	nodes_start(&nodes, "le-lann", 3);
	for (unsigned k = 0; k < LOCKS; k++) {
		snprintf(names[k], sizeof(names[k]), "%s", nodes_name_at(&nodes, 0, k));
		uint64_t session = nodes_open(&nodes, 0);
		assert_int_equal(nodes_lock(&nodes, 0, session, names[k]), 0);
		/* Close this session, so that the token is not caught when it comes back. */
		nodes_close(&nodes, 0, session);
	}
	nodes_deliver_all(&nodes);
	nodes.frames = 0;
	/* Each message stays at b for a while, then goes on. */
	nodes_pass(&nodes, 10 * MILLISECOND);
	assert_int_equal(nodes.frames, 1);
	struct node_figures figures;
	node_figures(nodes.node[1], &figures);
	assert_int_equal(figures.sent, LOCKS);
}

static void test_the_same_calls_give_the_same_bytes(void **state)
{
	uint64_t digest[2];

	(void)state;
	for (unsigned run = 0; run < 2; run++) {
		nodes_start(&nodes, "maekawa", 5);
		for (unsigned k = 0; k < 40; k++) {
			uint32_t i = k * k % 5;
			uint64_t session = nodes_open(&nodes, i);
			char name[8];
			snprintf(name, sizeof(name), "n%u", k % 7);
			nodes_lock(&nodes, i, session, name);
			nodes_pass(&nodes, MILLISECOND);
			if (k % 3 != 0)
				nodes_close(&nodes, i, session);
			nodes.said_count = 0;
		}
		digest[run] = nodes.digest;
		again();
	}
	assert_true(digest[0] == digest[1]);
}

/* --- errors and limits --- */

static void test_wrong_commands_are_refused_and_change_nothing(void **state)
{
	char name[300];

	(void)state;
	memset(name, 'n', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	nodes_start(&nodes, "central", 2);
	struct node *node = nodes.node[1];
	uint64_t session = nodes_open(&nodes, 1), id = session_id(session), now = nodes.now;
	assert_int_equal(nodes_lock(&nodes, 1, 99, "x"), BATON_ESESSION);
	assert_int_equal(nodes_lock(&nodes, 1, session, ""), BATON_ENAME);
	assert_int_equal(nodes_lock(&nodes, 1, session, name), BATON_ENAME);
	assert_int_equal(node_elect(node, id, "x", 1, name, 5000, NODE_WAIT, 0, now), BATON_EVALUE);
	assert_int_equal(node_break(node, id, "x", 1, 0, now), BATON_EFENCE);
	assert_int_equal(node_break(node, id, "x", 1, UINT64_C(1) << 53, now), BATON_EFENCE);
	assert_int_equal(node_leader(node, id, name, 256, now), BATON_ENAME);
	assert_int_equal(node_subscribe(node, id, true, "", 0, now), BATON_ENAME);
	assert_int_equal(node_status(node, id, name, 256, (struct node_bytes){NULL, 0}, 0, now),
	                 BATON_ENAME);
	assert_int_equal(nodes_unlock(&nodes, 1, session, "x"), 0);
	assert_int_equal(nodes.frames, 0);
	assert_int_equal(nodes.said_count, 0);
	/* A name may have 255 bytes. */
	name[255] = '\0';
	assert_int_equal(nodes_lock(&nodes, 1, session, name), 0);
	assert_int_equal(nodes_lock(&nodes, 1, session, "y"), BATON_EBUSY);
	assert_int_equal(nodes_unlock(&nodes, 1, session, name), BATON_EBUSY);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, session), "fence 1:1");
	assert_int_equal(nodes_lock(&nodes, 1, session, name), BATON_EHELD);
	assert_int_equal(node_unlock(node, id, name, 255, 5, now), 0);
	assert_int_equal(nodes_unlock(&nodes, 1, session, name), 1);
	nodes_close(&nodes, 1, session);
	assert_int_equal(nodes_lock(&nodes, 1, session, "x"), BATON_ESESSION);
}

static void test_a_session_is_never_used_again(void **state)
{
	(void)state;
	nodes_start(&nodes, "central", 1);
	uint64_t first = nodes_open(&nodes, 0);
	nodes_close(&nodes, 0, first);
	uint64_t second = nodes_open(&nodes, 0);
	assert_true(first != second);
	assert_int_equal(nodes_lock(&nodes, 0, first, "x"), BATON_ESESSION);
	nodes_close(&nodes, 0, first); /* closing again is ignored */
	assert_int_equal(nodes_lock(&nodes, 0, second, "x"), 0);
}

static void test_limits_are_errors(void **state)
{
	struct node_client client = {.pid = 1};

	(void)state;
	nodes.options.limits = (struct node_limits){
	        .sessions = 4, .waiters = 1, .locks = 2, .subscriptions = 1, .leaders = 1};
	nodes_start(&nodes, "central", 1);
	uint64_t session[4];
	for (unsigned s = 0; s < 4; s++)
		session[s] = nodes_open(&nodes, 0);
	assert_int_equal(node_session_open(nodes.node[0], &client, nodes.now), 0);
	assert_int_equal(nodes_lock(&nodes, 0, session[0], "x"), 0);
	assert_int_equal(nodes_lock(&nodes, 0, session[1], "x"), 0);
	assert_int_equal(nodes_lock(&nodes, 0, session[2], "x"), BATON_EWAITERS);
	assert_int_equal(nodes_elect(&nodes, 0, session[2], "y", "v"), 0);
	assert_int_equal(nodes_elect(&nodes, 0, session[3], "y", "v"), BATON_ELEADERS);
	assert_int_equal(nodes_lock(&nodes, 0, session[3], "z"), BATON_ELOCKS);
	assert_int_equal(nodes.bumps, 0); /* both locks are in use, so a new epoch would not help */
	assert_int_equal(nodes_subscribe(&nodes, 0, session[3], false, "x"), 0);
	assert_int_equal(nodes_subscribe(&nodes, 0, session[3], true, "x"), BATON_ESUBSCRIPTIONS);
	assert_int_equal(nodes_subscribe(&nodes, 0, session[3], false, "x"), 0);
	/* In a new epoch idle locks are forgotten. */
	assert_int_equal(nodes_unlock(&nodes, 0, session[0], "x"), 1);
	assert_int_equal(nodes_unlock(&nodes, 0, session[1], "x"), 1);
	nodes_view(&nodes);
	assert_int_equal(nodes_lock(&nodes, 0, session[3], "z"), 0);
	/* A leader that resigns makes room for another. */
	assert_int_equal(nodes_unlock(&nodes, 0, session[2], "y"), 1);
	assert_int_equal(nodes_elect(&nodes, 0, session[2], "y", "v"), 0);
}

static void test_a_lock_that_nobody_used_is_forgotten(void **state)
{
	struct node_figures figures[2];

	(void)state;
	nodes_start(&nodes, "central", 2);
	uint64_t session = nodes_open(&nodes, 1);
	nodes.link[1][0].cut = true;
	assert_int_equal(nodes_lock_for(&nodes, 1, session, "x", NODE_TIMEOUT, 1), 0);
	nodes_pass(&nodes, 1);
	nodes_pass(&nodes, NODE_SILENCE_NS);
	node_figures(nodes.node[1], &figures[1]);
	assert_int_equal(figures[1].locks, 1); /* the node's request is pending */
	nodes.link[1][0].cut = false;
	nodes_deliver_all(&nodes);
	for (uint32_t i = 0; i < 2; i++) {
		node_figures(nodes.node[i], &figures[i]);
		assert_int_equal(figures[i].locks, 0);
	}
	/* A lock that was used is not forgotten, because its fences must not be used again. */
	assert_int_equal(nodes_lock(&nodes, 1, session, "x"), 0);
	nodes_deliver_all(&nodes);
	assert_int_equal(nodes_unlock(&nodes, 1, session, "x"), 1);
	nodes_deliver_all(&nodes);
	node_figures(nodes.node[1], &figures[1]);
	assert_int_equal(figures[1].locks, 1);
}

static void test_options_that_are_wrong_are_said(void **state)
{
	struct node_options options = {.name = "", .algorithm = algorithm_find("neilsen")};
	const char *wrong = NULL;

	(void)state;
	nodes_start(&nodes, "central", 1); /* the teardown needs nodes */
	assert_null(node_create(&options, &wrong));
	assert_non_null(strstr(wrong, "name"));
	options.name = "a";
	options.topology = "tree:x";
	assert_null(node_create(&options, &wrong));
	assert_non_null(strstr(wrong, "tree:K"));
	options.topology = NULL;
	options.algorithm = algorithm_find("bully");
	assert_null(node_create(&options, &wrong));
	assert_non_null(strstr(wrong, "election"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(test_a_cluster_of_one_sends_nothing),
	        TEST(test_every_algorithm_serves_every_member),
	        TEST(test_every_algorithm_serves_a_crowd),
	        TEST(test_a_lock_that_must_start_is_touched_at_home),
	        TEST(test_local_clients_are_served_in_order),
	        TEST(test_a_busy_node_lets_its_neighbour_in_between),
	        TEST(test_turns_let_local_clients_go_before),
	        TEST(test_turns_end),
	        TEST(test_a_session_that_closes_releases_and_withdraws),
	        TEST(test_a_timeout_gives_nil_in_time_and_not_before),
	        TEST(test_what_is_due_happens_before_what_comes),
	        TEST(test_not_in_time_means_that_it_is_known_to_be_busy),
	        TEST(test_not_in_time_because_another_waits_here),
	        TEST(test_a_lock_that_comes_late_is_taken),
	        TEST(test_nowait_gets_what_is_free_elsewhere),
	        TEST(test_nowait_is_told_by_whoever_is_inside),
	        TEST(test_nowait_is_told_by_whoever_waits_firmly),
	        TEST(test_nowait_here_needs_no_question),
	        TEST(test_nowait_is_not_told_of_who_gave_up),
	        TEST(test_of_two_nowaits_one_gets_it_and_the_other_is_told),
	        TEST(test_nowait_waits_a_second_at_most),
	        TEST(test_an_idle_token_is_parked_at_home),
	        TEST(test_an_idle_token_hops_slowly),
	        TEST(test_a_touch_overtakes_the_token),
	        TEST(test_a_waiter_is_served_after_a_long_hold),
	        TEST(test_tokens_of_a_hop_go_in_one_frame),
	        TEST(test_the_same_calls_give_the_same_bytes),
	        TEST(test_wrong_commands_are_refused_and_change_nothing),
	        TEST(test_a_session_is_never_used_again),
	        TEST(test_limits_are_errors),
	        TEST(test_a_lock_that_nobody_used_is_forgotten),
	        TEST(test_options_that_are_wrong_are_said),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
