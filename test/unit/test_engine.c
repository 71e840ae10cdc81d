/*
 * The engine of a fixed membership: how a view is formed, what is refused, how an epoch ends.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "baton/error.h"
#include "engine.h"
#include "random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODES_MOST = 8 };

static const char *const names[NODES_MOST] = {"n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8"};
static struct engine *engines[NODES_MOST];
static uint64_t seed; /* the seed of the present random run; 0: none */

static int teardown(void **state)
{
	(void)state;
	if (seed != 0)
		print_error("seed %d\n", (int)seed);
	seed = 0;
	for (int i = 0; i < NODES_MOST; i++) {
		engine_destroy(engines[i]);
		engines[i] = NULL;
	}
	return 0;
}

static void start(uint32_t count, uint32_t i, uint64_t incarnation, uint64_t epoch, uint64_t floor)
{
	engine_destroy(engines[i]);
	engines[i] = engine_create(names, count, i, incarnation,
	                           (struct engine_proposal){.epoch = epoch, .floor = floor});
}

/* Members 0 to count-1, with incarnations 11, 12, … and proposals of epochs 101, 102, … */
static void start_all(uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		start(count, i, 11 + i, 101 + i, 1001 + i);
}

static void meet(uint32_t i, uint32_t k)
{
	const char *text = NULL;

	assert_int_equal(
	        engine_met(engines[i], names[k], engine_incarnation(engines[k], names[k]), &text),
	        0);
	assert_null(text);
}

static int tell_bytes(uint32_t to, uint32_t from, const uint8_t *bytes, size_t size,
                      const char **ret_text)
{
	/* In memory of its own, so that a read beyond its end is noticed. */
	uint8_t *copy = malloc(size + (size == 0));
	assert_non_null(copy);
	memcpy(copy, bytes, size);
	int error = engine_notice(engines[to], names[from], copy, size, ret_text);
	free(copy);
	return error;
}

static int tell(uint32_t from, uint32_t to, const char **ret_text)
{
	const uint8_t *bytes;
	size_t size = engine_write(engines[from], &bytes);

	return tell_bytes(to, from, bytes, size, ret_text);
}

static void tell_well(uint32_t from, uint32_t to)
{
	const char *text = NULL;

	assert_int_equal(tell(from, to, &text), 0);
	assert_null(text);
}

/* "EPOCH+FLOOR n1=11 n2=12", or "none". */
static const char *view_of(uint32_t i)
{
	static char text[512];
	const struct engine_view *view = engine_view(engines[i], NULL);
	char *end = text;

	if (view == NULL)
		return "none";
	end += sprintf(end, "%d+%d", (int)view->epoch, (int)view->floor);
	for (uint32_t k = 0; k < view->members_count; k++)
		end += sprintf(end, " %s=%d", view->members[k].name,
		               (int)view->members[k].incarnation);
	return text;
}

static bool view_changed(uint32_t i)
{
	bool changed;

	(void)engine_view(engines[i], &changed);
	return changed;
}

/* --- how a view comes about --- */

static void test_a_cluster_of_one_has_its_view_at_once(void **state)
{
	(void)state;
	start(1, 0, 7, 5, 6);
	assert_string_equal(view_of(0), "5+6 n1=7");
	assert_true(view_changed(0));
	assert_false(view_changed(0));
	assert_null(engine_missing(engines[0]));
}

static void test_a_view_needs_everybody(void **state)
{
	(void)state;
	start_all(3);
	assert_string_equal(view_of(0), "none");
	assert_string_equal(engine_missing(engines[0]), "n2, n3");
	assert_int_equal(engine_incarnation(engines[0], "n2"), 0);
	assert_int_equal(engine_incarnation(engines[0], "n1"), 11);
	meet(0, 1);
	assert_int_equal(engine_incarnation(engines[0], "n2"), 12);
	/* Its proposal is not known yet. */
	assert_string_equal(engine_missing(engines[0]), "n2, n3");
	tell_well(1, 0);
	assert_string_equal(engine_missing(engines[0]), "n3");
	assert_string_equal(view_of(0), "none");
	assert_false(view_changed(0));
	meet(0, 2);
	tell_well(2, 0);
	assert_null(engine_missing(engines[0]));
	assert_true(view_changed(0));
	/* The largest proposal: n3's. */
	assert_string_equal(view_of(0), "103+1003 n1=11 n2=12 n3=13");

	/* The others learn of all members from one. */
	meet(1, 0);
	tell_well(0, 1);
	assert_string_equal(view_of(1), "103+1003 n1=11 n2=12 n3=13");
}

