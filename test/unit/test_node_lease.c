/*
 * The lock node with a lease: when it may grant, which holds it loses and when, how it renews, how
 * its fences are extended, and how it leaves.
 */
#include "../lib/node_fixture.h"

/* A lease of 6 s: renewals every second, a margin of 600 ms. */
#define LEASE (6000 * MILLISECOND)
#define RENEWAL (1000 * MILLISECOND)

static void begin_with_leases(const char *algorithm, uint32_t count)
{
	nodes.options.lease_ns = LEASE;
	for (uint32_t i = 0; i < count; i++)
		nodes.acknowledged[i] = true;
	nodes_start(&nodes, algorithm, count);
}

/* From now on the voters do not hear from this node. */
static void isolate(uint32_t i)
{
	nodes.acknowledged[i] = false;
}

static uint64_t left_of(uint32_t i)
{
	return node_lease_deadline(nodes.node[i]) - nodes.now;
}

/* --- renewals --- */

static void test_a_node_renews_every_sixth_of_its_lease(void **state)
{
	(void)state;
	begin_with_leases("neilsen", 1);
	assert_int_equal(nodes.renewals[0], 1);
	nodes_pass(&nodes, RENEWAL - 1);
	assert_int_equal(nodes.renewals[0], 1);
	nodes_pass(&nodes, 1);
	assert_int_equal(nodes.renewals[0], 2);
	nodes_pass(&nodes, 10 * RENEWAL);
	assert_int_equal(nodes.renewals[0], 12);
	assert_int_equal(nodes.warnings[0], 0);
}

static void test_a_node_renews_outside_a_view(void **state)
{
	(void)state;
	nodes.options.lease_ns = LEASE;
	nodes_create(&nodes, "neilsen", 1);
	nodes_pass(&nodes, 0);
	assert_int_equal(nodes.renewals[0], 1);
	nodes_pass(&nodes, 3 * RENEWAL);
	assert_int_equal(nodes.renewals[0], 4);
}

static void test_a_renewal_is_taken_when_it_is_made(void **state)
{
	(void)state;
	begin_with_leases("neilsen", 1);
	isolate(0);
	nodes_pass(&nodes, RENEWAL);
	uint64_t taken = nodes.renewed[0];
	assert_int_equal(taken, nodes.now);
	nodes_pass(&nodes, RENEWAL / 2);
	nodes_acknowledge(&nodes, 0);
	assert_int_equal(node_lease_deadline(nodes.node[0]), taken + LEASE);
}

static void test_a_deadline_never_goes_back(void **state)
{
	(void)state;
	begin_with_leases("neilsen", 1);
	uint64_t deadline = node_lease_deadline(nodes.node[0]);
	node_lease(nodes.node[0], deadline - RENEWAL, nodes.now);
	assert_int_equal(node_lease_deadline(nodes.node[0]), deadline);
}

static void test_a_deadline_has_whole_milliseconds(void **state)
{
	(void)state;
	begin_with_leases("neilsen", 1);
	uint64_t deadline = node_lease_deadline(nodes.node[0]);
	node_lease(nodes.node[0], deadline + 5 * MILLISECOND + 999999, nodes.now);
	assert_int_equal(node_lease_deadline(nodes.node[0]), deadline + 5 * MILLISECOND);
	assert_int_equal(node_lease_word(nodes.node[0]),
	                 (deadline / MILLISECOND + 5) << 16 | node_lapses(nodes.node[0]));
}

/* --- the levels --- */

static void test_without_a_lease_nothing_is_granted(void **state)
{
	(void)state;
	nodes.options.lease_ns = LEASE;
	nodes_start(&nodes, "neilsen", 2);
	uint64_t client = nodes_open(&nodes, 0);
	assert_int_equal(nodes_lock(&nodes, 0, client, "x"), 0);
	nodes_deliver_all(&nodes);
	assert_int_equal(nodes.said_count, 0);
	assert_int_equal(nodes.frames, 0); /* the node does not even ask for the lock */
	nodes_acknowledge(&nodes, 0);
	nodes_take(&nodes, 0);
	nodes_acknowledge(&nodes, 1);
	nodes_take(&nodes, 1);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, client), "fence 0:1001");
}

