/*
 * The birth of a cluster, under fixed schedules and then under random ones. In these, messages are
 * lost, duplicated, very late and out of order, nodes are killed before and after their writes are
 * durable, and disks are wiped.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "birth.h"
#include "random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODES_MAX = 5, LETTERS_MAX = 400, RUNS = 4000, STEPS = 300 };

static const char *const names[NODES_MAX] = {"ant", "bee", "crow", "dog", "elk"};
static const char *const addresses[NODES_MAX] = {"h:1", "h:2", "h:3", "h:4", "h:5"};

struct letter {
	uint32_t from, to;
	uint8_t *bytes;
	size_t size;
};

static struct world {
	struct random random;
	uint32_t count;
	struct birth *nodes[NODES_MAX]; /* the nodes; NULL: the node was killed */
	struct birth_record disks[NODES_MAX];
	uint64_t servers[NODES_MAX];      /* the ids of the data directories */
	struct electors lists[NODES_MAX]; /* the founders of a life */
	const char *agreements[NODES_MAX];
	struct letter letters[LETTERS_MAX];
	uint32_t letters_count;
	uint32_t wipes;
} world;

static uint64_t draw_number(void *context)
{
	(void)context;
	return random_next(&world.random);
}

static uint64_t draw(uint64_t bound)
{
	return random_below(&world.random, bound);
}

static void copy_disk(struct birth_record *to, const struct birth_record *from)
{
	to->stage = from->stage;
	to->cluster = from->cluster;
	to->base = from->base;
	electors_copy(&to->founders, &from->founders);
}

static uint64_t base_of(uint32_t k)
{
	return UINT64_C(1000) * (k + 1);
}

static void start(uint32_t k)
{
	if (world.nodes[k] != NULL)
		return;
	world.nodes[k] = birth_create(&(struct birth_options){.names = names,
	                                                      .addresses = addresses,
	                                                      .count = world.count,
	                                                      .self = k,
	                                                      .server = world.servers[k],
	                                                      .base = base_of(k),
	                                                      .agreement = world.agreements[k],
	                                                      .record = &world.disks[k],
	                                                      .draw = draw_number});
}

static void stop(uint32_t k)
{
	if (world.nodes[k] != NULL)
		birth_destroy(world.nodes[k]);
	world.nodes[k] = NULL;
}

static void wipe(uint32_t k)
{
	stop(k);
	world.wipes++;
	world.disks[k].stage = BIRTH_NOTHING;
	world.disks[k].cluster = (struct cluster_id){0, 0};
	electors_clear(&world.disks[k].founders, 0);
	electors_clear(&world.lists[k], 0);
	world.servers[k] = 1 + random_next(&world.random) / 2;
}

static void begin(uint64_t seed, uint32_t count)
{
	memset(&world, 0, sizeof(world));
	random_seed(&world.random, seed);
	world.count = count;
	for (uint32_t k = 0; k < count; k++) {
		world.servers[k] = 100 + k;
		world.agreements[k] = "lease = 3s\nalgorithm = neilsen";
	}
}

static void drop(uint32_t i)
{
	free(world.letters[i].bytes);
	world.letters[i] = world.letters[--world.letters_count];
}

static int end(void **context)
{
	(void)context;
	while (world.letters_count > 0)
		drop(0);
	for (uint32_t k = 0; k < NODES_MAX; k++) {
		stop(k);
		electors_free(&world.disks[k].founders);
		electors_free(&world.lists[k]);
	}
	return 0;
}

/* Checks that all lives on disks that exist are one life, and that a founder is a data directory
 * that its record names. */
static void judge(void)
{
	const struct birth_record *life = NULL;

	for (uint32_t k = 0; k < world.count; k++) {
		const struct birth_record *disk = &world.disks[k];
		if (disk->stage != BIRTH_LIFE)
			continue;
		if (life != NULL)
			assert_true(cluster_is(life->cluster, disk->cluster));
		life = disk;
		const struct elector *self = electors_find(&world.lists[k], names[k]);
		assert_non_null(self);
		assert_int_equal(self->server, world.servers[k]);
	}
}

