/*
 * The judge of torture, invariant by invariant. For each one there is a history, made by hand, that
 * breaks it, and the judge must fail it. There is also the nearest history that keeps it, which the
 * judge must accept.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "outbuffer.h"
#include "verdict.h"

#include <stdio.h>
#include <string.h>

#define MS UINT64_C(1000000)
#define LEASE (3000 * MS)

enum { ANT, BEE, CROW, HOSTS, GUEST = HOSTS };
enum { BASE = 1000, BLOCK = 6, CLIENTS = 6 };

static const char *const names[HOSTS] = {"ant", "bee", "crow"};

static struct verdict *verdict;
static struct out out;
static uint64_t now;              /* true time */
static int64_t ahead[HOSTS + 1];  /* by how much each clock is ahead of true time */
static uint64_t entries;          /* how many entries are committed so far */
static uint64_t processes[HOSTS]; /* the processes of the hosts: 10, 11, 12 at first */
static char said[400];            /* the first violation that the judge reported */

static uint64_t read_clock(const void *context, uint32_t clock)
{
	(void)context;
	return now + (uint64_t)ahead[clock];
}

static void on_wrong(void *context, const char *text)
{
	(void)context;
	if (said[0] == '\0')
		snprintf(said, sizeof(said), "%s", text);
}

static void judge_is_content(void)
{
	if (said[0] != '\0')
		fail_msg("the judge found: %s", said);
}

static void judge_finds(const char *text)
{
	if (strstr(said, text) == NULL)
		fail_msg("the judge found '%s' and not '%s'", said, text);
}

/* --- what happens --- */

static void pass(uint64_t ms)
{
	now += ms * MS;
	verdict_passed(verdict, now);
}

static uint64_t commit(void)
{
	verdict_committed(verdict, ++entries, out.bytes, out.bytes_count);
	return entries;
}

static struct entry_part join(uint32_t place)
{
	return (struct entry_part){.kind = PART_JOIN,
	                           .name = entry_text_of(names[place]),
	                           .address = entry_text_of("host:1"),
	                           .process = processes[place],
	                           .number = 1};
}

static void enter_with(uint32_t place, uint64_t epoch, uint64_t base, const uint64_t *incarnations)
{
	struct seat seats[HOSTS] = {0};

	for (uint32_t i = 0; i < HOSTS; i++) {
		seats[i].process = processes[i];
		seats[i].incarnation = incarnations[i];
	}
	verdict_entered(
	        verdict, place,
	        &(struct verdict_view){
	                .epoch = epoch, .base = base, .seats = seats, .seats_count = HOSTS});
}

/* Enters a view with all three members, who joined by the first entry. */
static void enter(uint32_t place, uint64_t epoch)
{
	enter_with(place, epoch, BASE + (epoch - 1) * BLOCK, (uint64_t[]){1, 1, 1});
}

/* Gives a host a lease for `ms` from now, by its clock; 0: it has none. */
static void lease(uint32_t place, uint64_t ms, uint64_t lapses)
{
	uint64_t deadline = ms == 0 ? 0 : read_clock(NULL, place) / MS + ms;

	verdict_lease(verdict, place, deadline * MS, deadline << 16 | lapses);
}

static uint64_t renew(uint32_t place)
{
	struct entry_part part = {.kind = PART_RENEWAL,
	                          .name = entry_text_of(names[place]),
	                          .incarnation = 1,
	                          .number = 9};

	entry_write_tick(&out, &part, 1);
	return commit();
}

static void remove_from_view(uint32_t place, uint64_t renewed)
{
	struct entry_part part = {.kind = PART_REMOVAL,
	                          .name = entry_text_of(names[place]),
	                          .incarnation = 1,
	                          .renewed = renewed};

	entry_write_change(&out, 1, &part, 1);
	commit();
}

static void leave_view(uint32_t place)
{
	struct entry_part part = {
	        .kind = PART_LEAVE, .name = entry_text_of(names[place]), .incarnation = 1};

	entry_write_change(&out, 1, &part, 1);
	commit();
}

