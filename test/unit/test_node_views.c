/*
 * The lock node: views, reports, closed locks, frames that wait and frames that are refused.
 */
#include "../lib/node_fixture.h"

static void cut_all(bool cut)
{
	for (uint32_t i = 0; i < nodes.count; i++) {
		for (uint32_t k = 0; k < nodes.count; k++)
			nodes.link[i][k].cut = cut;
	}
}

/* --- what is carried over --- */

static void test_a_hold_survives_a_new_view_with_its_fence(void **state)
{
	(void)state;
	nodes_start(&nodes, "suzuki-kasami", 3);
	uint64_t holder = nodes_open(&nodes, 0), waiter = nodes_open(&nodes, 1),
	         late = nodes_open(&nodes, 2);
	assert_int_equal(nodes_lock(&nodes, 0, holder, "x"), 0);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, holder), "fence 1:1");
	assert_int_equal(nodes_lock(&nodes, 1, waiter, "x"), 0);
	nodes_deliver_all(&nodes);
	nodes_view(&nodes);
	nodes_deliver_all(&nodes);
	/* Nobody gets in: neither the client that waited before, nor one that asks now, even at the
	 * holder's node. */
	assert_int_equal(nodes_lock(&nodes, 2, late, "x"), 0);
	uint64_t near = nodes_open(&nodes, 0);
	assert_int_equal(nodes_lock(&nodes, 0, near, "x"), 0);
	nodes_deliver_all(&nodes);
	assert_int_equal(nodes.said_count, 0);
	assert_int_equal(node_unlock(nodes.node[0], session_id(holder), "x", 1,
	                             (UINT64_C(1) << NODE_COUNTER_BITS) + 1, nodes.now),
	                 1);
	nodes_take(&nodes, 0);
	nodes_deliver_all(&nodes);
	assert_int_equal(nodes.said_count, 1);
	assert_string_equal(nodes.said[0].text, "fence 2:1");
}

static void test_a_hold_is_carried_over_twice(void **state)
{
	(void)state;
	nodes_start(&nodes, "neilsen", 3);
	uint64_t holder = nodes_open(&nodes, 1), waiter = nodes_open(&nodes, 2);
	assert_int_equal(nodes_lock(&nodes, 1, holder, "x"), 0);
	nodes_deliver_all(&nodes);
	nodes_said(&nodes, holder);
	nodes_view(&nodes);
	nodes_deliver_all(&nodes);
	nodes_view(&nodes);
	nodes_deliver_all(&nodes);
	assert_int_equal(nodes_lock(&nodes, 2, waiter, "x"), 0);
	nodes_deliver_all(&nodes);
	assert_int_equal(nodes.said_count, 0);
	nodes_close(&nodes, 1, holder);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, waiter), "fence 3:1");
}

static void test_no_token_before_all_have_reported(void **state)
{
	(void)state;
	nodes_start(&nodes, "neilsen", 3);
	const char *name = nodes_name_at(&nodes, 0, 0);
	uint64_t session = nodes_open(&nodes, 0);
	cut_all(true);
	nodes_view(&nodes);
	nodes.link[1][0].cut = false;
	nodes_deliver_all(&nodes);
	assert_string_equal(node_waiting_for(nodes.node[0]), "the reports of c");
	assert_string_equal(node_waiting_for(nodes.node[1]), "the reports of a, c");
	/* The token is here, and still nobody is let in. */
	assert_int_equal(nodes_lock(&nodes, 0, session, name), 0);
	assert_string_equal(nodes_said(&nodes, session), "");
	nodes.link[2][0].cut = false;
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, session), "fence 2:1");
	assert_null(node_waiting_for(nodes.node[0]));
}

/* A report of many holds has two parts. Before the second part arrives, a lock that it names may
 * look free to all other members. */
static void test_the_first_part_of_a_report_is_not_all_of_it(void **state)
{
	enum { NAME_SIZE = 200, LOCKS = 170 }; /* all together have more than 32 KB */
	char name[NAME_SIZE + 1] = {0};
	(void)state;

	nodes_start(&nodes, "neilsen", 2);
	const char *last = nodes_name_at(&nodes, 1, 0);
	uint64_t holder = nodes_open(&nodes, 0), waiter = nodes_open(&nodes, 1);
	for (unsigned i = 0; i < LOCKS; i++) {
		snprintf(name, sizeof(name), "%0*u", NAME_SIZE, i);
		assert_int_equal(nodes_lock(&nodes, 0, holder, name), 0);
		nodes_deliver_all(&nodes);
		assert_string_equal(nodes_said(&nodes, holder), "fence 1:1");
	}
	assert_int_equal(nodes_lock(&nodes, 0, holder, last), 0);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, holder), "fence 1:1");
	nodes_view(&nodes);
	const struct test_frame *first = nodes.link[0][1].first;
	assert_non_null(first->next);
	assert_null(first->next->next);
	assert_true(nodes_deliver(&nodes, 0, 1));
	assert_int_equal(nodes_lock(&nodes, 1, waiter, last), 0);
	assert_string_equal(nodes_said(&nodes, waiter), "");
	assert_string_equal(node_waiting_for(nodes.node[1]), "the reports of a");
	nodes_deliver_all(&nodes);
	assert_null(node_waiting_for(nodes.node[1]));
	assert_string_equal(nodes_said(&nodes, waiter), "");
	assert_int_equal(nodes_unlock(&nodes, 0, holder, last), 1);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, waiter), "fence 2:1");
}