static void test_half_a_lease_without_an_answer_is_warned_of_once(void **state)
{
	(void)state;
	begin_with_leases("neilsen", 1);
	isolate(0);
	nodes_pass(&nodes, LEASE / 2 - 1);
	assert_int_equal(nodes.warnings[0], 0);
	nodes_pass(&nodes, 1);
	assert_int_equal(nodes.warnings[0], 1);
	nodes_pass(&nodes, LEASE / 4);
	assert_int_equal(nodes.warnings[0], 1);
	nodes_acknowledge(&nodes, 0);
	nodes_pass(&nodes, 0);
	nodes_pass(&nodes, left_of(0) - LEASE / 2);
	assert_int_equal(nodes.warnings[0], 2);
}

static void test_in_the_margin_nothing_is_granted(void **state)
{
	(void)state;
	begin_with_leases("neilsen", 1);
	isolate(0);
	uint64_t first = nodes_open(&nodes, 0), second = nodes_open(&nodes, 0);
	nodes_pass(&nodes, LEASE - LEASE / 10 - 1);
	assert_int_equal(nodes_lock(&nodes, 0, first, "x"), 0);
	assert_string_equal(nodes_said(&nodes, first), "fence 0:1001");
	nodes_pass(&nodes, 1);
	assert_int_equal(nodes_lock(&nodes, 0, second, "y"), 0);
	assert_int_equal(nodes_unlock(&nodes, 0, first, "x"), 1);
	assert_int_equal(nodes_lock(&nodes, 0, first, "x"), 0);
	assert_int_equal(nodes.said_count, 0);
	nodes_acknowledge(&nodes, 0);
	nodes_take(&nodes, 0);
	assert_string_equal(nodes_said(&nodes, second), "fence 0:1001");
	assert_string_equal(nodes_said(&nodes, first), "fence 0:1002");
}

static void test_in_the_margin_nobody_is_asked_for(void **state)
{
	(void)state;
	begin_with_leases("neilsen", 2);
	isolate(0);
	isolate(1);
	nodes_pass(&nodes, LEASE - LEASE / 10);
	uint64_t client = nodes_open(&nodes, 0), other = nodes_open(&nodes, 1);
	uint64_t frames = nodes.frames;
	assert_int_equal(nodes_lock(&nodes, 0, client, "x"), 0);
	assert_int_equal(nodes_lock(&nodes, 1, other, "x"), 0);
	nodes_deliver_all(&nodes);
	assert_int_equal(nodes.frames, frames);
	assert_int_equal(nodes.said_count, 0);
}

/* --- the lapse --- */

static void test_at_the_deadline_every_hold_is_lost(void **state)
{
	(void)state;
	begin_with_leases("neilsen", 2);
	uint64_t holder = nodes_open(&nodes, 0), other = nodes_open(&nodes, 1);
	assert_int_equal(nodes_lock(&nodes, 0, holder, "x"), 0);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, holder), "fence 0:1001");
	assert_int_equal(nodes_lock(&nodes, 1, other, "x"), 0);
	isolate(0);
	nodes_pass(&nodes, left_of(0) - 1);
	assert_int_equal(nodes.said_count, 0);
	assert_int_equal(node_lapses(nodes.node[0]), 0);
	nodes_pass(&nodes, 1);
	assert_string_equal(nodes_said(&nodes, holder), "lost x 0:1001");
	assert_string_equal(nodes.lost_why, NODE_LOST_LEASE);
	assert_string_equal(nodes_said(&nodes, other), "fence 0:1002");
	assert_int_equal(node_lapses(nodes.node[0]), 1);
	assert_int_equal(node_lease_word(nodes.node[0]), 1);
}

static void test_a_lapse_does_not_respect_turns(void **state)
{
	(void)state;
	nodes.options.turns = 3;
	begin_with_leases("neilsen", 2);
	uint64_t holder = nodes_open(&nodes, 0), next = nodes_open(&nodes, 0),
	         other = nodes_open(&nodes, 1);
	assert_int_equal(nodes_lock(&nodes, 0, holder, "x"), 0);
	nodes_deliver_all(&nodes);
	assert_int_equal(nodes_lock(&nodes, 0, next, "x"), 0);
	assert_int_equal(nodes_lock(&nodes, 1, other, "x"), 0);
	nodes_deliver_all(&nodes);
	nodes_said(&nodes, holder);
	isolate(0);
	nodes_pass(&nodes, left_of(0));
	assert_string_equal(nodes_said(&nodes, other), "fence 0:1002");
}