static void bump(void)
{
	entry_write_bump(&out, 1);
	commit();
}

static void grant(uint32_t client, uint32_t place, uint64_t fence)
{
	verdict_granted(verdict,
	                &(struct verdict_grant){
	                        .client = client, .place = place, .fence = fence, .clock = place});
}

static void lose(uint32_t client, const char *why)
{
	verdict_lost(verdict, client, why, strlen(why));
}

/* Three members serve in epoch 1 with full leases; their clocks are seconds apart. */
static void begin(void)
{
	struct entry_part parts[HOSTS];

	if (verdict != NULL)
		verdict_destroy(verdict);
	verdict = verdict_create(&(struct verdict_options){
	        .settings = {.lease_ns = LEASE, .base = BASE, .block = BLOCK},
	        .world = {.clock = read_clock, .wrong = on_wrong},
	        .clients_max = CLIENTS,
	        .tokens_max = 1,
	});
	said[0] = '\0';
	entries = 0;
	now = 100000 * MS;
	for (uint32_t i = 0; i <= HOSTS; i++)
		ahead[i] = (int64_t)(UINT64_C(5000) * i * MS);
	verdict_passed(verdict, now);
	for (uint32_t i = 0; i < HOSTS; i++) {
		processes[i] = 10 + i;
		parts[i] = join(i);
		verdict_started(verdict, i, names[i], processes[i]);
	}
	entry_write_change(&out, 0, parts, HOSTS);
	commit();
	for (uint32_t i = 0; i < HOSTS; i++) {
		enter(i, 1);
		lease(i, 3000, 0);
	}
	for (uint32_t i = 0; i < HOSTS; i++)
		verdict_serves(verdict, i, 1);
	judge_is_content();
}

static int setup(void **context)
{
	(void)context;
	out_init(&out);
	begin();
	return 0;
}

static int teardown(void **context)
{
	(void)context;
	verdict_destroy(verdict);
	verdict = NULL;
	out_free(&out);
	return 0;
}

/* --- at most one holder with a valid lease, by its own clock --- */

static void test_at_most_one_valid_holder(void **context)
{
	(void)context;
	grant(0, ANT, 1001);
	verdict_finished(verdict, 0);
	grant(1, BEE, 1002);
	judge_is_content();

	begin();
	grant(0, ANT, 1001);
	grant(1, BEE, 1002);
	judge_finds("clients at ant and bee hold lock-0 at once, fences 1001 and 1002");
}

static void test_a_holder_whose_lease_is_over_by_its_own_clock_is_none(void **context)
{
	(void)context;
	grant(0, ANT, 1001);
	pass(2000);
	renew(BEE);
	lease(BEE, 3000, 0);
	pass(1000);
	grant(1, BEE, 1002);
	judge_is_content();

	/* The client's clock has lost a millisecond, so the client may still go on. */
	begin();
	grant(0, ANT, 1001);
	pass(2000);
	renew(BEE);
	lease(BEE, 3000, 0);
	pass(1000);
	ahead[ANT] -= (int64_t)MS;
	grant(1, BEE, 1002);
	judge_finds("clients at ant and bee hold lock-0 at once");
}

static void test_clients_of_a_crashed_process_are_holders(void **context)
{
	(void)context;
	grant(0, ANT, 1001);
	verdict_ended(verdict, ANT);
	verdict_finished(verdict, 0);
	grant(1, BEE, 1002);
	judge_is_content();

	begin();
	grant(0, ANT, 1001);
	verdict_ended(verdict, ANT);
	grant(1, BEE, 1002);
	judge_finds("clients at ant and bee hold lock-0 at once");

	/* Another process in the same place has its own word, which these clients do not read. */
	begin();
	grant(0, ANT, 1001);
	verdict_ended(verdict, ANT);
	verdict_started(verdict, ANT, names[ANT], 20);
	grant(1, BEE, 1002);
	judge_finds("clients at ant and bee hold lock-0 at once");
}