/* The holder releases the lock while nobody is active: its RETURN follows its REPORT. */
static void test_a_hold_that_ends_while_frozen_leaves_the_lock_open(void **state)
{
	(void)state;
	nodes_start(&nodes, "neilsen", 3);
	uint64_t holder = nodes_open(&nodes, 1), waiter = nodes_open(&nodes, 2);
	assert_int_equal(nodes_lock(&nodes, 1, holder, "x"), 0);
	nodes_deliver_all(&nodes);
	nodes_said(&nodes, holder);
	assert_int_equal(nodes_lock(&nodes, 2, waiter, "x"), 0);
	cut_all(true);
	nodes_view(&nodes);
	assert_int_equal(nodes_unlock(&nodes, 1, holder, "x"), 1);
	cut_all(false);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, waiter), "fence 2:1");
}

/* Links keep order, so this cannot happen; but the rule does not depend on them. */
static void test_a_return_may_come_before_its_report(void **state)
{
	(void)state;
	nodes_start(&nodes, "neilsen", 2);
	uint64_t holder = nodes_open(&nodes, 0), waiter = nodes_open(&nodes, 1);
	assert_int_equal(nodes_lock(&nodes, 0, holder, "x"), 0);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, holder), "fence 1:1");
	nodes_view(&nodes);
	assert_int_equal(nodes_unlock(&nodes, 0, holder, "x"), 1);
	struct test_frame *report = nodes.link[0][1].first, *back = report->next;
	assert_null(back->next);
	nodes.link[0][1].first = back;
	back->next = report;
	report->next = NULL;
	/* Exchange the numbers of the two frames. Otherwise the later frame would count as already
	 * seen. */
	uint8_t number = report->bytes[15];
	assert_int_equal(number, 1);
	report->bytes[15] = back->bytes[15];
	back->bytes[15] = number;
	nodes_deliver_all(&nodes);
	assert_int_equal(nodes_lock(&nodes, 1, waiter, "x"), 0);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, waiter), "fence 2:1");
}

/* Returns a name whose home is c as long as c is a member, and b after that. */
static const char *name_that_moves(void)
{
	for (unsigned k = 0;; k++) {
		nodes_start(&nodes, "neilsen", 3);
		const char *name = nodes_name_at(&nodes, 2, k);
		nodes.member[2] = false;
		nodes_view(&nodes);
		uint32_t home = node_home(nodes.node[1], name, strlen(name));
		again();
		if (home == 2)
			return name;
	}
}

/* a returns the lock and is let in again while b has heard of neither. Then c leaves, and the token
 * is b's. The RETURN arrives after b has entered the new epoch, before a's REPORT. */
static void test_a_return_of_an_older_epoch_opens_nothing(void **state)
{
	(void)state;
	const char *name = name_that_moves();
	nodes_start(&nodes, "neilsen", 3);
	uint64_t holder = nodes_open(&nodes, 0), next = nodes_open(&nodes, 0),
	         other = nodes_open(&nodes, 1);
	assert_int_equal(nodes_lock(&nodes, 0, holder, name), 0);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, holder), "fence 1:1");
	nodes_view(&nodes);
	nodes_deliver_all(&nodes);
	nodes.link[0][1].cut = true;
	assert_int_equal(nodes_unlock(&nodes, 0, holder, name), 1);
	assert_int_equal(nodes_lock(&nodes, 0, next, name), 0);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, next), "fence 2:1");
	nodes.member[2] = false;
	nodes_next_epoch(&nodes);
	assert_int_equal(nodes_view_one(&nodes, 1), 0);
	nodes.link[0][1].cut = false;
	nodes_deliver_all(&nodes);
	assert_int_equal(nodes_view_one(&nodes, 0), 0);
	nodes_deliver_all(&nodes);
	assert_int_equal(nodes_lock(&nodes, 1, other, name), 0);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, other), "");
	assert_int_equal(nodes_unlock(&nodes, 0, next, name), 1);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, other), "fence 3:1");
}

/* On a line, b passes a's report on to c before the messages that it makes possible: c may stop
 * reading at those. */
static void test_reports_go_before_messages(void **state)
{
	enum { LOCKS = 10 };
	uint64_t session[LOCKS];

	(void)state;
	nodes.options.topology = "line";
	nodes.options.limits.backlog_bytes = 60;
	nodes_start(&nodes, "raymond", 3);
	cut_all(true);
	nodes_view(&nodes);
	for (unsigned k = 0; k < LOCKS; k++) {
		session[k] = nodes_open(&nodes, 1);
		assert_int_equal(nodes_lock_for(&nodes, 1, session[k], nodes_name_at(&nodes, 2, k),
		                                NODE_NOWAIT, 0),
		                 0);
	}
	nodes.link[2][1].cut = false;
	nodes_deliver_all(&nodes);
	nodes.link[0][1].cut = false;
	nodes_deliver_all(&nodes);
	assert_null(node_waiting_for(nodes.node[1]));
	assert_non_null(node_waiting_for(nodes.node[2]));
	cut_all(false);
	nodes_deliver_all(&nodes);
	assert_null(node_waiting_for(nodes.node[2]));
	for (unsigned k = 0; k < LOCKS; k++)
		assert_string_equal(nodes_said(&nodes, session[k]), "fence 2:1");
}

