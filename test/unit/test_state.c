/*
 * The state that voters agree upon: which entries are void, how an epoch begins, and snapshots.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "outbuffer.h"
#include "state.h"

#include <stdio.h>
#include <string.h>

enum { BASE = 1000, BLOCK = 6 };

static struct agreed_state agreed;
static struct out out;

static int setup(void **context)
{
	(void)context;
	state_init(&agreed, &(struct state_settings){3000000000, BASE, BLOCK, {5, 6}});
	out_init(&out);
	return 0;
}

static int teardown(void **context)
{
	(void)context;
	state_free(&agreed);
	out_free(&out);
	return 0;
}

static uint64_t apply(void)
{
	state_apply(&agreed, agreed.index + 1, out.bytes, out.bytes_count);
	return agreed.index;
}

static struct entry_part join(const char *name, uint64_t process)
{
	return (struct entry_part){.kind = PART_JOIN,
	                           .name = entry_text_of(name),
	                           .address = entry_text_of("host:1"),
	                           .process = process,
	                           .number = 1};
}

static uint64_t change(uint64_t epoch, struct entry_part part)
{
	entry_write_change(&out, epoch, &part, 1);
	return apply();
}

static uint64_t renew(const char *name, uint64_t incarnation)
{
	struct entry_part part = {.kind = PART_RENEWAL,
	                          .name = entry_text_of(name),
	                          .incarnation = incarnation,
	                          .number = 9};

	entry_write_tick(&out, &part, 1);
	return apply();
}

static uint64_t removal(uint64_t epoch, const char *name, uint64_t incarnation, uint64_t renewed)
{
	return change(epoch, (struct entry_part){.kind = PART_REMOVAL,
	                                         .name = entry_text_of(name),
	                                         .incarnation = incarnation,
	                                         .renewed = renewed});
}

static const struct seat *seat_of(const char *name)
{
	return state_seat(&agreed, entry_text_of(name));
}

static void test_a_join_makes_an_epoch_whose_index_is_the_incarnation(void **context)
{
	(void)context;
	renew("a", 1);
	uint64_t index = change(0, join("a", 77));
	assert_int_equal(agreed.epoch, 1);
	assert_int_equal(seat_of("a")->incarnation, index);
	assert_int_equal(seat_of("a")->process, 77);
	assert_int_equal(agreed.base, BASE);
	assert_int_equal(agreed.limit, BASE + BLOCK);
}

static void test_a_change_of_another_epoch_is_void(void **context)
{
	(void)context;
	change(0, join("a", 1));
	change(0, join("b", 2));
	change(2, join("b", 2));
	assert_int_equal(agreed.epoch, 1);
	assert_null(seat_of("b"));
}

static void test_a_join_replaces_nobody_and_renews_itself(void **context)
{
	(void)context;
	uint64_t first = change(0, join("a", 1));
	change(1, join("a", 2));
	assert_int_equal(agreed.epoch, 1);
	assert_int_equal(seat_of("a")->process, 1);
	assert_int_equal(seat_of("a")->renewed, first);
	uint64_t again = change(1, join("a", 1));
	assert_int_equal(agreed.epoch, 1);
	assert_int_equal(seat_of("a")->incarnation, first);
	assert_int_equal(seat_of("a")->renewed, again);
}

static void test_a_removal_is_void_after_a_renewal(void **context)
{
	(void)context;
	uint64_t first = change(0, join("a", 1));
	uint64_t second = renew("a", first);
	removal(1, "a", first, first);
	assert_non_null(seat_of("a"));
	removal(1, "a", first + 1, second);
	assert_non_null(seat_of("a"));
	removal(1, "a", first, second);
	assert_null(seat_of("a"));
	assert_int_equal(agreed.epoch, 2);
	assert_int_equal(state_name(&agreed, entry_text_of("a"))->strikes, 1);
}

static void test_a_renewal_of_another_incarnation_is_void(void **context)
{
	(void)context;
	uint64_t first = change(0, join("a", 1));
	renew("a", first + 1);
	assert_int_equal(seat_of("a")->renewed, first);
}

static void test_parts_of_a_change_are_void_one_by_one(void **context)
{
	(void)context;
	uint64_t first = change(0, join("a", 1));
	uint64_t second = renew("a", first);
	struct entry_part parts[] = {
	        {.kind = PART_REMOVAL,
	         .name = entry_text_of("a"),
	         .incarnation = first,
	         .renewed = second},
	        {.kind = PART_LEAVE, .name = entry_text_of("nobody"), .incarnation = 3},
	        join("a", 2),
	        join("b", 3),
	};
	entry_write_change(&out, 1, parts, 4);
	uint64_t index = apply();
	assert_int_equal(agreed.epoch, 2);
	assert_int_equal(agreed.seats_count, 2);
	assert_int_equal(seat_of("a")->process, 2);
	assert_int_equal(seat_of("b")->incarnation, index);
	/* All parts are void, so no epoch begins. */
	removal(2, "a", first, second);
	assert_int_equal(agreed.epoch, 2);
}

