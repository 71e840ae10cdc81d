/*
 * The choice of voters. First, the next change that a leader makes in clusters that are written
 * down here; then the result when every change is made, step by step.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "electorate.h"

#include <stdio.h>
#include <string.h>

enum { GROW = 30, REPLACE = 600, HOSTS = 9 };

static const char *const names[HOSTS] = {"a", "b", "c", "d", "e", "f", "g", "h", "i"};

/* A cluster of up to nine servers. Server k has the data directory k + 1; `first` leads. */
static struct electorate_memory *electorate;
static struct electorate_server servers[HOSTS];
static uint32_t servers_count;
static struct standing standing[HOSTS];
static uint32_t standing_count;
static uint64_t now;

static int setup(void **context)
{
	(void)context;
	electorate = electorate_create(&(struct electorate_options){GROW, REPLACE});
	servers_count = standing_count = 0;
	now = 10000;
	electorate_begin(electorate, now);
	return 0;
}

static int teardown(void **context)
{
	(void)context;
	electorate_destroy(electorate);
	return 0;
}

static void add_voter(uint32_t k)
{
	servers[servers_count] = (struct electorate_server){.id = k + 1,
	                                                    .name = names[k],
	                                                    .votes = true,
	                                                    .leads = servers_count == 0,
	                                                    .caught_up = true,
	                                                    .heard = true};
	servers_count++;
}

static struct standing *add_standing(uint32_t k, uint64_t since)
{
	standing[standing_count] = (struct standing){.server = k + 1,
	                                             .name = names[k],
	                                             .address = "host:1",
	                                             .eligible = true,
	                                             .since = since};
	return &standing[standing_count++];
}

static struct electorate_server *find(uint64_t id)
{
	for (uint32_t i = 0; i < servers_count; i++) {
		if (servers[i].id == id)
			return &servers[i];
	}
	return NULL;
}

static void silence(uint32_t k)
{
	if (find(k + 1) != NULL)
		find(k + 1)->heard = false;
	for (uint32_t i = 0; i < standing_count; i++) {
		if (standing[i].server == k + 1)
			standing[i] = standing[--standing_count];
	}
}

static struct electorate_wish look(void)
{
	return electorate_look(electorate, servers, servers_count, standing, standing_count, now);
}

static void expect(enum electorate_wish_kind kind, uint64_t server)
{
	struct electorate_wish wish = look();

	assert_int_equal(wish.kind, kind);
	if (kind != ELECTORATE_NOTHING)
		assert_int_equal(wish.server, server);
}

/* Makes the change that is wished for. */
static struct electorate_wish fulfil(void)
{
	struct electorate_wish wish = look();

	if (wish.kind == ELECTORATE_STANDBY) {
		servers[servers_count++] = (struct electorate_server){
		        .id = wish.server, .name = wish.name, .heard = true};
	} else if (wish.kind == ELECTORATE_PROMOTE) {
		assert_non_null(find(wish.server));
		find(wish.server)->votes = true;
	} else if (wish.kind == ELECTORATE_REMOVE) {
		struct electorate_server *server = find(wish.server);
		assert_non_null(server);
		memmove(server, server + 1,
		        (size_t)(servers + --servers_count - server) * sizeof(*server));
	}
	return wish;
}

static void catch_up(void)
{
	for (uint32_t i = 0; i < servers_count; i++)
		servers[i].caught_up = true;
}

/* Makes all changes. Returns the servers that vote then, as text. */
static const char *settle(void)
{
	static char text[HOSTS + 1];
	size_t size = 0;

	for (uint32_t steps = 0; fulfil().kind != ELECTORATE_NOTHING; steps++) {
		assert_true(steps < 40);
		catch_up();
	}
	for (uint64_t id = 1; id <= HOSTS; id++) {
		if (find(id) != NULL && find(id)->votes)
			text[size++] = names[id - 1][0];
	}
	text[size] = '\0';
	return text;
}

static void test_one_voter_until_three_can(void **context)
{
	(void)context;
	add_voter(0);
	add_standing(0, 0);
	add_standing(1, 0);
	expect(ELECTORATE_NOTHING, 0);
	add_standing(2, now);
	expect(ELECTORATE_NOTHING, 0);
	now += GROW;
	assert_string_equal(settle(), "abc");
}

static void test_both_newcomers_catch_up_before_the_first_is_promoted(void **context)
{
	(void)context;
	add_voter(0);
	for (uint32_t k = 0; k < 3; k++)
		add_standing(k, 0);
	assert_int_equal(fulfil().kind, ELECTORATE_STANDBY);
	assert_int_equal(fulfil().kind, ELECTORATE_STANDBY);
	find(2)->caught_up = true;
	expect(ELECTORATE_NOTHING, 0);
	find(3)->caught_up = true;
	assert_int_equal(fulfil().kind, ELECTORATE_PROMOTE);
	assert_int_equal(fulfil().kind, ELECTORATE_PROMOTE);
	expect(ELECTORATE_NOTHING, 0);
}