static void grant_by_sub_lease(uint32_t client, uint64_t fence, uint64_t ms)
{
	verdict_granted(verdict,
	                &(struct verdict_grant){.client = client,
	                                        .place = ANT,
	                                        .fence = fence,
	                                        .proof = HOLD_ASKS,
	                                        .clock = GUEST,
	                                        .until = read_clock(NULL, GUEST) + ms * MS});
}

static void test_a_client_with_a_sub_lease_is_judged_by_its_clock(void **context)
{
	(void)context;
	grant_by_sub_lease(0, 1001, 1000);
	pass(1000);
	grant(1, ANT, 1002);
	judge_is_content();

	begin();
	grant_by_sub_lease(0, 1001, 1000);
	pass(1000);
	ahead[GUEST] -= (int64_t)MS;
	grant(1, ANT, 1002);
	judge_finds("clients at ant and ant hold lock-0 at once");

	/* The client need not care what the process believes about the lease. */
	begin();
	grant_by_sub_lease(0, 1001, 1000);
	lease(ANT, 0, 1);
	grant(1, BEE, 1002);
	judge_finds("clients at ant and bee hold lock-0 at once");
}

static void test_a_command_holds_until_it_is_stopped(void **context)
{
	struct verdict_grant command = {
	        .client = 0, .place = ANT, .fence = 1001, .proof = HOLD_RUNS, .clock = ANT};

	(void)context;
	for (int late = 0; late < 2; late++) {
		begin();
		verdict_granted(verdict, &command);
		pass(2000);
		renew(BEE);
		lease(BEE, 3000, 0);
		if (late == 0)
			verdict_finished(verdict, 0);
		pass(1001);
		grant(1, BEE, 1002);
		if (late == 0)
			judge_is_content();
	}
	judge_finds("clients at ant and bee hold lock-0 at once");
}

/* --- fences --- */

static void test_fences_of_a_lock_strictly_increase(void **context)
{
	(void)context;
	grant(0, ANT, 1002);
	verdict_finished(verdict, 0);
	grant(1, BEE, 1003);
	judge_is_content();
	verdict_finished(verdict, 1);
	grant(0, ANT, 1003);
	judge_finds("lock-0 is granted at ant with fence 1003 after 1003");
}

static void test_another_lock_has_fences_of_its_own(void **context)
{
	(void)context;
	grant(0, ANT, 1002);
	verdict_granted(verdict,
	                &(struct verdict_grant){
	                        .client = 1, .place = BEE, .lock = 1, .fence = 1001, .clock = BEE});
	judge_is_content();
}

static void test_no_fence_is_beyond_the_limit_that_is_committed(void **context)
{
	(void)context;
	grant(0, ANT, BASE + BLOCK);
	judge_is_content();
	verdict_finished(verdict, 0);
	grant(0, ANT, BASE + BLOCK + 1);
	judge_finds("with fence 1007 beyond the limit 1006");

	begin();
	entry_write_extend(&out, 1, BASE + BLOCK);
	commit();
	grant(0, ANT, BASE + BLOCK + 1);
	judge_is_content();
}

/* --- tokens --- */

static void test_at_most_one_token_of_a_lock_in_an_epoch(void **context)
{
	(void)context;
	verdict_tokens(verdict, 0, 1, 1);
	judge_is_content();
	verdict_tokens(verdict, 0, 1, 2);
	judge_finds("2 tokens of lock-0 in epoch 1");
}

/* --- removals --- */

static void test_a_removal_finds_the_member_past_its_deadline(void **context)
{
	(void)context;
	pass(3000);
	remove_from_view(CROW, 1);
	judge_is_content();

	begin();
	pass(2999);
	remove_from_view(CROW, 1);
	judge_finds("crow is removed 1 ms before its lease ends");
}

static void test_a_void_removal_is_none(void **context)
{
	(void)context;
	renew(CROW);
	remove_from_view(CROW, 1);
	judge_is_content();
	assert_int_equal(verdict_epochs(verdict), 1);
}