static void test_many_extend_once(void **context)
{
	(void)context;
	change(0, join("a", 1));
	for (int i = 0; i < 3; i++) {
		entry_write_extend(&out, 1, BASE + BLOCK);
		apply();
	}
	assert_int_equal(agreed.limit, BASE + 2 * BLOCK);
	entry_write_extend(&out, 2, BASE + 2 * BLOCK);
	apply();
	assert_int_equal(agreed.limit, BASE + 2 * BLOCK);
}

static void test_an_epoch_begins_at_the_last_limit(void **context)
{
	(void)context;
	change(0, join("a", 1));
	entry_write_extend(&out, 1, BASE + BLOCK);
	apply();
	entry_write_bump(&out, 1);
	apply();
	entry_write_bump(&out, 1);
	apply();
	assert_int_equal(agreed.epoch, 2);
	assert_int_equal(agreed.base, BASE + 2 * BLOCK);
	assert_int_equal(agreed.limit, BASE + 3 * BLOCK);
}

/* Applies an order with an id of its own, about a name that the leader knows. */
static void order(enum entry_kind kind, const char *name, enum vote_wish vote)
{
	static uint64_t number;
	struct log_entry entry = {.kind = kind,
	                          .name = entry_text_of(name),
	                          .vote = vote,
	                          .order = {1, ++number},
	                          .known = true};

	entry_write_order(&out, &entry);
	apply();
}

static void test_a_forbidden_name_is_not_renewed_and_does_not_join(void **context)
{
	(void)context;
	uint64_t first = change(0, join("a", 1));
	order(ENTRY_FORBID, "a", VOTE_FREE);
	renew("a", first);
	assert_int_equal(seat_of("a")->renewed, first);
	removal(1, "a", first, first);
	change(2, join("a", 1));
	assert_null(seat_of("a"));
	order(ENTRY_ALLOW, "a", VOTE_FREE);
	change(2, join("a", 1));
	assert_non_null(seat_of("a"));
}

static void forbid(uint32_t number)
{
	char name[16];

	snprintf(name, sizeof(name), "x%u", number);
	order(ENTRY_FORBID, name, VOTE_FREE);
}

static bool has_room(const char *name, bool known)
{
	return state_has_room(&agreed, &(struct log_entry){.kind = ENTRY_FORBID,
	                                                   .name = entry_text_of(name),
	                                                   .known = known});
}

/* Applies an order with this id, about a name that the leader does not know. */
static void order_strangely(enum entry_kind kind, const char *name, uint64_t process,
                            uint64_t number)
{
	struct log_entry entry = {
	        .kind = kind, .name = entry_text_of(name), .order = {process, number}};

	entry_write_order(&out, &entry);
	apply();
}

