/*
 * A voter alone with a few members: what it commits, what it finds after a restart, and what
 * becomes of its disk when it is rescued. Its disk is fast. Time is in milliseconds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "outbuffer.h"
#include "raft_letter.h"
#include "rescue.h"
#include "roster.h"
#include "shadow.h"
#include "tenant.h"
#include "voter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS UINT64_C(1000000)
enum { LEASE = 1200, INTERVAL = LEASE / 6, MEMBERS = 2, SNAPSHOT_EVERY = 10, SERVER = 77 };

static const char *const names[MEMBERS] = {"a", "b"};
static const struct state_settings settings = {LEASE * MS, 1000, 16, {3, 4}};

static struct voter *voter;
static struct shadow disk;
static uint64_t server;
static struct tenant *tenants[MEMBERS];
static uint64_t processes;
static uint64_t now;
static uint32_t restored, applied;

static void start_voter(void)
{
	struct durable_content content = shadow_content(&disk);

	voter = voter_create(&(struct voter_options){.id = server,
	                                             .name = "a",
	                                             .address = "host:1",
	                                             .content = &content,
	                                             .settings = settings,
	                                             .wiring = {.complete = true},
	                                             .electorate = {LEASE * MS, LEASE * MS},
	                                             .snapshot_every = SNAPSHOT_EVERY,
	                                             .seed = 1},
	                     now * MS);
}

static void restart_voter(void)
{
	voter_destroy(voter);
	start_voter();
}

static void start_member(uint32_t i)
{
	tenant_destroy(tenants[i]);
	tenants[i] = tenant_create(&(struct tenant_options){.name = names[i],
	                                                    .address = "host:1",
	                                                    .process = ++processes * 10 + i,
	                                                    .lease_ns = LEASE * MS,
	                                                    .wiring = {.complete = true}});
}

static void end_member(uint32_t i)
{
	tenant_destroy(tenants[i]);
	tenants[i] = NULL;
}

static int setup(void **context)
{
	char place[ROSTER_PLACE_MAX + 1];
	struct durable_entry first;
	(void)context;

	now = 100000;
	server = SERVER;
	restored = applied = 0;
	roster_place(SERVER, "host:1", "a", place);
	assert_true(replica_first_entry(&(struct replica_server){SERVER, place, REPLICA_VOTER}, 1,
	                                &first));
	shadow_init(&disk);
	shadow_apply(&disk, &(struct durable_write){.has_ballot = true,
	                                            .term = 1,
	                                            .entries_first = 1,
	                                            .entries = &first,
	                                            .entries_count = 1});
	free((void *)first.bytes);
	start_voter();
	return 0;
}

static int teardown(void **context)
{
	(void)context;
	voter_destroy(voter);
	voter = NULL;
	for (uint32_t i = 0; i < MEMBERS; i++)
		end_member(i);
	shadow_free(&disk);
	return 0;
}

static void pump_tenant(uint32_t i);

static void pump_voter(void)
{
	struct voter_effect effect;

	while (voter_effect(voter, &effect)) {
		uint32_t i = (uint32_t)(effect.process % 10);
		if (effect.kind == VOTER_WRITE) {
			uint64_t number = effect.write->number;
			shadow_apply(&disk, effect.write);
			voter_written(voter, number, now * MS);
		} else if (effect.kind == VOTER_NOTIFY && tenants[i] != NULL) {
			assert_true(tenant_bulletin(tenants[i], effect.bytes, effect.size));
			pump_tenant(i);
		}
		restored += effect.kind == VOTER_RESTORED;
		applied += effect.kind == VOTER_APPLIED && effect.size != 0;
	}
}

static void pump_tenant(uint32_t i)
{
	struct tenant_effect effect;

	while (tenant_effect(tenants[i], &effect)) {
		if (effect.kind == TENANT_PETITION)
			assert_true(voter_petition(voter, effect.bytes, effect.size, now * MS));
		if (effect.kind != TENANT_PEERS)
			continue;
		uint32_t count;
		const struct tenant_peer *peers = tenant_peers(tenants[i], &count);
		for (uint32_t k = 0; k < count; k++)
			tenant_linked(tenants[i], peers[k].process, true);
	}
}

static void run(uint64_t ms)
{
	for (uint64_t end = now + ms; now < end; now++) {
		for (uint32_t i = 0; i < MEMBERS; i++) {
			if (tenants[i] == NULL || now % INTERVAL != 7UL * i)
				continue;
			struct tenant_view view = tenant_view(tenants[i]);
			struct tenant_condition condition = {.active =
			                                             view.self < view.seats_count};
			tenant_renew(tenants[i], now * MS, &condition);
			pump_tenant(i);
		}
		if (voter_deadline(voter) <= now * MS)
			voter_tick(voter, now * MS);
		pump_voter();
	}
}

static bool is_member(uint32_t i)
{
	const struct seat *seat = state_seat(voter_state(voter), entry_text_of(names[i]));

	return seat != NULL && seat->process % 10 == i && seat->process / 10 == processes;
}

static void serve_members(void)
{
	for (uint32_t i = 0; i < MEMBERS; i++)
		start_member(i);
	run(3UL * LEASE);
	assert_int_equal(voter_state(voter)->seats_count, MEMBERS);
}

static void test_a_voter_alone_serves_its_members(void **context)
{
	(void)context;
	serve_members();
	assert_true(voter_leads(voter));
	assert_int_equal(voter_voters(voter)->count, 1);
	assert_string_equal(voter_voters(voter)->list[0].name, "a");
	assert_string_equal(voter_voters(voter)->list[0].address, "host:1");
	assert_int_equal(tenant_electors(tenants[1])->list[0].server, SERVER);
}

static void test_a_restart_finds_everything_again(void **context)
{
	(void)context;
	serve_members();
	assert_true(shadow_content(&disk).snapshot.index > 0);
	uint64_t epoch = voter_state(voter)->epoch, index = voter_state(voter)->index;
	restart_voter();
	run(LEASE / 2);
	assert_true(restored > 0);
	assert_int_equal(voter_state(voter)->epoch, epoch);
	assert_true(voter_state(voter)->index >= index);
	assert_int_equal(voter_voters(voter)->list[0].server, SERVER);
	run(2UL * LEASE);
	assert_int_equal(voter_state(voter)->epoch, epoch);
}

static void order(enum entry_kind kind, const char *name, uint64_t number)
{
	struct log_entry entry = {
	        .kind = kind, .name = entry_text_of(name), .order = {1000, number}};

	voter_request(voter, &entry, now * MS);
}

static void test_a_name_stays_forbidden_under_a_new_leader(void **context)
{
	(void)context;
	serve_members();
	order(ENTRY_FORBID, "b", 1);
	run(3UL * LEASE);
	assert_int_equal(voter_state(voter)->seats_count, 1);
	/* Run until a snapshot has taken the place of the entry. */
	uint64_t index = voter_state(voter)->index;
	while (shadow_content(&disk).snapshot.index <= index)
		run(INTERVAL);
	restart_voter();
	start_member(1);
	run(20UL * LEASE);
	assert_int_equal(voter_state(voter)->seats_count, 1);
	order(ENTRY_ALLOW, "b", 2);
	run(20UL * LEASE);
	assert_int_equal(voter_state(voter)->seats_count, 2);
	/* The first order comes again, late. This voter has not proposed it since it started, but
	 * still knows that it was obeyed. */
	order(ENTRY_FORBID, "b", 1);
	run(20UL * LEASE);
	assert_int_equal(voter_state(voter)->seats_count, 2);
}

