/*
 * Limits on what one user may have at a node, so that there is room for others: locks, names of
 * locks, elections. Also, names that a user has chosen so that their hashes are equal.
 */
#include "../lib/node_fixture.h"

#include "name.h"

static uint64_t open_as(struct node_user *user)
{
	uint64_t session = nodes_open(&nodes, 0);

	node_session_user(nodes.node[0], session_id(session), user);
	return session;
}

static void test_one_user_leaves_an_eighth_of_the_locks_to_others(void **state)
{
	static struct node_user user, other; /* the node refers to them until it is destroyed */
	char name[8];

	(void)state;
	nodes.options.limits.locks = 16;
	nodes_start(&nodes, "central", 1);
	uint64_t a = open_as(&user), b = open_as(&user), c = open_as(&other);
	assert_int_equal(user.sessions, 2);
	for (uint8_t i = 0; i < 13; i++) {
		snprintf(name, sizeof(name), "x%u", i);
		assert_int_equal(nodes_lock(&nodes, 0, a, name), 0);
		assert_string_not_equal(nodes_said(&nodes, a), "");
	}
	/* A lock that the user waits for counts, too. */
	assert_int_equal(nodes_lock(&nodes, 0, b, "x0"), 0);
	assert_int_equal(nodes_lock(&nodes, 0, a, "y"), BATON_EUSERLOCKS);
	assert_int_equal(nodes_elect(&nodes, 0, a, "y", "v"), BATON_EUSERLOCKS);
	assert_int_equal(user.leaders, 0);
	assert_int_equal(nodes_lock(&nodes, 0, c, "y"), 0);
	assert_int_equal(other.locks, 1);
	nodes_close(&nodes, 0, b);
	assert_int_equal(user.locks, 13);
	assert_int_equal(nodes_lock(&nodes, 0, a, "z"), 0);
	assert_int_equal(user.locks, 14);
	nodes_close(&nodes, 0, a);
	assert_int_equal(user.locks, 0);
	assert_int_equal(user.sessions, 0);
}

/* A lock that is given back makes room; others have limits of their own. */
static void test_a_user_has_a_limit_of_locks(void **state)
{
	static struct node_user user, other;

	(void)state;
	nodes.options.limits.user_locks = 2;
	nodes_start(&nodes, "central", 1);
	uint64_t a = open_as(&user), b = open_as(&user), c = open_as(&other);
	assert_int_equal(nodes_lock(&nodes, 0, a, "x"), 0);
	assert_int_equal(nodes_lock(&nodes, 0, b, "x"), 0);
	assert_int_equal(nodes_lock(&nodes, 0, a, "y"), BATON_EUSERLOCKS);
	assert_int_equal(nodes_lock(&nodes, 0, c, "y"), 0);
	assert_int_equal(nodes_lock(&nodes, 0, c, "z"), 0);
	assert_int_equal(nodes_lock(&nodes, 0, c, "w"), BATON_EUSERLOCKS);
	assert_int_equal(nodes_unlock(&nodes, 0, a, "x"), 1);
	assert_int_equal(nodes_lock(&nodes, 0, a, "v"), 0);
	assert_int_equal(user.locks, 2);
}

static void use(uint64_t session, const char *name)
{
	assert_int_equal(nodes_lock(&nodes, 0, session, name), 0);
	assert_string_not_equal(nodes_said(&nodes, session), "");
	assert_int_equal(nodes_unlock(&nodes, 0, session, name), 1);
}

static void test_names_that_one_user_left_leave_an_eighth_to_others(void **state)
{
	static struct node_user user, other;
	char name[8];

	(void)state;
	nodes.options.limits.locks = 16;
	nodes.options.lease_ns = 3000 * MILLISECOND;
	nodes.acknowledged[0] = true;
	nodes_start(&nodes, "central", 1);
	uint64_t a = open_as(&user), c = open_as(&other);
	for (uint8_t i = 0; i < 14; i++) {
		snprintf(name, sizeof(name), "x%u", i);
		use(a, name);
	}
	assert_int_equal(user.names, 14);
	assert_int_equal(nodes_lock(&nodes, 0, a, "y"), BATON_EUSERNAMES);
	/* Names that are there already cost nothing. */
	use(a, "x0");
	/* The names stay when the user's last session ends. */
	nodes_close(&nodes, 0, a);
	assert_int_equal(user.sessions, 0);
	assert_int_equal(user.names, 14);
	uint64_t b = open_as(&user);
	assert_int_equal(nodes_lock(&nodes, 0, b, "y"), BATON_EUSERNAMES);
	/* A new epoch interrupts others, so it is not begun for one user before a lease is over. */
	assert_int_equal(nodes.bumps, 0);
	use(c, "z0");
	use(c, "z1");
	assert_int_equal(other.names, 2);
	nodes_pass(&nodes, nodes.options.lease_ns);
	assert_int_equal(nodes_lock(&nodes, 0, b, "y"), BATON_EUSERNAMES);
	assert_int_equal(nodes.bumps, 1);
	nodes_view(&nodes);
	assert_int_equal(user.names, 0);
	use(b, "y");
	assert_int_equal(user.names, 1);
}