static void test_names_that_nobody_knows_take_half_of_the_room(void **context)
{
	char name[16];

	(void)context;
	for (uint32_t i = 0; i < STATE_STRANGERS_MAX + 5; i++) {
		snprintf(name, sizeof(name), "x%u", i);
		order_strangely(ENTRY_FORBID, name, 1000, i);
	}
	assert_int_equal(agreed.names_count, STATE_STRANGERS_MAX);
	assert_true(state_forbids(&agreed, entry_text_of("x2047")));
	assert_false(state_forbids(&agreed, entry_text_of("x2048")));
	assert_false(has_room("x2048", false));
	/* The order 2048 is void, so nobody may be told that it was obeyed. */
	assert_true(state_obeyed(&agreed, (struct order_id){1000, 2047}));
	assert_false(state_obeyed(&agreed, (struct order_id){1000, 2048}));
	/* A node that the leader knows can still be removed; so can a stranger, if another is
	 * invited. */
	order(ENTRY_FORBID, "a", VOTE_FREE);
	assert_true(state_forbids(&agreed, entry_text_of("a")));
	order(ENTRY_ALLOW, "x0", VOTE_FREE);
	order(ENTRY_ALLOW, "x1", VOTE_FREE);
	order_strangely(ENTRY_FORBID, "y", 1000, 9000);
	assert_true(state_forbids(&agreed, entry_text_of("y")));
}

static void test_an_order_that_comes_again_does_not_undo_a_later_one(void **context)
{
	(void)context;
	order_strangely(ENTRY_FORBID, "a", 7, 1);
	order_strangely(ENTRY_ALLOW, "a", 8, 1);
	order_strangely(ENTRY_FORBID, "a", 7, 1);
	assert_false(state_forbids(&agreed, entry_text_of("a")));
	/* An order with another number, or of another process, is another order. */
	order_strangely(ENTRY_FORBID, "a", 7, 2);
	assert_true(state_forbids(&agreed, entry_text_of("a")));
	order_strangely(ENTRY_ALLOW, "a", 8, 1);
	assert_true(state_forbids(&agreed, entry_text_of("a")));
	order_strangely(ENTRY_ALLOW, "a", 9, 1);
	assert_false(state_forbids(&agreed, entry_text_of("a")));
	/* An order that finds everything as it should be is obeyed too. */
	order_strangely(ENTRY_ALLOW, "b", 9, 2);
	assert_true(state_obeyed(&agreed, (struct order_id){9, 2}));
	assert_null(state_name(&agreed, entry_text_of("b")));
}

static void test_orders_are_remembered_in_a_snapshot_and_up_to_a_limit(void **context)
{
	struct agreed_state other;
	struct out snapshot;

	(void)context;
	for (uint64_t i = 0; i < STATE_ORDERS_MAX + 3; i++)
		order_strangely(ENTRY_ALLOW, "a", 5, i);
	assert_int_equal(agreed.orders_count, STATE_ORDERS_MAX);
	assert_false(state_obeyed(&agreed, (struct order_id){5, 2}));
	assert_true(state_obeyed(&agreed, (struct order_id){5, 3}));
	assert_true(state_obeyed(&agreed, (struct order_id){5, STATE_ORDERS_MAX + 2}));
	out_init(&snapshot);
	state_write(&agreed, &snapshot);
	state_init(&other, &agreed.settings);
	assert_true(state_read(&other, snapshot.bytes, snapshot.bytes_count));
	assert_int_equal(other.orders_count, STATE_ORDERS_MAX);
	assert_memory_equal(other.orders, agreed.orders, sizeof(other.orders));
	for (uint32_t cut = 1; cut < 600; cut++)
		assert_false(state_read(&other, snapshot.bytes, snapshot.bytes_count - cut));
	state_free(&other);
	out_free(&snapshot);
}

static void test_orders_of_older_versions_are_obeyed(void **context)
{
	(void)context;
	order_strangely(ENTRY_FORBID, "a", 0, 0);
	assert_true(state_forbids(&agreed, entry_text_of("a")));
	order_strangely(ENTRY_ALLOW, "a", 0, 0);
	order_strangely(ENTRY_FORBID, "a", 0, 0);
	assert_true(state_forbids(&agreed, entry_text_of("a")));
	assert_int_equal(agreed.orders_count, 0);
}