/* The node is let in while it may not grant: it stays inside without a client, until the lapse. */
static void test_a_lapse_leaves_a_critical_section_with_nobody_inside(void **state)
{
	(void)state;
	begin_with_leases("neilsen", 2);
	uint64_t holder = nodes_open(&nodes, 1), waiter = nodes_open(&nodes, 0),
	         other = nodes_open(&nodes, 1);
	assert_int_equal(nodes_lock(&nodes, 1, holder, "x"), 0);
	nodes_deliver_all(&nodes);
	assert_int_equal(nodes_lock(&nodes, 0, waiter, "x"), 0);
	nodes_deliver_all(&nodes);
	nodes_said(&nodes, holder);
	isolate(0);
	nodes_pass(&nodes, left_of(0) - LEASE / 20);
	assert_int_equal(nodes_lock(&nodes, 1, other, "x"), 0);
	assert_int_equal(nodes_unlock(&nodes, 1, holder, "x"), 1);
	nodes_deliver_all(&nodes);
	assert_int_equal(nodes.said_count, 0);
	assert_true(node_has_token(nodes.node[0], "x", 1));
	nodes_pass(&nodes, LEASE / 20);
	assert_string_equal(nodes_said(&nodes, other), "fence 0:1002");
	assert_int_equal(nodes.said_count, 0); /* the waiter held nothing and so lost nothing */
}

static void test_a_lapse_returns_what_was_carried_over(void **state)
{
	(void)state;
	begin_with_leases("neilsen", 2);
	uint64_t holder = nodes_open(&nodes, 0), other = nodes_open(&nodes, 1);
	assert_int_equal(nodes_lock(&nodes, 0, holder, "x"), 0);
	nodes_deliver_all(&nodes);
	nodes_said(&nodes, holder);
	nodes_view(&nodes);
	nodes_deliver_all(&nodes);
	assert_int_equal(nodes_lock(&nodes, 1, other, "x"), 0);
	nodes_deliver_all(&nodes);
	assert_int_equal(nodes.said_count, 0);
	isolate(0);
	nodes_pass(&nodes, left_of(0));
	assert_string_equal(nodes_said(&nodes, holder), "lost x 0:1001");
	assert_string_equal(nodes_said(&nodes, other), "fence 0:2001");
}

/* The node looks at the clock before it looks at the acknowledgement. */
static void test_an_acknowledgement_that_comes_late_revives_nothing(void **state)
{
	(void)state;
	begin_with_leases("neilsen", 1);
	uint64_t holder = nodes_open(&nodes, 0), waiter = nodes_open(&nodes, 0);
	assert_int_equal(nodes_lock(&nodes, 0, holder, "x"), 0);
	nodes_said(&nodes, holder);
	assert_int_equal(nodes_lock(&nodes, 0, waiter, "x"), 0);
	isolate(0);
	nodes_pass(&nodes, RENEWAL);
	nodes.now = node_lease_deadline(nodes.node[0]);
	nodes_acknowledge(&nodes, 0);
	nodes_take(&nodes, 0);
	assert_string_equal(nodes_said(&nodes, holder), "lost x 0:1001");
	assert_string_equal(nodes_said(&nodes, waiter), "fence 0:1002");
	assert_int_equal(node_lapses(nodes.node[0]), 1);
}

static void test_a_command_after_the_deadline_finds_the_lapse_done(void **state)
{
	(void)state;
	begin_with_leases("neilsen", 1);
	uint64_t holder = nodes_open(&nodes, 0);
	assert_int_equal(nodes_lock(&nodes, 0, holder, "x"), 0);
	nodes_said(&nodes, holder);
	nodes.now = node_lease_deadline(nodes.node[0]);
	nodes.acknowledged[0] = false;
	assert_int_equal(nodes_unlock(&nodes, 0, holder, "x"), 0);
	assert_string_equal(nodes_said(&nodes, holder), "lost x 0:1001");
}

static void test_a_grant_tells_lapses_and_time_left(void **state)
{
	(void)state;
	begin_with_leases("neilsen", 1);
	uint64_t client = nodes_open(&nodes, 0);
	isolate(0);
	nodes_pass(&nodes, LEASE);
	nodes.acknowledged[0] = true;
	nodes_pass(&nodes, RENEWAL);
	assert_int_equal(nodes_lock(&nodes, 0, client, "x"), 0);
	assert_int_equal(nodes.grant_lapses, 1);
	assert_int_equal(nodes.grant_left, left_of(0));
}

