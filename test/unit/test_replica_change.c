/*
 * Changes of the servers of the replicated log, under fixed schedules. Most schedules ask for a
 * change that a guard refuses, and show what the guard prevents: without it the servers would stand
 * still for ever, or apply two histories.
 */
#include "raft_schedule.h"

static bool change(int leader, int number, enum replica_role role)
{
	struct replica_server server = {(uint64_t)number + 1, addresses[number], role};
	bool begun = replica_change(replicas[leader], &server, now);

	serve(leader);
	return begun;
}

static void assert_somebody_leads(const char *names)
{
	bool leads = false;

	pass(names, ROUNDS);
	for (int i = 0; i < servers_count; i++)
		leads = leads || (is_among(names, i) && replica_leads(replicas[i]));
	assert_true(leads);
}

static void test_two_voters_never_become_one(void **context)
{
	(void)context;

	begin(2);
	elect("ab", 0);
	propose(0, 'X');
	pass("ab", 10);
	assert_true(has_applied(1, 'X'));
	assert_false(change(0, 1, REPLICA_NONE));
	assert_false(change(0, 1, REPLICA_SPARE));
}

/*
 * a, which leads, removes itself, and nobody hears of it. Then c dies. a has the longest log and
 * would not campaign; b would need a's vote. Two of three voters are alive, but nobody leads.
 */
static void test_a_leader_does_not_remove_itself(void **context)
{
	(void)context;

	begin(3);
	elect("abc", 0);
	propose(0, 'X');
	pass("abc", 10);
	assert_true(has_applied(2, 'X'));
	change(0, 0, REPLICA_NONE);
	drop_letters();
	restart(0);
	assert_somebody_leads("ab");
}

/*
 * b is demoted, and only b hears of it before a dies. b then has the longest log and would not
 * campaign; c and d would need b's vote. Three of four voters are alive, but nobody leads.
 */
static void test_a_voter_is_not_demoted(void **context)
{
	(void)context;

	begin(4);
	elect("abcd", 0);
	propose(0, 'X');
	pass("abcd", 10);
	assert_true(has_applied(3, 'X'));
	change(0, 1, REPLICA_STANDBY);
	exchange("ab");
	drop_letters();
	assert_somebody_leads("bcd");
}

/*
 * d becomes a voter and does not hear of it. If b and c were removed before d hears of it, a would
 * need the vote of d, which believes that it has none; and the others would need the vote of a,
 * whose log is the longest. All four are alive, but nobody leads.
 */
static void test_most_voters_know_of_the_last_change(void **context)
{
	(void)context;

	begin_with(4, 3);
	elect("abc", 0);
	propose(0, 'X');
	pass("abcd", 20);
	assert_true(has_applied(3, 'X'));
	assert_true(change(0, 3, REPLICA_VOTER));
	exchange("abc");
	change(0, 1, REPLICA_NONE);
	exchange("ac");
	change(0, 2, REPLICA_NONE);
	drop_letters();
	restart(0);
	assert_somebody_leads("abcd");
}

/* b is dead, and c leads in a term in which b has never answered. d can still take the place of
 * b. */
static void test_a_dead_voter_is_replaced(void **context)
{
	(void)context;
	struct replica_server server;

	begin_with(4, 3);
	elect("abc", 0);
	propose(0, 'X');
	pass("abcd", 20);
	elect("acd", 2);
	propose(2, 'Y');
	pass("acd", 20);
	assert_true(has_applied(3, 'Y'));
	assert_true(change(2, 3, REPLICA_VOTER));
	exchange("acd");
	assert_true(change(2, 1, REPLICA_NONE));
	pass("acd", 20);
	assert_int_equal(replica_servers(replicas[3], 0, &server), 3);
}

/* d catches up, is not made a voter, and lags again. */
static void test_a_server_that_lags_again_catches_up_again(void **context)
{
	(void)context;

	begin_with(4, 3);
	elect("abc", 0);
	propose(0, 'X');
	pass("abc", 10);
	assert_false(change(0, 3, REPLICA_VOTER)); /* the server begins to catch up */
	pass("abcd", 10);
	assert_true(has_applied(3, 'X'));
	propose(0, 'Y');
	pass("abc", 10);
	assert_true(has_applied(1, 'Y'));
	assert_false(change(0, 3, REPLICA_VOTER));
	pass("abcd", 10);
	assert_true(change(0, 3, REPLICA_VOTER));
}

/* c has acknowledged everything and then dies. If b were removed now, a would need c for every
 * later entry. */
static void test_a_dead_voter_does_not_count(void **context)
{
	(void)context;

	begin(3);
	elect("abc", 0);
	propose(0, 'X');
	pass("abc", 20);
	assert_true(has_applied(2, 'X'));
	pass("ab", 20);
	change(0, 1, REPLICA_NONE);
	assert_somebody_leads("ab");
}

/*
 * This is the bug of changes by one server (Ongaro, 2015). a makes e a voter, and only e hears of
 * it. b is elected by c and d, and removes a. Then {b, c} is a majority of {b, c, d}, and {a, d, e}
 * is one of {a, b, c, d, e}: two majorities without a common server.
 */
