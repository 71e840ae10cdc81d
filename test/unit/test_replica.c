/*
 * Servers of the replicated log under fixed schedules: letters are delivered or lost one by one.
 * Random runs are in cluster/random_raft.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "baton/error.h"
#include "outbuffer.h"
#include "raft_letter.h"
#include "replica.h"
#include "shadow.h"

#include <stdlib.h>
#include <string.h>

enum { SERVERS = 5, LETTERS = 4096, INDICES = 64, ELECTION_MS = 100, ROUNDS = 200 };

struct sent {
	int from, to;
	uint8_t *bytes;
	size_t size;
};

static struct replica *replicas[SERVERS];
static struct shadow disks[SERVERS];
static struct sent letters[LETTERS];
static size_t letters_count;
static char applied[SERVERS]
                   /* The first byte of each command, '-' for other entries; 0: nothing. */
                   [INDICES];
static uint64_t now;
static int servers_count;
static const char *const addresses[SERVERS] = {"a", "b", "c", "d", "e"};

/* Carries out what a server wants; its disk is quick. */
static void serve(int number)
{
	struct replica_effect effect;

	while (replica_effect(replicas[number], &effect)) {
		if (effect.kind == REPLICA_WRITE) {
			uint64_t written = effect.write->number;
			shadow_apply(&disks[number], effect.write);
			replica_written(replicas[number], written, now);
		} else if (effect.kind == REPLICA_SEND) {
			assert_true(letters_count < LETTERS);
			uint8_t *bytes = malloc(effect.size);
			memcpy(bytes, effect.bytes, effect.size);
			letters[letters_count++] =
			        (struct sent){number, (int)effect.to - 1, bytes, effect.size};
		} else if (effect.kind == REPLICA_APPLY) {
			char value = effect.type == RAFT_COMMAND ? (char)effect.bytes[0] : '-';
			assert_true(effect.index < INDICES);
			applied[number][effect.index] = value;
		}
	}
}

static void start(int number)
{
	struct durable_content content = shadow_content(&disks[number]);

	replicas[number] = replica_create(&(struct replica_options){.id = (uint64_t)number + 1,
	                                                            .address = addresses[number],
	                                                            .content = &content,
	                                                            .election_ms = ELECTION_MS,
	                                                            .heartbeat_ms = 20,
	                                                            .seed = (uint32_t)number + 7},
	                                  now);
	serve(number);
}

static void restart(int number)
{
	replica_destroy(replicas[number]);
	memset(applied[number], 0, sizeof applied[number]);
	start(number);
}

static void begin(int count)
{
	struct replica_server servers[SERVERS];
	struct durable_entry first;

	now = 1000;
	servers_count = count;
	letters_count = 0;
	memset(applied, 0, sizeof applied);
	for (int i = 0; i < count; i++)
		servers[i] = (struct replica_server){(uint64_t)i + 1, addresses[i], REPLICA_VOTER};
	assert_true(replica_first_entry(servers, (size_t)count, &first));
	for (int i = 0; i < count; i++) {
		shadow_init(&disks[i]);
		shadow_apply(&disks[i], &(struct durable_write){.has_ballot = true,
		                                                .term = 1,
		                                                .entries_first = 1,
		                                                .entries = &first,
		                                                .entries_count = 1});
		start(i);
	}
	free((void *)(uintptr_t)first.bytes);
}

static int end(void **context)
{
	(void)context;
	for (int i = 0; i < servers_count; i++) {
		replica_destroy(replicas[i]);
		shadow_free(&disks[i]);
	}
	while (letters_count > 0)
		free(letters[--letters_count].bytes);
	servers_count = 0;
	return 0;
}

static bool is_among(const char *names, int number)
{
	return strchr(names, *addresses[number]) != NULL;
}

static void drop_letters(void)
{
	while (letters_count > 0)
		free(letters[--letters_count].bytes);
}

/* Delivers the oldest letter, if it is between these servers; otherwise it is lost. */
static void deliver_one(const char *names)
{
	struct sent sent = letters[0];

	memmove(letters, letters + 1, --letters_count * sizeof *letters);
	if (is_among(names, sent.from) && is_among(names, sent.to)) {
		assert_int_equal(replica_receive(replicas[sent.to], (uint64_t)sent.from + 1,
		                                 sent.bytes, sent.size, now),
		                 0);
		serve(sent.to);
	}
	free(sent.bytes);
}

/* Delivers everything between these servers, and the letters that result. */
static void exchange(const char *names)
{
	for (int round = 0; letters_count > 0 && round < 10000; round++)
		deliver_one(names);
}

static void tick(int number)
{
	replica_tick(replicas[number], now);
	serve(number);
}