static void test_the_epoch_comes_before_the_floor(void **state)
{
	static const struct {
		uint64_t epoch[2], floor[2];
		const char *view;
	} cases[] = {
	        {{5, 6}, {900, 1}, "6+1 n1=1 n2=2"},
	        {{6, 5}, {1, 900}, "6+1 n1=1 n2=2"},
	        {{6, 6}, {1, 900}, "6+900 n1=1 n2=2"},
	        {{6, 6}, {900, 1}, "6+900 n1=1 n2=2"},
	};
	(void)state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (uint32_t k = 0; k < 2; k++)
			start(2, k, 1 + k, cases[i].epoch[k], cases[i].floor[k]);
		meet(0, 1);
		tell_well(1, 0);
		assert_string_equal(view_of(0), cases[i].view);
	}
}

static void test_members_are_sorted_by_name(void **state)
{
	static const char *const mixed[] = {"b", "aa", "a"};
	(void)state;

	engines[0] = engine_create(mixed, 3, 0, 5, (struct engine_proposal){.epoch = 1});
	assert_string_equal(engine_missing(engines[0]), "a, aa");
	assert_int_equal(engine_incarnation(engines[0], "b"), 5);
	assert_int_equal(engine_incarnation(engines[0], "aaa"), 0);
}

static void test_news_is_told_once(void **state)
{
	(void)state;
	start_all(3);
	assert_true(engine_news(engines[0]));
	assert_false(engine_news(engines[0]));
	meet(0, 1);
	assert_false(engine_news(engines[0]));
	tell_well(1, 0);
	assert_true(engine_news(engines[0]));
	assert_false(engine_news(engines[0]));
	tell_well(1, 0);
	assert_false(engine_news(engines[0]));
}

static void test_frames_may_be_taken_once_the_peer_has_said_the_view(void **state)
{
	(void)state;
	start_all(2);
	assert_false(engine_agrees(engines[0], "n2"));
	meet(0, 1);
	meet(1, 0);
	tell_well(1, 0);
	assert_string_not_equal(view_of(0), "none");
	assert_false(engine_agrees(engines[0], "n2")); /* n2 has none yet */
	tell_well(0, 1);
	assert_true(engine_agrees(engines[1], "n1"));
	tell_well(1, 0);
	assert_true(engine_agrees(engines[0], "n2"));
	/* It must be said on each connection again. */
	engine_parted(engines[0], "n2");
	assert_false(engine_agrees(engines[0], "n2"));
	meet(0, 1);
	assert_false(engine_agrees(engines[0], "n2"));
	tell_well(1, 0);
	assert_true(engine_agrees(engines[0], "n2"));
	meet(0, 1);
	assert_false(engine_agrees(engines[0], "n2"));
	assert_false(engine_agrees(engines[0], "nobody"));
}

/* --- the end of an epoch --- */

static void test_a_new_epoch_spreads(void **state)
{
	(void)state;
	start_all(2);
	engine_bump(engines[0], 101); /* no view, no epoch to end */
	assert_string_equal(view_of(0), "none");
	meet(0, 1);
	meet(1, 0);
	tell_well(0, 1);
	tell_well(1, 0);
	(void)view_changed(0);
	(void)view_changed(1);
	(void)engine_news(engines[0]);
	(void)engine_news(engines[1]);
	engine_bump(engines[0], 101);
	engine_bump(engines[0], 103);
	assert_false(view_changed(0));
	engine_bump(engines[0], 102);
	assert_true(view_changed(0));
	assert_true(engine_news(engines[0]));
	assert_string_equal(view_of(0), "103+0 n1=11 n2=12");
	tell_well(0, 1);
	assert_true(view_changed(1));
	assert_true(engine_news(engines[1]));
	assert_string_equal(view_of(1), "103+0 n1=11 n2=12");
	/* Both bump at once: only one new epoch. */
	engine_bump(engines[0], 103);
	engine_bump(engines[1], 103);
	tell_well(0, 1);
	tell_well(1, 0);
	assert_string_equal(view_of(0), "104+0 n1=11 n2=12");
	assert_string_equal(view_of(1), "104+0 n1=11 n2=12");
}

