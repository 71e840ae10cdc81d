/*
 * The judge of leaders, invariant by invariant. For each one there is a proposal that breaks it,
 * and a nearly equal one that does not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "entries.h"
#include "outbuffer.h"
#include "reign.h"

#include <string.h>

#define MS UINT64_C(1000000)
#define LEASE (3000 * MS)

enum { ANT, BEE, CROW, HOSTS };

static const char *const names[HOSTS] = {"ant", "bee", "crow"};

static struct reign *reign;
static struct agreed_state state;
static struct out out;
static uint64_t now; /* true time */
static struct reign_proposal proposal;
static char room[160];

static uint64_t process_of(uint32_t place)
{
	return 10 + place;
}

static struct entry_part join(uint32_t place)
{
	return (struct entry_part){.kind = PART_JOIN,
	                           .name = entry_text_of(names[place]),
	                           .address = entry_text_of("host:1"),
	                           .process = process_of(place),
	                           .number = 1};
}

static void commit(void)
{
	state_apply(&state, state.index + 1, out.bytes, out.bytes_count);
	reign_committed(reign, &state, now);
}

static void pass(uint64_t ms)
{
	now += ms * MS;
}

static void link_all(void)
{
	for (uint32_t i = 0; i < HOSTS; i++) {
		for (uint32_t k = 0; k < HOSTS; k++)
			reign_linked(reign, i, k, process_of(i), process_of(k), now);
	}
}

/* Ant leads. Ant and bee are the members, all hosts live, and all links are up. */
static int set_up(void **context)
{
	(void)context;
	reign = reign_create();
	out_init(&out);
	state_init(&state, &(struct state_settings){.lease_ns = LEASE, .base = 1000, .block = 6});
	now = 100 * LEASE;
	entry_write_change(&out, 0, (struct entry_part[]){join(ANT), join(BEE)}, 2);
	commit();
	proposal = (struct reign_proposal){
	        .place = ANT, .state = &state, .wiring = {.complete = true}, .hosts_count = HOSTS};
	for (uint32_t i = 0; i < HOSTS; i++)
		proposal.hosts[i] = (struct reign_host){
		        .name = names[i], .process = process_of(i), .reached = true};
	link_all();
	return 0;
}

static int tear_down(void **context)
{
	(void)context;
	state_free(&state);
	out_free(&out);
	reign_destroy(reign);
	return 0;
}

static const char *judge(void)
{
	proposal.now = now;
	proposal.bytes = out.bytes;
	proposal.size = out.bytes_count;
	return reign_judge(reign, &proposal, room);
}

static const char *judge_join(uint32_t place)
{
	struct entry_part part = join(place);

	entry_write_change(&out, state.epoch, &part, 1);
	return judge();
}

static struct entry_part removal(uint32_t place)
{
	const struct seat *seat = state_seat(&state, entry_text_of(names[place]));

	return (struct entry_part){.kind = PART_REMOVAL,
	                           .name = entry_text_of(names[place]),
	                           .incarnation = seat->incarnation,
	                           .renewed = seat->renewed};
}

static const char *judge_removal(uint32_t place)
{
	struct entry_part part = removal(place);

	entry_write_change(&out, state.epoch, &part, 1);
	return judge();
}

static const char *judge_renewal(uint32_t place)
{
	const struct seat *seat = state_seat(&state, entry_text_of(names[place]));
	struct entry_part part = {.kind = PART_RENEWAL,
	                          .name = entry_text_of(names[place]),
	                          .incarnation = seat->incarnation,
	                          .number = 2};

	entry_write_tick(&out, &part, 1);
	return judge();
}

static void finds(const char *said, const char *text)
{
	if (said == NULL || strstr(said, text) == NULL)
		fail_msg("the judge found '%s' and not '%s'", said != NULL ? said : "", text);
}

/* --- links --- */

static void test_nobody_joins_without_its_links(void **context)
{
	(void)context;
	assert_null(judge_join(CROW));
	/* The link may have broken since the leader heard of it. */
	pass(2999);
	assert_null(judge_join(CROW));
	pass(2);
	finds(judge_join(CROW), "needs a link to");
}

static void test_a_link_to_an_older_process_is_none(void **context)
{
	(void)context;
	reign_linked(reign, CROW, BEE, process_of(CROW) + 100, process_of(BEE), now);
	finds(judge_join(CROW), "crow needs a link to bee");
}

static void test_links_of_a_dead_process_are_not_judged(void **context)
{
	(void)context;
	pass(3001);
	for (uint32_t i = 0; i < HOSTS; i++)
		proposal.hosts[i].process = 0;
	assert_null(judge_join(CROW));
}

/* --- back-off --- */

static void remove_bee(void)
{
	struct entry_part part = removal(BEE);

	entry_write_change(&out, state.epoch, &part, 1);
	commit();
}

static void test_a_removed_name_waits_a_lease(void **context)
{
	(void)context;
	remove_bee();
	pass(2990);
	link_all();
	finds(judge_join(BEE), "bee is to join 2990 ms after it was taken out");
	pass(10);
	assert_null(judge_join(BEE));
}

