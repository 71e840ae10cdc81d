/*
 * The queue that an algorithm shows comes true: its first node enters next, no other node enters in
 * between, and only nodes that wait are shown. At rest, when no message is in flight, more must
 * hold: all nodes that wait are shown, and they enter in this order, though others may enter in
 * between. Checked by random walks, with every order of delivery that the algorithm allows.
 */
#include "random.h"
#include "registry.h"
#include "setup.h"
#include "world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { WALKERS_MAX = 6, LETTERS_MAX = 256, BODY_MAX = 160, STEPS = 1500 };

struct letter {
	uint32_t from, to, size;
	enum side side;
	uint8_t body[BODY_MAX];
};

struct walk {
	struct setup setup;
	struct world world;
	struct random random;
	struct letter letters[LETTERS_MAX]; /* the messages in flight, oldest first */
	uint32_t letters_count;
	uint32_t told[WALKERS_MAX], told_count;
	uint32_t longest; /* the longest queue that was shown */
	/* The queue that was shown when the system was last at rest, without nodes that have
	 * entered since. */
	uint32_t line[WALKERS_MAX], line_count;
	uint32_t longest_line;
};

static struct walk walk;

/* Takes the messages of the last step. Returns the node that entered by it. */
static uint32_t take_effects(uint32_t node)
{
	const struct out *out = &walk.world.out;
	uint32_t entered = 0;

	assert_null(walk.world.broken);
	for (uint32_t i = 0; i < out->effects_count; i++) {
		const struct effect *effect = &out->effects[i];
		if (effect->kind == EFFECT_ENTER)
			entered = node;
		if (effect->kind != EFFECT_SEND)
			continue;
		assert_true(walk.letters_count < LETTERS_MAX && effect->send.size <= BODY_MAX);
		struct letter *letter = &walk.letters[walk.letters_count++];
		*letter = (struct letter){.from = node,
		                          .to = effect->send.to,
		                          .size = effect->send.size,
		                          .side = effect->send.side};
		memcpy(letter->body, out->bytes + effect->send.offset, effect->send.size);
	}
	return entered;
}

static uint32_t deliver(uint32_t k)
{
	struct letter letter = walk.letters[k];

	for (uint32_t i = 0; i < k && walk.setup.fifo; i++) {
		if (walk.letters[i].from == letter.from && walk.letters[i].to == letter.to) {
			letter = walk.letters[k = i];
			break;
		}
	}
	walk.letters_count--;
	memmove(&walk.letters[k], &walk.letters[k + 1],
	        (walk.letters_count - k) * sizeof(*walk.letters));
	world_deliver(&walk.world, letter.to, letter.side, letter.body, letter.size);
	return take_effects(letter.to);
}

/* Returns the node that entered; 0: none. */
static uint32_t step(void)
{
	uint32_t nodes = walk.setup.network.graph.nodes;
	uint32_t k = (uint32_t)random_below(&walk.random, walk.letters_count + nodes);

	if (k < walk.letters_count)
		return deliver(k);
	uint32_t node = k - walk.letters_count + 1;
	if (walk.world.phases[node - 1] == PHASE_INSIDE)
		world_release(&walk.world, node);
	else if (world_may_request(&walk.world, node))
		world_request(&walk.world, node);
	else
		return 0;
	return take_effects(node);
}

typedef uint32_t queue_function(const struct snapshot *snapshot, uint32_t *ret_queue);

static uint32_t ask_for_queue(queue_function *function, uint32_t *ret_queue)
{
	const void *states[WALKERS_MAX];
	static struct flight flights[LETTERS_MAX];

	for (uint32_t i = 1; i <= walk.setup.network.graph.nodes; i++)
		states[i - 1] = world_state(&walk.world, i);
	for (uint32_t k = 0; k < walk.letters_count; k++) {
		const struct letter *letter = &walk.letters[k];
		flights[k] = (struct flight){.to = letter->to,
		                             .message = {.side = side_opposite(letter->side),
		                                         .size = letter->size,
		                                         .body = letter->body}};
	}
	struct snapshot snapshot = {.network = &walk.setup.network,
	                            .states = states,
	                            .flights = flights,
	                            .flights_count = walk.letters_count};
	return function(&snapshot, ret_queue);
}

/* Checks that the queue shown now continues the one shown before, except for the first node, which
 * may have entered. */
static void compare_queues(uint32_t entered)
{
	uint32_t queue[WALKERS_MAX], count = ask_for_queue(walk.world.algorithm->queue, queue);
	uint32_t skipped = 0;

	if (entered != 0 && walk.told_count > 0) {
		assert_int_equal(walk.told[0], entered);
		skipped = 1;
	}
	assert_true(count >= walk.told_count - skipped);
	for (uint32_t k = skipped; k < walk.told_count; k++)
		assert_int_equal(queue[k - skipped], walk.told[k]);
	for (uint32_t k = 0; k < count; k++)
		assert_int_equal(walk.world.phases[queue[k] - 1], PHASE_WAITING);
	memcpy(walk.told, queue, sizeof(queue));
	walk.told_count = count;
	walk.longest = count > walk.longest ? count : walk.longest;
}

