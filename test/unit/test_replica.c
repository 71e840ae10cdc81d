/*
 * Servers of the replicated log under fixed schedules (raft_schedule.h). Changes of the servers are
 * in test_replica_change.c, random runs in cluster/random_raft.c.
 */
#include "raft_schedule.h"

#include "baton/error.h"
#include "raft_guard.h"

/*
 * Figure 8 of "In Search of an Understandable Consensus Algorithm" (Ongaro and Ousterhout, 2014),
 * up to (c): a leads again. X, of its first term, is on a and b. e has Y in its place, of a term in
 * between. Returns the index of X.
 */
static uint64_t play_figure_8(void)
{
	begin(5);
	elect("abcde", 0);
	pass("abcde", 5);
	propose(0, 'X'); /* (a): a and b have X */
	uint64_t index = find_command(0, 'X');
	drop_letters();
	replicate(0, "ab", index);
	assert_int_equal(find_command(1, 'X'), index);
	uint64_t term = replica_term(replicas[0]);
	restart(0); /* (b): a crashes; c and d elect e, which takes Y */
	elect("cde", 4);
	propose(4, 'Y');
	drop_letters();
	assert_true(replica_term(replicas[4]) > term);
	restart(4); /* (c): e crashes; b and c elect a */
	elect("abc", 0);
	assert_true(replica_term(replicas[0]) > term + 1);
	assert_int_equal(find_command(0, 'X'), index);
	return index;
}

static void test_figure_8_an_older_entry_is_not_committed_by_counting(void **context)
{
	(void)context;
	uint64_t index = play_figure_8();

	/* (c): X gets to c, and a knows that it is on three of five. */
	replicate(0, "abc", index);
	assert_int_equal(find_command(2, 'X'), index);
	assert_true(replica_leads(replicas[0]));
	assert_int_equal(count_applied('X'), 0);
	/* (d): a crashes; b, c and d elect e. Its log wins, and X is gone. */
	restart(0);
	elect("bcde", 4);
	pass("bcde", 40);
	assert_int_equal(count_applied('Y'), 4);
	pass("abcde", 40);
	assert_int_equal(count_applied('Y'), 5);
	assert_int_equal(count_applied('X'), 0);
}

static void test_figure_8_an_entry_of_the_own_term_commits_the_older(void **context)
{
	(void)context;
	uint64_t index = play_figure_8();

	/* (e): an entry of a's own term is on three of five too. */
	pass("abc", 20);
	assert_int_equal(count_applied('X'), 3);
	assert_int_equal(find_command(2, 'X'), index);
	restart(0);
	for (int round = 0; round < 100; round++) {
		pass("bcde", 1);
		assert_false(replica_leads(replicas[4]) && count_applied('Y') > 0);
	}
	pass("abcde", 100);
	assert_int_equal(count_applied('X'), 5);
	assert_int_equal(count_applied('Y'), 0);
}

/*
 * a has the better log, b the greater term, and c is gone. b refuses a because of the term, and a
 * refuses b because of the log. So a must learn the greater term; otherwise nobody ever leads.
 */
static void test_a_refused_pre_vote_tells_the_term(void **context)
{
	(void)context;

	begin(3);
	elect("abc", 0);
	pass("abc", 5);
	uint64_t term = replica_term(replicas[0]);
	/* b wins pre-votes from c and raises its term; b's real requests are lost. */
	for (int round = 0; round < ROUNDS && replica_term(replicas[1]) < term + 3; round++) {
		now += UINT64_C(3) * ELECTION_MS;
		tick(2);
		drop_letters();
		tick(1);
		while (letters_count > 0) {
			struct raft_letter letter;
			assert_true(raft_letter_read(letters[0].bytes, letters[0].size, &letter));
			bool real = letter.message.type == RAFT_REQUEST_VOTE &&
			            !letter.message.request_vote.pre_vote;
			raft_letter_free(&letter);
			deliver_one(real ? "" : "bc");
		}
	}
	assert_true(replica_term(replicas[1]) >= term + 3);
	assert_int_equal(replica_term(replicas[2]), term);
	restart(1); /* restart b: as a candidate it would ask for real votes again */
	restart(2);
	elect("ac", 0);
	term = replica_term(replicas[0]);
	propose(0, 'X');
	pass("ac", 10);
	assert_int_equal(replica_term(replicas[0]), term);
	assert_true(has_applied(0, 'X') && replica_term(replicas[1]) > term + 1);
	restart(0);
	drop_letters();
	pass("ab", 300);
	assert_true(replica_leads(replicas[0]));
	assert_true(has_applied(0, 'X') && has_applied(1, 'X'));
}