/* --- views --- */

static void test_leaving_the_view_is_a_lapse(void **state)
{
	(void)state;
	begin_with_leases("neilsen", 2);
	uint64_t holder = nodes_open(&nodes, 0);
	assert_int_equal(nodes_lock(&nodes, 0, holder, "x"), 0);
	nodes_deliver_all(&nodes);
	nodes_said(&nodes, holder);
	nodes.member[0] = false;
	nodes_view(&nodes);
	assert_string_equal(nodes_said(&nodes, holder), "lost x 0:1001");
	assert_int_equal(node_lapses(nodes.node[0]), 1);
	assert_int_equal(node_lease_deadline(nodes.node[0]), 0);
}

/* The node was removed and joined again, and saw only the last of these views. */
static void test_another_incarnation_has_lost_what_the_last_one_held(void **state)
{
	(void)state;
	begin_with_leases("neilsen", 2);
	uint64_t holder = nodes_open(&nodes, 0), waiter = nodes_open(&nodes, 0);
	assert_int_equal(nodes_lock(&nodes, 0, holder, "x"), 0);
	nodes_deliver_all(&nodes);
	nodes_said(&nodes, holder);
	assert_int_equal(nodes_lock(&nodes, 0, waiter, "x"), 0);
	nodes.incarnation[0] = 9;
	nodes_next_epoch(&nodes);
	nodes_view(&nodes);
	assert_string_equal(nodes_said(&nodes, holder), "lost x 0:1001");
	assert_int_equal(node_incarnation(nodes.node[0]), 9);
	assert_int_equal(node_lapses(nodes.node[0]), 1);
	nodes_deliver_all(&nodes);
	assert_int_equal(nodes.said_count, 0);
	nodes_pass(&nodes, RENEWAL);
	assert_string_equal(nodes_said(&nodes, waiter), "fence 0:3001");
}

static void test_bounds_of_fences_that_make_no_sense_are_refused(void **state)
{
	(void)state;
	begin_with_leases("neilsen", 1);
	struct node_member self = {"a", 1, NULL};
	struct node_agreement wrong = {.epoch = 9, .members = &self, .members_count = 1};
	wrong.base = wrong.limit = 9000;
	assert_int_equal(node_enter(nodes.node[0], &wrong, nodes.now), BATON_EVIEW);
	wrong.limit = NODE_FENCE_MAX + 1;
	assert_int_equal(node_enter(nodes.node[0], &wrong, nodes.now), BATON_EVIEW);
	wrong.limit = NODE_FENCE_MAX;
	wrong.self = 1;
	assert_int_equal(node_enter(nodes.node[0], &wrong, nodes.now), BATON_EVIEW);
	wrong.self = 0;
	self.name = "b";
	assert_int_equal(node_enter(nodes.node[0], &wrong, nodes.now), BATON_EVIEW);
	assert_int_equal(node_epoch(nodes.node[0]), 1);
}

/* --- fences --- */

static void lock_and_unlock(uint64_t client, uint32_t times)
{
	for (uint32_t i = 0; i < times; i++) {
		assert_int_equal(nodes_lock(&nodes, 0, client, "x"), 0);
		assert_int_equal(nodes_unlock(&nodes, 0, client, "x"), 1);
	}
}

static void test_more_fences_are_asked_for_at_half(void **state)
{
	(void)state;
	nodes.fences = 10;
	begin_with_leases("neilsen", 1);
	uint64_t client = nodes_open(&nodes, 0);
	lock_and_unlock(client, 5);
	assert_int_equal(nodes.extends[0], 0);
	lock_and_unlock(client, 1);
	assert_int_equal(nodes.extends[0], 1);
	assert_int_equal(nodes.extend_limit, 1010);
	lock_and_unlock(client, 2);
	assert_int_equal(nodes.extends[0], 1);
	nodes_pass(&nodes, RENEWAL);
	assert_int_equal(nodes.extends[0], 2);
	node_extend(nodes.node[0], 1, 1020, nodes.now);
	nodes_pass(&nodes, 3 * RENEWAL);
	assert_int_equal(nodes.extends[0], 2);
}