/* a knows of the RETURN and asks; c does not know of it yet, and lets the message wait. */
static void test_messages_for_a_closed_lock_wait(void **state)
{
	(void)state;
	nodes_start(&nodes, "suzuki-kasami", 3);
	const char *name = nodes_name_at(&nodes, 2, 0);
	uint64_t holder = nodes_open(&nodes, 1), waiter = nodes_open(&nodes, 0);
	assert_int_equal(nodes_lock(&nodes, 1, holder, name), 0);
	nodes_deliver_all(&nodes);
	nodes_said(&nodes, holder);
	nodes_view(&nodes);
	nodes_deliver_all(&nodes);
	nodes.link[1][2].cut = true;
	assert_int_equal(nodes_unlock(&nodes, 1, holder, name), 1);
	nodes_deliver_all(&nodes);
	assert_int_equal(nodes_lock(&nodes, 0, waiter, name), 0);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, waiter), "");
	struct node_figures figures;
	node_figures(nodes.node[2], &figures);
	assert_true(figures.backlog_bytes > 0);
	nodes.link[1][2].cut = false;
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, waiter), "fence 2:1");
	node_figures(nodes.node[2], &figures);
	assert_int_equal(figures.backlog_bytes, 0);
}

/* A TOUCH that arrives while the lock is closed is not forgotten. Here the token sets out by
 * itself. */
static void test_a_touch_of_a_closed_lock_waits(void **state)
{
	(void)state;
	nodes_start(&nodes, "le-lann", 3);
	const char *name = nodes_name_at(&nodes, 2, 0);
	uint64_t holder = nodes_open(&nodes, 1), waiter = nodes_open(&nodes, 0);
	assert_int_equal(nodes_lock(&nodes, 1, holder, name), 0);
	nodes_pass(&nodes, 1000 * MILLISECOND);
	assert_string_equal(nodes_said(&nodes, holder), "fence 1:1");
	nodes_view(&nodes);
	nodes_deliver_all(&nodes);
	nodes.link[1][2].cut = true;
	assert_int_equal(nodes_unlock(&nodes, 1, holder, name), 1);
	nodes_deliver_all(&nodes);
	assert_int_equal(nodes_lock(&nodes, 0, waiter, name), 0);
	nodes_deliver_all(&nodes);
	nodes.link[1][2].cut = false;
	nodes_pass(&nodes, 1000 * MILLISECOND);
	assert_string_equal(nodes_said(&nodes, waiter), "fence 2:1");
}

static void test_a_closed_lock_is_busy_for_nowait(void **state)
{
	(void)state;
	nodes_start(&nodes, "neilsen", 3);
	uint64_t holder = nodes_open(&nodes, 1), before = nodes_open(&nodes, 2),
	         after = nodes_open(&nodes, 0);
	assert_int_equal(nodes_lock(&nodes, 1, holder, "x"), 0);
	nodes_deliver_all(&nodes);
	nodes_said(&nodes, holder);
	cut_all(true);
	nodes_view(&nodes);
	assert_int_equal(nodes_lock_for(&nodes, 2, before, "x", NODE_NOWAIT, 0), 0);
	assert_string_equal(nodes_said(&nodes, before), "");
	cut_all(false);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, before), "nil");
	assert_int_equal(nodes_lock_for(&nodes, 0, after, "x", NODE_NOWAIT, 0), 0);
	assert_string_equal(nodes_said(&nodes, after), "nil");
}

static void test_nowait_asks_again_when_the_node_is_active(void **state)
{
	(void)state;
	nodes_start(&nodes, "neilsen", 3);
	uint64_t session = nodes_open(&nodes, 2), other = nodes_open(&nodes, 1);
	cut_all(true);
	nodes_view(&nodes);
	assert_int_equal(nodes_lock_for(&nodes, 2, session, "x", NODE_NOWAIT, 0), 0);
	assert_int_equal(nodes_lock(&nodes, 1, other, "x"), 0);
	cut_all(false);
	nodes_deliver_all(&nodes);
	/* Whichever of the two came first, the client does not wait for a second answer. */
	const char *said = nodes_said(&nodes, session);
	assert_true(strcmp(said, "nil") == 0 || strcmp(said, "fence 2:1") == 0);
}

static void test_a_turn_ends_with_the_epoch(void **state)
{
	(void)state;
	nodes.options.turns = 5;
	nodes_start(&nodes, "neilsen", 2);
	const char *name = nodes_name_at(&nodes, 0, 0);
	uint64_t first = nodes_open(&nodes, 0), second = nodes_open(&nodes, 0);
	assert_int_equal(nodes_lock(&nodes, 0, first, name), 0);
	assert_int_equal(nodes_lock(&nodes, 0, second, name), 0);
	cut_all(true);
	nodes_view(&nodes);
	assert_int_equal(nodes_unlock(&nodes, 0, first, name), 1);
	assert_string_equal(nodes_said(&nodes, second), ""); /* the node is not active yet */
	cut_all(false);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, second), "fence 2:1");
}

