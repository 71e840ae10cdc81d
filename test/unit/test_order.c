/*
 * What an algorithm shows of its queue comes true: the first one there enters next, nobody enters
 * in between, and only nodes that wait are shown. Random walks, with every order of delivery that
 * the algorithm allows.
 */
#include "random.h"
#include "registry.h"
#include "setup.h"
#include "world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
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
	struct letter letters[LETTERS_MAX]; /* in flight, oldest first */
	uint32_t letters_count;
	uint32_t told[WALKERS_MAX], told_count;
	uint32_t longest; /* the longest queue that was shown */
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

static uint32_t ask_for_queue(uint32_t *ret_queue)
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
	return walk.world.algorithm->queue(&snapshot, ret_queue);
}

/* The queue shown now continues the one shown before, except for its first, which may have
 * entered. */
static void compare_queues(uint32_t entered)
{
	uint32_t queue[WALKERS_MAX], count = ask_for_queue(queue);
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

static void walk_at_random(const struct algorithm *algorithm, uint32_t nodes, uint64_t seed)
{
	struct setup_words words = {.algorithm = algorithm->name, .nodes = nodes, .seed = seed};
	struct problem problem;

	assert_int_equal(setup_make(&words, &walk.setup, &problem), 0);
	world_init(&walk.world, &walk.setup.network);
	world_reset(&walk.world);
	random_seed(&walk.random, seed);
	walk.letters_count = walk.told_count = 0;
	for (uint32_t i = 1; i <= nodes; i++) {
		world_start(&walk.world, i);
		take_effects(i);
	}
	for (uint32_t i = 0; i < STEPS; i++)
		compare_queues(step());
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
		walk.longest = 0;
		for (uint64_t seed = 1; seed <= 40; seed++)
			walk_at_random(algorithms[k], 2 + (uint32_t)(seed % (WALKERS_MAX - 1)),
			               seed);
		if (walk.longest < 3)
			fail_msg("%s tells of %u nodes at most", algorithms[k]->name, walk.longest);
	}
	assert_int_equal(told, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_whoever_is_told_first_is_served_next),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
