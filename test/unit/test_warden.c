/*
 * A voter's side and a member's side of the membership, talking to each other. There is one voter,
 * whose log commits what it is told to, and a few members. Time is in milliseconds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "outbuffer.h"
#include "petition.h"
#include "petitioners.h"
#include "tenant.h"
#include "warden.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS UINT64_C(1000000)
#define LEASE UINT64_C(1200)
#define INTERVAL (LEASE / 6)
enum { MEMBERS = 4, QUEUE_MAX = 256 };

static const char *const names[MEMBERS] = {"a", "b", "c", "d"};

/* Bytes that were proposed or petitioned and not delivered yet. */
struct parcel_bytes {
	uint8_t *bytes;
	size_t size;
};

static struct warden *warden;
static struct tenant *tenants[MEMBERS];
static uint64_t deadlines[MEMBERS]; /* when each lease ends, in ms */
static uint64_t now;                /* the present time, in ms */
static struct parcel_bytes proposals[QUEUE_MAX];
static uint32_t proposals_count;
static bool deaf[MEMBERS];  /* bulletins do not reach this member */
static bool stuck[MEMBERS]; /* the node of this member does not renew */
static bool cut_pair;       /* there is no link between c and d */
static bool commits;        /* the log commits proposals */
static bool unheard;        /* petitions do not reach the voter */
static uint32_t changes;    /* how many CHANGE entries were committed */

static const struct state_settings settings = {LEASE * MS, 100, 10, {1, 2}};

static struct warden *make_warden(const uint8_t *snapshot, size_t size)
{
	struct warden_options options = {.settings = settings,
	                                 .wiring = {.complete = true},
	                                 .snapshot = snapshot,
	                                 .snapshot_size = size};

	struct warden *made = warden_create(&options, now * MS);
	struct electors electors = {0};
	if (made != NULL) {
		electors_clear(&electors, 1);
		electors_add(&electors, 0, entry_text_of("a"), entry_text_of("host:1"));
		warden_electors(made, &electors);
		electors_free(&electors);
	}
	return made;
}

static void start_with(uint32_t i, const struct tenant_options *options)
{
	tenant_destroy(tenants[i]);
	tenants[i] = tenant_create(options);
	deadlines[i] = 0;
}

static struct tenant_options options_of(uint32_t i, uint64_t process, uint64_t lease)
{
	return (struct tenant_options){.name = names[i],
	                               .address = "host:1",
	                               .process = process,
	                               .lease_ns = lease * MS,
	                               .wiring = {.complete = true}};
}

static void start(uint32_t i, uint64_t process, uint64_t lease)
{
	struct tenant_options options = options_of(i, process, lease);

	start_with(i, &options);
}

static int setup(void **context)
{
	(void)context;
	now = 100000;
	commits = true;
	warden = make_warden(NULL, 0);
	warden_leads(warden, true, now * MS);
	return 0;
}

static int teardown(void **context)
{
	(void)context;
	warden_destroy(warden);
	for (uint32_t i = 0; i < MEMBERS; i++) {
		tenant_destroy(tenants[i]);
		tenants[i] = NULL;
		deaf[i] = stuck[i] = false;
	}
	while (proposals_count > 0)
		free(proposals[--proposals_count].bytes);
	cut_pair = unheard = false;
	changes = 0;
	return 0;
}

static uint32_t owner_of(uint64_t process)
{
	return (uint32_t)(process % 10);
}

static void pump_tenant(uint32_t i);

static void pump_warden(void)
{
	struct warden_effect effect;

	while (warden_effect(warden, &effect)) {
		if (effect.kind == WARDEN_PROPOSE) {
			assert_true(proposals_count < QUEUE_MAX);
			struct parcel_bytes *parcel = &proposals[proposals_count++];
			parcel->bytes = malloc(effect.size);
			parcel->size = effect.size;
			memcpy(parcel->bytes, effect.bytes, effect.size);
			continue;
		}
		uint32_t i = owner_of(effect.process);
		if (tenants[i] == NULL || deaf[i])
			continue;
		assert_true(tenant_bulletin(tenants[i], effect.bytes, effect.size));
		pump_tenant(i);
	}
}

static void pump_tenant(uint32_t i)
{
	struct tenant_effect effect;

	while (tenant_effect(tenants[i], &effect)) {
		if (effect.kind == TENANT_LEASE && effect.deadline / MS > deadlines[i])
			deadlines[i] = effect.deadline / MS;
		if (effect.kind == TENANT_PETITION && !unheard)
			assert_true(warden_petition(warden, effect.bytes, effect.size, now * MS));
		if (effect.kind == TENANT_PEERS) {
			uint32_t count;
			const struct tenant_peer *peers = tenant_peers(tenants[i], &count);
			for (uint32_t k = 0; k < count; k++) {
				uint64_t process = peers[k].process;
				bool cut = cut_pair && i >= 2 && owner_of(process) >= 2;
				tenant_linked(tenants[i], process, !cut);
			}
		}
	}
}