/* Puts two nodes into views of their own, both with a client inside. This can never happen. */
static void begin_with_two_holders(uint64_t ret_session[2], uint32_t more)
{
	nodes_create(&nodes, "neilsen", 3);
	for (uint32_t i = 0; i < 2; i++) {
		for (uint32_t k = 0; k < 3; k++)
			nodes.member[k] = k == i;
		nodes.epoch = 0;
		nodes_next_epoch(&nodes);
		assert_int_equal(nodes_view_one(&nodes, i), 0);
		ret_session[i] = nodes_open(&nodes, i);
		for (uint32_t k = 0; k < (i == 1 ? more : 0); k++) {
			assert_int_equal(nodes_lock(&nodes, i, ret_session[i], "x"), 0);
			assert_int_equal(nodes_unlock(&nodes, i, ret_session[i], "x"), 1);
			nodes_said(&nodes, ret_session[i]);
		}
		assert_int_equal(nodes_lock(&nodes, i, ret_session[i], "x"), 0);
		nodes_said(&nodes, ret_session[i]);
	}
	nodes.member[0] = nodes.member[1] = nodes.member[2] = true;
	nodes_view(&nodes);
	nodes_deliver_all(&nodes);
}

static void test_of_two_holders_of_a_lock_the_greater_fence_stays(void **state)
{
	(void)state;
	uint64_t session[2];
	begin_with_two_holders(session, 1);
	assert_string_equal(nodes_said(&nodes, session[0]), "lost x 1:1");
	assert_string_equal(nodes.lost_why, NODE_LOST_CONFLICT);
	assert_string_equal(nodes_said(&nodes, session[1]), "");
	for (uint32_t i = 0; i < 3; i++) {
		assert_true(nodes.shouts[i] > 0);
		assert_false(nodes.stopped[i]);
	}
	uint64_t waiter = nodes_open(&nodes, 2);
	assert_int_equal(nodes_lock(&nodes, 2, waiter, "x"), 0);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, waiter), "");
	assert_int_equal(nodes_unlock(&nodes, 1, session[1], "x"), 1);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, waiter), "fence 2:1");
}

static void test_of_two_equal_fences_the_first_member_s_stays(void **state)
{
	(void)state;
	uint64_t session[2];
	begin_with_two_holders(session, 0);
	assert_string_equal(nodes_said(&nodes, session[0]), "");
	assert_string_equal(nodes_said(&nodes, session[1]), "lost x 1:1");
	assert_int_equal(nodes_unlock(&nodes, 0, session[0], "x"), 1);
}

/* --- coming and going --- */

static void test_a_node_that_is_removed_loses_its_holds_and_keeps_its_waiters(void **state)
{
	(void)state;
	nodes_start(&nodes, "neilsen", 3);
	uint64_t holder = nodes_open(&nodes, 1), waiter = nodes_open(&nodes, 1),
	         other = nodes_open(&nodes, 0), asking = nodes_open(&nodes, 1);
	assert_int_equal(nodes_lock(&nodes, 1, holder, "x"), 0);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, holder), "fence 1:1");
	assert_int_equal(nodes_lock(&nodes, 1, waiter, "x"), 0);
	assert_int_equal(nodes_leader(&nodes, 1, asking, "x"), 0);
	nodes.member[1] = false;
	nodes_view(&nodes);
	assert_string_equal(nodes_said(&nodes, holder), "lost x 1:1");
	assert_string_equal(nodes_said(&nodes, waiter), "");
	assert_string_equal(nodes_said(&nodes, asking), "error -6");
	assert_int_equal(nodes_unlock(&nodes, 1, holder, "x"), 0);
	assert_int_equal(nodes_lock(&nodes, 1, holder, "y"), BATON_ENOVIEW);
	assert_string_equal(node_waiting_for(nodes.node[1]), "a view that includes this node");
	nodes_deliver_all(&nodes);
	assert_int_equal(nodes_lock(&nodes, 0, other, "x"), 0);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, other), "fence 2:1");
	assert_int_equal(nodes_unlock(&nodes, 0, other, "x"), 1);
	/* b joins again as another incarnation, and its client has waited all the time. */
	assert_int_equal(node_rejoin(nodes.node[1], 1, nodes.now), BATON_EVIEW);
	assert_int_equal(node_rejoin(nodes.node[1], 2, nodes.now), 0);
	nodes.incarnation[1] = 2;
	nodes.member[1] = true;
	nodes_view(&nodes);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, waiter), "fence 3:1");
	assert_int_equal(node_rejoin(nodes.node[1], 3, nodes.now), BATON_EVIEW);
}

static void test_a_lock_moves_home_when_its_home_leaves(void **state)
{
	(void)state;
	nodes_start(&nodes, "neilsen", 3);
	const char *name = nodes_name_at(&nodes, 1, 0);
	nodes.member[1] = false;
	nodes_view(&nodes);
	nodes_deliver_all(&nodes);
	uint64_t session = nodes_open(&nodes, 0);
	assert_int_equal(nodes_lock(&nodes, 0, session, name), 0);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, session), "fence 2:1");
	assert_int_equal(node_home(nodes.node[0], name, strlen(name)),
	                 node_home(nodes.node[2], name, strlen(name)));
	assert_int_equal(node_home(nodes.node[1], name, strlen(name)), 0);
}