static void test_who_is_late_finds_the_epoch_that_is(void **state)
{
	(void)state;
	start_all(2);
	meet(0, 1);
	meet(1, 0);
	tell_well(1, 0);
	engine_bump(engines[0], 102);
	engine_bump(engines[0], 103);
	/* The other has no view yet. */
	tell_well(0, 1);
	assert_true(view_changed(1));
	assert_string_equal(view_of(1), "104+0 n1=11 n2=12");
	/* A member that lags does not bring the old epoch back. */
	engine_bump(engines[1], 104);
	tell_well(0, 1);
	assert_string_equal(view_of(1), "105+0 n1=11 n2=12");
}

static void test_the_last_epoch_does_not_end(void **state)
{
	(void)state;
	start(1, 0, 1, ENGINE_EPOCH_MAX, ENGINE_FLOOR_MAX);
	(void)view_changed(0);
	engine_bump(engines[0], ENGINE_EPOCH_MAX);
	assert_false(view_changed(0));
}

/* --- what is refused --- */

/* What calls must leave unchanged. */
struct memory {
	size_t size;
	uint8_t bytes[4096];
	char view[512];
	char missing[512];
};

static struct memory remember(uint32_t i)
{
	struct memory memory = {0};
	const uint8_t *bytes;
	const char *missing = engine_missing(engines[i]);

	memory.size = engine_write(engines[i], &bytes);
	assert_true(memory.size <= sizeof(memory.bytes));
	memcpy(memory.bytes, bytes, memory.size);
	snprintf(memory.view, sizeof(memory.view), "%s", view_of(i));
	snprintf(memory.missing, sizeof(memory.missing), "%s", missing == NULL ? "" : missing);
	return memory;
}

static void expect_unchanged(uint32_t i, const struct memory *memory)
{
	struct memory now = remember(i);

	assert_memory_equal(&now, memory, sizeof(now));
	assert_false(engine_news(engines[i]));
	assert_false(view_changed(i));
}

static void test_who_restarted_is_refused(void **state)
{
	const char *text = NULL;
	(void)state;

	start_all(3);
	meet(0, 1);
	tell_well(1, 0);
	(void)engine_news(engines[0]);
	struct memory memory = remember(0);
	/* A restarted member is refused directly. */
	assert_int_equal(engine_met(engines[0], "n2", 13, &text), BATON_ESENDER);
	assert_string_equal(text,
	                    "n2 restarted; this version cannot take it back: restart every node");
	expect_unchanged(0, &memory);
	/* A restarted member is also refused when others tell of it, */
	start(3, 1, 99, 200, 0);
	meet(2, 1);
	tell_well(1, 2);
	meet(0, 2);
	text = NULL;
	assert_int_equal(tell(2, 0, &text), BATON_ESENDER);
	assert_string_equal(text,
	                    "n2 restarted; this version cannot take it back: restart every node");
	expect_unchanged(0, &memory);
	/* … even if the restarted member hears of itself. */
	meet(1, 0);
	text = NULL;
	assert_int_equal(tell(0, 1, &text), BATON_ESENDER);
	assert_string_equal(text,
	                    "n2 restarted; this version cannot take it back: restart every node");
}

