/*
 * Servers of the replicated log under fixed schedules: letters are delivered or lost one by one,
 * and time passes only for the servers that are named.
 */
#ifndef TEST_RAFT_SCHEDULE_H
#define TEST_RAFT_SCHEDULE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "outbuffer.h"
#include "raft_letter.h"
#include "replica.h"
#include "shadow.h"

#include <stdlib.h>
#include <string.h>

enum {
	SERVERS = 5,
	LETTERS = 4096,
	INDICES = 64,
	ELECTION_MS = 100,
	ROUNDS = 200,
	STALLED_WRITES = 32
};

struct sent {
	int from, to;
	uint8_t *bytes;
	size_t size;
};

static struct replica *replicas[SERVERS];
static struct shadow disks[SERVERS];
static struct sent letters[LETTERS];
static size_t letters_count;
/* For each server and index: the first byte of the command that was applied, or '-' for another
 * entry; 0: nothing was applied yet. */
static char applied[SERVERS][INDICES];
static uint64_t now;
static int servers_count;
static const char *const addresses[SERVERS] = {"a", "b", "c", "d", "e"};

/* Writes that a stalled disk has not done, the oldest first. */
struct stalled {
	bool is_stalled;
	struct durable_write writes[STALLED_WRITES];
	size_t count;
};
static struct stalled stalled[SERVERS];

static inline void write_to_disk(int number, const struct durable_write *write)
{
	struct stalled *disk = &stalled[number];
	uint64_t written = write->number;

	if (disk->is_stalled) {
		assert_true(disk->count < STALLED_WRITES);
		disk->writes[disk->count++] = shadow_write_copy(write);
		return;
	}
	shadow_apply(&disks[number], write);
	replica_written(replicas[number], written, now);
}

/* Carries out the effects of a server. Its disk does a write at once, unless it is stalled. */
static inline void serve(int number)
{
	struct replica_effect effect;

	while (replica_effect(replicas[number], &effect)) {
		if (effect.kind == REPLICA_WRITE) {
			write_to_disk(number, effect.write);
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

static inline void start(int number)
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

static inline void stall_disk(int number)
{
	stalled[number].is_stalled = true;
}

/* Ends the oldest write of a stalled disk after all. */
static inline void end_stalled_write(int number)
{
	struct stalled *disk = &stalled[number];

	assert_true(disk->count > 0);
	struct durable_write write = disk->writes[0];
	memmove(disk->writes, disk->writes + 1, --disk->count * sizeof *disk->writes);
	shadow_apply(&disks[number], &write);
	replica_written(replicas[number], write.number, now);
	shadow_write_free(&write);
	serve(number);
}

/* Drops the writes that a stalled disk has not done, as a crash does. */
static inline void lose_stalled_writes(int number)
{
	struct stalled *disk = &stalled[number];

	while (disk->count > 0)
		shadow_write_free(&disk->writes[--disk->count]);
	disk->is_stalled = false;
}

static inline void restart(int number)
{
	lose_stalled_writes(number);
	replica_destroy(replicas[number]);
	memset(applied[number], 0, sizeof applied[number]);
	start(number);
}

/* Makes the disk of a server as it is at the beginning of the log. */
static inline void found_disk(int number, const struct durable_entry *first)
{
	shadow_apply(&disks[number], &(struct durable_write){.has_ballot = true,
	                                                     .term = 1,
	                                                     .entries_first = 1,
	                                                     .entries = first,
	                                                     .entries_count = 1});
}

/* Makes the first `voters` servers voters, and the others standbys. */
static inline void begin_with(int count, int voters)
{
	struct replica_server servers[SERVERS];
	struct durable_entry first;

	now = 1000;
	servers_count = count;
	letters_count = 0;
	memset(applied, 0, sizeof applied);
	for (int i = 0; i < count; i++)
		servers[i] = (struct replica_server){(uint64_t)i + 1, addresses[i],
		                                     i < voters ? REPLICA_VOTER : REPLICA_STANDBY};
	assert_true(replica_first_entry(servers, (size_t)count, &first));
	for (int i = 0; i < count; i++) {
		shadow_init(&disks[i]);
		found_disk(i, &first);
		start(i);
	}
	free((void *)first.bytes);
}

static inline void begin(int count)
{
	begin_with(count, count);
}

static inline int end(void **context)
{
	(void)context;
	for (int i = 0; i < servers_count; i++) {
		lose_stalled_writes(i);
		replica_destroy(replicas[i]);
		shadow_free(&disks[i]);
	}
	while (letters_count > 0)
		free(letters[--letters_count].bytes);
	servers_count = 0;
	return 0;
}

static inline bool is_among(const char *names, int number)
{
	return strchr(names, *addresses[number]) != NULL;
}

static inline void drop_letters(void)
{
	while (letters_count > 0)
		free(letters[--letters_count].bytes);
}

/* Delivers the oldest letter, if it is between these servers; otherwise it is lost. */
static inline void deliver_one(const char *names)
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
static inline void exchange(const char *names)
{
	for (int round = 0; letters_count > 0 && round < 10000; round++)
		deliver_one(names);
}

static inline void tick(int number)
{
	replica_tick(replicas[number], now);
	serve(number);
}

/* Lets time pass for these servers, and delivers the letters between them. */
static inline void pass(const char *names, int rounds)
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
static inline void elect(const char *names, int leader)
{
	for (int round = 0; round < ROUNDS && !replica_leads(replicas[leader]); round++) {
		now += 3 * ELECTION_MS;
		for (int i = 0; i < servers_count; i++)
			if (is_among(names, i) && i != leader)
				tick(i); /* the server forgets the last leader */
		drop_letters();
		tick(leader);
		while (letters_count > 0 && !replica_leads(replicas[leader]))
			deliver_one(names);
	}
	drop_letters();
	assert_true(replica_leads(replicas[leader]));
}

static inline void propose(int number, char value)
{
	uint8_t byte = (uint8_t)value;

	assert_true(replica_propose(replicas[number], &byte, 1, now));
	serve(number);
}

/* Returns the index of a command on a disk; 0: it is not there. */
static inline uint64_t find_command(int number, char value)
{
	struct durable_content content = shadow_content(&disks[number]);

	for (size_t i = 0; i < content.entries_count; i++)
		if (content.entries[i].type == RAFT_COMMAND && content.entries[i].bytes[0] == value)
			return content.log_start + i;
	return 0;
}

/* Removes the entries beyond `index` from an AppendEntries, as if the leader had sent them in
 * another message. */
static inline void shorten(struct sent *sent, uint64_t index)
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

/* Lets a leader and others hear each other for a while, but the others get nothing beyond
 * `index`. */
static inline void replicate(int leader, const char *names, uint64_t index)
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

static inline bool has_applied(int number, char value)
{
	return memchr(applied[number], value, INDICES) != NULL;
}

static inline unsigned count_applied(char value)
{
	unsigned count = 0;

	for (int i = 0; i < servers_count; i++)
		count += has_applied(i, value);
	return count;
}

/* Checks that all servers have applied the same entry at each index. */
static inline void assert_one_history(void)
{
	for (int index = 0; index < INDICES; index++)
		for (int i = 0; i < servers_count; i++)
			for (int j = 0; j < i; j++)
				if (applied[i][index] != 0 && applied[j][index] != 0)
					assert_int_equal(applied[i][index], applied[j][index]);
}

#define TEST(function) cmocka_unit_test_teardown(function, end)

#endif