static void test_five_voters_from_seven_on(void **context)
{
	(void)context;
	for (uint32_t k = 0; k < 3; k++)
		add_voter(k);
	for (uint32_t k = 0; k < 6; k++)
		add_standing(k, 0);
	assert_string_equal(settle(), "abc");
	add_standing(6, 0);
	assert_string_equal(settle(), "abcde");
	/* There are five voters as long as five can vote. */
	silence(5);
	silence(6);
	now += REPLACE;
	assert_string_equal(settle(), "abcde");
}

static void test_five_shrink_to_three_and_three_never_shrink(void **context)
{
	(void)context;
	for (uint32_t k = 0; k < 5; k++) {
		add_voter(k);
		add_standing(k, 0);
	}
	look();
	silence(4);
	now += REPLACE - 1;
	assert_string_equal(settle(), "abcde");
	now++;
	assert_string_equal(settle(), "abc");
	for (uint32_t k = 1; k < 4; k++)
		silence(k);
	now += 10UL * REPLACE;
	assert_string_equal(settle(), "abc");
}

static void test_a_silent_voter_is_replaced_once_the_successor_has_caught_up(void **context)
{
	(void)context;
	for (uint32_t k = 0; k < 3; k++) {
		add_voter(k);
		add_standing(k, 0);
	}
	add_standing(3, 9000);
	add_standing(4, 8000);
	look();
	silence(1);
	now += REPLACE;
	struct electorate_wish wish = fulfil();
	assert_int_equal(wish.kind, ELECTORATE_STANDBY);
	assert_string_equal(wish.name, "e"); /* e has been there longer than d */
	expect(ELECTORATE_NOTHING, 0);
	catch_up();
	/* The voter may come back, so it is removed last. */
	expect(ELECTORATE_PROMOTE, 5);
	fulfil();
	expect(ELECTORATE_REMOVE, 2);
	assert_string_equal(settle(), "ace");
}

static void test_a_voter_that_comes_back_stays(void **context)
{
	(void)context;
	for (uint32_t k = 0; k < 4; k++) {
		if (k < 3)
			add_voter(k);
		add_standing(k, 0);
	}
	look();
	silence(1);
	now += REPLACE;
	assert_int_equal(fulfil().kind, ELECTORATE_STANDBY);
	add_standing(1, now);
	assert_string_equal(settle(), "abc");
	assert_null(find(4));
}

static void test_a_lost_disk_goes_before_its_successor_is_promoted(void **context)
{
	(void)context;
	for (uint32_t k = 0; k < 3; k++) {
		add_voter(k);
		add_standing(k, 0);
	}
	silence(1);
	struct standing *again = add_standing(5, 0);
	again->name = "b"; /* this server has the same name, but another data directory */
	assert_int_equal(fulfil().kind, ELECTORATE_STANDBY);
	expect(ELECTORATE_NOTHING, 0);
	catch_up();
	expect(ELECTORATE_REMOVE, 2);
	fulfil();
	expect(ELECTORATE_PROMOTE, 6);
	fulfil();
	expect(ELECTORATE_NOTHING, 0);
}

static void test_a_forbidden_voter_goes_at_once_if_there_is_another(void **context)
{
	(void)context;
	for (uint32_t k = 0; k < 3; k++) {
		add_voter(k);
		add_standing(k, 0);
	}
	find(2)->unwanted = true;
	standing[1].eligible = false;
	expect(ELECTORATE_NOTHING, 0);
	add_standing(3, 0);
	assert_string_equal(settle(), "acd");
}

/* Suppose that e is silent and the voter d dies at the moment at which the forbidden c is removed.
 * Two of four voters would be left, and never agree again. */
static void test_a_forbidden_voter_stays_while_another_is_missing(void **context)
{
	(void)context;
	for (uint32_t k = 0; k < 5; k++) {
		add_voter(k);
		add_standing(k, 0);
	}
	look();
	find(3)->unwanted = true;
	standing[2].eligible = false;
	silence(4);
	expect(ELECTORATE_NOTHING, 0);
	now += REPLACE;
	expect(ELECTORATE_REMOVE, 5);
	fulfil();
	expect(ELECTORATE_REMOVE, 3);
	assert_string_equal(settle(), "abd");
}

static void set_wanted(uint32_t k)
{
	for (uint32_t i = 0; i < standing_count; i++)
		standing[i].wanted = standing[i].wanted || standing[i].server == k + 1;
	if (find(k + 1) != NULL)
		find(k + 1)->wanted = true;
}

/* The lead is handed over before a leader goes, so its place can be taken too. */
static void test_whom_an_operator_wants_takes_the_place_of_another(void **context)
{
	(void)context;
	for (uint32_t k = 0; k < 3; k++) {
		add_voter(k);
		add_standing(k, 0);
	}
	add_standing(3, 0);
	add_standing(4, 0);
	expect(ELECTORATE_NOTHING, 0);
	set_wanted(4);
	expect(ELECTORATE_STANDBY, 5);
	fulfil();
	set_wanted(4);
	expect(ELECTORATE_NOTHING, 0);
	catch_up();
	expect(ELECTORATE_PROMOTE, 5);
	assert_string_equal(settle(), "abe");
	set_wanted(1);
	set_wanted(3);
	fulfil();
	set_wanted(3);
	catch_up();
	assert_string_equal(settle(), "bde");
	/* There are as many voters as there should be, and all are wanted. */
	set_wanted(2);
	assert_string_equal(settle(), "bde");
}