static void test_strangers_are_refused(void **state)
{
	const char *text = NULL;
	(void)state;

	start_all(2);
	(void)engine_news(engines[0]);
	struct memory memory = remember(0);
	assert_int_equal(engine_met(engines[0], "n9", 1, &text), BATON_ESENDER);
	assert_string_equal(text,
	                    "n9 is not among the peers of n1: every node needs the same list");
	assert_int_equal(engine_met(engines[0], "n1", 1, &text), BATON_ESENDER);
	assert_string_equal(text, "n1 is the name of two nodes: each needs its own");
	expect_unchanged(0, &memory);
	/* A member that is refused by one is refused by those that it told. */
	start(3, 1, 12, 102, 0);
	start(3, 2, 13, 103, 0);
	meet(1, 2);
	tell_well(2, 1);
	meet(0, 1);
	assert_int_equal(tell(1, 0, &text), BATON_ESENDER);
	assert_string_equal(text,
	                    "n3 is not among the peers of n1: every node needs the same list");
	expect_unchanged(0, &memory);
}

static void test_another_view_is_refused(void **state)
{
	const char *text = NULL;
	(void)state;

	/* n2 does not know that there is an n3. */
	start(3, 0, 11, 101, 0);
	start(3, 2, 13, 103, 0);
	start(2, 1, 12, 102, 0);
	meet(0, 1);
	tell_well(1, 0);
	engine_destroy(engines[7]);
	engines[7] = engine_create(names, 2, 0, 11, (struct engine_proposal){.epoch = 101});
	const uint8_t *bytes;
	size_t size = engine_write(engines[7], &bytes);
	assert_int_equal(engine_met(engines[1], "n1", 11, &text), 0);
	assert_int_equal(tell_bytes(1, 0, bytes, size, &text), 0);
	(void)engine_news(engines[0]);
	for (int i = 0; i < 2; i++) {
		struct memory memory = remember(0);
		assert_int_equal(tell(1, 0, &text), BATON_ESENDER);
		assert_string_equal(text,
		                    "n2 has another view of the members than n1: restart every "
		                    "node, all with the same list of peers");
		expect_unchanged(0, &memory);
		/* The same after n1 has its view. */
		meet(0, 2);
		tell_well(2, 0);
		(void)engine_news(engines[0]);
		(void)view_changed(0);
	}
	assert_false(engine_agrees(engines[0], "n2"));
}

static void test_a_view_with_another_digest_is_refused(void **state)
{
	uint8_t bytes[4096];
	const uint8_t *from;
	const char *text = NULL;
	(void)state;

	start_all(2);
	meet(0, 1);
	meet(1, 0);
	tell_well(0, 1);
	(void)engine_news(engines[0]);
	struct memory memory = remember(0);
	size_t size = engine_write(engines[1], &from);
	for (size_t i = 1; i <= 8; i++) {
		memcpy(bytes, from, size);
		bytes[size - i] ^= 0x40;
		assert_int_equal(tell_bytes(0, 1, bytes, size, &text), BATON_ESENDER);
		assert_non_null(strstr(text, "n2 has another view of the members than n1"));
		expect_unchanged(0, &memory);
	}
	assert_int_equal(tell_bytes(0, 1, from, size, &text), 0);
	assert_true(engine_agrees(engines[0], "n2"));
}