static void test_clients_of_a_removed_process_hold_nothing(void **context)
{
	(void)context;
	grant(0, CROW, 1001);
	verdict_ended(verdict, CROW);
	pass(3000);
	remove_from_view(CROW, 1);
	judge_is_content();

	begin();
	grant(0, CROW, 1001);
	verdict_ended(verdict, CROW);
	pass(2999);
	remove_from_view(CROW, 1);
	judge_finds("crow is out of the view, and client 0 there still holds lock-0");
}

static void test_whoever_leaves_has_no_holder_inside(void **context)
{
	(void)context;
	verdict_departs(verdict, CROW);
	leave_view(CROW);
	judge_is_content();

	begin();
	grant(0, CROW, 1001);
	verdict_departs(verdict, CROW);
	leave_view(CROW);
	judge_finds("crow is out of the view, and client 0 there still holds lock-0");
}

static void test_whoever_leaves_grants_nothing(void **context)
{
	struct verdict_grant last = {
	        .client = 0, .place = CROW, .fence = 1001, .clock = CROW, .elected = true};

	(void)context;
	verdict_departs(verdict, CROW);
	verdict_granted(verdict, &last);
	judge_is_content();
	verdict_finished(verdict, 0);
	grant(0, CROW, 1002);
	judge_finds("lock-0 is granted at crow, which leaves");
}

/* --- epochs and views --- */

static void test_epochs_never_go_back_at_a_process(void **context)
{
	(void)context;
	bump();
	enter(ANT, 2);
	judge_is_content();
	enter(ANT, 1);
	judge_finds("ant goes back from epoch 2 to 1");

	/* Another process with the same name may begin with an older view. */
	begin();
	bump();
	enter(ANT, 2);
	verdict_ended(verdict, ANT);
	verdict_started(verdict, ANT, names[ANT], 20);
	enter(ANT, 1);
	judge_is_content();
}

static void test_one_view_an_epoch(void **context)
{
	(void)context;
	bump();
	enter_with(ANT, 2, BASE + BLOCK, (uint64_t[]){1, 1, 1});
	judge_is_content();
	enter_with(BEE, 2, BASE + BLOCK, (uint64_t[]){1, 1, 2});
	judge_finds("bee has another view of epoch 2 than was agreed upon");
}

static void test_nobody_has_a_view_that_is_not_committed(void **context)
{
	(void)context;
	enter(ANT, 2);
	judge_finds("ant has a view that was not agreed upon");

	begin();
	bump();
	enter_with(ANT, 2, BASE, (uint64_t[]){1, 1, 1});
	judge_finds("ant has a view that was not agreed upon");
}

static void test_an_epoch_begins_where_fences_of_the_last_one_end(void **context)
{
	(void)context;
	bump();
	enter(ANT, 2);
	judge_is_content();
	/* The judge applies entries itself. So only a process can report an older base, and the
	 * judge notices it when the process enters the view. */
	enter_with(BEE, 2, BASE + 1, (uint64_t[]){1, 1, 1});
	judge_finds("bee has a view that was not agreed upon");
}

static void test_nobody_serves_before_all_members_have_entered(void **context)
{
	(void)context;
	bump();
	enter(ANT, 2);
	enter(BEE, 2);
	enter(CROW, 2);
	verdict_serves(verdict, ANT, 2);
	judge_is_content();

	begin();
	bump();
	enter(ANT, 2);
	enter(BEE, 2);
	verdict_serves(verdict, ANT, 2);
	judge_finds("ant serves in epoch 2 before all members know of it");
}

static void test_nobody_serves_in_an_epoch_that_it_has_not_entered(void **context)
{
	(void)context;
	bump();
	enter(ANT, 2);
	verdict_serves(verdict, BEE, 2);
	judge_finds("bee serves in epoch 2, and has entered 1");
}

/* --- holds and views --- */

static void test_a_valid_hold_survives_a_view_change(void **context)
{
	(void)context;
	grant(0, ANT, 1001);
	bump();
	enter(ANT, 2);
	lose(0, "broken uid 0 pid 1 at bee");
	judge_is_content();
	lose(0, "view");
	judge_finds("client at ant loses lock-0 to a view that ant is in");

	begin();
	grant(0, CROW, 1001);
	pass(3000);
	lease(CROW, 0, 1);
	remove_from_view(CROW, 1);
	lose(0, "view");
	judge_is_content();
}