static void test_orders_about_invented_names_find_a_limit(void **context)
{
	(void)context;
	for (uint32_t i = 0; i < STATE_NAMES_MAX + 5; i++)
		forbid(i);
	assert_int_equal(agreed.names_count, STATE_NAMES_MAX);
	assert_true(state_forbids(&agreed, entry_text_of("x0")));
	assert_false(state_forbids(&agreed, entry_text_of("x4096")));
	assert_false(has_room("x4096", true));
	assert_true(has_room("x7", true));
	assert_true(has_room("x7", false));
	/* A member can be removed although its name cannot be remembered. */
	uint64_t first = change(0, join("a", 1));
	removal(1, "a", first, first);
	assert_null(seat_of("a"));
	assert_null(state_name(&agreed, entry_text_of("a")));
}

static void test_what_was_forbidden_is_not_forgotten_for_want_of_room(void **context)
{
	(void)context;
	order(ENTRY_VOTE, "v", VOTE_WANTED);
	uint64_t first = change(0, join("a", 1));
	removal(1, "a", first, first);
	for (uint32_t i = 0; i < STATE_NAMES_MAX - 2; i++)
		forbid(i);
	assert_non_null(state_name(&agreed, entry_text_of("a")));
	forbid(9000);
	assert_null(state_name(&agreed, entry_text_of("a")));
	assert_non_null(state_name(&agreed, entry_text_of("v")));
	forbid(9001);
	assert_null(state_name(&agreed, entry_text_of("v")));
	assert_true(state_forbids(&agreed, entry_text_of("x0")));
	assert_true(state_forbids(&agreed, entry_text_of("x9001")));
	assert_int_equal(agreed.names_count, STATE_NAMES_MAX);
}

static void test_a_wish_about_a_vote_survives_a_snapshot(void **context)
{
	struct agreed_state other;
	struct out snapshot;
	(void)context;
	order(ENTRY_VOTE, "a", VOTE_WANTED);
	order(ENTRY_VOTE, "b", VOTE_UNWANTED);
	assert_int_equal(state_name(&agreed, entry_text_of("a"))->vote, VOTE_WANTED);
	out_init(&snapshot);
	state_write(&agreed, &snapshot);
	state_init(&other, &agreed.settings);
	assert_true(state_read(&other, snapshot.bytes, snapshot.bytes_count));
	assert_int_equal(state_name(&other, entry_text_of("a"))->vote, VOTE_WANTED);
	assert_int_equal(state_name(&other, entry_text_of("b"))->vote, VOTE_UNWANTED);
	state_free(&other);
	out_free(&snapshot);
	order(ENTRY_VOTE, "a", VOTE_FREE);
	assert_int_equal(state_name(&agreed, entry_text_of("a"))->vote, VOTE_FREE);
}

/* --- invitations --- */

enum { NOON = 1000 };

static struct entry_digest digest(uint8_t byte)
{
	struct entry_digest made;

	memset(made.bytes, byte, sizeof(made.bytes));
	return made;
}

static void invite(uint8_t secret, uint64_t time, uint64_t expiry)
{
	struct entry_digest hidden = digest(secret);

	entry_write_invite(&out, &hidden, time, expiry);
	apply();
}

/* Returns whether the entry was worth proposing. */
static bool admit(uint8_t secret, uint8_t ticket, uint64_t time, const char *name)
{
	struct entry_digest hidden = digest(secret), shown = digest(ticket);
	struct log_entry entry;

	entry_write_admit(&out, &hidden, &shown, time, entry_text_of(name));
	assert_true(entry_read(out.bytes, out.bytes_count, &entry));
	bool wanted = state_wants(&agreed, &entry);
	apply();
	return wanted;
}

/* Returns who has used the invitation; "": nobody; NULL: it is not known. */
static const char *user_of(uint8_t secret)
{
	struct entry_digest hidden = digest(secret);
	const struct invitation *found = invitations_find(&agreed.invitations, &hidden);

	return found != NULL ? found->user : NULL;
}