static void test_malformed_notices_change_nothing(void **state)
{
#define N1 2, 'n', '1', 11, 101, 0
#define N2 2, 'n', '2', 12, 102, 0
	static const struct {
		size_t size;
		uint8_t bytes[64];
		const char *text;
	} cases[] = {
	        {0, {0}, NULL},
	        {9, {2, 1, N2, 0}, NULL},                    /* another type */
	        {3, {1, 0, 0}, NULL},                        /* no member at all */
	        {10, {1, 1, N2, 0, 0}, NULL},                /* bytes after the end */
	        {9, {1, 2, N2, 0}, NULL},                    /* fewer than it says */
	        {15, {1, 2, N2, N1, 0}, NULL},               /* not sorted */
	        {15, {1, 2, N2, N2, 0}, NULL},               /* the same name twice */
	        {7, {1, 1, 0, 12, 102, 0, 0}, NULL},         /* without a name */
	        {9, {1, 1, 2, 'n', 0, 12, 102, 0, 0}, NULL}, /* a name with a 0 in it */
	        {9, {1, 1, 2, 27, '2', 12, 102, 0, 0}, NULL},
	        {9, {1, 1, 2, 127, '2', 12, 102, 0, 0}, NULL},
	        {9, {1, 1, 2, 'n', '2', 0, 102, 0, 0}, NULL}, /* no incarnation */
	        {9, {1, 1, 2, 'n', '2', 12, 0, 0, 0}, NULL},  /* no epoch */
	        {11, {1, 1, 2, 'n', '2', 12, 0x80, 0x80, 0x20, 0, 0}, NULL},
	        {9 + 4, {1, 1, 2, 'n', '2', 12, 102, 0x80, 0x80, 0x80, 0x80, 0x40, 0}, NULL},
	        {23,
	         {1, 2, N1, N2, 101, 1, 2, 3, 4, 5, 6, 7, 8},
	         NULL}, /* a view before all members are known */
	        {22, {1, 2, N1, N2, 102, 1, 2, 3, 4, 5, 6, 7}, NULL}, /* without a digest */
	        {9, {1, 1, N1, 0}, "n2 says nothing about itself"},
	        {15,
	         {1, 2, 2, 'n', '1', 11, 100, 0, N2, 0},
	         "n2 says that n1 proposed another epoch than it did"},
	        {15,
	         {1, 2, 2, 'n', '1', 11, 101, 1, N2, 0},
	         "n2 says that n1 proposed another epoch than it did"},
	};
	const char *text;
	(void)state;

	start(2, 0, 11, 101, 0);
	start(2, 1, 12, 102, 0);
	meet(0, 1);
	(void)engine_news(engines[0]);
	struct memory memory = remember(0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(tell_bytes(0, 1, cases[i].bytes, cases[i].size, &text),
		                 BATON_EMESSAGE);
		assert_string_equal(text, cases[i].text == NULL ? "n2 sent a malformed notice"
		                                                : cases[i].text);
		expect_unchanged(0, &memory);
	}
	/* A correct notice is accepted: nothing is missing from it, and the lists above are not too
	 * strict. */
	meet(1, 0);
	tell_well(0, 1);
	const uint8_t *bytes;
	size_t size = engine_write(engines[1], &bytes);
	static const uint8_t right[] = {1, 2, N1, N2, 102};
	assert_int_equal(size, sizeof(right) + 8);
	assert_memory_equal(bytes, right, sizeof(right));
	for (size_t cut = 0; cut < size; cut++) {
		assert_int_equal(tell_bytes(0, 1, bytes, cut, &text), BATON_EMESSAGE);
		expect_unchanged(0, &memory);
	}
	tell_well(1, 0);
#undef N1
#undef N2
}

/* --- whatever happens --- */

enum { WAITING_MOST = 64 };

/* A connection between two nodes, with the notices in flight. */
struct road {
	uint32_t ends[2];
	bool up;
	struct {
		uint8_t bytes[256];
		size_t size;
	} waiting[2][WAITING_MOST]; /* indexed by the receiving end */
	unsigned count[2];
};

static struct {
	uint32_t count, roads_count;
	struct road roads[NODES_MOST * NODES_MOST];
	uint64_t incarnations[NODES_MOST];
	unsigned refusals;
	struct random random;
} world;

static void road_end(struct road *road)
{
	road->up = false;
	road->count[0] = road->count[1] = 0;
	engine_parted(engines[road->ends[0]], names[road->ends[1]]);
	engine_parted(engines[road->ends[1]], names[road->ends[0]]);
}

static void road_tell(struct road *road, unsigned to)
{
	const uint8_t *bytes;
	size_t size = engine_write(engines[road->ends[1 - to]], &bytes);

	assert_true(size <= sizeof(road->waiting[to][0].bytes));
	if (road->count[to] == WAITING_MOST) {
		road_end(road);
		return;
	}
	memcpy(road->waiting[to][road->count[to]].bytes, bytes, size);
	road->waiting[to][road->count[to]++].size = size;
}