/*
 * a proposed X as the leader, and X is still being written when b, which leads now, replaces it by
 * Y. When X becomes durable, Y is not durable yet. If a said that it is, b would commit Y; then a
 * could crash and have X.
 */
static void test_an_entry_is_not_durable_by_its_predecessor(void **context)
{
	(void)context;

	begin(3);
	elect("abc", 0);
	propose(0, 'W');
	pass("abc", 5);
	assert_true(has_applied(2, 'W'));
	stall_disk(0);
	propose(0, 'X');
	drop_letters();
	for (int i = 0; i < 5 && replica_leads(replicas[0]); i++) {
		now += UINT64_C(3) * ELECTION_MS;
		tick(0); /* a hears of nobody, and steps down */
	}
	drop_letters();
	elect("abc", 1); /* a learns of the term by b's request, and must write it */
	propose(1, 'Y');
	now += ELECTION_MS / 4;
	tick(1);
	exchange("ab");
	assert_int_equal(stalled[0].count, 3);
	end_stalled_write(0);
	end_stalled_write(0);
	exchange("ab");
	restart(0);
	elect("ac", 0);
	propose(0, 'Z');
	pass("ac", 10);
	assert_true(has_applied(0, 'Z'));
	assert_one_history();
}

/*
 * a is the only voter. It sends X to b, and crashes before X is on its own disk. When it leads
 * again, Y takes the place of X. This must be in another term; otherwise b could not tell X and Y
 * apart.
 */
static void test_a_lone_voter_begins_a_new_term(void **context)
{
	(void)context;

	begin_with(2, 1);
	pass("ab", 10);
	assert_true(replica_leads(replicas[0]));
	propose(0, 'W');
	pass("ab", 10);
	assert_true(has_applied(1, 'W'));
	stall_disk(0);
	propose(0, 'X');
	exchange("ab");
	assert_int_not_equal(find_command(1, 'X'), 0);
	restart(0);
	pass("a", 10);
	propose(0, 'Y');
	pass("ab", 20);
	assert_true(has_applied(0, 'Y') && has_applied(1, 'Y'));
	assert_one_history();
}

/* a and b have X, which is committed; a is away, and b has lost its disk. */
static void lose_the_disk_of_b(void)
{
	begin(3);
	elect("ab", 0);
	propose(0, 'X');
	pass("ab", 10);
	assert_true(has_applied(0, 'X') && has_applied(1, 'X'));
	replica_destroy(replicas[1]);
	shadow_free(&disks[1]);
	memset(applied[1], 0, sizeof applied[1]);
}

/*
 * A server with an empty disk must never vote in a log that has entries. Here the rule is broken: b
 * begins again as at the birth, under its own id, and elects c, which has never heard of X. X was
 * committed, and is lost.
 */
static void test_a_wiped_server_that_votes_loses_what_was_committed(void **context)
{
	(void)context;
	struct replica_server servers[3];
	struct durable_entry first;

	lose_the_disk_of_b();
	for (int i = 0; i < 3; i++)
		servers[i] = (struct replica_server){(uint64_t)i + 1, addresses[i], REPLICA_VOTER};
	assert_true(replica_first_entry(servers, 3, &first));
	found_disk(1, &first);
	free((void *)first.bytes);
	start(1);
	elect("bc", 2);
	propose(2, 'Y');
	pass("bc", 10);
	assert_int_equal(count_applied('X'), 1);
	assert_int_equal(count_applied('Y'), 2);
}