static void test_locks_that_a_user_holds_count_as_its_names_in_the_next_epoch(void **state)
{
	static struct node_user user, other;

	(void)state;
	nodes.options.limits.locks = 16;
	nodes_start(&nodes, "central", 1);
	uint64_t a = open_as(&user), b = open_as(&other);
	use(b, "x");
	assert_int_equal(nodes_lock(&nodes, 0, a, "x"), 0);
	assert_int_equal(nodes_lock(&nodes, 0, b, "x"), 0);
	assert_int_equal(nodes_lock(&nodes, 0, a, "y"), 0);
	assert_int_equal(user.names, 1);
	assert_int_equal(other.names, 1);
	assert_int_equal(user.holds, 2);
	nodes_view(&nodes);
	assert_int_equal(user.names, 2);
	assert_int_equal(other.names, 0);
	assert_int_equal(user.holds, 2);
}

static void test_a_name_that_is_forgotten_at_once_does_not_count(void **state)
{
	static struct node_user user;

	(void)state;
	nodes_start(&nodes, "central", 2);
	nodes.link[1][0].cut = true;
	nodes_next_epoch(&nodes); /* the view is not active: node 2 does not report */
	nodes_view_one(&nodes, 0);
	uint64_t a = open_as(&user);
	assert_int_equal(nodes_lock(&nodes, 0, a, "x"), 0);
	assert_int_equal(user.names, 1);
	nodes_close(&nodes, 0, a);
	assert_int_equal(user.names, 0);
	assert_int_equal(user.sessions, 0);
}

static void test_one_user_leaves_an_eighth_of_the_elections_to_others(void **state)
{
	static struct node_user user, other; /* the node refers to them until it is destroyed */
	char name[8];

	(void)state;
	nodes.options.limits.leaders = 8;
	nodes_start(&nodes, "central", 1);
	uint64_t a = open_as(&user), b = open_as(&user), c = open_as(&other);
	for (uint8_t i = 0; i < 6; i++) {
		snprintf(name, sizeof(name), "x%u", i);
		assert_int_equal(nodes_elect(&nodes, 0, a, name, "v"), 0);
		assert_string_not_equal(nodes_said(&nodes, a), "");
	}
	assert_int_equal(nodes_elect(&nodes, 0, b, "x0", "v"), 0);
	assert_int_equal(nodes_elect(&nodes, 0, a, "y", "v"), BATON_EUSERLEADERS);
	assert_int_equal(nodes_elect(&nodes, 0, c, "y", "v"), 0);
	assert_int_equal(nodes_elect(&nodes, 0, c, "z", "v"), BATON_ELEADERS);
	nodes_close(&nodes, 0, b);
	assert_int_equal(user.leaders, 6);
	assert_int_equal(nodes_unlock(&nodes, 0, a, "x0"), 1);
	assert_int_equal(user.leaders, 5);
	nodes_close(&nodes, 0, a);
	assert_int_equal(user.leaders, 0);
	assert_int_equal(user.sessions, 0);
}

/* Sixteen bytes of a name do not count in XXH3's hash if the first eight are those of its public
 * secret, because then a factor of a product is 0. */
static void test_names_with_the_same_hash_have_different_keys(void **state)
{
	uint8_t name[32] = {0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe};
	enum { NAMES = 1000, PLACES = 1024 };
	uint16_t crowds[PLACES] = {0}, largest = 0;
	uint64_t hash = name_hash(name, sizeof(name));

	(void)state;
	for (uint64_t i = 0; i < NAMES; i++) {
		memcpy(name + 8, &i, sizeof(i));
		assert_true(name_hash(name, sizeof(name)) == hash);
		uint16_t crowd = ++crowds[name_key(name, sizeof(name), 4711) % PLACES];
		if (crowd > largest)
			largest = crowd;
	}
	assert_in_range(largest, 2, 12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(test_one_user_leaves_an_eighth_of_the_locks_to_others),
	        TEST(test_a_user_has_a_limit_of_locks),
	        TEST(test_names_that_one_user_left_leave_an_eighth_to_others),
	        TEST(test_locks_that_a_user_holds_count_as_its_names_in_the_next_epoch),
	        TEST(test_a_name_that_is_forgotten_at_once_does_not_count),
	        TEST(test_one_user_leaves_an_eighth_of_the_elections_to_others),
	        TEST(test_names_with_the_same_hash_have_different_keys),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