static void commit_all(void)
{
	for (uint32_t i = 0; i < proposals_count; i++) {
		changes += proposals[i].bytes[0] == ENTRY_CHANGE;
		warden_committed(warden, proposals[i].bytes, proposals[i].size, now * MS);
		free(proposals[i].bytes);
	}
	proposals_count = 0;
}

static void renew(uint32_t i)
{
	struct tenant_view view = tenant_view(tenants[i]);
	struct tenant_condition condition = {.active = view.self < view.seats_count};

	tenant_renew(tenants[i], now * MS, &condition);
	pump_tenant(i);
}

static void run(uint64_t ms)
{
	for (uint64_t end = now + ms; now < end; now++) {
		for (uint32_t i = 0; i < MEMBERS; i++) {
			if (tenants[i] != NULL && !stuck[i] && now % INTERVAL == UINT64_C(7) * i)
				renew(i);
		}
		if (warden_deadline(warden) <= now * MS)
			warden_tick(warden, now * MS);
		pump_warden();
		if (commits)
			commit_all();
		pump_warden();
	}
}

static bool is_member(uint32_t i)
{
	return state_seat(warden_state(warden), entry_text_of(names[i])) != NULL;
}

static void start_all(void)
{
	for (uint32_t i = 0; i < MEMBERS; i++)
		start(i, 10 + i, LEASE);
	run(LEASE);
	for (uint32_t i = 0; i < MEMBERS; i++)
		assert_true(is_member(i) && tenant_incarnation(tenants[i]) != 0);
}

static void test_candidates_become_members_with_a_lease(void **context)
{
	(void)context;
	start_all();
	run(3 * LEASE);
	for (uint32_t i = 0; i < MEMBERS; i++)
		assert_true(deadlines[i] > now + LEASE / 2 && deadlines[i] <= now + LEASE);
	assert_true(changes <= 2);
}

static void expect_voters(uint32_t count)
{
	struct electors electors = {0};

	electors_clear(&electors, 2);
	for (uint32_t i = 0; i < count; i++)
		electors_add(&electors, 70 + i, entry_text_of(names[i]), entry_text_of("host:1"));
	warden_electors(warden, &electors);
	electors_free(&electors);
}

static void test_the_first_view_has_all_voters_that_are_there(void **context)
{
	(void)context;
	expect_voters(3);
	warden_leads(warden, false, now * MS);
	start(0, 10, LEASE);
	run(2 * INTERVAL + INTERVAL / 2);
	warden_leads(warden, true, now * MS);
	start(1, 11, LEASE);
	start(2, 12, LEASE);
	run(2 * INTERVAL);
	assert_true(is_member(0) && is_member(1) && is_member(2));
	assert_int_equal(warden_state(warden)->epoch, 1);
}

static void test_the_first_view_waits_an_interval_at_most(void **context)
{
	uint64_t began = now;
	(void)context;

	expect_voters(3);
	start(0, 10, LEASE);
	start(1, 11, LEASE);
	while (!is_member(0) && now < began + 4 * LEASE)
		run(1);
	assert_in_range(now - began, INTERVAL, 2 * INTERVAL);
	assert_true(is_member(1));
}

static void test_a_silent_member_is_removed_after_its_deadline(void **context)
{
	(void)context;
	start_all();
	stuck[3] = true;
	uint64_t last = 0;
	while (is_member(3)) {
		run(1);
		last = deadlines[3];
		assert_true(now < 200000);
	}
	assert_true(now > last);
	assert_true(now < last + LEASE / 3);
	assert_int_equal(tenant_incarnation(tenants[0]),
	                 state_seat(warden_state(warden), entry_text_of("a"))->incarnation);
}

static uint64_t renewed(uint32_t i)
{
	return state_seat(warden_state(warden), entry_text_of(names[i]))->renewed;
}

static void test_a_removal_does_not_wait_for_the_next_beat(void **context)
{
	(void)context;
	start_all();
	for (uint64_t before = renewed(3); renewed(3) == before;)
		run(1);
	uint64_t noted = now;
	stuck[3] = true;
	while (is_member(3) && now < noted + 2 * LEASE)
		run(1);
	assert_in_range(now - noted, warden_patience(LEASE * MS) / MS,
	                warden_patience(LEASE * MS) / MS + 3);
}

/* A renewal counts from when it was committed, not from the earlier moment at which the voter last
 * read its clock. Otherwise the member could be removed that much too early. */
static void test_a_renewal_is_noted_when_it_is_committed(void **context)
{
	(void)context;
	start_all();
	uint64_t before = renewed(3);
	commits = false;
	renew(3);
	stuck[3] = true;
	run(INTERVAL);
	now += INTERVAL / 2;
	commit_all();
	commits = true;
	assert_true(renewed(3) > before);
	uint64_t noted = now;
	while (is_member(3) && now < noted + 2 * LEASE)
		run(1);
	assert_true(now - noted >= warden_patience(LEASE * MS) / MS);
}

