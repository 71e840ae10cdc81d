/* The order in which users' connections are served. */
#include "users.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { MANY = 5 };

struct world {
	struct users users;
	struct user *greedy, *modest;
	struct user_place greedy_places[MANY], modest_place;
};

/* All connections of the greedy user wait, and then one of the modest user. */
static void begin(struct world *world)
{
	*world = (struct world){0};
	users_init(&world->users);
	for (int i = 0; i < MANY; i++) {
		world->greedy = user_enter(&world->users, &(struct subject){.uid = 1}, UINT32_MAX);
		user_enqueue(&world->users, world->greedy, &world->greedy_places[i]);
	}
	world->modest = user_enter(&world->users, &(struct subject){.uid = 2}, UINT32_MAX);
	user_enqueue(&world->users, world->modest, &world->modest_place);
}

static void end(struct world *world)
{
	for (int i = 0; i < MANY; i++) {
		user_dequeue(&world->users, &world->greedy_places[i]);
		user_leave(world->greedy);
	}
	user_dequeue(&world->users, &world->modest_place);
	user_leave(world->modest);
	assert_false(users_are_waiting(&world->users));
	assert_null(users_next(&world->users, 0));
}

static void test_users_take_turns_whatever_number_of_connections_they_have(void **state)
{
	struct world world;

	(void)state;
	begin(&world);
	for (int i = 0; i < 3 * MANY; i++) {
		struct user_place *place = &world.greedy_places[i % MANY];
		assert_ptr_equal(users_next(&world.users, 0), place);
		user_enqueue(&world.users, world.greedy, place);
		assert_ptr_equal(users_next(&world.users, 0), &world.modest_place);
		user_enqueue(&world.users, world.modest, &world.modest_place);
	}
	end(&world);
}

static void test_a_user_who_comes_later_waits_for_one_turn_of_each(void **state)
{
	struct world world;
	struct user_place place = {0};

	(void)state;
	begin(&world);
	struct user *late = user_enter(&world.users, &(struct subject){.uid = 3}, UINT32_MAX);
	assert_ptr_equal(users_next(&world.users, 0), &world.greedy_places[0]);
	user_enqueue(&world.users, late, &place);
	assert_ptr_equal(users_next(&world.users, 0), &world.modest_place);
	assert_ptr_equal(users_next(&world.users, 0), &world.greedy_places[1]);
	assert_ptr_equal(users_next(&world.users, 0), &place);
	assert_ptr_equal(users_next(&world.users, 0), &world.greedy_places[2]);
	user_leave(late);
	end(&world);
}

static void test_a_connection_waits_once(void **state)
{
	struct world world;

	(void)state;
	begin(&world);
	user_enqueue(&world.users, world.modest, &world.modest_place);
	assert_ptr_equal(users_next(&world.users, 0), &world.greedy_places[0]);
	assert_ptr_equal(users_next(&world.users, 0), &world.modest_place);
	for (int i = 1; i < MANY; i++)
		assert_ptr_equal(users_next(&world.users, 0), &world.greedy_places[i]);
	assert_null(users_next(&world.users, 0));
	end(&world);
}

static void test_a_connection_that_ends_has_no_turn(void **state)
{
	struct world world;

	(void)state;
	begin(&world);
	user_dequeue(&world.users, &world.greedy_places[0]);
	user_dequeue(&world.users, &world.modest_place);
	/* A second call does nothing: the connection does not wait any more. */
	user_dequeue(&world.users, &world.modest_place);
	for (int i = 1; i < MANY; i++) {
		assert_true(users_are_waiting(&world.users));
		assert_ptr_equal(users_next(&world.users, 0), &world.greedy_places[i]);
	}
	assert_false(users_are_waiting(&world.users));
	end(&world);
}

static void test_connections_without_a_user_are_one_user(void **state)
{
	struct world world;
	struct user_place strangers[2] = {0};

	(void)state;
	begin(&world);
	for (int i = 0; i < 2; i++)
		user_enqueue(&world.users, NULL, &strangers[i]);
	assert_ptr_equal(users_next(&world.users, 0), &world.greedy_places[0]);
	assert_ptr_equal(users_next(&world.users, 0), &world.modest_place);
	assert_ptr_equal(users_next(&world.users, 0), &strangers[0]);
	assert_ptr_equal(users_next(&world.users, 0), &world.greedy_places[1]);
	assert_ptr_equal(users_next(&world.users, 0), &strangers[1]);
	assert_ptr_equal(users_next(&world.users, 0), &world.greedy_places[2]);
	end(&world);
}