static void test_a_hold_is_lost_to_a_lease_only_when_it_is_over(void **context)
{
	(void)context;
	grant(0, ANT, 1001);
	pass(3000);
	lease(ANT, 0, 1);
	lose(0, "lease");
	judge_is_content();
	assert_int_equal(verdict_lapses(verdict), 1);

	begin();
	grant(0, ANT, 1001);
	pass(2900);
	lease(ANT, 0, 1);
	lose(0, "lease");
	judge_finds("client at ant loses lock-0 before its lease is over");
}

/* --- leases --- */

static void test_a_lapsed_hold_never_revives(void **context)
{
	(void)context;
	grant(0, ANT, 1001);
	pass(3000);
	renew(ANT);
	lease(ANT, 3000, 1);
	judge_is_content();
	assert_false(verdict_valid(verdict, 0));

	/* The lease has lapsed as before, but the lapse was not counted. */
	begin();
	grant(0, ANT, 1001);
	pass(3000);
	renew(ANT);
	lease(ANT, 3000, 0);
	judge_finds("the lapsed hold of client 0 at ant revives");

	/* If the lease is renewed in time, there is no lapse. */
	begin();
	grant(0, ANT, 1001);
	pass(2999);
	renew(ANT);
	lease(ANT, 3000, 0);
	judge_is_content();
	assert_true(verdict_valid(verdict, 0));
}

static void test_a_sub_lease_never_revives_after_somebody_else_was_let_in(void **context)
{
	(void)context;
	/* The process kept the lock for the client the whole time; the client asks again, late. */
	grant_by_sub_lease(0, 1001, 1000);
	pass(1500);
	verdict_told(verdict, 0, read_clock(NULL, GUEST) + 1000 * MS);
	judge_is_content();
	assert_true(verdict_valid(verdict, 0));

	begin();
	grant_by_sub_lease(0, 1001, 1000);
	pass(1500);
	grant(1, ANT, 1002);
	verdict_finished(verdict, 1);
	verdict_told(verdict, 0, read_clock(NULL, GUEST) + 1000 * MS);
	judge_finds("the lapsed hold of client 0 of ant revives");
}

static void begin_command(uint64_t needs_ms)
{
	verdict_granted(verdict, &(struct verdict_grant){.client = 0,
	                                                 .place = ANT,
	                                                 .fence = 1001,
	                                                 .proof = HOLD_RUNS,
	                                                 .clock = ANT,
	                                                 .needs = needs_ms * MS});
}

static void test_a_command_is_stopped_before_the_lease_lapses(void **context)
{
	(void)context;
	begin_command(700);
	pass(2950);
	verdict_finished(verdict, 0);
	pass(50);
	lease(ANT, 0, 1);
	judge_is_content();

	begin();
	begin_command(700);
	pass(3000);
	lease(ANT, 0, 1);
	judge_finds("the command of client 0 at ant runs on after the lease");
}

static void test_a_command_on_a_suspended_host_does_not_run(void **context)
{
	(void)context;
	begin_command(700);
	pass(2000);
	verdict_suspended(verdict, ANT, true);
	renew(BEE);
	lease(BEE, 3000, 0);
	pass(1500);
	grant(1, BEE, 1002);
	verdict_finished(verdict, 0); /* when the host runs again, the command is stopped first */
	verdict_suspended(verdict, ANT, false);
	lease(ANT, 0, 1);
	judge_is_content();

	begin();
	begin_command(700);
	pass(2000);
	verdict_suspended(verdict, ANT, true);
	verdict_suspended(verdict, ANT, false);
	renew(BEE);
	lease(BEE, 3000, 0);
	pass(1500);
	grant(1, BEE, 1002);
	judge_finds("clients at ant and bee hold lock-0 at once");
}