static void test_an_old_view_is_ignored(void **state)
{
	struct node_member members[] = {{"a", 1, NULL}, {"b", 1, NULL}, {"c", 1, NULL}};

	(void)state;
	nodes_start(&nodes, "central", 2);
	uint64_t session = nodes_open(&nodes, 0);
	assert_int_equal(nodes_lock(&nodes, 0, session, "x"), 0);
	assert_int_equal(node_view(nodes.node[0], 1, members, 3, nodes.now), 0);
	assert_int_equal(node_members_count(nodes.node[0]), 2);
	assert_null(node_waiting_for(nodes.node[0]));
}

static void test_a_malformed_view_changes_nothing(void **state)
{
	struct node_member twice[] = {{"a", 1, NULL}, {"b", 1, NULL}, {"a", 2, NULL}};
	struct node_member empty[] = {{"a", 1, NULL}, {"", 1, NULL}};

	(void)state;
	nodes_start(&nodes, "central", 2);
	struct node *node = nodes.node[0];
	assert_int_equal(node_view(node, 9, twice, 3, nodes.now), BATON_EVIEW);
	assert_int_equal(node_view(node, 9, empty, 2, nodes.now), BATON_EVIEW);
	assert_int_equal(node_view(node, 0, twice, 2, nodes.now), BATON_EVIEW);
	assert_int_equal(node_view(node, NODE_EPOCH_MAX + 1, twice, 2, nodes.now), BATON_EVIEW);
	assert_int_equal(node_epoch(node), 1);
	assert_null(node_waiting_for(node));
}

/* All members were removed or left, so the next view has no members. The node's knowledge of the
 * old epoch must not be used again, because reports of that epoch may still arrive. */
static void test_a_view_without_members_ends_the_epoch(void **state)
{
	(void)state;
	nodes_start(&nodes, "central", 2);
	struct node *node = nodes.node[0];
	uint64_t session = nodes_open(&nodes, 0);
	assert_int_equal(nodes_lock(&nodes, 0, session, "x"), 0);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, session), "fence 1:1");
	assert_int_equal(node_view(node, 2, NULL, 0, nodes.now), 0);
	assert_int_equal(node_epoch(node), 2);
	assert_int_equal(node_members_count(node), 0);
	assert_non_null(node_waiting_for(node));
	nodes_take(&nodes, 0);
	assert_string_equal(nodes_said(&nodes, session), "lost x 1:1");
}

static void test_a_view_that_does_not_suit_the_topology_is_said(void **state)
{
	(void)state;
	nodes.options.topology = "edges:1-2,2-3";
	nodes_start(&nodes, "raymond", 3);
	uint64_t holder = nodes_open(&nodes, 0), waiter = nodes_open(&nodes, 0);
	assert_int_equal(nodes_lock(&nodes, 0, holder, "x"), 0);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, holder), "fence 1:1");
	nodes.member[2] = false;
	nodes_next_epoch(&nodes);
	assert_int_equal(nodes_view_one(&nodes, 0), BATON_EVIEW);
	assert_string_equal(node_waiting_for(nodes.node[0]),
	                    "topology edges:1-2,2-3 is for 3 members, and there are 2");
	/* Holders keep their locks and waiters keep waiting, until the number of members suits
	 * again. */
	assert_int_equal(nodes_lock(&nodes, 0, waiter, "x"), 0);
	assert_int_equal(nodes_unlock(&nodes, 0, holder, "x"), 1);
	nodes.member[2] = true;
	nodes_view(&nodes);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, waiter), "fence 3:1");
}

static void test_links_follow_the_topology(void **state)
{
	(void)state;
	nodes.options.topology = "line";
	nodes_start(&nodes, "raymond", 4);
	assert_true(node_linked(nodes.node[1], 1));
	assert_false(node_linked(nodes.node[1], 2));
	assert_true(node_linked(nodes.node[1], 3));
	assert_false(node_linked(nodes.node[1], 4));
	assert_false(node_linked(nodes.node[1], 5));
	/* neilsen's tree is logical, so neilsen runs with any number of members. */
	again();
	nodes.options.topology = "line";
	nodes_start(&nodes, "neilsen", 4);
	assert_true(node_linked(nodes.node[1], 4));
}

/* --- frames of other epochs --- */

static void test_a_frame_of_a_later_epoch_waits_for_the_view(void **state)
{
	(void)state;
	nodes_start(&nodes, "central", 3);
	uint64_t session = nodes_open(&nodes, 1);
	nodes_next_epoch(&nodes);
	for (uint32_t i = 1; i < 3; i++)
		assert_int_equal(nodes_view_one(&nodes, i), 0);
	nodes_deliver_all(&nodes);
	assert_int_equal(node_epoch(nodes.node[0]), 1);
	assert_int_equal(nodes_lock(&nodes, 1, session, "x"), 0);
	assert_int_equal(nodes_view_one(&nodes, 0), 0);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, session), "fence 2:1");
}