static void found(uint32_t k)
{
	const struct birth_record *wished = birth_wished(world.nodes[k]);

	assert_int_equal(wished->founders.count, world.count);
	/* The cluster must not grant a fence that a node may have granted before. */
	assert_int_equal(wished->base, base_of(world.count - 1));
	electors_copy(&world.lists[k], &wished->founders);
	world.disks[k].stage = BIRTH_LIFE;
	world.disks[k].cluster = wished->cluster;
	birth_lives(world.nodes[k]);
	judge();
}

/* Does what a node wants. The node may be killed before its write is durable. */
static void serve(uint32_t k)
{
	if (world.nodes[k] == NULL)
		return;
	if (birth_wish(world.nodes[k]) == BIRTH_WRITE) {
		copy_disk(&world.disks[k], birth_wished(world.nodes[k]));
		birth_written(world.nodes[k]);
	}
	if (birth_wish(world.nodes[k]) == BIRTH_FOUND && world.disks[k].stage != BIRTH_LIFE)
		found(k);
}

static void say(uint32_t from, uint32_t to)
{
	const uint8_t *bytes;

	if (from == to || world.nodes[from] == NULL || world.letters_count == LETTERS_MAX)
		return;
	struct letter *letter = &world.letters[world.letters_count++];
	letter->from = from;
	letter->to = to;
	letter->size = birth_say(world.nodes[from], to, &bytes);
	letter->bytes = malloc(letter->size);
	memcpy(letter->bytes, bytes, letter->size);
}

static void deliver(uint32_t i)
{
	const struct letter *letter = &world.letters[i];

	if (world.nodes[letter->to] != NULL)
		assert_true(birth_hear(world.nodes[letter->to], letter->from, letter->bytes,
		                       letter->size));
}

/* Lets everybody say everything to everybody, a few times. */
static void converse(void)
{
	for (uint32_t round = 0; round < 12; round++) {
		for (uint32_t from = 0; from < world.count; from++) {
			for (uint32_t to = 0; to < world.count; to++) {
				say(from, to);
				while (world.letters_count > 0) {
					deliver(0);
					drop(0);
				}
				serve(to);
			}
		}
	}
}

static void start_all(void)
{
	for (uint32_t k = 0; k < world.count; k++) {
		start(k);
		serve(k);
	}
}

static uint32_t count_lives(void)
{
	uint32_t lives = 0;

	for (uint32_t k = 0; k < world.count; k++)
		lives += world.disks[k].stage == BIRTH_LIFE;
	return lives;
}

static void test_one_is_born_at_once(void **context)
{
	(void)context;
	begin(1, 1);
	start_all();
	assert_int_equal(count_lives(), 1);
}

static void test_all_meet_and_have_one_life(void **context)
{
	(void)context;
	begin(2, 3);
	start(0);
	start(1);
	converse();
	assert_int_equal(count_lives(), 0);
	assert_int_equal(world.disks[0].stage, BIRTH_NOTHING);
	assert_string_equal(birth_text(world.nodes[0]), "crow");
	start(2);
	converse();
	assert_int_equal(count_lives(), 3);
}

static void test_a_record_alone_is_no_life(void **context)
{
	(void)context;
	begin(3, 3);
	start_all();
	/* ant has written the record, bee has followed, and crow loses its disk before it could
	 * follow. */
	for (uint32_t round = 0; world.disks[1].stage == BIRTH_NOTHING && round < 20; round++) {
		for (uint32_t k = 0; k < 2; k++) {
			for (uint32_t to = 0; to < 3; to++)
				say(k, to);
		}
		say(2, 0);
		while (world.letters_count > 0) {
			deliver(0);
			drop(0);
		}
		serve(0);
		serve(1);
	}
	struct cluster_id first = world.disks[1].cluster;
	wipe(2);
	start(2);
	converse();
	assert_int_equal(count_lives(), 3);
	assert_false(cluster_is(first, world.disks[1].cluster));
}