static void test_of_two_wishes_each_is_fulfilled(void **context)
{
	(void)context;
	for (uint32_t k = 0; k < 3; k++) {
		add_voter(k);
		add_standing(k, 0);
	}
	add_standing(3, 0);
	set_wanted(3);
	fulfil();
	set_wanted(3);
	catch_up();
	assert_string_equal(settle(), "abd");
	find(2)->unwanted = true;
	standing[1].eligible = false;
	fulfil();
	catch_up();
	assert_string_equal(settle(), "acd");
}

static void test_a_wanted_one_that_cannot_catch_up_costs_nothing(void **context)
{
	(void)context;
	for (uint32_t k = 0; k < 3; k++) {
		add_voter(k);
		add_standing(k, 0);
	}
	add_standing(3, 0);
	set_wanted(3);
	expect(ELECTORATE_STANDBY, 4);
	fulfil();
	expect(ELECTORATE_NOTHING, 0);
	silence(3);
	expect(ELECTORATE_REMOVE, 4);
	fulfil();
	expect(ELECTORATE_NOTHING, 0);
}

static void test_of_four_voters_the_missing_one_goes(void **context)
{
	(void)context;
	for (uint32_t k = 0; k < 4; k++) {
		add_voter(k);
		add_standing(k, 0);
	}
	look();
	silence(1);
	expect(ELECTORATE_REMOVE, 2);
	find(2)->heard = true;
	expect(ELECTORATE_REMOVE, 4);
	find(1)->leads = false;
	find(4)->leads = true;
	expect(ELECTORATE_REMOVE, 3);
}

static void test_witnesses_come_first(void **context)
{
	(void)context;
	add_voter(0);
	for (uint32_t k = 0; k < 5; k++)
		add_standing(k, 1000UL * k);
	standing[4].witness = true;
	now += GROW;
	assert_string_equal(settle(), "abe");
}

static void test_who_does_not_serve_is_not_chosen(void **context)
{
	(void)context;
	add_voter(0);
	for (uint32_t k = 0; k < 3; k++)
		add_standing(k, 0);
	standing[2].eligible = false;
	expect(ELECTORATE_NOTHING, 0);
	standing[2].eligible = true;
	expect(ELECTORATE_STANDBY, 2);
}

static void test_a_new_leader_waits_before_it_calls_anybody_lost(void **context)
{
	(void)context;
	for (uint32_t k = 0; k < 3; k++)
		add_voter(k);
	add_standing(0, 0);
	add_standing(2, 0);
	add_standing(3, 0);
	now += REPLACE;
	expect(ELECTORATE_STANDBY, 4);
	electorate_begin(electorate, now);
	expect(ELECTORATE_NOTHING, 0);
}

static void test_sizes(void **context)
{
	(void)context;
	assert_int_equal(electorate_size(1, 1, 0), 1);
	assert_int_equal(electorate_size(2, 1, 0), 1);
	assert_int_equal(electorate_size(3, 1, 0), 3);
	assert_int_equal(electorate_size(1, 2, 0), 3);
	assert_int_equal(electorate_size(1, 3, 2), 3);
	assert_int_equal(electorate_size(6, 3, 0), 3);
	assert_int_equal(electorate_size(5, 4, 1), 3);
	assert_int_equal(electorate_size(5, 5, 2), 5);
	assert_int_equal(electorate_size(4, 5, 1), 3);
	assert_int_equal(electorate_size(7, 3, 0), 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	        TEST(test_one_voter_until_three_can),
	        TEST(test_both_newcomers_catch_up_before_the_first_is_promoted),
	        TEST(test_five_voters_from_seven_on),
	        TEST(test_five_shrink_to_three_and_three_never_shrink),
	        TEST(test_a_silent_voter_is_replaced_once_the_successor_has_caught_up),
	        TEST(test_a_voter_that_comes_back_stays),
	        TEST(test_a_lost_disk_goes_before_its_successor_is_promoted),
	        TEST(test_a_forbidden_voter_goes_at_once_if_there_is_another),
	        TEST(test_a_forbidden_voter_stays_while_another_is_missing),
	        TEST(test_whom_an_operator_wants_takes_the_place_of_another),
	        TEST(test_of_two_wishes_each_is_fulfilled),
	        TEST(test_a_wanted_one_that_cannot_catch_up_costs_nothing),
	        TEST(test_of_four_voters_the_missing_one_goes),
	        TEST(test_witnesses_come_first),
	        TEST(test_who_does_not_serve_is_not_chosen),
	        TEST(test_a_new_leader_waits_before_it_calls_anybody_lost),
	        TEST(test_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