static void test_a_command_has_time_to_stop_before_its_lease_ends(void **context)
{
	(void)context;
	pass(2000);
	begin_command(700); /* the command needs 700 ms, and the margin is 300 ms */
	judge_is_content();

	begin();
	pass(2001);
	begin_command(700);
	judge_finds("lock-0 is granted at ant to a client that could not stop in time");
}

static void test_a_lease_lasts_no_longer_than_what_is_committed(void **context)
{
	(void)context;
	pass(1000);
	renew(ANT);
	pass(500);
	lease(ANT, 2500, 0);
	judge_is_content();
	lease(ANT, 2501, 0);
	judge_finds("the lease of ant lasts longer than what was committed");
}

static void test_a_process_and_its_clients_agree_when_the_lease_is_over(void **context)
{
	uint64_t deadline = now / MS + 2999;

	(void)context;
	verdict_lease(verdict, ANT, deadline * MS, deadline << 16);
	judge_is_content();
	verdict_lease(verdict, ANT, deadline * MS + 1, deadline << 16);
	judge_finds("ant and its clients differ about when its lease is over");
}

static void test_nothing_is_granted_without_a_lease(void **context)
{
	(void)context;
	pass(2999);
	grant(0, ANT, 1001);
	judge_is_content();

	begin();
	pass(3000);
	grant(0, ANT, 1001);
	judge_finds("lock-0 is granted at ant without a lease");

	/* A grant that names another lapse than the word is invalid from the start. */
	begin();
	lease(ANT, 2900, 1);
	grant(0, ANT, 1001);
	judge_finds("lock-0 is granted at ant without a lease");
}

static void test_without_a_commit_for_a_lease_nobody_holds_anything(void **context)
{
	struct verdict_grant command = {
	        .client = 0, .place = ANT, .fence = 1001, .proof = HOLD_RUNS, .clock = ANT};

	(void)context;
	verdict_granted(verdict, &command);
	pass(2000);
	renew(BEE); /* the voters are alive, because bee is renewed */
	pass(2000);
	judge_is_content();

	begin();
	verdict_granted(verdict, &command);
	pass(4000);
	judge_finds("no lease was renewed for more than a lease, and client 0 at ant still holds");
}

/* --- events --- */

static void test_events_of_a_lock_come_in_the_order_of_fences_and_once(void **context)
{
	(void)context;
	verdict_subscribed(verdict, 3, 0);
	verdict_event(verdict, 3, 0, 1001, 0);
	verdict_event(verdict, 3, 0, 1001, 2);
	verdict_event(verdict, 3, 1, 1001, 0); /* this event is about another lock */
	verdict_event(verdict, 3, 0, 1003, 0);
	judge_is_content();
	verdict_event(verdict, 3, 0, 1002, 0);
	judge_finds("client 3 receives events of lock-0 out of order, or twice");

	/* In another session everything begins again. */
	begin();
	verdict_event(verdict, 3, 0, 1001, 0);
	verdict_session(verdict, 3);
	verdict_event(verdict, 3, 0, 1001, 0);
	judge_is_content();
	verdict_event(verdict, 3, 0, 1001, 0);
	judge_finds("client 3 receives events of lock-0 out of order, or twice");
}

static void test_subscribers_are_told_of_every_grant(void **context)
{
	char room[128];

	(void)context;
	for (int told = 0; told < 3; told++) {
		begin();
		verdict_subscribed(verdict, 3, 0);
		pass(1000);
		grant(0, ANT, 1001);
		if (told == 1)
			verdict_event(verdict, 3, 0, 1001, 0);
		if (told == 2)
			verdict_dropped(verdict, 3, 0);
		pass(400);
		/* The event may still be on its way. */
		assert_null(verdict_untold(verdict, 500 * MS, room));
		pass(200);
		if (told != 0)
			assert_null(verdict_untold(verdict, 500 * MS, room));
		else
			assert_string_equal(verdict_untold(verdict, 500 * MS, room),
			                    "client 3 was not told of the grant 1001 of lock-0");
		judge_is_content();
	}
}

/* --- after everything was mended --- */

static const char *unsettled(char room[128])
{
	const char *found = NULL;

	for (uint32_t i = 0; i < HOSTS && found == NULL; i++)
		found = verdict_unsettled(verdict, i, room);
	return found;
}