/* Lets everybody say everything to everybody until the disk has another cluster than this one. */
static void converse_until(uint32_t k, struct cluster_id not_this)
{
	for (uint32_t round = 0; round < 20; round++) {
		for (uint32_t from = 0; from < world.count; from++) {
			for (uint32_t to = 0; to < world.count; to++)
				say(from, to);
		}
		while (world.letters_count > 0) {
			deliver(0);
			drop(0);
		}
		for (uint32_t i = 0; i < world.count; i++) {
			serve(i);
			if (i == k && world.disks[k].stage != BIRTH_NOTHING &&
			    !cluster_is(world.disks[k].cluster, not_this))
				return;
		}
	}
}

static void test_a_record_that_was_replaced_is_not_written_again(void **context)
{
	static uint8_t late[1000];
	const uint8_t *bytes;
	(void)context;

	begin(12, 3);
	start_all();
	converse_until(0, (struct cluster_id){0, 0});
	struct cluster_id first = world.disks[0].cluster;
	size_t size = birth_say(world.nodes[0], 2, &bytes);
	assert_true(size <= sizeof(late));
	memcpy(late, bytes, size);
	wipe(1);
	start(1);
	converse_until(2, first);
	assert_true(cluster_is(world.disks[0].cluster, world.disks[2].cluster));
	/* The late message is from ant, which by now believes that crow has the new record. */
	assert_true(birth_hear(world.nodes[2], 0, late, size));
	serve(2);
	assert_false(cluster_is(world.disks[2].cluster, first));
	converse();
	assert_int_equal(count_lives(), 3);
}

static void test_an_empty_directory_joins_a_life(void **context)
{
	(void)context;
	begin(4, 3);
	start_all();
	converse();
	struct cluster_id first = world.disks[1].cluster;
	/* The most important case is the founder (0). */
	for (uint32_t k = 0; k < 3; k += 2) {
		wipe(k);
		start(k);
		converse();
		assert_int_equal(birth_wish(world.nodes[k]), BIRTH_JOIN);
		assert_true(cluster_is(birth_wished(world.nodes[k])->cluster, first));
		assert_int_equal(world.disks[k].stage, BIRTH_NOTHING);
	}
}

static void test_a_founder_without_a_disk_waits_for_everybody(void **context)
{
	(void)context;
	begin(5, 3);
	start_all();
	converse();
	wipe(0);
	wipe(2);
	stop(1); /* stop bee, the only node that knows of the life */
	start(0);
	start(2);
	converse();
	assert_int_equal(birth_wish(world.nodes[0]), BIRTH_WAITS);
	assert_string_equal(birth_text(world.nodes[0]), "bee");
}

static void test_who_has_the_record_follows_its_life_later(void **context)
{
	(void)context;
	begin(6, 3);
	start_all();
	for (uint32_t round = 0; world.disks[0].stage != BIRTH_LIFE && round < 20; round++) {
		for (uint32_t k = 0; k < 3; k++) {
			say(k, 0);
			say(0, k);
		}
		while (world.letters_count > 0) {
			deliver(0);
			drop(0);
		}
		for (uint32_t k = 0; k < 3; k++)
			serve(k);
	}
	stop(2);
	assert_int_equal(world.disks[2].stage, BIRTH_RECORD);
	start(2);
	converse();
	assert_int_equal(count_lives(), 3);
}

static void test_a_record_of_another_cluster_is_no_use(void **context)
{
	(void)context;
	begin(10, 3);
	start_all();
	converse();
	/* bee comes with the record of an earlier attempt. */
	world.disks[1].stage = BIRTH_RECORD;
	electors_copy(&world.disks[1].founders, &world.lists[1]);
	world.disks[1].cluster.low++;
	stop(1);
	start(1);
	converse();
	assert_int_equal(birth_wish(world.nodes[1]), BIRTH_JOIN);
	assert_true(cluster_is(birth_wished(world.nodes[1])->cluster, world.disks[0].cluster));
}

static void pass_on(uint32_t from, uint32_t to)
{
	say(from, to);
	deliver(world.letters_count - 1);
	drop(world.letters_count - 1);
	serve(to);
}

/* The founder makes a life, and the message about it is slow. The founder loses its disk and comes
 * back, and all agree on another record, except bee, which was asked and has not heard of it yet.
 * If the slow message counted, bee would live in a cluster to which nobody else can belong. */