static void test_a_leader_commits_before_it_changes_the_servers(void **context)
{
	(void)context;

	begin_with(5, 4);
	elect("abcd", 0);
	propose(0, 'W');
	pass("abcde", 20);
	assert_true(has_applied(4, 'W'));
	drop_letters();
	assert_true(change(0, 4, REPLICA_VOTER));
	exchange("ae");
	elect("bcd", 1);
	pass("abcd", 2); /* all acknowledge b's entry, and so b learns what they have */
	assert_true(replica_leads(replicas[1]));
	change(1, 0, REPLICA_NONE);
	exchange("bc");
	propose(1, 'X');
	pass("bc", 2);
	elect("ade", 0);
	propose(0, 'Y');
	pass("ade", 20);
	assert_true(has_applied(0, 'Y'));
	assert_one_history();
}

/*
 * a hands the lead to c. The letter is late: c has been removed by then, and does not know it. It
 * disturbs a once, as it was told to, and never again.
 */
static void test_a_late_transfer_disturbs_once(void **context)
{
	(void)context;
	struct sent late = {0};

	begin(4);
	elect("abcd", 0);
	propose(0, 'X');
	pass("abcd", 10);
	assert_true(replica_transfer(replicas[0], 3, now));
	serve(0);
	assert_true(letters_count > 0);
	late = letters[--letters_count];
	assert_int_equal(late.to, 2);
	drop_letters();
	pass("abd", 20);
	assert_true(replica_leads(replicas[0]));
	assert_true(change(0, 2, REPLICA_NONE));
	exchange("abd");
	pass("abd", 5);
	assert_int_equal(replica_receive(replicas[2], 1, late.bytes, late.size, now), 0);
	free(late.bytes);
	serve(2);
	exchange("abcd");
	pass("abcd", 50);
	uint64_t term = replica_term(replicas[0]);
	pass("abcd", 100);
	assert_int_equal(replica_term(replicas[0]), term);
}

/*
 * c lags when a is asked to hand the lead to it. c would be told once to begin an election, and
 * would lose it. Meanwhile a would wait for c and take no commands.
 */
static void test_the_lead_goes_only_to_a_server_that_has_caught_up(void **context)
{
	(void)context;

	begin(3);
	elect("abc", 0);
	pass("abc", 10);
	propose(0, 'X');
	pass("ab", 2);
	assert_true(has_applied(1, 'X'));
	replica_transfer(replicas[0], 3, now);
	serve(0);
	drop_letters(); /* if c were told to begin an election now, that letter would be lost */
	propose(0, 'Y');
	pass("abc", 10);
	assert_true(has_applied(2, 'Y'));
	assert_true(replica_transfer(replicas[0], 3, now));
	serve(0);
	pass("abc", 10);
	assert_true(replica_leads(replicas[2]));
}

/*
 * b hears of the first change only together with the second, and then loses the second. It must go
 * back to the first, not to the state before both.
 */
static void test_a_change_after_another_proves_the_other(void **context)
{
	(void)context;
	struct replica_server server;
	bool found = false;

	begin_with(5, 4);
	elect("abcd", 0);
	propose(0, 'X');
	pass("abcde", 20);
	assert_true(has_applied(4, 'X'));
	assert_true(change(0, 4, REPLICA_VOTER));
	exchange("abcde"); /* the change is committed; only later letters say so */
	assert_true(change(0, 2, REPLICA_NONE));
	exchange("ab");
	elect("cde", 3);
	propose(3, 'Y');
	pass("bcde", 20);
	assert_true(has_applied(1, 'Y'));
	for (size_t i = 0; i < replica_servers(replicas[1], i, &server); i++)
		found = found || (server.id == 5 && server.role == REPLICA_VOTER);
	assert_true(found);
}

/*
 * The entry that makes b a voter is lost on the way. a can lead again only with b's vote, but b
 * does not know that it has one, and believes that a leads.
 */
static void test_a_standby_votes(void **context)
{
	(void)context;

	begin_with(2, 1);
	pass("ab", 10);
	propose(0, 'W');
	pass("ab", 10);
	assert_true(has_applied(1, 'W'));
	assert_true(change(0, 1, REPLICA_VOTER));
	drop_letters();
	restart(0);
	assert_somebody_leads("ab");
	propose(replica_leads(replicas[0]) ? 0 : 1, 'X');
	pass("ab", 5);
	assert_true(has_applied(0, 'X') && has_applied(1, 'X'));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(test_two_voters_never_become_one),
	        TEST(test_a_leader_does_not_remove_itself),
	        TEST(test_a_voter_is_not_demoted),
	        TEST(test_most_voters_know_of_the_last_change),
	        TEST(test_a_dead_voter_is_replaced),
	        TEST(test_a_server_that_lags_again_catches_up_again),
	        TEST(test_a_dead_voter_does_not_count),
	        TEST(test_a_leader_commits_before_it_changes_the_servers),
	        TEST(test_a_late_transfer_disturbs_once),
	        TEST(test_the_lead_goes_only_to_a_server_that_has_caught_up),
	        TEST(test_a_change_after_another_proves_the_other),
	        TEST(test_a_standby_votes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