static void test_a_name_that_was_removed_twice_waits_two_leases(void **context)
{
	(void)context;
	remove_bee();
	entry_write_change(&out, state.epoch, (struct entry_part[]){join(BEE)}, 1);
	commit();
	remove_bee();
	pass(3001);
	link_all();
	finds(judge_join(BEE), "before its 6000 ms");
	pass(3000);
	link_all();
	assert_null(judge_join(BEE));
}

static void test_the_back_off_is_counted_by_the_leaders_clock(void **context)
{
	(void)context;
	proposal.drift_ppm = 10000;
	remove_bee();
	pass(2975);
	link_all();
	assert_null(judge_join(BEE));
}

static void test_an_empty_view_knows_no_back_off(void **context)
{
	struct entry_part parts[] = {removal(ANT), removal(BEE)};

	(void)context;
	entry_write_change(&out, state.epoch, parts, 2);
	commit();
	assert_null(judge_join(BEE));
}

/* --- leaving --- */

static void test_a_process_that_was_told_to_leave_joins_no_more(void **context)
{
	(void)context;
	proposal.hosts[CROW].departs = now;
	pass(2999);
	assert_null(judge_join(CROW));
	pass(2);
	link_all();
	finds(judge_join(CROW), "crow is to join 3001 ms after it was told to leave");
	/* A leader that was stopped meanwhile reads only now what crow asked for before. */
	proposal.resumed = now;
	assert_null(judge_join(CROW));
}

/* --- members --- */

static void test_a_new_leader_waits_for_two_intervals(void **context)
{
	(void)context;
	reign_told(reign, ANT, now);
	pass(998);
	finds(judge_removal(BEE), "bee is to be removed 998 ms after ant began to lead");
	pass(2);
	assert_null(judge_removal(BEE));
}

static void test_who_could_not_be_heard_may_be_removed_at_once(void **context)
{
	(void)context;
	reign_told(reign, ANT, now);
	proposal.hosts[BEE].reached = false;
	assert_null(judge_removal(BEE));
	proposal.hosts[BEE].reached = true;
	assert_non_null(judge_removal(BEE));
	proposal.hosts[BEE].paused = true;
	assert_null(judge_removal(BEE));
	proposal.hosts[BEE] = (struct reign_host){.name = "bee", .reached = true};
	assert_null(judge_removal(BEE));
}

/* Renews a member as often as a leader does, for that time. */
static void renew_for(uint32_t place, uint64_t ms)
{
	for (uint64_t passed = 0; passed < ms; passed += 500) {
		pass(500);
		assert_null(judge_renewal(place));
	}
}

static void test_a_deaf_member_is_not_renewed_for_ever(void **context)
{
	(void)context;
	proposal.hosts[BEE].reached = false;
	assert_null(judge_renewal(BEE));
	reign_leased(reign, BEE, now);
	renew_for(BEE, 4500);
	pass(1);
	finds(judge_renewal(BEE), "bee is renewed, and has had no lease for 4501 ms");
}

static void test_time_without_a_leader_is_not_counted(void **context)
{
	(void)context;
	proposal.hosts[BEE].reached = false;
	assert_null(judge_renewal(BEE));
	renew_for(BEE, 4000);
	reign_elected(reign, now);
	assert_null(judge_renewal(BEE));
	renew_for(BEE, 4500);
	pass(1);
	finds(judge_renewal(BEE), "bee is renewed");
	proposal.resumed = now;
	assert_null(judge_renewal(BEE));
}

/* The leader could not renew a member that it did not hear. Afterwards it needs the full time again
 * to find out that the member receives no acknowledgements. */
static void test_time_in_which_a_member_is_not_heard_is_not_counted(void **context)
{
	(void)context;
	proposal.hosts[BEE].reached = false;
	assert_null(judge_renewal(BEE));
	renew_for(BEE, 3000);
	pass(2700);
	assert_null(judge_renewal(BEE));
	renew_for(BEE, 4500);
	pass(1);
	finds(judge_renewal(BEE), "bee is renewed");
}

static void test_a_malformed_proposal_is_found(void **context)
{
	(void)context;
	out_clear(&out);
	assert_non_null(judge());
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
	        TEST(test_nobody_joins_without_its_links),
	        TEST(test_a_link_to_an_older_process_is_none),
	        TEST(test_links_of_a_dead_process_are_not_judged),
	        TEST(test_a_removed_name_waits_a_lease),
	        TEST(test_a_name_that_was_removed_twice_waits_two_leases),
	        TEST(test_the_back_off_is_counted_by_the_leaders_clock),
	        TEST(test_an_empty_view_knows_no_back_off),
	        TEST(test_a_process_that_was_told_to_leave_joins_no_more),
	        TEST(test_a_new_leader_waits_for_two_intervals),
	        TEST(test_who_could_not_be_heard_may_be_removed_at_once),
	        TEST(test_a_deaf_member_is_not_renewed_for_ever),
	        TEST(test_time_without_a_leader_is_not_counted),
	        TEST(test_time_in_which_a_member_is_not_heard_is_not_counted),
	        TEST(test_a_malformed_proposal_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