static void test_beyond_the_limit_nothing_is_granted(void **state)
{
	(void)state;
	nodes.fences = 4;
	begin_with_leases("neilsen", 1);
	uint64_t client = nodes_open(&nodes, 0);
	lock_and_unlock(client, 4);
	while (nodes.said_count > 0)
		nodes_said(&nodes, client);
	assert_int_equal(nodes_lock(&nodes, 0, client, "x"), 0);
	assert_int_equal(nodes.said_count, 0);
	/* An extension of another epoch is ignored. */
	node_extend(nodes.node[0], 2, 1008, nodes.now);
	nodes_take(&nodes, 0);
	assert_int_equal(nodes.said_count, 0);
	node_extend(nodes.node[0], 1, 1008, nodes.now);
	nodes_take(&nodes, 0);
	assert_string_equal(nodes_said(&nodes, client), "fence 0:1005");
	assert_int_equal(nodes.bumps, 0);
}

/* --- leaving --- */

static void test_a_node_that_leaves_grants_nothing_and_waits_for_its_holders(void **state)
{
	(void)state;
	begin_with_leases("neilsen", 2);
	uint64_t holder = nodes_open(&nodes, 0), waiter = nodes_open(&nodes, 0);
	assert_int_equal(nodes_lock(&nodes, 0, holder, "x"), 0);
	nodes_deliver_all(&nodes);
	nodes_said(&nodes, holder);
	assert_int_equal(nodes_lock(&nodes, 0, waiter, "y"), 0);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, waiter), "fence 0:1001");
	node_depart(nodes.node[0], nodes.now);
	nodes_take(&nodes, 0);
	assert_non_null(node_waiting_for(nodes.node[0]));
	assert_int_equal(nodes.departures[0], 0);
	assert_int_equal(nodes_unlock(&nodes, 0, holder, "x"), 1);
	assert_int_equal(nodes.departures[0], 0);
	assert_int_equal(nodes_lock(&nodes, 0, holder, "x"), 0);
	nodes_deliver_all(&nodes);
	assert_int_equal(nodes.said_count, 0);
	assert_int_equal(nodes_unlock(&nodes, 0, waiter, "y"), 1);
	assert_int_equal(nodes.departures[0], 1);
	nodes_pass(&nodes, RENEWAL);
	assert_int_equal(nodes.departures[0], 2);
	assert_int_equal(nodes.said_count, 0); /* even a renewal does not let the node grant */
}

static void test_a_node_that_leaves_takes_part_in_views(void **state)
{
	(void)state;
	begin_with_leases("neilsen", 2);
	uint64_t holder = nodes_open(&nodes, 0), other = nodes_open(&nodes, 1);
	assert_int_equal(nodes_lock(&nodes, 0, holder, "x"), 0);
	nodes_deliver_all(&nodes);
	nodes_said(&nodes, holder);
	node_depart(nodes.node[0], nodes.now);
	nodes_view(&nodes);
	nodes_deliver_all(&nodes);
	assert_true(node_active(nodes.node[1]));
	assert_int_equal(nodes_lock(&nodes, 1, other, "x"), 0);
	nodes_deliver_all(&nodes);
	assert_int_equal(nodes.said_count, 0); /* the node that leaves has reported the hold */
	assert_int_equal(nodes_unlock(&nodes, 0, holder, "x"), 1);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, other), "fence 0:2001");
	assert_int_equal(nodes.departures[0], 1);
	nodes.member[0] = false;
	nodes_view(&nodes);
	nodes_pass(&nodes, 3 * RENEWAL);
	assert_int_equal(nodes.departures[0], 1);
}

/* A node that leaves may have to wait for its departure. Other members must not wait with it. */
static void test_a_node_that_leaves_hands_on_what_comes_for_its_clients(void **state)
{
	(void)state;
	begin_with_leases("neilsen", 2);
	uint64_t client = nodes_open(&nodes, 0), holder = nodes_open(&nodes, 1);
	uint64_t other = nodes_open(&nodes, 1);
	assert_int_equal(nodes_lock(&nodes, 1, holder, "x"), 0);
	nodes_deliver_all(&nodes);
	nodes_said(&nodes, holder);
	assert_int_equal(nodes_lock(&nodes, 0, client, "x"), 0);
	assert_int_equal(nodes_lock(&nodes, 1, other, "x"), 0);
	nodes_deliver_all(&nodes);
	node_depart(nodes.node[0], nodes.now);
	assert_int_equal(nodes_unlock(&nodes, 1, holder, "x"), 1);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, other), "fence 0:1002");
}