static void test_an_invitation_is_used_once(void **context)
{
	(void)context;
	assert_false(admit(1, 7, NOON, "a")); /* there is no invitation yet */
	invite(1, NOON, NOON + 60);
	assert_string_equal(user_of(1), "");
	assert_true(admit(1, 7, NOON + 1, "a"));
	assert_string_equal(user_of(1), "a");
	assert_false(admit(1, 8, NOON + 2, "b")); /* another node, through another leader */
	assert_false(admit(1, 8, NOON + 2, "a")); /* another key in the same name */
	assert_string_equal(user_of(1), "a");
	assert_memory_equal(agreed.invitations.list[0].ticket.bytes, digest(7).bytes,
	                    ENTRY_DIGEST_SIZE);
	invite(1, NOON + 3, NOON + 600); /* making the invitation again does not make it unused */
	assert_string_equal(user_of(1), "a");
	assert_int_equal(agreed.invitations.list[0].expiry, NOON + 60);
}

static void test_an_invitation_ends(void **context)
{
	(void)context;
	invite(1, NOON, NOON + 60);
	assert_false(admit(1, 7, NOON + 60, "a"));
	assert_string_equal(user_of(1), "");
	assert_true(admit(1, 7, NOON + 59, "a")); /* a node whose clock is behind */
	assert_string_equal(user_of(1), "a");
}

static void test_an_invitation_gives_nobody_the_name_of_a_member(void **context)
{
	(void)context;
	invite(1, NOON, NOON + 60);
	uint64_t first = change(0, join("a", 1));
	assert_false(admit(1, 7, NOON, "a"));
	order(ENTRY_FORBID, "a", VOTE_FREE);
	removal(1, "a", first, first);
	assert_null(seat_of("a"));
	assert_false(admit(1, 7, NOON, "a")); /* an operator has removed that name */
	assert_string_equal(user_of(1), "");
	order(ENTRY_ALLOW, "a", VOTE_FREE);
	assert_true(admit(1, 7, NOON, "a"));
	assert_string_equal(user_of(1), "a");
}

static void test_spent_invitations_make_room(void **context)
{
	(void)context;
	for (unsigned i = 0; i < INVITATIONS_MAX; i++)
		invite((uint8_t)i, NOON, NOON + 60 + i);
	invite(100, NOON, NOON + 600);
	assert_null(user_of(100)); /* there is no room, because all others can still be used */
	admit(5, 7, NOON, "a");
	invite(100, NOON + 61, NOON + 600);
	assert_non_null(user_of(100));
	assert_null(user_of(5)); /* forgotten, because it was used */
	assert_null(user_of(1)); /* forgotten, because it had expired */
	assert_non_null(user_of(2));
	assert_int_equal(agreed.invitations.count, INVITATIONS_MAX - 2);
}

static void test_invitations_survive_a_snapshot(void **context)
{
	struct agreed_state other;
	struct out snapshot;
	(void)context;
	out_init(&snapshot);
	state_write(&agreed, &snapshot);
	uint32_t empty = snapshot.bytes_count;
	invite(1, NOON, NOON + 60);
	invite(2, NOON, NOON + 60);
	admit(2, 7, NOON, "a");
	state_write(&agreed, &snapshot);
	assert_true(snapshot.bytes_count > empty);
	state_init(&other, &agreed.settings);
	assert_true(state_read(&other, snapshot.bytes, snapshot.bytes_count));
	assert_int_equal(other.invitations.count, 2);
	assert_memory_equal(other.invitations.list, agreed.invitations.list,
	                    2 * sizeof(*other.invitations.list));
	for (uint32_t cut = 1; cut < snapshot.bytes_count - empty; cut++)
		assert_false(state_read(&other, snapshot.bytes, snapshot.bytes_count - cut));
	state_free(&other);
	out_free(&snapshot);
}