static void test_a_letter_to_another_server_is_dropped(void **context)
{
	struct out out;
	(void)context;

	out_init(&out);
	out_uint(&out, SERVER + 1);
	out_uint(&out, SERVER + 2);
	out_uint(&out, 99); /* these bytes are no letter of any kind */
	assert_true(voter_letter(voter, out.bytes, out.bytes_count, now * MS));
	out_clear(&out);
	out_uint(&out, SERVER);
	out_uint(&out, SERVER + 2);
	out_uint(&out, 99);
	assert_false(voter_letter(voter, out.bytes, out.bytes_count, now * MS));
	assert_false(voter_letter(voter, out.bytes, 1, now * MS));
	out_free(&out);
}

/* --- rescue --- */

static int rescue(struct cluster_id cluster, uint64_t id, uint64_t base)
{
	struct durable_content content = shadow_content(&disk);
	struct shadow made;
	int result = rescue_content(&content,
	                            &(struct rescue_options){.cluster = cluster,
	                                                     .server = id,
	                                                     .name = "a",
	                                                     .address = "host:9",
	                                                     .base = base,
	                                                     .settings = settings},
	                            &made);

	if (result != RESCUE_OK)
		return result;
	shadow_free(&disk);
	disk = made;
	server = id;
	return result;
}

static void test_a_rescued_cluster_waits_and_goes_on(void **context)
{
	(void)context;
	serve_members();
	uint64_t epoch = voter_state(voter)->epoch, index = voter_state(voter)->index;
	uint64_t limit = voter_state(voter)->limit;
	end_member(0);
	end_member(1);
	assert_int_equal(rescue((struct cluster_id){8, 9}, 78, 0), RESCUE_OK);
	restart_voter();
	start_member(0);
	run(INTERVAL);
	assert_true(voter_leads(voter));
	assert_int_equal(voter_voters(voter)->list[0].server, 78);
	assert_string_equal(voter_voters(voter)->list[0].address, "host:9");
	assert_true(cluster_is(voter_state(voter)->settings.cluster, (struct cluster_id){8, 9}));
	assert_int_equal(voter_state(voter)->epoch, epoch);
	assert_int_equal(voter_state(voter)->seats_count, MEMBERS);
	assert_true(voter_state(voter)->index >= index);
	/* Nothing is decided while a member may still have a lease of the old cluster, even after a
	 * restart. */
	uint32_t before = applied;
	run(LEASE / 2);
	restart_voter();
	run(warden_patience(LEASE * MS) / MS - 1);
	assert_int_equal(applied, before);
	assert_true(voter_state(voter)->rescued);
	run(20UL * LEASE);
	assert_true(is_member(0));
	assert_false(voter_state(voter)->rescued);
	assert_true(voter_state(voter)->epoch > epoch);
	assert_true(voter_state(voter)->base >= limit + (UINT64_C(1) << 40));
}