static void test_at_the_bound_a_link_is_not_read_and_nothing_is_lost(void **state)
{
	(void)state;
	nodes.options.limits.backlog_bytes = 300;
	nodes_start(&nodes, "lamport", 3);
	nodes_next_epoch(&nodes);
	assert_int_equal(nodes_view_one(&nodes, 1), 0);
	assert_int_equal(nodes_view_one(&nodes, 2), 0);
	nodes.link[0][1].cut = nodes.link[0][2].cut = true;
	nodes_deliver_all(&nodes);
	/* c asks for many locks, and knows the view; a does not. */
	uint64_t session[20];
	for (unsigned k = 0; k < 20; k++) {
		char name[8];
		snprintf(name, sizeof(name), "n%u", k);
		session[k] = nodes_open(&nodes, 2);
		assert_int_equal(nodes_subscribe(&nodes, 2, session[k], false, name), 0);
		nodes_deliver_all(&nodes);
	}
	assert_true(nodes.link[2][0].blocked);
	assert_non_null(nodes.link[2][0].first);
	assert_int_equal(nodes.reads, 0);
	nodes.link[0][1].cut = nodes.link[0][2].cut = false;
	assert_int_equal(nodes_view_one(&nodes, 0), 0);
	assert_true(nodes.reads > 0);
	nodes_deliver_all(&nodes);
	nodes.said_count = 0;
	/* All messages have arrived by now. */
	uint64_t holder = nodes_open(&nodes, 0);
	for (unsigned k = 0; k < 20; k++) {
		char name[8], event[32];
		snprintf(name, sizeof(name), "n%u", k);
		snprintf(event, sizeof(event), "n%u granted 2:1 a", k);
		assert_int_equal(nodes_lock(&nodes, 0, holder, name), 0);
		nodes_deliver_all(&nodes);
		assert_string_equal(nodes_said(&nodes, session[k]), event);
	}
}

/* A session locks this at a, and unlocks it. */
static void use(uint64_t session, const char *name)
{
	assert_int_equal(nodes_lock(&nodes, 0, session, name), 0);
	assert_int_equal(nodes_unlock(&nodes, 0, session, name), 1);
	assert_string_not_equal(nodes_said(&nodes, session), "");
}

/* A full table is no reason to lose a message: it waits, and the epoch should end. */
static void test_a_message_for_one_lock_too_many_waits(void **state)
{
	(void)state;
	nodes.options.limits.locks = 2;
	nodes_start(&nodes, "central", 3);
	uint64_t one = nodes_open(&nodes, 0), far = nodes_open(&nodes, 1),
	         also = nodes_open(&nodes, 1);
	use(one, "x");
	use(one, "y");
	assert_int_equal(nodes_lock(&nodes, 1, far, "z"), 0);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, far), "");
	assert_int_equal(nodes.bumps, 1);
	/* Later messages of the same member do not overtake it, even if there were room. */
	assert_int_equal(nodes_lock(&nodes, 1, also, "x"), 0);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, also), "");
	nodes_view(&nodes);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, far), "fence 2:1");
	assert_string_equal(nodes_said(&nodes, also), "fence 2:1");
}

/* If the table is full of locks in use, a new epoch would not help: the message does not wait. But
 * locks that were added in this way, and are not used any more, are a reason for a new epoch. */
static void test_a_message_for_a_table_full_of_locks_in_use_does_not_wait(void **state)
{
	(void)state;
	nodes.options.limits.locks = 2;
	nodes_start(&nodes, "central", 3);
	uint64_t one = nodes_open(&nodes, 0), far = nodes_open(&nodes, 1),
	         also = nodes_open(&nodes, 1);
	assert_int_equal(nodes_lock(&nodes, 0, one, "x"), 0);
	assert_string_equal(nodes_said(&nodes, one), "fence 1:1");
	assert_int_equal(nodes_lock(&nodes, 0, one, "y"), 0);
	assert_int_equal(nodes_lock(&nodes, 1, far, "z"), 0);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, far), "fence 1:1");
	assert_int_equal(nodes.bumps, 0);
	assert_int_equal(nodes_lock(&nodes, 1, also, "w"), 0);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, also), "");
	assert_int_equal(nodes.bumps, 1);
	/* Now a knows that b uses z. */
	nodes_view(&nodes);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, also), "fence 2:1");
	nodes_pass(&nodes, 3 * NODE_BUMP_NS);
	assert_int_equal(nodes.bumps, 1);
}

/* A TOUCH waits like other messages: no other message would show that the home's table is full. */
static void test_a_touch_for_one_lock_too_many_waits(void **state)
{
	(void)state;
	nodes.options.limits.locks = 1;
	nodes_start(&nodes, "le-lann", 2);
	uint64_t near = nodes_open(&nodes, 0), far = nodes_open(&nodes, 1);
	assert_int_equal(nodes_lock(&nodes, 0, near, nodes_name_at(&nodes, 0, 0)), 0);
	cut_all(true); /* the token of that lock does not get to b, whose table is empty */
	nodes_close(&nodes, 0, near);
	assert_int_equal(nodes_lock(&nodes, 1, far, nodes_name_at(&nodes, 0, 1)), 0);
	nodes.link[1][0].cut = false;
	nodes_deliver_all(&nodes);
	assert_int_equal(nodes.bumps, 1);
	nodes_view(&nodes);
	cut_all(false);
	nodes_pass(&nodes, 100 * MILLISECOND);
	assert_string_equal(nodes_said(&nodes, far), "fence 2:1");
}

/* The voters may not have heard the BUMP, so the node repeats it. But a small table must not end one
 * epoch after the other. */