static void test_a_pardon_forgets_strikes(void **context)
{
	(void)context;
	uint64_t first = change(0, join("a", 1));
	removal(1, "a", first, first);
	struct entry_part part = {.kind = PART_PARDON, .name = entry_text_of("a")};
	entry_write_tick(&out, &part, 1);
	apply();
	assert_int_equal(state_name(&agreed, entry_text_of("a"))->strikes, 0);
}

static void test_a_version_only_rises(void **context)
{
	(void)context;
	entry_write_version(&out, 3);
	apply();
	entry_write_version(&out, 2);
	apply();
	assert_int_equal(agreed.version, 3);
}

static void test_no_epoch_without_fences(void **context)
{
	(void)context;
	agreed.base = agreed.limit = STATE_FENCE_END - BLOCK;
	change(0, join("a", 1));
	assert_int_equal(agreed.epoch, 0);
}

static void fill(void)
{
	change(0, join("b", 2));
	uint64_t a = change(1, join("a", 1));
	change(2, join("c", 3));
	removal(3, "a", a, a);
	order(ENTRY_FORBID, "d", VOTE_FREE);
}

static void assert_same_seats(const struct agreed_state *copy)
{
	assert_int_equal(copy->seats_count, agreed.seats_count);
	for (uint32_t i = 0; i < agreed.seats_count; i++) {
		const struct seat *a = &agreed.seats[i], *b = &copy->seats[i];
		assert_string_equal(a->name, b->name);
		assert_string_equal(a->address, b->address);
		assert_int_equal(a->process, b->process);
		assert_int_equal(a->incarnation, b->incarnation);
		assert_int_equal(a->renewed, b->renewed);
	}
}

static void assert_same_names(const struct agreed_state *copy)
{
	assert_int_equal(copy->names_count, agreed.names_count);
	for (uint32_t i = 0; i < agreed.names_count; i++) {
		const struct name_record *a = &agreed.names[i], *b = &copy->names[i];
		assert_string_equal(a->name, b->name);
		assert_int_equal(a->strikes, b->strikes);
		assert_int_equal(a->forbidden, b->forbidden);
		assert_int_equal(a->vote, b->vote);
	}
}

static void test_a_rescue_forgets_strikes(void **context)
{
	(void)context;
	fill();
	assert_int_equal(state_name(&agreed, entry_text_of("a"))->strikes, 1);
	assert_true(state_rescue(&agreed, (struct cluster_id){7, 8}, agreed.limit));
	assert_int_equal(state_name(&agreed, entry_text_of("a"))->strikes, 0);
}

/* Compares the fields, not the bytes: a field that is never written would be missing in both. */
static void test_a_snapshot_keeps_every_field(void **context)
{
	struct agreed_state copy = {0};
	(void)context;

	fill();
	entry_write_version(&out, 3);
	apply();
	assert_true(state_rescue(&agreed, (struct cluster_id){7, 8}, agreed.limit));
	state_name(&agreed, entry_text_of("a"))->strikes = 1;
	state_write(&agreed, &out);
	assert_true(state_read(&copy, out.bytes, out.bytes_count));
	assert_int_equal(copy.settings.lease_ns, agreed.settings.lease_ns);
	assert_int_equal(copy.settings.base, agreed.settings.base);
	assert_int_equal(copy.settings.block, agreed.settings.block);
	assert_int_equal(copy.settings.cluster.high, 7);
	assert_int_equal(copy.settings.cluster.low, 8);
	assert_int_equal(copy.index, agreed.index);
	assert_int_equal(copy.version, 3);
	assert_true(copy.rescued);
	assert_int_equal(copy.epoch, agreed.epoch);
	assert_int_equal(copy.base, agreed.base);
	assert_int_equal(copy.limit, agreed.limit);
	assert_same_seats(&copy);
	assert_same_names(&copy);
	state_free(&copy);
}

static void test_a_snapshot_is_the_state(void **context)
{
	struct agreed_state copy = {0};
	struct out again;
	(void)context;

	fill();
	state_write(&agreed, &out);
	assert_true(state_read(&copy, out.bytes, out.bytes_count));
	out_init(&again);
	state_write(&copy, &again);
	assert_int_equal(again.bytes_count, out.bytes_count);
	assert_memory_equal(again.bytes, out.bytes, out.bytes_count);
	assert_int_equal(copy.epoch, 4);
	assert_true(state_name(&copy, entry_text_of("d"))->forbidden);
	out_free(&again);
	state_free(&copy);
}