static void test_a_life_that_died_with_its_disk_is_not_followed(void **context)
{
	(void)context;
	begin(11, 3);
	start_all();
	for (uint32_t round = 0; world.disks[0].stage != BIRTH_LIFE && round < 20; round++) {
		for (uint32_t k = 1; k < 3; k++) {
			pass_on(0, k);
			pass_on(k, 0);
		}
	}
	assert_int_equal(count_lives(), 1);
	say(0, 1);
	struct letter slow = world.letters[--world.letters_count];
	wipe(0);
	start(0);
	for (uint32_t round = 0; round < 2; round++) {
		for (uint32_t k = 1; k < 3; k++) {
			pass_on(0, k);
			pass_on(k, 0);
			if (world.disks[0].stage == BIRTH_RECORD)
				break;
		}
	}
	assert_int_equal(world.disks[0].stage, BIRTH_RECORD);
	pass_on(0, 2);
	assert_true(cluster_is(world.disks[2].cluster, world.disks[0].cluster));
	world.letters[world.letters_count++] = slow;
	deliver(0);
	drop(0);
	serve(1);
	converse();
	assert_int_equal(count_lives(), 3);
}

static void test_other_settings_are_refused(void **context)
{
	(void)context;
	begin(7, 3);
	world.agreements[1] = "lease = 4s\nalgorithm = neilsen";
	start_all();
	converse();
	assert_int_equal(birth_wish(world.nodes[0]), BIRTH_STOP);
	char expected[200];
	snprintf(expected, sizeof(expected),
	         "node '%s' has lease = 4s, and this node '%s' has lease = 3s:", names[1],
	         names[0]);
	assert_memory_equal(birth_text(world.nodes[0]), expected, strlen(expected));
	assert_int_equal(count_lives(), 0);
}

static void test_what_one_side_lacks_is_named(void **context)
{
	(void)context;
	begin(7, 2);
	world.agreements[1] = "lease = 3s\nparam = L=3\nalgorithm = neilsen";
	start_all();
	converse();
	assert_int_equal(birth_wish(world.nodes[0]), BIRTH_STOP);
	assert_non_null(strstr(birth_text(world.nodes[0]), "has param = L=3, and this node"));
	assert_non_null(strstr(birth_text(world.nodes[0]), "has nothing of that kind"));
	assert_int_equal(count_lives(), 0);
}

static void test_a_copied_directory_is_refused(void **context)
{
	(void)context;
	for (uint32_t original = 0; original < 2; original++) {
		begin(7, 3);
		world.servers[2] = world.servers[original];
		start_all();
		converse();
		assert_int_equal(birth_wish(world.nodes[0]), BIRTH_STOP);
		assert_non_null(
		        strstr(birth_text(world.nodes[0]), "the data directory of another"));
		assert_int_equal(count_lives(), 0);
		end(NULL);
	}
}

/* The founder's record gives two nodes the same directory: no first log can be made of it. */
static void test_a_record_of_which_no_log_can_be_made_is_not_followed(void **context)
{
	(void)context;
	begin(7, 3);
	start_all();
	struct birth_record *disk = &world.disks[0];
	stop(0);
	disk->stage = BIRTH_RECORD;
	disk->cluster = (struct cluster_id){1, 5};
	electors_clear(&disk->founders, 1);
	for (uint32_t k = 0; k < 3; k++)
		electors_add(&disk->founders, k == 2 ? 101 : 100 + k, entry_text_of(names[k]),
		             entry_text_of(addresses[k]));
	start(0);
	for (uint32_t i = 0; i < 3; i++) {
		pass_on(1, 0);
		pass_on(0, 1);
	}
	assert_int_equal(world.disks[1].stage, BIRTH_NOTHING);
	assert_int_equal(birth_wish(world.nodes[1]), BIRTH_WAITS);
}

static void test_two_lives_are_refused(void **context)
{
	(void)context;
	begin(8, 2);
	for (uint32_t k = 0; k < 2; k++) {
		world.disks[k].stage = BIRTH_LIFE;
		world.disks[k].cluster = (struct cluster_id){1, 5 + k};
	}
	start_all();
	converse();
	assert_int_equal(birth_wish(world.nodes[0]), BIRTH_STOP);
	assert_int_equal(birth_wish(world.nodes[1]), BIRTH_STOP);
}