/* Of those who waited when the system was last at rest, the first enters first. */
static void follow_line(uint32_t entered)
{
	for (uint32_t k = 0; k < walk.line_count; k++) {
		if (walk.line[k] != entered)
			continue;
		assert_int_equal(k, 0);
		walk.line_count--;
		memmove(walk.line, walk.line + 1, walk.line_count * sizeof(*walk.line));
	}
}

static void compare_lines(uint32_t entered)
{
	uint32_t line[WALKERS_MAX], before = 0;

	follow_line(entered);
	if (walk.letters_count > 0)
		return;
	uint32_t count = ask_for_queue(walk.world.algorithm->queue_at_rest, line);
	assert_int_equal(count, walk.world.waiting_count);
	for (uint32_t k = 0; k < count; k++) {
		assert_int_equal(walk.world.phases[line[k] - 1], PHASE_WAITING);
		before += before < walk.line_count && line[k] == walk.line[before];
	}
	assert_int_equal(before, walk.line_count);
	memcpy(walk.line, line, sizeof(line));
	walk.line_count = count;
	walk.longest_line = count > walk.longest_line ? count : walk.longest_line;
}

static void compare(uint32_t entered)
{
	compare_queues(entered);
	compare_lines(entered);
}

static void walk_at_random(const struct algorithm *algorithm, uint32_t nodes, uint64_t seed)
{
	struct setup_words words = {.algorithm = algorithm->name, .nodes = nodes, .seed = seed};
	bool tree = algorithm->links == GRAPH_TREE || algorithm->shape == GRAPH_TREE;
	struct problem problem;

	if (tree && seed % 3 != 0)
		words.topology = seed % 3 == 1 ? "line" : "tree:2";

	assert_int_equal(setup_make(&words, &walk.setup, &problem), 0);
	world_init(&walk.world, &walk.setup.network);
	world_reset(&walk.world);
	random_seed(&walk.random, seed);
	walk.letters_count = walk.told_count = walk.line_count = 0;
	for (uint32_t i = 1; i <= nodes; i++) {
		world_start(&walk.world, i);
		take_effects(i);
	}
	for (uint32_t i = 0; i < STEPS; i++) {
		compare(step());
		/* The system seldom comes to rest by itself. So now and then no node asks or
		 * leaves. */
		while (i % 16 == 0 && walk.letters_count > 0)
			compare(deliver((uint32_t)random_below(&walk.random, walk.letters_count)));
	}
	world_free(&walk.world);
	setup_free(&walk.setup);
}

static void test_whoever_is_told_first_is_served_next(void **state)
{
	uint32_t told = 0;

	(void)state;
	for (size_t k = 0; algorithms[k] != NULL; k++) {
		if (algorithms[k]->queue == NULL)
			continue;
		told++;
		assert_non_null(algorithms[k]->queue_at_rest);
		walk.longest = walk.longest_line = 0;
		for (uint64_t seed = 1; seed <= 40; seed++)
			walk_at_random(algorithms[k], 2 + (uint32_t)(seed % (WALKERS_MAX - 1)),
			               seed);
		if (walk.longest < 3)
			fail_msg("%s tells of %u nodes at most", algorithms[k]->name, walk.longest);
		if (walk.longest_line < 5)
			fail_msg("%s tells of %u nodes at rest", algorithms[k]->name,
			         walk.longest_line);
	}
	assert_int_equal(told, 7);
}

/* The states in a STATUS come from other machines, so they may be any bytes. */
static void test_any_bytes_are_borne_at_rest(void **state)
{
	enum { NODES = 6, TRIES = 20000 };
	static const uint8_t likely[] = {0, 0, 0, 1, 1, 2, 3, 6, 7, 255};
	struct random random;

	(void)state;
	random_seed(&random, 1);
	for (size_t k = 0; algorithms[k] != NULL; k++) {
		struct setup_words words = {.algorithm = algorithms[k]->name, .nodes = NODES};
		struct setup setup;
		struct problem problem;
		void *states[NODES];
		if (algorithms[k]->queue_at_rest == NULL)
			continue;
		assert_int_equal(setup_make(&words, &setup, &problem), 0);
		for (uint32_t i = 0; i < NODES; i++) {
			struct site site = network_site(&setup.network, i + 1);
			states[i] = malloc(algorithms[k]->state_size(&site));
			assert_non_null(states[i]);
		}
		for (uint32_t try = 0; try < TRIES; try++) {
			uint32_t queue[NODES];
			for (uint32_t i = 0; i < NODES; i++) {
				struct site site = network_site(&setup.network, i + 1);
				size_t size = algorithms[k]->state_size(&site);
				for (size_t at = 0; at < size; at++)
					((uint8_t *)states[i])[at] =
					        likely[random_below(&random, sizeof(likely))];
			}
			struct snapshot snapshot = {.network = &setup.network,
			                            .states = (const void *const *)states};
			assert_true(algorithms[k]->queue_at_rest(&snapshot, queue) <= NODES);
		}
		for (uint32_t i = 0; i < NODES; i++)
			free(states[i]);
		setup_free(&setup);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_whoever_is_told_first_is_served_next),
	        cmocka_unit_test(test_any_bytes_are_borne_at_rest),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