static void test_a_new_incarnation_grants_again(void **state)
{
	(void)state;
	begin_with_leases("neilsen", 1);
	uint64_t client = nodes_open(&nodes, 0);
	node_depart(nodes.node[0], nodes.now);
	assert_int_equal(nodes_lock(&nodes, 0, client, "x"), 0);
	assert_int_equal(nodes.said_count, 0);
	nodes.incarnation[0] = 5;
	nodes_view(&nodes);
	nodes_pass(&nodes, RENEWAL);
	assert_string_equal(nodes_said(&nodes, client), "fence 0:2001");
}

/* --- clients that cannot read the lease word --- */

static void ask_lease(uint32_t i, uint64_t session, uint64_t *ret_left)
{
	uint64_t lapses;

	assert_int_equal(node_session_lease(nodes.node[i], session_id(session), nodes.now, ret_left,
	                                    &lapses),
	                 0);
	nodes_take(&nodes, i);
	assert_int_equal(lapses, node_lapses(nodes.node[i]));
}

static void test_what_a_lost_client_was_told_is_waited_for(void **state)
{
	(void)state;
	begin_with_leases("neilsen", 2);
	uint64_t remote = nodes_open(&nodes, 0), other = nodes_open(&nodes, 1), left;
	ask_lease(0, remote, &left);
	assert_int_equal(left, left_of(0));
	assert_int_equal(nodes_lock(&nodes, 0, remote, "x"), 0);
	nodes_deliver_all(&nodes);
	assert_string_equal(nodes_said(&nodes, remote), "fence 0:1001");
	nodes_pass(&nodes, RENEWAL);
	ask_lease(0, remote, &left); /* this deadline is later than the one in the grant */
	assert_int_equal(nodes_lock(&nodes, 1, other, "x"), 0);
	nodes_close(&nodes, 0, remote);
	assert_int_equal(nodes_unlock(&nodes, 0, remote, "x"), BATON_ESESSION);
	nodes_pass(&nodes, left - 1);
	assert_string_equal(nodes_said(&nodes, other), "");
	nodes_pass(&nodes, 1);
	assert_string_equal(nodes_said(&nodes, other), "fence 0:1002");
}

/* The deadline in the grant is later than the one in the answer to the last question. */
static void test_a_grant_tells_a_deadline_too(void **state)
{
	(void)state;
	begin_with_leases("neilsen", 2);
	uint64_t remote = nodes_open(&nodes, 0), other = nodes_open(&nodes, 1), left;
	ask_lease(0, remote, &left);
	nodes_pass(&nodes, 3 * RENEWAL);
	assert_int_equal(nodes_lock(&nodes, 0, remote, "x"), 0);
	nodes_deliver_all(&nodes);
	assert_int_equal(nodes.grant_left, left_of(0));
	uint64_t until = left_of(0);
	nodes_said(&nodes, remote);
	assert_int_equal(nodes_lock(&nodes, 1, other, "x"), 0);
	nodes_close(&nodes, 0, remote);
	nodes_pass(&nodes, until - 1);
	assert_string_equal(nodes_said(&nodes, other), "");
	nodes_pass(&nodes, 1);
	assert_string_equal(nodes_said(&nodes, other), "fence 0:1002");
}

static void test_a_client_that_quits_is_not_waited_for(void **state)
{
	(void)state;
	begin_with_leases("neilsen", 1);
	uint64_t remote = nodes_open(&nodes, 0), other = nodes_open(&nodes, 0), left;
	ask_lease(0, remote, &left);
	assert_int_equal(nodes_lock(&nodes, 0, remote, "x"), 0);
	nodes_said(&nodes, remote);
	assert_int_equal(nodes_lock(&nodes, 0, other, "x"), 0);
	node_session_quit(nodes.node[0], session_id(remote), nodes.now);
	nodes_take(&nodes, 0);
	assert_string_equal(nodes_said(&nodes, other), "fence 0:1002");
}