static void test_who_must_end(void **context)
{
	struct cluster_id own = {1, 2}, other = {1, 3};
	(void)context;

	assert_true(birth_must_end(own, true, other, true));
	assert_false(birth_must_end(own, true, own, true));
	assert_false(birth_must_end(own, true, other, false));
	assert_false(birth_must_end(own, false, other, true));
}

static void test_malformed_words_change_nothing(void **context)
{
	const uint8_t *bytes;
	(void)context;

	begin(9, 3);
	start_all();
	size_t size = birth_say(world.nodes[1], 0, &bytes);
	for (size_t part = 0; part < size; part++)
		assert_false(birth_hear(world.nodes[0], 1, bytes, part));
}

/* --- chance --- */

static void do_something(uint32_t wipes_max)
{
	uint64_t dice = draw(100);
	uint32_t k = (uint32_t)draw(world.count);

	if (dice < 55) {
		say(k, (uint32_t)draw(world.count));
	} else if (dice < 60 && world.letters_count > 0) {
		drop((uint32_t)draw(world.letters_count));
	} else if (dice < 90 && world.letters_count > 0) {
		/* Some messages come twice, or long after they were sent. */
		uint32_t i = (uint32_t)draw(world.letters_count);
		uint32_t to = world.letters[i].to;
		deliver(i);
		if (draw(4) != 0)
			drop(i);
		if (draw(5) != 0)
			serve(to);
	} else if (dice < 95) {
		serve(k);
	} else if (dice < 98) {
		stop(k);
	} else if (dice < 99 && world.wipes < wipes_max) {
		wipe(k);
	}
	if (draw(6) == 0)
		start((uint32_t)draw(world.count));
}

/* Every node must have a life, or be about to join one. If at most one disk was lost, a majority of
 * the founders must be able to vote. */
static void judge_end(void)
{
	uint32_t lives = count_lives(), voters = 0;
	const struct electors *list = NULL;

	assert_true(lives > 0);
	for (uint32_t k = 0; k < world.count; k++) {
		enum birth_wish_kind wish = birth_wish(world.nodes[k]);
		assert_true(world.disks[k].stage == BIRTH_LIFE || wish == BIRTH_JOIN);
		if (world.disks[k].stage == BIRTH_LIFE)
			list = &world.lists[k];
	}
	for (uint32_t k = 0; k < world.count; k++) {
		const struct elector *founder = electors_find(list, names[k]);
		voters += world.disks[k].stage == BIRTH_LIFE && founder->server == world.servers[k];
	}
	if (world.wipes <= 1)
		assert_true(2 * voters > world.count);
}

static void test_random_births(void **context)
{
	(void)context;
	for (uint64_t seed = 1; seed <= RUNS; seed++) {
		begin(seed, 3 + (uint32_t)(seed % 3));
		uint32_t wipes_max = (uint32_t)(seed % 4);
		for (uint32_t step = 0; step < STEPS; step++)
			do_something(wipes_max);
		while (world.letters_count > 0)
			drop(0);
		start_all();
		converse();
		judge_end();
		end(NULL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_teardown(name, end)
	        TEST(test_one_is_born_at_once),
	        TEST(test_all_meet_and_have_one_life),
	        TEST(test_a_record_alone_is_no_life),
	        TEST(test_a_record_that_was_replaced_is_not_written_again),
	        TEST(test_an_empty_directory_joins_a_life),
	        TEST(test_a_founder_without_a_disk_waits_for_everybody),
	        TEST(test_who_has_the_record_follows_its_life_later),
	        TEST(test_a_record_of_another_cluster_is_no_use),
	        TEST(test_a_life_that_died_with_its_disk_is_not_followed),
	        TEST(test_other_settings_are_refused),
	        TEST(test_what_one_side_lacks_is_named),
	        TEST(test_a_copied_directory_is_refused),
	        TEST(test_a_record_of_which_no_log_can_be_made_is_not_followed),
	        TEST(test_two_lives_are_refused),
	        TEST(test_who_must_end),
	        TEST(test_malformed_words_change_nothing),
	        TEST(test_random_births),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