static void test_nothing_is_acknowledged_before_it_is_committed(void **context)
{
	(void)context;
	start_all();
	commits = false;
	uint64_t before = deadlines[0];
	run(2 * LEASE);
	assert_int_equal(deadlines[0], before);
	for (uint32_t i = 0; i < MEMBERS; i++)
		stuck[i] = true;
	uint64_t sent_last = now;
	run(LEASE / 2);
	commits = true;
	run(1);
	/* A late acknowledgement counts from when the petition was sent. */
	assert_true(deadlines[0] > before && deadlines[0] <= sent_last + LEASE);
}

/* Gives an operator's order, with an id of its own. */
static void order(enum entry_kind kind, const char *name)
{
	static uint64_t number;
	struct log_entry entry = {
	        .kind = kind, .name = entry_text_of(name), .order = {1000, ++number}};

	assert_int_equal(warden_request(warden, &entry, now * MS), REFUSAL_NONE);
}

static void test_a_refused_renewal_is_not_acknowledged(void **context)
{
	(void)context;
	start_all();
	order(ENTRY_FORBID, "d");
	run(2);
	uint64_t before = deadlines[3];
	run(LEASE / 2);
	assert_int_equal(deadlines[3], before);
	run(LEASE);
	assert_false(is_member(3));
	run(8 * LEASE);
	assert_false(is_member(3));
	order(ENTRY_ALLOW, "d");
	run(3 * LEASE);
	assert_true(is_member(3));
}

static uint32_t count_proposals(enum entry_kind kind, const char *name, struct order_id id,
                                enum refusal expected)
{
	struct log_entry entry = {.kind = kind, .name = entry_text_of(name), .order = id};
	uint32_t before = proposals_count;

	assert_int_equal(warden_request(warden, &entry, now * MS), expected);
	pump_warden();
	return proposals_count - before;
}

static void test_a_name_that_nobody_has_is_forbidden_and_gets_no_vote(void **context)
{
	const struct order_id id = {77, 1}, other = {77, 2};

	(void)context;
	start_all();
	commits = false;
	pump_warden();
	assert_int_equal(count_proposals(ENTRY_VOTE, "nobody", id, REFUSAL_NAME), 0);
	assert_int_equal(count_proposals(ENTRY_FORBID, "nobody", id, REFUSAL_NONE), 1);
	assert_int_equal(count_proposals(ENTRY_VOTE, "d", other, REFUSAL_NONE), 1);
	commits = true;
	run(2);
	assert_true(state_forbids(warden_state(warden), entry_text_of("nobody")));
	/* An order that was obeyed is not proposed again, not even when it was undone since. */
	order(ENTRY_ALLOW, "nobody");
	run(2);
	assert_false(state_forbids(warden_state(warden), entry_text_of("nobody")));
	assert_int_equal(count_proposals(ENTRY_FORBID, "nobody", id, REFUSAL_NONE), 0);
	assert_true(state_obeyed(warden_state(warden), id));
}

static void test_strangers_do_not_take_the_room_of_members(void **context)
{
	struct order_id id = {77, 0};
	char name[16];

	(void)context;
	start_all();
	for (; id.number < STATE_STRANGERS_MAX; id.number++) {
		snprintf(name, sizeof(name), "x%u", (uint32_t)id.number);
		count_proposals(ENTRY_FORBID, name, id, REFUSAL_NONE);
		if (id.number % 16 == 0)
			run(1); /* commits these orders */
	}
	run(2);
	id.number++;
	assert_int_equal(count_proposals(ENTRY_FORBID, "y", id, REFUSAL_ROOM), 0);
	assert_int_equal(count_proposals(ENTRY_ALLOW, "y", id, REFUSAL_NONE), 1);
	id.number++;
	assert_int_equal(count_proposals(ENTRY_FORBID, "d", id, REFUSAL_NONE), 1);
	run(2);
	assert_true(state_forbids(warden_state(warden), entry_text_of("d")));
	/* The leader knows a voter that is no member. */
	struct electors electors = {0};
	electors_clear(&electors, 1000);
	electors_add(&electors, 25, entry_text_of("witness"), entry_text_of("host:4"));
	warden_electors(warden, &electors);
	electors_free(&electors);
	id.number++;
	count_proposals(ENTRY_FORBID, "witness", id, REFUSAL_NONE);
	run(2);
	assert_true(state_forbids(warden_state(warden), entry_text_of("witness")));
}