/* RESET needs this: the session that ends makes room for the one that begins. */
static void test_a_client_that_quits_makes_room_and_one_that_is_gone_does_not(void **state)
{
	struct node_client client = {.pid = 1};

	(void)state;
	for (int quits = 0; quits < 2; quits++) {
		again();
		nodes.options.limits.sessions = 1;
		begin_with_leases("neilsen", 1);
		uint64_t remote = nodes_open(&nodes, 0), left;
		ask_lease(0, remote, &left);
		assert_int_equal(nodes_lock(&nodes, 0, remote, "x"), 0);
		if (quits)
			node_session_quit(nodes.node[0], session_id(remote), nodes.now);
		else
			node_session_close(nodes.node[0], session_id(remote), nodes.now);
		uint64_t next = node_session_open(nodes.node[0], &client, nodes.now);
		assert_int_equal(next != 0, quits);
	}
}

static void test_a_client_that_never_asked_is_not_waited_for(void **state)
{
	(void)state;
	begin_with_leases("neilsen", 1);
	uint64_t client = nodes_open(&nodes, 0), other = nodes_open(&nodes, 0);
	assert_int_equal(nodes_lock(&nodes, 0, client, "x"), 0);
	nodes_said(&nodes, client);
	assert_int_equal(nodes_lock(&nodes, 0, other, "x"), 0);
	nodes_close(&nodes, 0, client);
	assert_string_equal(nodes_said(&nodes, other), "fence 0:1002");
}

/* This client cannot be told of a loss, so a BREAK of its lock must wait for its deadline too. */
static void test_what_a_lost_client_holds_is_not_broken_early(void **state)
{
	(void)state;
	begin_with_leases("neilsen", 1);
	uint64_t remote = nodes_open(&nodes, 0), other = nodes_open(&nodes, 0), left;
	ask_lease(0, remote, &left);
	assert_int_equal(nodes_lock(&nodes, 0, remote, "x"), 0);
	nodes_said(&nodes, remote);
	nodes_close(&nodes, 0, remote);
	assert_int_equal(node_break(nodes.node[0], session_id(other), "x", 1, 1001, nodes.now), 0);
	nodes_take(&nodes, 0);
	nodes_said(&nodes, other);
	assert_int_equal(nodes_lock(&nodes, 0, other, "x"), 0);
	nodes_pass(&nodes, left - 1);
	assert_string_equal(nodes_said(&nodes, other), "");
	nodes_pass(&nodes, 1);
	assert_string_equal(nodes_said(&nodes, other), "fence 0:1002");
}

/* The lost client's holds still count, so a node that leaves waits for them. */
static void test_a_node_does_not_leave_before_a_lost_client_s_deadline(void **state)
{
	(void)state;
	begin_with_leases("neilsen", 1);
	uint64_t remote = nodes_open(&nodes, 0), left;
	ask_lease(0, remote, &left);
	assert_int_equal(nodes_lock(&nodes, 0, remote, "x"), 0);
	nodes_close(&nodes, 0, remote);
	node_depart(nodes.node[0], nodes.now);
	nodes_pass(&nodes, left - 1);
	assert_int_equal(nodes.departures[0], 0);
	nodes_pass(&nodes, 1);
	assert_int_equal(nodes.departures[0], 1);
}

/* The orphan's client may still believe that it holds the lock. */
static void test_what_an_orphan_holds_counts_as_its_users(void **state)
{
	static struct node_user user; /* a session refers to it until the node is destroyed */
	uint64_t left;

	(void)state;
	begin_with_leases("neilsen", 1);
	uint64_t client = nodes_open(&nodes, 0);
	node_session_user(nodes.node[0], session_id(client), &user);
	ask_lease(0, client, &left);
	assert_int_equal(nodes_lock(&nodes, 0, client, "x"), 0);
	nodes_close(&nodes, 0, client);
	nodes_pass(&nodes, left - 1);
	assert_int_equal(user.sessions, 1);
	assert_int_equal(user.locks, 1);
	nodes_pass(&nodes, 1);
	assert_int_equal(user.sessions, 0);
	assert_int_equal(user.locks, 0);
}

static void test_without_leases_nothing_is_told_of_them(void **state)
{
	(void)state;
	nodes_start(&nodes, "neilsen", 1);
	uint64_t client = nodes_open(&nodes, 0), other = nodes_open(&nodes, 0), left, lapses;
	assert_int_equal(
	        node_session_lease(nodes.node[0], session_id(client), nodes.now, &left, &lapses),
	        0);
	assert_int_equal(left, NODE_NEVER);
	assert_int_equal(nodes_lock(&nodes, 0, client, "x"), 0);
	assert_int_equal(nodes_lock(&nodes, 0, other, "x"), 0);
	nodes_close(&nodes, 0, client);
	assert_string_equal(nodes_said(&nodes, other), "fence 1:2");
}