static void test_bump_is_said_every_second_until_the_epoch_ends(void **state)
{
	(void)state;
	nodes.options.limits.locks = 1;
	nodes_start(&nodes, "central", 1);
	uint64_t one = nodes_open(&nodes, 0), two = nodes_open(&nodes, 0);
	use(one, "x");
	assert_int_equal(nodes_lock(&nodes, 0, two, "y"), BATON_ELOCKS);
	assert_int_equal(nodes_lock(&nodes, 0, two, "y"), BATON_ELOCKS);
	assert_int_equal(nodes.bumps, 1);
	nodes_pass(&nodes, NODE_BUMP_NS - 1);
	assert_int_equal(nodes.bumps, 1);
	nodes_pass(&nodes, 1);
	assert_int_equal(nodes.bumps, 2);
	nodes_view(&nodes);
	assert_true(nodes_deadline(&nodes) == NODE_NEVER);
	use(two, "y");
	assert_int_equal(nodes_lock(&nodes, 0, one, "x"), BATON_ELOCKS);
	assert_int_equal(nodes.bumps, 2);
	nodes_pass(&nodes, NODE_BUMP_NS);
	assert_int_equal(nodes.bumps, 3);
}

/* Clients that use all locks of the table must not be able to end epochs: nothing would be free
 * afterwards. Of 32 locks, more than two must be unused. */
static void test_a_table_full_of_locks_in_use_ends_no_epoch(void **state)
{
	char name[8];

	(void)state;
	nodes.options.limits.locks = 32;
	nodes_start(&nodes, "central", 1);
	uint64_t session = nodes_open(&nodes, 0);
	for (uint8_t i = 0; i < 32; i++) {
		snprintf(name, sizeof(name), "x%u", i);
		assert_int_equal(nodes_lock(&nodes, 0, session, name), 0);
		assert_string_not_equal(nodes_said(&nodes, session), "");
	}
	for (uint8_t i = 0; i < 3; i++) {
		assert_int_equal(nodes_lock(&nodes, 0, session, "y"), BATON_ELOCKS);
		assert_int_equal(nodes.bumps, 0);
		snprintf(name, sizeof(name), "x%u", i);
		assert_int_equal(nodes_unlock(&nodes, 0, session, name), 1);
	}
	assert_int_equal(nodes_lock(&nodes, 0, session, "y"), BATON_ELOCKS);
	assert_int_equal(nodes.bumps, 1);
	nodes_view(&nodes);
	assert_int_equal(nodes_lock(&nodes, 0, session, "y"), 0);
	assert_string_equal(nodes_said(&nodes, session), "fence 2:1");
}

/* --- frames that are refused --- */

static size_t first_frame(uint32_t from, uint32_t to, uint8_t *ret_bytes)
{
	const struct test_frame *frame = nodes.link[from][to].first;

	assert_non_null(frame);
	memcpy(ret_bytes, frame->bytes, frame->size);
	return frame->size;
}

static void test_frames_of_strangers_are_refused(void **state)
{
	uint8_t bytes[1024];

	(void)state;
	nodes.options.topology = "line";
	nodes_start(&nodes, "raymond", 3);
	uint64_t session = nodes_open(&nodes, 1);
	const char *name = nodes_name_at(&nodes, 0, 0);
	assert_int_equal(nodes_lock(&nodes, 1, session, name), 0);
	size_t size = first_frame(1, 0, bytes);
	struct node *a = nodes.node[0];
	assert_int_equal(node_receive(a, "c", bytes, size, nodes.now), BATON_ESENDER);
	bytes[2] ^= 1; /* the cluster's number */
	assert_int_equal(node_receive(a, "b", bytes, size, nodes.now), BATON_ECLUSTER);
	bytes[2] ^= 1;
	bytes[12] = 2; /* the incarnation */
	assert_int_equal(node_receive(a, "b", bytes, size, nodes.now), BATON_ESENDER);
	bytes[12] = 1;
	bytes[0] = 1; /* the version */
	assert_int_equal(node_receive(a, "b", bytes, size, nodes.now), BATON_EMESSAGE);
	bytes[0] = 2;
	/* c is a member, but not a neighbour of a. */
	bytes[11] = 3;
	assert_int_equal(node_receive(a, "c", bytes, size, nodes.now), BATON_ESENDER);
	struct node_effect effect;
	assert_false(node_effect(a, &effect));
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, session), "fence 1:1");
}

/* Delivers the next frame of a link, but first all its incomplete beginnings, which must be
 * refused. Returns how many. */
static size_t deliver_after_beginnings(uint32_t from, uint32_t to)
{
	uint8_t bytes[1024];
	struct node_effect effect;

	if (nodes.link[from][to].first == NULL)
		return 0;
	size_t size = first_frame(from, to, bytes);
	for (size_t cut = 0; cut < size; cut++) {
		assert_int_not_equal(
		        node_receive(nodes.node[to], nodes.name[from], bytes, cut, nodes.now), 0);
		assert_false(node_effect(nodes.node[to], &effect));
	}
	assert_true(nodes_deliver(&nodes, from, to));
	return size;
}

static size_t deliver_all_after_beginnings(void)
{
	size_t tried = 0, before;

	do {
		before = tried;
		for (uint32_t from = 0; from < nodes.count; from++) {
			for (uint32_t to = 0; to < nodes.count; to++)
				tried += deliver_after_beginnings(from, to);
		}
	} while (tried != before);
	return tried;
}