/* A node that invents processes displaces only processes of its own name. */
static void test_processes_of_one_name_find_a_limit(void **context)
{
	struct out petition;
	struct standing *list;
	(void)context;

	start_all();
	out_init(&petition);
	for (uint64_t i = 1; i <= 100; i++) {
		petition_write(&petition,
		               &(struct petition){.kind = PETITION_RENEW,
		                                  .process = 1000000 + i * 10 + 9,
		                                  .name = entry_text_of("d"),
		                                  .address = entry_text_of("host:1"),
		                                  .number = 1,
		                                  .lease_ns = LEASE * MS,
		                                  .server = 500 + i,
		                                  .witness = true,
		                                  .version_least = 1,
		                                  .version = 1},
		               NULL, 0, NULL, 0);
		assert_true(
		        warden_petition(warden, petition.bytes, petition.bytes_count, now * MS));
	}
	assert_int_equal(warden_standing(warden, &list), PETITIONERS_NAMESAKES_MAX);
	free(list);
	out_free(&petition);
	struct warden_effect effect;
	while (warden_effect(warden, &effect))
		; /* answers for processes that are not there */
	run(2 * LEASE);
	for (uint32_t i = 0; i < MEMBERS - 1; i++)
		assert_true(is_member(i));
}

/* The voter restarts from a snapshot, and has heard nobody yet. */
static void restart(void)
{
	struct out out;

	out_init(&out);
	state_write(warden_state(warden), &out);
	warden_destroy(warden);
	warden = make_warden(out.bytes, out.bytes_count);
	out_free(&out);
}

static void test_a_new_leader_removes_nobody_at_once(void **context)
{
	(void)context;
	start_all();
	restart();
	unheard = true;
	run(2 * LEASE);
	warden_leads(warden, true, now * MS);
	unheard = false;
	run(2 * INTERVAL);
	for (uint32_t i = 0; i < MEMBERS; i++)
		assert_true(is_member(i));
	run(LEASE);
	for (uint32_t i = 0; i < MEMBERS; i++)
		assert_true(is_member(i));
}

static void test_a_leader_that_was_stopped_removes_nobody_at_once(void **context)
{
	(void)context;
	start_all();
	now += 2 * LEASE;
	run(2 * INTERVAL - 2);
	for (uint32_t i = 0; i < MEMBERS; i++)
		assert_true(is_member(i));
}

static void test_a_restarted_voter_notes_everybody_as_of_then(void **context)
{
	(void)context;
	start_all();
	now += 10 * LEASE;
	restart();
	warden_leads(warden, true, now * MS);
	uint64_t began = now;
	for (uint32_t i = 0; i < MEMBERS; i++)
		stuck[i] = true;
	while (is_member(0) && now < 100000 + 100 * LEASE)
		run(1);
	assert_true((now - began) * MS >= warden_patience(LEASE * MS));
}

static void test_who_does_not_hear_is_not_renewed(void **context)
{
	(void)context;
	start_all();
	deaf[2] = true;
	run(3 * LEASE);
	assert_false(is_member(2));
	assert_true(is_member(0) && is_member(1) && is_member(3));
}

static void cut(uint32_t i, uint32_t k)
{
	tenant_linked(tenants[i], 10 + k, false);
	tenant_linked(tenants[k], 10 + i, false);
}

static void test_one_of_two_without_a_link_goes_and_stays_away(void **context)
{
	(void)context;
	start_all();
	cut_pair = true;
	cut(2, 3);
	run(4 * LEASE);
	assert_true(is_member(0) && is_member(1));
	assert_true(is_member(2) != is_member(3));
	uint32_t before = changes;
	run(20 * LEASE);
	assert_true(is_member(2) != is_member(3));
	assert_int_equal(changes, before);
}

/* Two candidates have no link to each other. They must not keep each other from joining. */
static void test_one_of_two_candidates_without_a_link_joins(void **context)
{
	(void)context;
	cut_pair = true;
	for (uint32_t i = 0; i < MEMBERS; i++) {
		start(i, 10 + i, LEASE);
		if (i == 1)
			run(2 * LEASE);
	}
	run(4 * LEASE);
	assert_true(is_member(0) && is_member(1));
	assert_true(is_member(2) != is_member(3));
	uint32_t before = changes;
	run(20 * LEASE);
	assert_int_equal(changes, before);
	cut_pair = false;
	for (uint32_t i = 2; i < MEMBERS; i++) {
		uint32_t count;
		const struct tenant_peer *peers = tenant_peers(tenants[i], &count);
		for (uint32_t k = 0; k < count; k++)
			tenant_linked(tenants[i], peers[k].process, true);
	}
	run(12 * LEASE);
	assert_true(is_member(2) && is_member(3));
}

static void test_of_two_without_a_link_the_voter_stays(void **context)
{
	(void)context;
	start_all();
	cut(0, 1);
	run(2 * LEASE);
	assert_true(is_member(0));
	assert_false(is_member(1));
}