/* Here the rule is kept: a server that comes back empty has a new id, and the old id stays
 * silent. */
static void test_a_wiped_server_comes_back_as_another(void **context)
{
	(void)context;
	struct replica_server old = {2, "b", REPLICA_NONE};

	lose_the_disk_of_b();
	start(1);
	pass("c", 50);
	assert_false(replica_leads(replicas[2]));
	elect("ac", 0);
	propose(0, 'Z');
	pass("ac", 10);
	assert_true(has_applied(2, 'X') && has_applied(2, 'Z'));
	/* b would come back under another id; the old id is removed. */
	assert_true(replica_change(replicas[0], &old, now));
	serve(0);
	pass("ac", 10);
	assert_int_equal(replica_servers(replicas[2], 0, &old), 2);
}

/* If such a letter were not ignored, its effect on libraft would depend on the value of a
 * pointer. */
static void test_a_vote_for_nobody_is_ignored(void **context)
{
	(void)context;
	struct raft_letter letter = {.message.type = RAFT_REQUEST_VOTE_RESULT};
	struct out out;

	begin(3);
	letter.message.request_vote_result =
	        (struct raft_request_vote_result){.version = 2, .term = 50};
	out_init(&out);
	raft_letter_write(&out, &letter);
	uint64_t term = replica_term(replicas[0]);
	assert_int_equal(replica_receive(replicas[0], 2, out.bytes, out.bytes_count, now), 0);
	assert_int_equal(replica_term(replicas[0]), term);
	out_free(&out);
}

static void test_malformed_letters_change_nothing(void **context)
{
	(void)context;
	static const uint8_t nonsense[] = {0, 1, 2, 3};
	struct sent sent;

	begin(3);
	elect("abc", 0);
	pass("abc", 5);
	propose(0, 'X');
	assert_true(letters_count > 0);
	sent = letters[0];
	uint64_t term = replica_term(replicas[1]);
	assert_int_equal(replica_receive(replicas[1], 1, nonsense, sizeof nonsense, now),
	                 BATON_EMESSAGE);
	for (size_t size = 0; size < sent.size; size++)
		assert_int_equal(replica_receive(replicas[1], 1, sent.bytes, size, now),
		                 BATON_EMESSAGE);
	assert_int_equal(replica_term(replicas[1]), term);
}

static int receive_letter(size_t to, uint64_t from, const struct raft_letter *letter)
{
	struct out out;

	out_init(&out);
	raft_letter_write(&out, letter);
	int error = replica_receive(replicas[to], from, out.bytes, out.bytes_count, now);
	out_free(&out);
	return error;
}

static int append(size_t to, uint64_t from, uint64_t term, uint64_t index, uint64_t prev_term)
{
	struct durable_entry entry = {term, RAFT_COMMAND, (const uint8_t *)"Y", 1};
	struct raft_letter letter = {.message.type = RAFT_APPEND_ENTRIES, .entries = &entry};

	letter.message.append_entries = (struct raft_append_entries){
	        .term = term, .prev_log_index = index, .prev_log_term = prev_term, .n_entries = 1};
	return receive_letter(to, from, &letter);
}

/* If they were not refused, libraft would write into the wrong part of a union, or ask to be shut
 * down. */
