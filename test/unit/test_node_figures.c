/*
 * The figures that a node counts, for INFO and metrics.
 */
#include "../lib/node_fixture.h"

static struct node_figures figures_of(uint32_t i)
{
	struct node_figures figures;

	node_figures(nodes.node[i], &figures);
	return figures;
}

static uint64_t count_times(const struct histogram *histogram)
{
	uint64_t count = 0;

	for (unsigned i = 0; i <= HISTOGRAM_BOUNDS; i++)
		count += histogram->counts[i];
	return count;
}

static uint64_t count_grants(uint32_t i, enum node_origin origin)
{
	struct node_figures figures = figures_of(i);

	return count_times(&figures.acquire[origin]);
}

static void enter_and_leave(uint32_t i, uint64_t session, const char *name)
{
	assert_int_equal(nodes_lock(&nodes, i, session, name), 0);
	nodes_pass(&nodes, 1000 * MILLISECOND);
	assert_int_equal(nodes_unlock(&nodes, i, session, name), 1);
	nodes_pass(&nodes, 1000 * MILLISECOND);
}

static void test_a_token_that_came_is_told_from_one_that_was_here(void **state)
{
	(void)state;
	nodes_start(&nodes, "neilsen", 3);
	const char *name = nodes_name_at(&nodes, 0, 0);
	uint64_t home = nodes_open(&nodes, 0), other = nodes_open(&nodes, 1);
	enter_and_leave(0, home, name);
	enter_and_leave(0, home, name);
	assert_int_equal(count_grants(0, TOKEN_HERE), 2);
	assert_int_equal(count_grants(0, TOKEN_CAME), 0);
	enter_and_leave(1, other, name);
	enter_and_leave(1, other, name);
	enter_and_leave(1, other, name);
	assert_int_equal(count_grants(1, TOKEN_HERE), 2);
	assert_int_equal(count_grants(1, TOKEN_CAME), 1);
	assert_int_equal(figures_of(1).grants, 3);
	assert_int_equal(figures_of(0).received_by_type[0], 1); /* the message is a REQUEST */
	assert_int_equal(figures_of(1).received_by_type[1], 1); /* the message is a PRIVILEGE */
	assert_int_equal(figures_of(0).views, 1);
}

/* Only the first client of a turn has waited for the token to arrive. */
static void test_of_several_turns_only_the_first_came(void **state)
{
	(void)state;
	nodes.options.turns = 3;
	nodes_start(&nodes, "neilsen", 2);
	const char *name = nodes_name_at(&nodes, 0, 0);
	uint64_t one = nodes_open(&nodes, 1), two = nodes_open(&nodes, 1);
	assert_int_equal(nodes_lock(&nodes, 1, one, name), 0);
	assert_int_equal(nodes_lock(&nodes, 1, two, name), 0);
	nodes_deliver_all(&nodes);
	assert_int_equal(nodes_unlock(&nodes, 1, one, name), 1);
	assert_int_equal(nodes_unlock(&nodes, 1, two, name), 1);
	assert_int_equal(count_grants(1, TOKEN_CAME), 1);
	assert_int_equal(count_grants(1, TOKEN_HERE), 1);
}

static void assert_locks(uint64_t held, uint64_t waited, uint64_t waiters)
{
	struct node_figures figures = figures_of(0);

	assert_int_equal(figures.locks_held, held);
	assert_int_equal(figures.locks_waited, waited);
	assert_int_equal(figures.waiters, waiters);
}

static void test_locks_and_waiters_are_counted(void **state)
{
	(void)state;
	nodes_start(&nodes, "neilsen", 2);
	const char *here = nodes_name_at(&nodes, 0, 0), *there = nodes_name_at(&nodes, 1, 0);
	uint64_t one = nodes_open(&nodes, 0), two = nodes_open(&nodes, 0),
	         three = nodes_open(&nodes, 0);
	assert_locks(0, 0, 0);
	assert_int_equal(figures_of(0).sessions, 3);
	assert_int_equal(nodes_lock(&nodes, 0, one, here), 0);
	assert_locks(1, 0, 0);
	assert_int_equal(nodes_lock(&nodes, 0, two, here), 0);
	assert_locks(1, 0, 1);
	assert_int_equal(nodes_lock(&nodes, 0, three, there),
	                 0); /* the token of this lock is elsewhere */
	assert_locks(1, 1, 2);
	nodes_deliver_all(&nodes);
	assert_locks(2, 0, 1);
	nodes_close(&nodes, 0, two);
	assert_locks(2, 0, 0);
	nodes_unlock(&nodes, 0, one, here);
	nodes_unlock(&nodes, 0, three, there);
	assert_locks(0, 0, 0);
	struct node_figures figures = figures_of(0);
	assert_int_equal(count_times(&figures.hold), 2);
}

static void test_times_fall_between_their_bounds(void **state)
{
	struct histogram histogram = {0};

	(void)state;
	nodes_start(&nodes, "central", 1); /* the teardown needs nodes */
	histogram_add(&histogram, 0);
	histogram_add(&histogram, 100000);
	histogram_add(&histogram, 100001);
	histogram_add(&histogram, UINT64_C(3600000000000));
	histogram_add(&histogram, UINT64_C(3600000000001));
	assert_int_equal(histogram.counts[0], 2);
	assert_int_equal(histogram.counts[1], 1);
	assert_int_equal(histogram.counts[HISTOGRAM_BOUNDS - 1], 1);
	assert_int_equal(histogram.counts[HISTOGRAM_BOUNDS], 1);
	for (unsigned i = 1; i < HISTOGRAM_BOUNDS; i++)
		assert_true(histogram_bounds_us[i] > histogram_bounds_us[i - 1]);
}

static void test_refusals_and_losses_have_reasons(void **state)
{
	(void)state;
	nodes_start(&nodes, "neilsen", 2);
	const char *name = nodes_name_at(&nodes, 0, 0);
	uint64_t one = nodes_open(&nodes, 0), two = nodes_open(&nodes, 1),
	         three = nodes_open(&nodes, 0);
	assert_int_equal(nodes_lock(&nodes, 0, one, name), 0);
	nodes_said(&nodes, one);
	for (uint32_t i = 0; i < 2; i++) {
		uint64_t session = i == 0 ? three : two;
		nodes_lock_for(&nodes, i, session, name, NODE_NOWAIT, 0);
		nodes_deliver_all(&nodes);
		assert_string_equal(nodes_said(&nodes, session), "nil");
		assert_int_equal(figures_of(i).refused_busy, 1);
		nodes_lock_for(&nodes, i, session, name, NODE_TIMEOUT, MILLISECOND);
		nodes_pass(&nodes, 1000 * MILLISECOND);
		assert_string_equal(nodes_said(&nodes, session), "nil");
		assert_int_equal(figures_of(i).refused_timeout, 1);
		assert_int_equal(figures_of(i).refused_busy, 1);
		assert_int_equal(figures_of(i).refused_silent, 0);
	}
	nodes_break(&nodes, 1, two, name, nodes.epoch, 1);
	nodes_deliver_all(&nodes);
	assert_int_equal(figures_of(0).losses[LOSS_BROKEN], 1);
	for (unsigned i = 0; i < LOSSES_COUNT; i++)
		assert_int_equal(figures_of(0).losses[i], i == LOSS_BROKEN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(test_a_token_that_came_is_told_from_one_that_was_here),
	        TEST(test_of_several_turns_only_the_first_came),
	        TEST(test_locks_and_waiters_are_counted),
	        TEST(test_times_fall_between_their_bounds),
	        TEST(test_refusals_and_losses_have_reasons),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