static void test_who_was_removed_waits_longer_each_time(void **context)
{
	(void)context;
	start_all();
	uint64_t waited[3] = {0};
	for (uint32_t round = 0; round < 3; round++) {
		stuck[3] = true;
		while (is_member(3) && now < 100000 + 100 * LEASE)
			run(1);
		stuck[3] = false;
		while (!is_member(3)) {
			run(1);
			waited[round]++;
		}
	}
	assert_true(waited[0] >= LEASE && waited[0] < 2 * LEASE);
	assert_true(waited[1] >= 2 * LEASE && waited[1] < 3 * LEASE);
	assert_true(waited[2] >= 4 * LEASE && waited[2] < 5 * LEASE);
}

static void test_who_waits_before_it_may_join_is_answered(void **context)
{
	(void)context;
	start_all();
	for (uint32_t round = 0; round < 3; round++) {
		stuck[3] = true;
		while (is_member(3))
			run(1);
		stuck[3] = false;
		run(2 * INTERVAL);
		for (; !is_member(3); run(1))
			assert_false(tenant_unanswered(tenants[3]));
	}
}

static void test_a_second_process_of_a_name_waits_for_the_removal_of_the_first(void **context)
{
	(void)context;
	start_all();
	uint64_t old = deadlines[3];
	start(3, 23, LEASE);
	run(LEASE / 2);
	assert_int_equal(state_seat(warden_state(warden), entry_text_of("d"))->process, 13);
	while (!is_member(3) || state_seat(warden_state(warden), entry_text_of("d"))->process == 13)
		run(1);
	assert_true(now > old);
}

static void test_who_leaves_is_out_at_once(void **context)
{
	(void)context;
	start_all();
	tenant_depart(tenants[1], true);
	run(LEASE / 2);
	assert_false(is_member(1));
	assert_null(state_name(warden_state(warden), entry_text_of("b")));
}

/* In a new epoch nobody would be served before the silent member has reported, or is removed. */
static void test_a_leave_waits_while_a_member_is_silent(void **context)
{
	(void)context;
	start_all();
	uint64_t epoch = warden_state(warden)->epoch;
	run(INTERVAL);
	stuck[3] = true; /* from now on this member does not renew; it has just been heard */
	tenant_depart(tenants[1], true);
	renew(1);
	while (is_member(3)) {
		assert_int_equal(warden_state(warden)->epoch, epoch);
		assert_true(is_member(1));
		run(1);
	}
	/* The leave and the removal are in one entry. */
	assert_false(is_member(1));
	assert_int_equal(warden_state(warden)->epoch, epoch + 1);
}

static void test_if_all_leave_none_waits_for_the_others(void **context)
{
	(void)context;
	start_all();
	for (uint32_t i = 0; i < MEMBERS; i++) {
		tenant_depart(tenants[i], true);
		renew(i);
		run(1);
	}
	assert_int_equal(warden_state(warden)->seats_count, 0);
}

static void test_a_join_waits_while_a_member_is_silent(void **context)
{
	(void)context;
	for (uint32_t i = 0; i < 3; i++)
		start(i, 10 + i, LEASE);
	run(LEASE);
	stuck[2] = true;
	start(3, 13, LEASE);
	while (is_member(2)) {
		assert_false(is_member(3));
		run(1);
	}
	run(3 * INTERVAL);
	assert_true(is_member(3));
}

static void test_a_leave_goes_on_when_the_silent_member_is_heard(void **context)
{
	(void)context;
	start_all();
	stuck[3] = true;
	run(2 * INTERVAL);
	tenant_depart(tenants[1], true);
	run(INTERVAL);
	assert_true(is_member(1));
	stuck[3] = false;
	run(2 * INTERVAL);
	assert_true(is_member(3));
	assert_false(is_member(1));
}

static void test_another_lease_does_not_join(void **context)
{
	(void)context;
	start(0, 10, LEASE);
	start(1, 11, 2 * LEASE);
	run(5 * LEASE);
	assert_true(is_member(0));
	assert_false(is_member(1));
	assert_non_null(tenant_refusal(tenants[1]));
	assert_non_null(strstr(tenant_refusal(tenants[1]), "1200 ms"));
}

static void test_fences_are_extended_once_for_many(void **context)
{
	(void)context;
	start_all();
	const struct agreed_state *agreed = warden_state(warden);
	uint64_t epoch = agreed->epoch, limit = agreed->limit;
	for (uint32_t i = 0; i < MEMBERS; i++) {
		tenant_extend(tenants[i], epoch, limit);
		pump_tenant(i);
	}
	run(2);
	assert_int_equal(agreed->limit, limit + 10);
	assert_int_equal(tenant_view(tenants[2]).limit, limit + 10);
	tenant_bump(tenants[1], epoch);
	pump_tenant(1);
	run(2);
	assert_int_equal(agreed->epoch, epoch + 1);
	assert_int_equal(tenant_view(tenants[2]).base, limit + 10);
}