static void test_a_rescue_is_another_cluster_and_another_server(void **context)
{
	(void)context;
	serve_members();
	run(20UL * LEASE);
	assert_int_equal(rescue(settings.cluster, 78, 0), RESCUE_ESAME);
	assert_int_equal(rescue((struct cluster_id){8, 9}, SERVER, 0), RESCUE_ESAME);
	/* A snapshot has replaced the first entries of the log. */
	uint64_t start = shadow_content(&disk).log_start;
	assert_true(start > 1);
	assert_int_equal(rescue((struct cluster_id){8, 9}, 78, 0), RESCUE_OK);
	assert_int_equal(rescue((struct cluster_id){8, 9}, 79, 0), RESCUE_ESAME);
	assert_int_equal(rescue((struct cluster_id){8, 10}, 79, 0), RESCUE_OK);
}

static void test_a_rescue_from_a_log_without_a_snapshot(void **context)
{
	(void)context;
	run(LEASE);
	assert_int_equal(shadow_content(&disk).snapshot.index, 0);
	assert_int_equal(rescue(settings.cluster, 78, 0), RESCUE_ESAME);
	assert_int_equal(rescue((struct cluster_id){8, 9}, 78, UINT64_C(1) << 45), RESCUE_OK);
	restart_voter();
	serve_members();
	assert_true(voter_state(voter)->base >= UINT64_C(1) << 45);
}

static void test_what_cannot_be_rescued(void **context)
{
	struct shadow empty;
	struct durable_content content;
	(void)context;

	serve_members();
	assert_int_equal(rescue((struct cluster_id){8, 9}, 78, STATE_FENCE_END), RESCUE_EFENCES);
	shadow_init(&empty);
	content = shadow_content(&empty);
	assert_int_equal(rescue_content(&content,
	                                &(struct rescue_options){.cluster = {8, 9},
	                                                         .server = 78,
	                                                         .name = "a",
	                                                         .address = "",
	                                                         .settings = settings},
	                                &empty),
	                 RESCUE_EEMPTY);
	disk.snapshot.size--;
	assert_int_equal(rescue((struct cluster_id){8, 9}, 78, 0), RESCUE_EDAMAGED);
	disk.snapshot.size++;
}

/* A member that lies may claim to be a leader. Bytes that it calls a snapshot must not reach the
 * disk; otherwise this voter could never start again. */
static void test_a_snapshot_that_is_none_is_refused(void **context)
{
	(void)context;
	struct replica_server servers[] = {{5, "5 h:1 z", REPLICA_VOTER}};
	struct raft_letter letter = {.message.type = RAFT_INSTALL_SNAPSHOT};
	struct durable_entry first;
	struct out out;

	assert_true(replica_first_entry(servers, 1, &first));
	letter.snapshot = (struct durable_snapshot){.voters = first.bytes,
	                                            .voters_size = first.size,
	                                            .bytes = (const uint8_t *)"nonsense",
	                                            .size = 8};
	letter.message.install_snapshot = (struct raft_install_snapshot){
	        .term = voter_term(voter) + 1, .last_index = 99, .last_term = 1, .conf_index = 1};
	out_init(&out);
	out_uint(&out, voter_id(voter));
	out_uint(&out, 5);
	raft_letter_write(&out, &letter);
	uint64_t term = voter_term(voter);
	assert_false(voter_letter(voter, out.bytes, out.bytes_count, now * MS));
	assert_int_equal(voter_term(voter), term);
	out_free(&out);
	free((void *)(uintptr_t)first.bytes);
}

static void test_a_voter_with_a_name_that_is_too_long_is_left_out(void **context)
{
	(void)context;
	char place[600];
	struct replica_server servers[] = {{4, "4 h:1 y", REPLICA_VOTER},
	                                   {5, place, REPLICA_VOTER}};
	struct electors electors = {0};
	struct durable_entry first;

	snprintf(place, sizeof(place), "5 h:1 %0*d", 300, 0);
	assert_true(replica_first_entry(servers, 2, &first));
	roster_electors(first.bytes, first.size, 1, &electors);
	assert_int_equal(electors.count, 1);
	assert_string_equal(electors.list[0].name, "y");
	electors_free(&electors);
	free((void *)(uintptr_t)first.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	        TEST(test_a_voter_alone_serves_its_members),
	        TEST(test_a_restart_finds_everything_again),
	        TEST(test_a_name_stays_forbidden_under_a_new_leader),
	        TEST(test_a_letter_to_another_server_is_dropped),
	        TEST(test_a_rescued_cluster_waits_and_goes_on),
	        TEST(test_a_rescue_is_another_cluster_and_another_server),
	        TEST(test_a_rescue_from_a_log_without_a_snapshot),
	        TEST(test_what_cannot_be_rescued),
	        TEST(test_a_snapshot_that_is_none_is_refused),
	        TEST(test_a_voter_with_a_name_that_is_too_long_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