static void road_begin(struct road *road)
{
	const char *text;

	for (unsigned i = 0; i < 2; i++) {
		uint32_t peer = road->ends[1 - i];
		if (engine_met(engines[road->ends[i]], names[peer], world.incarnations[peer],
		               &text) != 0) {
			world.refusals++;
			return;
		}
	}
	road->up = true;
	road_tell(road, 0);
	road_tell(road, 1);
}

static void road_deliver(struct road *road, unsigned to)
{
	const char *text;

	if (!road->up || road->count[to] == 0)
		return;
	int error = tell_bytes(road->ends[to], road->ends[1 - to], road->waiting[to][0].bytes,
	                       road->waiting[to][0].size, &text);
	assert_int_not_equal(error, BATON_EMESSAGE);
	if (error != 0) {
		world.refusals++;
		road_end(road);
		return;
	}
	road->count[to]--;
	memmove(&road->waiting[to][0], &road->waiting[to][1],
	        road->count[to] * sizeof(road->waiting[to][0]));
}

static void tell_news(void)
{
	for (uint32_t i = 0; i < world.count; i++) {
		if (!engine_news(engines[i]))
			continue;
		for (uint32_t k = 0; k < world.roads_count; k++) {
			struct road *road = &world.roads[k];
			if (road->up && (road->ends[0] == i || road->ends[1] == i))
				road_tell(road, road->ends[0] == i);
		}
	}
}

static void restart(uint32_t i)
{
	for (uint32_t k = 0; k < world.roads_count; k++) {
		struct road *road = &world.roads[k];
		if (road->up && (road->ends[0] == i || road->ends[1] == i))
			road_end(road);
	}
	start(world.count, i, ++world.incarnations[i], 1 + random_below(&world.random, 3),
	      random_below(&world.random, 3));
}

static bool same_members(const struct engine_view *a, const struct engine_view *b)
{
	if (a == NULL || b == NULL)
		return false;
	for (uint32_t i = 0; i < a->members_count; i++) {
		if (a->members[i].incarnation != b->members[i].incarnation)
			return false;
	}
	return true;
}

/* A member that takes frames from another has the same members, and an epoch has only one view of
 * them. */
static void check_world(void)
{
	for (uint32_t i = 0; i < world.count; i++) {
		const struct engine_view *view = engine_view(engines[i], NULL);
		for (uint32_t k = 0; k < world.count; k++) {
			const struct engine_view *other = engine_view(engines[k], NULL);
			if (engine_agrees(engines[i], names[k]))
				assert_true(same_members(view, other));
			if (same_members(view, other) && view->epoch == other->epoch)
				assert_int_equal(view->floor, other->floor);
		}
	}
}

static void add_road(uint32_t i, uint32_t k)
{
	world.roads[world.roads_count++] = (struct road){.ends = {i, k}};
}

static void lay_roads(void)
{
	uint64_t kind = random_below(&world.random, 4);

	for (uint32_t i = 1; i < world.count; i++) {
		if (kind < 2)
			add_road(i - 1, i);
		else if (kind == 2)
			add_road((uint32_t)random_below(&world.random, i), i);
		for (uint32_t k = 0; kind == 3 && k < i; k++)
			add_road(k, i);
	}
	if (kind == 1 && world.count > 2)
		add_road(0, world.count - 1);
}

static void random_step(uint64_t restarts)
{
	struct road *road = &world.roads[random_below(&world.random, world.roads_count)];
	uint64_t what = random_below(&world.random, 100);
	uint32_t node = (uint32_t)random_below(&world.random, world.count);

	if (what < 70) {
		road_deliver(road, what % 2);
	} else if (what < 90) {
		if (!road->up)
			road_begin(road);
	} else if (what < 95) {
		if (road->up)
			road_end(road);
	} else if (what < 98) {
		const struct engine_view *view = engine_view(engines[node], NULL);
		if (view != NULL && view->epoch < 12)
			engine_bump(engines[node], view->epoch);
	} else if (random_below(&world.random, 100) < restarts) {
		restart(node);
	}
	tell_news();
	check_world();
}