static void test_epochs_end_by_bump_once_a_beat_at_most(void **context)
{
	(void)context;
	start_all();
	const struct agreed_state *agreed = warden_state(warden);
	uint64_t epoch = agreed->epoch;
	tenant_bump(tenants[1], epoch);
	pump_tenant(1);
	run(2);
	assert_int_equal(agreed->epoch, epoch + 1);
	tenant_bump(tenants[1], epoch + 1);
	pump_tenant(1);
	run(2);
	assert_int_equal(agreed->epoch, epoch + 1);
	run(LEASE / 12);
	tenant_bump(tenants[1], epoch + 1);
	pump_tenant(1);
	run(2);
	assert_int_equal(agreed->epoch, epoch + 2);
}

static void test_an_acknowledgement_of_an_older_incarnation_is_nothing(void **context)
{
	struct out out;
	struct tenant_effect effect;
	(void)context;

	start_all();
	out_init(&out);
	/* An acknowledgement of the first petition, which asked to join, renews nothing. */
	bulletin_write_ack(&out, tenant_incarnation(tenants[0]) + 1, 1);
	assert_true(tenant_bulletin(tenants[0], out.bytes, out.bytes_count));
	assert_false(tenant_effect(tenants[0], &effect));
	/* Neither does one of a petition that was never sent. */
	bulletin_write_ack(&out, tenant_incarnation(tenants[0]), 1000);
	assert_true(tenant_bulletin(tenants[0], out.bytes, out.bytes_count));
	assert_false(tenant_effect(tenants[0], &effect));
	out_free(&out);
}

/* A petition is forgotten after many others. Its acknowledgement must not renew the lease from the
 * time of a later petition, which is now in its slot. */
static void test_an_acknowledgement_of_a_forgotten_petition_is_nothing(void **context)
{
	struct out out;
	struct tenant_effect effect;
	(void)context;

	start_all();
	run(100 * INTERVAL);
	out_init(&out);
	for (uint64_t number = 1; number <= 20; number++) {
		bulletin_write_ack(&out, tenant_incarnation(tenants[0]), number);
		assert_true(tenant_bulletin(tenants[0], out.bytes, out.bytes_count));
		assert_false(tenant_effect(tenants[0], &effect));
	}
	out_free(&out);
}

static void test_an_older_view_is_ignored(void **context)
{
	struct agreed_state old;
	struct out out;
	struct tenant_effect effect;
	(void)context;

	start_all();
	out_init(&out);
	state_init(&old, &settings);
	bulletin_write_view(&out, &old, "a", true, 5, NULL, 0);
	uint64_t epoch = tenant_view(tenants[0]).epoch;
	assert_true(tenant_bulletin(tenants[0], out.bytes, out.bytes_count));
	assert_false(tenant_effect(tenants[0], &effect));
	assert_int_equal(tenant_view(tenants[0]).epoch, epoch);
	for (uint32_t size = 0; size < out.bytes_count; size++)
		assert_false(tenant_bulletin(tenants[0], out.bytes, size));
	state_free(&old);
	out_free(&out);
}

static void test_a_voter_that_lags_behind_is_not_believed_about_a_removal(void **context)
{
	struct agreed_state behind;
	struct out out, snapshot;
	struct tenant_effect effect;
	(void)context;

	start_all();
	order(ENTRY_FORBID, "d");
	run(LEASE / 12);
	assert_true(tenant_removed(tenants[3]));
	out_init(&out);
	out_init(&snapshot);
	state_write(warden_state(warden), &snapshot);
	behind = (struct agreed_state){0};
	assert_true(state_read(&behind, snapshot.bytes, snapshot.bytes_count));
	bulletin_write_view(&out, &behind, "d", false, 0, NULL, 0);
	order(ENTRY_ALLOW, "d");
	run(LEASE / 12);
	assert_false(tenant_removed(tenants[3]));
	assert_true(tenant_bulletin(tenants[3], out.bytes, out.bytes_count));
	assert_false(tenant_removed(tenants[3]));
	/* The voters have removed the name again. The node learns this once. */
	behind.index = warden_state(warden)->index + 1;
	bulletin_write_view(&out, &behind, "d", false, 0, NULL, 0);
	assert_true(tenant_bulletin(tenants[3], out.bytes, out.bytes_count));
	assert_true(tenant_removed(tenants[3]));
	assert_true(tenant_effect(tenants[3], &effect));
	assert_int_equal(effect.kind, TENANT_REMOVED);
	assert_false(tenant_effect(tenants[3], &effect));
	state_free(&behind);
	out_free(&snapshot);
	out_free(&out);
}

static void test_a_witness_is_never_a_member(void **context)
{
	struct tenant_options options = options_of(1, 11, LEASE);
	struct standing *standing;
	(void)context;

	options.witness = true;
	options.server = 77;
	start(0, 10, LEASE);
	start_with(1, &options);
	run(4 * LEASE);
	assert_true(is_member(0));
	assert_false(is_member(1));
	/* The witness can vote; the member cannot, because it has no data directory. */
	assert_int_equal(warden_standing(warden, &standing), 1);
	assert_int_equal(standing[0].server, 77);
	assert_true(standing[0].eligible && standing[0].witness);
	free(standing);
}