/* --- grace --- */

static void test_nothing_is_granted_to_whom_too_little_is_left(void **state)
{
	(void)state;
	begin_with_leases("neilsen", 1);
	isolate(0);
	uint64_t careful = nodes_open(&nodes, 0), quick = nodes_open(&nodes, 0);
	node_session_grace(nodes.node[0], session_id(careful), LEASE / 4);
	nodes_pass(&nodes, left_of(0) - LEASE / 4 - LEASE / 10 + 1);
	assert_int_equal(nodes_lock(&nodes, 0, careful, "x"), 0);
	assert_int_equal(nodes_lock(&nodes, 0, quick, "y"), 0);
	assert_string_equal(nodes_said(&nodes, quick), "fence 0:1001");
	assert_string_equal(nodes_said(&nodes, careful), "");
	nodes_acknowledge(&nodes, 0);
	nodes_take(&nodes, 0);
	assert_string_equal(nodes_said(&nodes, careful), "fence 0:1001");
}

static void test_whom_enough_is_left_is_granted(void **state)
{
	(void)state;
	begin_with_leases("neilsen", 1);
	isolate(0);
	uint64_t careful = nodes_open(&nodes, 0);
	node_session_grace(nodes.node[0], session_id(careful), LEASE / 4);
	nodes_pass(&nodes, left_of(0) - LEASE / 4 - LEASE / 10);
	assert_int_equal(nodes_lock(&nodes, 0, careful, "x"), 0);
	assert_string_equal(nodes_said(&nodes, careful), "fence 0:1001");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(test_a_node_renews_every_sixth_of_its_lease),
	        TEST(test_a_node_renews_outside_a_view),
	        TEST(test_a_renewal_is_taken_when_it_is_made),
	        TEST(test_a_deadline_never_goes_back),
	        TEST(test_a_deadline_has_whole_milliseconds),
	        TEST(test_without_a_lease_nothing_is_granted),
	        TEST(test_half_a_lease_without_an_answer_is_warned_of_once),
	        TEST(test_in_the_margin_nothing_is_granted),
	        TEST(test_in_the_margin_nobody_is_asked_for),
	        TEST(test_at_the_deadline_every_hold_is_lost),
	        TEST(test_a_lapse_does_not_respect_turns),
	        TEST(test_a_lapse_leaves_a_critical_section_with_nobody_inside),
	        TEST(test_a_lapse_returns_what_was_carried_over),
	        TEST(test_an_acknowledgement_that_comes_late_revives_nothing),
	        TEST(test_a_command_after_the_deadline_finds_the_lapse_done),
	        TEST(test_a_grant_tells_lapses_and_time_left),
	        TEST(test_leaving_the_view_is_a_lapse),
	        TEST(test_another_incarnation_has_lost_what_the_last_one_held),
	        TEST(test_bounds_of_fences_that_make_no_sense_are_refused),
	        TEST(test_more_fences_are_asked_for_at_half),
	        TEST(test_beyond_the_limit_nothing_is_granted),
	        TEST(test_a_node_that_leaves_grants_nothing_and_waits_for_its_holders),
	        TEST(test_a_node_that_leaves_takes_part_in_views),
	        TEST(test_a_node_that_leaves_hands_on_what_comes_for_its_clients),
	        TEST(test_a_new_incarnation_grants_again),
	        TEST(test_what_a_lost_client_was_told_is_waited_for),
	        TEST(test_a_grant_tells_a_deadline_too),
	        TEST(test_a_client_that_quits_is_not_waited_for),
	        TEST(test_a_client_that_quits_makes_room_and_one_that_is_gone_does_not),
	        TEST(test_a_client_that_never_asked_is_not_waited_for),
	        TEST(test_what_a_lost_client_holds_is_not_broken_early),
	        TEST(test_a_node_does_not_leave_before_a_lost_client_s_deadline),
	        TEST(test_what_an_orphan_holds_counts_as_its_users),
	        TEST(test_without_leases_nothing_is_told_of_them),
	        TEST(test_nothing_is_granted_to_whom_too_little_is_left),
	        TEST(test_whom_enough_is_left_is_granted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