static void test_damaged_frames_do_no_harm(void **state)
{
	(void)state;
	nodes_start(&nodes, "neilsen", 3);
	uint64_t session[3];
	for (uint32_t i = 0; i < 3; i++)
		session[i] = nodes_open(&nodes, i);
	assert_int_equal(nodes_subscribe(&nodes, 0, session[0], true, "*"), 0);
	assert_int_equal(nodes_elect(&nodes, 2, session[2], "x", "value"), 0);
	assert_true(deliver_all_after_beginnings() > 200);
	assert_string_equal(nodes_said(&nodes, session[2]), "fence 1:1");
	assert_int_equal(nodes_leader(&nodes, 1, session[1], "x"), 0);
	assert_true(deliver_all_after_beginnings() > 50);
	assert_string_equal(nodes_said(&nodes, session[1]), "leader 1:1 c value");
}

/* --- the end of the numbers --- */

/* Makes a frame as another member would: this documents the format. */
static void put(uint8_t *bytes, size_t *size, uint64_t value)
{
	while (value >= 0x80) {
		bytes[(*size)++] = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	bytes[(*size)++] = (uint8_t)value;
}

static void send_by_hand(uint64_t counter, const uint8_t *message, size_t message_size)
{
	uint8_t bytes[128] = {2, 0, 7}; /* version, a frame of messages, the cluster's number */
	size_t size = 10;

	put(bytes, &size, nodes.epoch);
	put(bytes, &size, 2); /* from the second member */
	put(bytes, &size, 1); /* in its first incarnation */
	bytes[size++] = 0;    /* no side */
	bytes[size++] = 1;
	bytes[size++] = 'x';
	put(bytes, &size, counter);
	put(bytes, &size, message_size);
	memcpy(bytes + size, message, message_size);
	assert_int_equal(node_receive(nodes.node[0], "b", bytes, size + message_size, nodes.now),
	                 0);
	nodes_take(&nodes, 0);
}

static void test_at_the_end_of_the_counter_nothing_is_granted(void **state)
{
	(void)state;
	nodes_start(&nodes, "central", 2);
	uint64_t session = nodes_open(&nodes, 0), next = nodes_open(&nodes, 0);
	nodes.link[0][1].cut = true;
	/* b was let in, and its counter is almost at its end. */
	send_by_hand(0, (const uint8_t[]){0, 2}, 2);                 /* REQUEST(2) */
	send_by_hand(NODE_COUNTER_MAX - 1, (const uint8_t[]){2}, 1); /* RELEASE */
	assert_int_equal(nodes_lock(&nodes, 0, session, "x"), 0);
	assert_string_equal(nodes_said(&nodes, session), "fence 1:17179869183");
	assert_int_equal(nodes_lock(&nodes, 0, next, "x"), 0);
	assert_int_equal(nodes_unlock(&nodes, 0, session, "x"), 1);
	assert_string_equal(nodes_said(&nodes, next), "");
	assert_int_equal(nodes.bumps, 1);
	nodes.link[0][1].cut = false;
	nodes_view(&nodes);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, next), "fence 2:1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(test_a_hold_survives_a_new_view_with_its_fence),
	        TEST(test_a_hold_is_carried_over_twice),
	        TEST(test_no_token_before_all_have_reported),
	        TEST(test_the_first_part_of_a_report_is_not_all_of_it),
	        TEST(test_a_hold_that_ends_while_frozen_leaves_the_lock_open),
	        TEST(test_a_return_may_come_before_its_report),
	        TEST(test_a_return_of_an_older_epoch_opens_nothing),
	        TEST(test_reports_go_before_messages),
	        TEST(test_messages_for_a_closed_lock_wait),
	        TEST(test_a_touch_of_a_closed_lock_waits),
	        TEST(test_a_closed_lock_is_busy_for_nowait),
	        TEST(test_nowait_asks_again_when_the_node_is_active),
	        TEST(test_a_turn_ends_with_the_epoch),
	        TEST(test_of_two_holders_of_a_lock_the_greater_fence_stays),
	        TEST(test_of_two_equal_fences_the_first_member_s_stays),
	        TEST(test_a_node_that_is_removed_loses_its_holds_and_keeps_its_waiters),
	        TEST(test_a_lock_moves_home_when_its_home_leaves),
	        TEST(test_an_old_view_is_ignored),
	        TEST(test_a_malformed_view_changes_nothing),
	        TEST(test_a_view_without_members_ends_the_epoch),
	        TEST(test_a_view_that_does_not_suit_the_topology_is_said),
	        TEST(test_links_follow_the_topology),
	        TEST(test_a_frame_of_a_later_epoch_waits_for_the_view),
	        TEST(test_at_the_bound_a_link_is_not_read_and_nothing_is_lost),
	        TEST(test_a_message_for_one_lock_too_many_waits),
	        TEST(test_a_message_for_a_table_full_of_locks_in_use_does_not_wait),
	        TEST(test_a_touch_for_one_lock_too_many_waits),
	        TEST(test_bump_is_said_every_second_until_the_epoch_ends),
	        TEST(test_a_table_full_of_locks_in_use_ends_no_epoch),
	        TEST(test_frames_of_strangers_are_refused),
	        TEST(test_damaged_frames_do_no_harm),
	        TEST(test_at_the_end_of_the_counter_nothing_is_granted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