static void test_of_processes_with_one_directory_the_last_stands(void **context)
{
	struct tenant_options options = options_of(1, 11, LEASE);
	struct standing *standing;
	(void)context;

	options.server = 77;
	start_with(1, &options);
	run(INTERVAL);
	options.process = 21;
	start_with(1, &options);
	run(INTERVAL);
	assert_int_equal(warden_standing(warden, &standing), 1);
	assert_true(standing[0].since >= now * MS - INTERVAL * MS);
	free(standing);
}

static void test_a_version_is_spoken_when_all_can(void **context)
{
	struct tenant_options options[2];
	(void)context;

	for (uint32_t i = 0; i < 2; i++) {
		options[i] = options_of(i, 10 + i, LEASE);
		options[i].version_least = 1;
		options[i].version = 2;
		start_with(i, &options[i]);
	}
	options[0].version = 1;
	start_with(0, &options[0]);
	run(2 * LEASE);
	assert_true(is_member(0) && is_member(1));
	assert_int_equal(warden_state(warden)->version, 1);
	/* The old process comes back as a newer program. */
	tenant_destroy(tenants[0]);
	tenants[0] = NULL;
	run(2 * LEASE);
	options[0].version = 2;
	options[0].process = 20;
	start_with(0, &options[0]);
	run(4 * LEASE);
	assert_true(is_member(0));
	assert_int_equal(warden_state(warden)->version, 2);
	/* Now the older program cannot join. */
	tenant_destroy(tenants[0]);
	tenants[0] = NULL;
	run(2 * LEASE);
	options[0].version = 1;
	options[0].process = 30;
	start_with(0, &options[0]);
	run(8 * LEASE);
	assert_false(is_member(0));
}

static void test_a_voter_that_is_not_heard_holds_the_version_back(void **context)
{
	struct tenant_options options = options_of(0, 10, LEASE);
	struct electors electors = {0};
	(void)context;

	electors_clear(&electors, 2);
	electors_add(&electors, 77, entry_text_of("a"), entry_text_of("host:1"));
	warden_electors(warden, &electors);
	electors_free(&electors);
	options.version = 2;
	start_with(0, &options);
	run(2 * LEASE);
	assert_true(is_member(0));
	assert_int_equal(warden_state(warden)->version, 1);
	options.server = 77;
	options.process = 20;
	start_with(0, &options);
	run(6 * LEASE);
	assert_int_equal(warden_state(warden)->version, 2);
}

static void test_members_learn_who_the_voters_are(void **context)
{
	struct electors electors = {0};
	(void)context;

	start(0, 10, LEASE);
	run(LEASE);
	assert_int_equal(tenant_electors(tenants[0])->index, 1);
	electors_clear(&electors, 5);
	electors_add(&electors, 77, entry_text_of("b"), entry_text_of("host:2"));
	electors_add(&electors, 78, entry_text_of("c"), entry_text_of("host:3"));
	warden_electors(warden, &electors);
	run(INTERVAL);
	assert_int_equal(tenant_electors(tenants[0])->index, 5);
	assert_int_equal(tenant_electors(tenants[0])->count, 2);
	assert_string_equal(tenant_electors(tenants[0])->list[1].address, "host:3");
	/* An older list is ignored. */
	electors_clear(&electors, 4);
	electors_add(&electors, 79, entry_text_of("d"), entry_text_of("host:4"));
	warden_electors(warden, &electors);
	electors_free(&electors);
	start(1, 11, LEASE);
	run(INTERVAL);
	assert_int_equal(tenant_electors(tenants[1])->index, 5);
}

/* Does the tenant believe its own voter about this list of voters? */
static bool believes_own_list(const struct tenant *tenant, uint64_t index)
{
	struct electors electors = {0};
	struct bulletin bulletin;
	struct out out;

	out_init(&out);
	electors_clear(&electors, index);
	electors_add(&electors, 79, entry_text_of("d"), entry_text_of("host:4"));
	bulletin_write_electors(&out, &electors);
	assert_true(bulletin_read(out.bytes, out.bytes_count, &bulletin));
	bool believes = tenant_believes_own(tenant, &bulletin);
	electors_free(&electors);
	out_free(&out);
	return believes;
}

/* A host that was down comes back, and its own voter has an old log. Torture found this: with seven
 * nodes, seed 287 did not heal. */