static void test_a_snapshot_that_is_cut_changes_nothing(void **context)
{
	struct agreed_state copy;
	uint32_t orders_count;
	(void)context;

	fill();
	/* Older versions had no orders in a snapshot. So a snapshot without its orders is valid
	 * too. */
	orders_count = agreed.orders_count;
	agreed.orders_count = 0;
	state_write(&agreed, &out);
	uint32_t whole = out.bytes_count;
	agreed.orders_count = orders_count;
	state_write(&agreed, &out);
	assert_true(out.bytes_count > whole);
	state_init(&copy, &(struct state_settings){1, 2, 3, {0, 0}});
	for (uint32_t size = 0; size < out.bytes_count; size++)
		assert_true(size == whole || !state_read(&copy, out.bytes, size));
	assert_int_equal(copy.settings.block, 3);
	state_free(&copy);
}

static void test_what_is_malformed_counts_as_an_entry_and_does_nothing(void **context)
{
	(void)context;
	struct entry_part part = join("a", 1);
	entry_write_change(&out, 0, &part, 1);
	for (uint32_t size = 0; size < out.bytes_count; size++)
		state_apply(&agreed, agreed.index + 1, out.bytes, size);
	assert_int_equal(agreed.epoch, 0);
	assert_int_equal(agreed.index, out.bytes_count);
	/* The parts are in another order than that in which they are applied. */
	struct entry_part parts[] = {
	        join("a", 1), {.kind = PART_LEAVE, .name = entry_text_of("b"), .incarnation = 1}};
	entry_write_change(&out, 0, parts, 2);
	apply();
	assert_int_equal(agreed.epoch, 0);
	/* The name has a control character. */
	change(0, join("a\n", 1));
	assert_int_equal(agreed.epoch, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	        TEST(test_a_join_makes_an_epoch_whose_index_is_the_incarnation),
	        TEST(test_a_change_of_another_epoch_is_void),
	        TEST(test_a_join_replaces_nobody_and_renews_itself),
	        TEST(test_a_removal_is_void_after_a_renewal),
	        TEST(test_a_renewal_of_another_incarnation_is_void),
	        TEST(test_parts_of_a_change_are_void_one_by_one),
	        TEST(test_many_extend_once),
	        TEST(test_an_epoch_begins_at_the_last_limit),
	        TEST(test_a_forbidden_name_is_not_renewed_and_does_not_join),
	        TEST(test_orders_about_invented_names_find_a_limit),
	        TEST(test_names_that_nobody_knows_take_half_of_the_room),
	        TEST(test_an_order_that_comes_again_does_not_undo_a_later_one),
	        TEST(test_orders_are_remembered_in_a_snapshot_and_up_to_a_limit),
	        TEST(test_orders_of_older_versions_are_obeyed),
	        TEST(test_what_was_forbidden_is_not_forgotten_for_want_of_room),
	        TEST(test_a_wish_about_a_vote_survives_a_snapshot),
	        TEST(test_a_pardon_forgets_strikes),
	        TEST(test_a_rescue_forgets_strikes),
	        TEST(test_an_invitation_is_used_once),
	        TEST(test_an_invitation_ends),
	        TEST(test_an_invitation_gives_nobody_the_name_of_a_member),
	        TEST(test_spent_invitations_make_room),
	        TEST(test_invitations_survive_a_snapshot),
	        TEST(test_a_version_only_rises),
	        TEST(test_no_epoch_without_fences),
	        TEST(test_a_snapshot_keeps_every_field),
	        TEST(test_a_snapshot_is_the_state),
	        TEST(test_a_snapshot_that_is_cut_changes_nothing),
	        TEST(test_what_is_malformed_counts_as_an_entry_and_does_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