/* Time passes for these servers, and they hear each other. */
static void pass(const char *names, int rounds)
{
	for (; rounds > 0; rounds--) {
		now += ELECTION_MS / 5;
		for (int i = 0; i < servers_count; i++)
			if (is_among(names, i))
				tick(i);
		exchange(names);
	}
}

/* Lets the servers elect this one of them. Nothing is delivered once it leads. */
static void elect(const char *names, int leader)
{
	for (int round = 0; round < ROUNDS && !replica_leads(replicas[leader]); round++) {
		now += 3 * ELECTION_MS;
		for (int i = 0; i < servers_count; i++)
			if (is_among(names, i) && i != leader)
				tick(i); /* forgets the last leader */
		drop_letters();
		tick(leader);
		while (letters_count > 0 && !replica_leads(replicas[leader]))
			deliver_one(names);
	}
	drop_letters();
	assert_true(replica_leads(replicas[leader]));
}

static void propose(int number, char value)
{
	uint8_t byte = (uint8_t)value;

	assert_true(replica_propose(replicas[number], &byte, 1, now));
	serve(number);
}

/* Returns the index of a command on a disk; 0: it is not there. */
static uint64_t find_command(int number, char value)
{
	struct durable_content content = shadow_content(&disks[number]);

	for (size_t i = 0; i < content.entries_count; i++)
		if (content.entries[i].type == RAFT_COMMAND && content.entries[i].bytes[0] == value)
			return content.log_start + i;
	return 0;
}

/* Removes the entries beyond `index` from an AppendEntries, as if the leader had sent them in
 * another message. */
static void shorten(struct sent *sent, uint64_t index)
{
	struct raft_letter letter;
	struct out out;

	assert_true(raft_letter_read(sent->bytes, sent->size, &letter));
	struct raft_append_entries *append = &letter.message.append_entries;
	if (letter.message.type == RAFT_APPEND_ENTRIES &&
	    append->prev_log_index + append->n_entries > index) {
		append->n_entries = 0;
		if (append->prev_log_index < index)
			append->n_entries = (unsigned)(index - append->prev_log_index);
		out_init(&out);
		raft_letter_write(&out, &letter);
		assert_true(out.bytes_count <= sent->size);
		memcpy(sent->bytes, out.bytes, out.bytes_count);
		sent->size = out.bytes_count;
		out_free(&out);
	}
	raft_letter_free(&letter);
}

/* A leader and others hear each other for a while, but the others get nothing beyond `index`. */
static void replicate(int leader, const char *names, uint64_t index)
{
	for (int round = 0; round < 20; round++) {
		now += 25;
		tick(leader);
		for (int hop = 0; letters_count > 0 && hop < 200; hop++) {
			if (letters[0].from == leader)
				shorten(&letters[0], index);
			deliver_one(names);
		}
	}
	drop_letters();
}

static bool has_applied(int number, char value)
{
	return memchr(applied[number], value, INDICES) != NULL;
}

static unsigned count_applied(char value)
{
	unsigned count = 0;

	for (int i = 0; i < servers_count; i++)
		count += has_applied(i, value);
	return count;
}

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
 * refuses b because of the log: a must learn the greater term, or nobody ever leads.
 */
static void test_a_refused_pre_vote_tells_the_term(void **context)
{
	(void)context;

	begin(3);
	elect("abc", 0);
	pass("abc", 5);
	uint64_t term = replica_term(replicas[0]);
	/* b wins pre-votes of c, raises its term, and its real requests are lost. */
	for (int round = 0; round < ROUNDS && replica_term(replicas[1]) < term + 3; round++) {
		now += 3 * ELECTION_MS;
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
	restart(1); /* as a candidate it would ask for real votes again */
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

/* Otherwise what this letter does to the core would depend on a pointer's value. */
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

static void test_two_voters_never_become_one(void **context)
{
	(void)context;

	begin(2);
	elect("ab", 0);
	pass("ab", 10);
	assert_false(
	        replica_change(replicas[0], &(struct replica_server){2, "b", REPLICA_NONE}, now));
	assert_false(
	        replica_change(replicas[0], &(struct replica_server){2, "b", REPLICA_SPARE}, now));
	/* A leader does not demote itself either. */
	assert_false(
	        replica_change(replicas[0], &(struct replica_server){1, "a", REPLICA_SPARE}, now));
}

#define TEST(function) cmocka_unit_test_teardown(function, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(test_figure_8_an_older_entry_is_not_committed_by_counting),
	        TEST(test_figure_8_an_entry_of_the_own_term_commits_the_older),
	        TEST(test_a_refused_pre_vote_tells_the_term),
	        TEST(test_a_vote_for_nobody_is_ignored),
	        TEST(test_malformed_letters_change_nothing),
	        TEST(test_one_server_leads_and_commits_alone),
	        TEST(test_two_voters_never_become_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