static void test_letters_that_no_correct_server_sends_change_nothing(void **context)
{
	(void)context;
	static const uint8_t voters[] = {1, 1, 0, 0, 0, 0, 0, 0,   0, 1,
	                                 0, 0, 0, 0, 0, 0, 0, 'a', 0, 1};
	struct raft_letter letter = {.message.type = RAFT_REQUEST_VOTE};

	begin(3);
	elect("abc", 0);
	propose(0, 'X');
	pass("abc", 20);
	assert_true(has_applied(1, 'X'));
	uint64_t term = replica_term(replicas[0]);
	assert_int_equal(replica_term(replicas[1]), term);
	/* Another server claims to lead in the leader's term; or an entry contradicts what is
	 * committed. */
	assert_int_equal(append(0, 2, term, 1, 1), BATON_EMESSAGE);
	assert_int_equal(append(1, 3, term + 1, 1, 1), BATON_EMESSAGE);
	assert_int_equal(append(1, 3, term + 1, 1, term + 1), BATON_EMESSAGE);
	assert_int_equal(append(1, 3, term + 1, 2, term + 1), BATON_EMESSAGE);
	/* A server sends to itself; a vote is asked for another server; the term is the last
	 * possible one. */
	assert_int_equal(append(1, 2, term + 1, 9, term), BATON_EMESSAGE);
	letter.message.request_vote = (struct raft_request_vote){.term = term, .candidate_id = 2};
	assert_int_equal(receive_letter(1, 3, &letter), BATON_EMESSAGE);
	letter.message.request_vote =
	        (struct raft_request_vote){.term = UINT64_MAX, .candidate_id = 3};
	assert_int_equal(receive_letter(1, 3, &letter), BATON_EMESSAGE);
	letter = (struct raft_letter){.message.type = RAFT_INSTALL_SNAPSHOT,
	                              .snapshot = {.voters = voters, .voters_size = sizeof voters}};
	letter.message.install_snapshot = (struct raft_install_snapshot){
	        .term = term + 1, .last_index = 2, .last_term = term + 1, .conf_index = 1};
	assert_int_equal(receive_letter(1, 3, &letter), BATON_EMESSAGE);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(replica_term(replicas[i]), term);
	propose(0, 'Z');
	pass("abc", 20);
	assert_true(has_applied(1, 'Z'));
}

/* The leader c never says that anything is committed. */
static void test_a_log_does_not_run_ahead_without_end(void **context)
{
	(void)context;

	begin(3);
	elect("abc", 0);
	propose(0, 'X');
	pass("abc", 20);
	uint64_t term = replica_term(replicas[0]) + 1, before = disks[1].count;
	uint64_t last = find_command(1, 'X'), last_term = replica_term(replicas[0]);
	for (uint64_t i = 0; i < GUARD_AHEAD_MAX + 100; i++) {
		assert_int_equal(append(1, 3, term, last + i, i == 0 ? last_term : term), 0);
		serve(1);
		drop_letters();
	}
	assert_int_equal(disks[1].count, before + GUARD_AHEAD_MAX);
}

static void test_one_server_leads_and_commits_alone(void **context)
{
	(void)context;

	begin(1);
	pass("a", 5);
	assert_true(replica_leads(replicas[0]));
	propose(0, 'X');
	assert_true(has_applied(0, 'X'));
	restart(0);
	pass("a", 5);
	assert_true(has_applied(0, 'X'));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(test_figure_8_an_older_entry_is_not_committed_by_counting),
	        TEST(test_figure_8_an_entry_of_the_own_term_commits_the_older),
	        TEST(test_a_refused_pre_vote_tells_the_term),
	        TEST(test_an_entry_is_not_durable_by_its_predecessor),
	        TEST(test_a_lone_voter_begins_a_new_term),
	        TEST(test_a_wiped_server_that_votes_loses_what_was_committed),
	        TEST(test_a_wiped_server_comes_back_as_another),
	        TEST(test_a_vote_for_nobody_is_ignored),
	        TEST(test_malformed_letters_change_nothing),
	        TEST(test_letters_that_no_correct_server_sends_change_nothing),
	        TEST(test_a_log_does_not_run_ahead_without_end),
	        TEST(test_one_server_leads_and_commits_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
