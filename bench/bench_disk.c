/*
 * Measures what a voter costs its disk: three servers of the replicated log, each with a disk of
 * its own, in virtual time.
 *
 * First comes an idle cluster with a lease of 3 s. Renewals are gathered for a twelfth of the
 * lease, so that the log gets an entry every 250 ms. The calls of fdatasync and fsync of each voter
 * are counted. Then come 36,000 renewals and 1,000 views as fast as possible, and the bytes that
 * are left in the directory are counted.
 *
 * usage: bench_disk [DIRECTORY]     where the disks are made; default: /dev/shm, or else /tmp
 *
 * The figures do not depend on how fast the disks are, so the test suite runs it too. Exits with 1
 * if a figure is too large.
 */
#include "disk.h"
#include "must.h"
#include "outbuffer.h"
#include "raft_letter.h"
#include "replica.h"
#include "state.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	VOTERS = 3,
	LEASE_MS = 3000,
	GATHER_MS = LEASE_MS / 12,
	IDLE_MS = 60000,
	TICKS = 12000, /* entries of three renewals each */
	VIEWS = 1000,
	SNAPSHOT_EVERY = 1000,
	LETTERS_MAX = 1 << 12,
	PATH_SIZE = 512,
	SYNCS_A_SECOND_GOAL = 5,
	BYTES_GOAL = 1000000,
};

struct voter {
	char path[PATH_SIZE];
	struct disk *disk;
	struct replica *replica;
	struct agreed_state state;
	uint64_t snapshot_at;
	uint64_t syncs;
};

struct mail {
	int from, to;
	uint8_t *bytes;
	size_t size;
};

static struct voter voters[VOTERS];
static int writing; /* the voter whose disk is in use */
static struct mail mail[LETTERS_MAX];
static size_t mail_start, mail_end;
static uint64_t now = 1000;
static const struct state_settings settings = {
        .lease_ns = LEASE_MS * UINT64_C(1000000), .base = 1000, .block = 1000};

/* SQLite calls these functions instead of those of the C library, so that calls are counted. */

int fdatasync(int file)
{
	voters[writing].syncs++;
	return (int)syscall(SYS_fdatasync, file);
}

int fsync(int file)
{
	voters[writing].syncs++;
	return (int)syscall(SYS_fsync, file);
}

static void write_disk(int number, const struct durable_write *write)
{
	writing = number;
	if (disk_write(voters[number].disk, write) != DISK_OK) {
		fprintf(stderr, "bench_disk: %s\n", disk_text(voters[number].disk));
		exit(1);
	}
}

static void keep_snapshot(struct voter *voter)
{
	struct out out;

	if (voter->state.index < voter->snapshot_at + SNAPSHOT_EVERY)
		return;
	out_init(&out);
	state_write(&voter->state, &out);
	if (replica_snapshot(voter->replica, voter->state.index, out.bytes, out.bytes_count,
	                     SNAPSHOT_EVERY))
		voter->snapshot_at = voter->state.index;
	out_free(&out);
}

static void serve(int number)
{
	struct voter *voter = &voters[number];
	struct replica_effect effect;

	while (replica_effect(voter->replica, &effect)) {
		if (effect.kind == REPLICA_WRITE) {
			uint64_t written = effect.write->number;
			write_disk(number, effect.write);
			replica_written(voter->replica, written, now);
		} else if (effect.kind == REPLICA_SEND) {
			uint8_t *bytes = malloc(effect.size);
			must(bytes != NULL);
			memcpy(bytes, effect.bytes, effect.size);
			mail[mail_end++ % LETTERS_MAX] =
			        (struct mail){number, (int)effect.to - 1, bytes, effect.size};
			must(mail_end - mail_start <= LETTERS_MAX);
		} else if (effect.kind == REPLICA_APPLY) {
			bool is_command = effect.type == RAFT_COMMAND;
			state_apply(&voter->state, effect.index, is_command ? effect.bytes : NULL,
			            is_command ? effect.size : 0);
			keep_snapshot(voter);
		}
	}
}

static void deliver(void)
{
	while (mail_start < mail_end) {
		struct mail letter = mail[mail_start++ % LETTERS_MAX];
		must(replica_receive(voters[letter.to].replica, (uint64_t)letter.from + 1,
		                     letter.bytes, letter.size, now) == 0);
		free(letter.bytes);
		serve(letter.to);
	}
}

static void pass(uint64_t ms)
{
	for (uint64_t end = now + ms; now < end; now++) {
		for (int i = 0; i < VOTERS; i++) {
			replica_tick(voters[i].replica, now);
			serve(i);
		}
		deliver();
	}
}

static int find_leader(void)
{
	for (int i = 0; i < VOTERS; i++)
		if (replica_leads(voters[i].replica))
			return i;
	return -1;
}

static void propose(const struct out *entry)
{
	int leader = find_leader();

	must(leader >= 0);
	must(replica_propose(voters[leader].replica, entry->bytes, entry->bytes_count, now));
	serve(leader);
	deliver();
}

static struct entry_text text_of(const char *text)
{
	return (struct entry_text){text, strlen(text)};
}

static void tick(uint64_t number)
{
	struct entry_part parts[VOTERS];
	struct out out;
	const struct agreed_state *state = &voters[find_leader()].state;

	out_init(&out);
	for (uint32_t i = 0; i < state->seats_count; i++)
		parts[i] = (struct entry_part){.kind = PART_RENEWAL,
		                               .name = text_of(state->seats[i].name),
		                               .incarnation = state->seats[i].incarnation,
		                               .number = number};
	entry_write_tick(&out, parts, state->seats_count);
	propose(&out);
	out_free(&out);
}