static void test_events_of_a_user_take_turns_too(void **state)
{
	struct world world;
	struct user_place telling[3] = {0};

	(void)state;
	begin(&world);
	for (int i = 0; i < 3; i++)
		user_enqueue_events(&world.users, world.greedy, &telling[i]);
	assert_ptr_equal(users_next(&world.users, 0), &world.greedy_places[0]);
	assert_ptr_equal(users_next(&world.users, 0), &world.modest_place);
	assert_ptr_equal(users_next(&world.users, 0), &telling[0]);
	assert_true(telling[0].tells);
	/* Several may be written in one turn. */
	assert_ptr_equal(user_next_events(&world.users, world.greedy), &telling[1]);
	assert_ptr_equal(users_next(&world.users, 0), &world.greedy_places[1]);
	assert_false(world.greedy_places[1].tells);
	assert_ptr_equal(users_next(&world.users, 0), &telling[2]);
	assert_null(user_next_events(&world.users, world.greedy));
	assert_ptr_equal(users_next(&world.users, 0), &world.greedy_places[2]);
	end(&world);
}

static void test_a_user_that_is_held_waits_while_others_want_their_turn(void **state)
{
	struct world world;
	struct user_place telling[2] = {0};

	(void)state;
	begin(&world);
	for (int i = 0; i < 2; i++)
		user_enqueue_events(&world.users, world.greedy, &telling[i]);
	user_hold(world.greedy, 100);
	assert_ptr_equal(users_next(&world.users, 1), &world.modest_place);
	assert_ptr_equal(users_next(&world.users, 2), &telling[0]);
	assert_ptr_equal(users_next(&world.users, 100), &world.greedy_places[0]);
	user_hold(world.greedy, 200);
	assert_ptr_equal(users_next(&world.users, 101), &telling[1]);
	assert_ptr_equal(users_next(&world.users, 102),
	                 &world.greedy_places[1]); /* nobody else waits */
	end(&world);
}

static void test_a_session_that_outlasts_its_connection_counts(void **state)
{
	struct users users = {0};
	struct subject subject = {.uid = 1};

	(void)state;
	users_init(&users);
	struct user *user = user_enter(&users, &subject, 1);
	user_at_node(user)->sessions = 1;
	user_leave(user);
	assert_null(user_enter(&users, &subject, 1));
	user_at_node(user)->sessions = 0;
	assert_ptr_equal(user_enter(&users, &subject, 1), user);
	user_leave(user);
}

static void test_a_user_with_names_at_the_node_is_remembered(void **state)
{
	struct users users = {0};
	struct subject subject = {.uid = 1};

	(void)state;
	users_init(&users);
	struct user *user = user_enter(&users, &subject, UINT32_MAX);
	user_at_node(user)->names = 7;
	user_leave(user);
	user = user_enter(&users, &subject, UINT32_MAX);
	assert_int_equal(user_at_node(user)->names, 7);
	user_at_node(user)->names = 0; /* a new epoch has begun */
	user_at_node(user)->leaders = 1;
	user_leave(user);
	user = user_enter(&users, &subject, UINT32_MAX);
	assert_int_equal(user_at_node(user)->leaders, 0);
	user_leave(user);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_users_take_turns_whatever_number_of_connections_they_have),
	        cmocka_unit_test(test_a_user_who_comes_later_waits_for_one_turn_of_each),
	        cmocka_unit_test(test_a_connection_waits_once),
	        cmocka_unit_test(test_a_connection_that_ends_has_no_turn),
	        cmocka_unit_test(test_connections_without_a_user_are_one_user),
	        cmocka_unit_test(test_events_of_a_user_take_turns_too),
	        cmocka_unit_test(test_a_user_that_is_held_waits_while_others_want_their_turn),
	        cmocka_unit_test(test_a_session_that_outlasts_its_connection_counts),
	        cmocka_unit_test(test_a_user_with_names_at_the_node_is_remembered),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