static void test_after_healing_every_waiter_is_served(void **context)
{
	char room[128];

	(void)context;
	verdict_waits(verdict, 0, ANT, 0);
	assert_string_equal(unsettled(room), "client 0 at ant waits for lock-0");
	grant(0, ANT, 1001);
	assert_null(unsettled(room));
	verdict_waits(verdict, 1, BEE, 0);
	verdict_waits_no_more(verdict, 1);
	assert_null(unsettled(room));
	judge_is_content();
}

static void test_after_healing_everybody_is_a_member_and_serves(void **context)
{
	char room[128];

	(void)context;
	assert_null(unsettled(room));
	bump();
	assert_string_equal(unsettled(room), "ant does not serve");
	for (uint32_t i = 0; i < HOSTS; i++)
		enter(i, 2);
	for (uint32_t i = 0; i < HOSTS; i++)
		verdict_serves(verdict, i, 2);
	assert_null(unsettled(room));
	verdict_ended(verdict, BEE);
	verdict_started(verdict, BEE, names[BEE], 20);
	assert_string_equal(unsettled(room), "bee is not a member");
	judge_is_content();
}

static void test_after_healing_nobody_stays_fenced(void **context)
{
	char room[128];

	(void)context;
	pass(2999);
	assert_null(unsettled(room));
	pass(1);
	assert_string_equal(unsettled(room), "ant stays fenced");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	        TEST(test_at_most_one_valid_holder),
	        TEST(test_a_holder_whose_lease_is_over_by_its_own_clock_is_none),
	        TEST(test_clients_of_a_crashed_process_are_holders),
	        TEST(test_a_client_with_a_sub_lease_is_judged_by_its_clock),
	        TEST(test_a_command_holds_until_it_is_stopped),
	        TEST(test_fences_of_a_lock_strictly_increase),
	        TEST(test_another_lock_has_fences_of_its_own),
	        TEST(test_no_fence_is_beyond_the_limit_that_is_committed),
	        TEST(test_at_most_one_token_of_a_lock_in_an_epoch),
	        TEST(test_a_removal_finds_the_member_past_its_deadline),
	        TEST(test_a_void_removal_is_none),
	        TEST(test_clients_of_a_removed_process_hold_nothing),
	        TEST(test_whoever_leaves_has_no_holder_inside),
	        TEST(test_whoever_leaves_grants_nothing),
	        TEST(test_epochs_never_go_back_at_a_process),
	        TEST(test_one_view_an_epoch),
	        TEST(test_nobody_has_a_view_that_is_not_committed),
	        TEST(test_an_epoch_begins_where_fences_of_the_last_one_end),
	        TEST(test_nobody_serves_before_all_members_have_entered),
	        TEST(test_nobody_serves_in_an_epoch_that_it_has_not_entered),
	        TEST(test_a_valid_hold_survives_a_view_change),
	        TEST(test_a_hold_is_lost_to_a_lease_only_when_it_is_over),
	        TEST(test_a_lapsed_hold_never_revives),
	        TEST(test_a_sub_lease_never_revives_after_somebody_else_was_let_in),
	        TEST(test_a_command_is_stopped_before_the_lease_lapses),
	        TEST(test_a_command_on_a_suspended_host_does_not_run),
	        TEST(test_a_command_has_time_to_stop_before_its_lease_ends),
	        TEST(test_a_lease_lasts_no_longer_than_what_is_committed),
	        TEST(test_a_process_and_its_clients_agree_when_the_lease_is_over),
	        TEST(test_nothing_is_granted_without_a_lease),
	        TEST(test_without_a_commit_for_a_lease_nobody_holds_anything),
	        TEST(test_events_of_a_lock_come_in_the_order_of_fences_and_once),
	        TEST(test_subscribers_are_told_of_every_grant),
	        TEST(test_after_healing_every_waiter_is_served),
	        TEST(test_after_healing_everybody_is_a_member_and_serves),
	        TEST(test_after_healing_nobody_stays_fenced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