/* The third member leaves, or joins again. */
static void change_view(uint64_t number)
{
	const struct agreed_state *state = &voters[find_leader()].state;
	struct seat *seat = state_seat(state, text_of("n3"));
	struct entry_part part = {.kind = PART_JOIN,
	                          .name = text_of("n3"),
	                          .process = number,
	                          .number = number,
	                          .address = text_of("host-3.example:7400")};
	struct out out;

	if (seat != NULL) {
		part.kind = PART_LEAVE;
		part.incarnation = seat->incarnation;
	}
	out_init(&out);
	entry_write_change(&out, state->epoch, &part, 1);
	propose(&out);
	out_free(&out);
}

static void join_all(void)
{
	static const char *const names[] = {"n1", "n2", "n3"};
	struct entry_part parts[VOTERS];
	struct out out;

	for (int i = 0; i < VOTERS; i++)
		parts[i] = (struct entry_part){.kind = PART_JOIN,
		                               .name = text_of(names[i]),
		                               .process = (uint64_t)i + 1,
		                               .number = 1,
		                               .address = text_of("host.example:7400")};
	out_init(&out);
	entry_write_change(&out, 0, parts, VOTERS);
	propose(&out);
	out_free(&out);
}

static void begin(const char *directory)
{
	static const struct replica_server servers[] = {
	        {1, "a", REPLICA_VOTER}, {2, "b", REPLICA_VOTER}, {3, "c", REPLICA_VOTER}};
	struct durable_entry first;
	char text[DISK_TEXT_MAX];

	must(replica_first_entry(servers, VOTERS, &first));
	for (int i = 0; i < VOTERS; i++) {
		struct voter *voter = &voters[i];
		snprintf(voter->path, sizeof voter->path, "%s/bench_disk.XXXXXX", directory);
		if (mkdtemp(voter->path) == NULL ||
		    disk_create(voter->path, "bench", 5, text) != DISK_OK ||
		    disk_open(voter->path, &voter->disk, text) != DISK_OK) {
			fprintf(stderr, "bench_disk: no disk in %s\n", directory);
			exit(1);
		}
		struct durable_content content = {
		        .term = 1, .log_start = 1, .entries = &first, .entries_count = 1};
		write_disk(i, &(struct durable_write){.has_ballot = true,
		                                      .term = 1,
		                                      .entries_first = 1,
		                                      .entries = &first,
		                                      .entries_count = 1});
		state_init(&voter->state, &settings);
		voter->replica =
		        replica_create(&(struct replica_options){.id = (uint64_t)i + 1,
		                                                 .address = servers[i].address,
		                                                 .content = &content,
		                                                 .election_ms = LEASE_MS / 10,
		                                                 .heartbeat_ms = LEASE_MS / 50,
		                                                 .seed = (uint32_t)i + 1},
		                       now);
	}
	free((void *)first.bytes);
	for (int tries = 0; find_leader() < 0 && tries < 100; tries++)
		pass(100);
	join_all();
	pass(1000);
	must(voters[0].state.seats_count == VOTERS);
}

/* Adds up the files of a directory, and removes them if asked to. */
static uint64_t count_bytes(const char *path, bool removes)
{
	DIR *directory = opendir(path);
	struct dirent *entry;
	uint64_t bytes = 0;

	must(directory != NULL);
	while ((entry = readdir(directory)) != NULL) {
		char name[PATH_SIZE + sizeof entry->d_name];
		struct stat stat_of;
		snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
		if (stat(name, &stat_of) == 0 && S_ISREG(stat_of.st_mode)) {
			bytes += (uint64_t)stat_of.st_size;
			if (removes)
				unlink(name);
		}
	}
	closedir(directory);
	if (removes)
		rmdir(path);
	return bytes;
}

static bool measure_idle(void)
{
	double worst = 0;

	for (int i = 0; i < VOTERS; i++)
		voters[i].syncs = 0;
	for (uint64_t number = 1; number <= IDLE_MS / GATHER_MS; number++) {
		tick(number);
		pass(GATHER_MS);
	}
	printf("idle, lease %d s, fdatasync and fsync a second:", LEASE_MS / 1000);
	for (int i = 0; i < VOTERS; i++) {
		double rate = (double)voters[i].syncs * 1000 / IDLE_MS;
		printf(" %.2f", rate);
		worst = rate > worst ? rate : worst;
	}
	printf(" (at most %d)\n", SYNCS_A_SECOND_GOAL);
	return worst <= SYNCS_A_SECOND_GOAL;
}

static bool measure_size(void)
{
	uint64_t worst = 0;

	for (uint64_t number = 1; number <= TICKS; number++) {
		tick(1000 + number);
		if (number % (TICKS / VIEWS) == 0)
			change_view(1000 + number);
		if (number % 20 == 0)
			pass(1);
	}
	pass(1000);
	printf("after %d renewals and %d views (epoch %llu), bytes:", 3 * TICKS, VIEWS,
	       (unsigned long long)voters[0].state.epoch);
	for (int i = 0; i < VOTERS; i++) {
		uint64_t bytes = count_bytes(voters[i].path, false);
		printf(" %llu", (unsigned long long)bytes);
		worst = bytes > worst ? bytes : worst;
	}
	printf(" (below %d)\n", BYTES_GOAL);
	return worst < BYTES_GOAL;
}

int main(int count, char **words)
{
	begin(count > 1 ? words[1] : access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	bool good = measure_idle();
	good = measure_size() && good;
	for (int i = 0; i < VOTERS; i++) {
		replica_destroy(voters[i].replica);
		state_free(&voters[i].state);
		disk_close(voters[i].disk);
		count_bytes(voters[i].path, true);
	}
	return good ? 0 : 1;
}