static void test_an_old_list_of_the_own_voter_is_not_believed(void **context)
{
	struct electors electors = {0};
	(void)context;

	electors_clear(&electors, 5);
	electors_add(&electors, 77, entry_text_of("b"), entry_text_of("host:2"));
	warden_electors(warden, &electors);
	electors_free(&electors);
	start(0, 10, LEASE);
	run(INTERVAL);
	assert_int_equal(tenant_electors(tenants[0])->index, 5);
	assert_false(believes_own_list(tenants[0], 4));
	assert_false(believes_own_list(tenants[0], 5));
	assert_true(believes_own_list(tenants[0], 6));
}

static void test_who_is_not_answered_asks_everybody(void **context)
{
	struct tenant_effect effect;
	struct tenant_condition condition = {0};
	bool wide = false;
	(void)context;

	start(0, 10, LEASE);
	run(LEASE);
	for (uint32_t i = 0; i < 8; i++) {
		now += INTERVAL;
		assert_false(wide);
		tenant_renew(tenants[0], now * MS, &condition);
		while (tenant_effect(tenants[0], &effect))
			wide |= effect.kind == TENANT_PETITION && effect.wide;
		if (wide)
			break;
	}
	assert_true(wide);
	run(INTERVAL);
	tenant_renew(tenants[0], now * MS, &condition);
	while (tenant_effect(tenants[0], &effect))
		assert_false(effect.wide);
}

static void test_a_snapshot_in_mid_life_is_noted_as_of_then(void **context)
{
	struct out out;
	(void)context;

	start_all();
	out_init(&out);
	state_write(warden_state(warden), &out);
	warden_destroy(warden);
	warden = make_warden(NULL, 0);
	assert_false(warden_restore(warden, out.bytes, out.bytes_count - 1, now * MS));
	assert_int_equal(warden_state(warden)->epoch, 0);
	assert_true(warden_restore(warden, out.bytes, out.bytes_count, now * MS));
	out_free(&out);
	uint64_t noted = now;
	unheard = true;
	warden_leads(warden, true, now * MS);
	while (is_member(0) && now < noted + 4 * LEASE)
		run(1);
	assert_in_range(now - noted, warden_patience(LEASE * MS) / MS, 2 * LEASE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	        TEST(test_candidates_become_members_with_a_lease),
	        TEST(test_the_first_view_has_all_voters_that_are_there),
	        TEST(test_the_first_view_waits_an_interval_at_most),
	        TEST(test_a_silent_member_is_removed_after_its_deadline),
	        TEST(test_a_removal_does_not_wait_for_the_next_beat),
	        TEST(test_a_renewal_is_noted_when_it_is_committed),
	        TEST(test_nothing_is_acknowledged_before_it_is_committed),
	        TEST(test_a_refused_renewal_is_not_acknowledged),
	        TEST(test_a_name_that_nobody_has_is_forbidden_and_gets_no_vote),
	        TEST(test_strangers_do_not_take_the_room_of_members),
	        TEST(test_processes_of_one_name_find_a_limit),
	        TEST(test_a_new_leader_removes_nobody_at_once),
	        TEST(test_a_leader_that_was_stopped_removes_nobody_at_once),
	        TEST(test_a_restarted_voter_notes_everybody_as_of_then),
	        TEST(test_who_does_not_hear_is_not_renewed),
	        TEST(test_one_of_two_without_a_link_goes_and_stays_away),
	        TEST(test_one_of_two_candidates_without_a_link_joins),
	        TEST(test_of_two_without_a_link_the_voter_stays),
	        TEST(test_who_was_removed_waits_longer_each_time),
	        TEST(test_who_waits_before_it_may_join_is_answered),
	        TEST(test_a_second_process_of_a_name_waits_for_the_removal_of_the_first),
	        TEST(test_who_leaves_is_out_at_once),
	        TEST(test_a_leave_waits_while_a_member_is_silent),
	        TEST(test_if_all_leave_none_waits_for_the_others),
	        TEST(test_a_join_waits_while_a_member_is_silent),
	        TEST(test_a_leave_goes_on_when_the_silent_member_is_heard),
	        TEST(test_another_lease_does_not_join),
	        TEST(test_fences_are_extended_once_for_many),
	        TEST(test_epochs_end_by_bump_once_a_beat_at_most),
	        TEST(test_an_acknowledgement_of_an_older_incarnation_is_nothing),
	        TEST(test_an_acknowledgement_of_a_forgotten_petition_is_nothing),
	        TEST(test_an_older_view_is_ignored),
	        TEST(test_a_voter_that_lags_behind_is_not_believed_about_a_removal),
	        TEST(test_a_witness_is_never_a_member),
	        TEST(test_of_processes_with_one_directory_the_last_stands),
	        TEST(test_a_version_is_spoken_when_all_can),
	        TEST(test_a_voter_that_is_not_heard_holds_the_version_back),
	        TEST(test_members_learn_who_the_voters_are),
	        TEST(test_an_old_list_of_the_own_voter_is_not_believed),
	        TEST(test_who_is_not_answered_asks_everybody),
	        TEST(test_a_snapshot_in_mid_life_is_noted_as_of_then),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