static void settle(void)
{
	for (int i = 0; i < 100; i++) {
		for (uint32_t k = 0; k < world.roads_count; k++) {
			if (!world.roads[k].up)
				road_begin(&world.roads[k]);
			while (world.roads[k].count[0] + world.roads[k].count[1] > 0) {
				road_deliver(&world.roads[k], 0);
				road_deliver(&world.roads[k], 1);
			}
			tell_news();
			check_world();
		}
	}
}

static void begin_world(uint64_t number)
{
	seed = number;
	memset(&world, 0, sizeof(world));
	random_seed(&world.random, seed);
	world.count = 2 + (uint32_t)random_below(&world.random, NODES_MOST - 1);
	lay_roads();
	for (uint32_t i = 0; i < world.count; i++)
		restart(i);
}

static void test_all_agree_if_nobody_restarts(void **state)
{
	for (uint64_t number = 1; number <= 300; number++) {
		begin_world(number);
		uint64_t steps = random_below(&world.random, 300);
		for (uint64_t i = 0; i < steps; i++)
			random_step(0);
		settle();
		assert_int_equal(world.refusals, 0);
		const struct engine_view *first = engine_view(engines[0], NULL);
		assert_non_null(first);
		for (uint32_t i = 0; i < world.count; i++) {
			const struct engine_view *view = engine_view(engines[i], NULL);
			assert_non_null(view);
			assert_int_equal(view->epoch, first->epoch);
			assert_true(same_members(view, first));
		}
		for (uint32_t k = 0; k < world.roads_count; k++) {
			const uint32_t *ends = world.roads[k].ends;
			assert_true(engine_agrees(engines[ends[0]], names[ends[1]]));
			assert_true(engine_agrees(engines[ends[1]], names[ends[0]]));
		}
		seed = 0;
		teardown(state);
	}
}

/* Frames pass only between members that have the same view: check_world checks this after every
 * step. */
static void test_restarts_never_make_two_views_that_work_together(void **state)
{
	unsigned refused = 0, formed = 0;

	for (uint64_t number = 1; number <= 300; number++) {
		begin_world(number);
		for (int i = 0; i < 300; i++)
			random_step(30);
		settle();
		refused += world.refusals > 0;
		formed += engine_missing(engines[0]) == NULL;
		seed = 0;
		teardown(state);
	}
	/* Both cases have occurred. */
	assert_true(refused > 50 && formed > 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_teardown(test_a_cluster_of_one_has_its_view_at_once, teardown),
	        cmocka_unit_test_teardown(test_a_view_needs_everybody, teardown),
	        cmocka_unit_test_teardown(test_the_epoch_comes_before_the_floor, teardown),
	        cmocka_unit_test_teardown(test_members_are_sorted_by_name, teardown),
	        cmocka_unit_test_teardown(test_news_is_told_once, teardown),
	        cmocka_unit_test_teardown(test_frames_may_be_taken_once_the_peer_has_said_the_view,
	                                  teardown),
	        cmocka_unit_test_teardown(test_a_new_epoch_spreads, teardown),
	        cmocka_unit_test_teardown(test_who_is_late_finds_the_epoch_that_is, teardown),
	        cmocka_unit_test_teardown(test_the_last_epoch_does_not_end, teardown),
	        cmocka_unit_test_teardown(test_who_restarted_is_refused, teardown),
	        cmocka_unit_test_teardown(test_strangers_are_refused, teardown),
	        cmocka_unit_test_teardown(test_another_view_is_refused, teardown),
	        cmocka_unit_test_teardown(test_a_view_with_another_digest_is_refused, teardown),
	        cmocka_unit_test_teardown(test_malformed_notices_change_nothing, teardown),
	        cmocka_unit_test_teardown(test_all_agree_if_nobody_restarts, teardown),
	        cmocka_unit_test_teardown(test_restarts_never_make_two_views_that_work_together,
	                                  teardown),
	};
	return cmocka_run_group_tests_name("engine", tests, NULL, NULL);
}
