/* A user who interferes with a simulation: whatever they do, the algorithms hold. */

#include "electorate.h"
#include "hand.h"
#include "random.h"
#include "registry.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct play {
	struct setup setup;
	struct sim *sim;
	struct sim_result result;
	struct trace *trace;
	struct random random;
	uint64_t acts;
};

static void begin(struct play *play, const struct algorithm *algorithm, enum order order,
                  uint64_t seed)
{
	struct setup_words words = {.algorithm = algorithm->name, .order = order, .seed = seed};
	struct problem problem;
	struct sim_options options = {
	        .entries = 40,
	        .seed = seed,
	        .load = algorithm->kind == KIND_ELECTION ? LOAD_ELECTION
	                : seed % 2 != 0                  ? LOAD_POISSON
	                                                 : LOAD_HEAVY,
	        .interval = 20 * (uint64_t)MILLION,
	        .delay = {DISTRIBUTION_CONSTANT, MILLION, 0},
	        .cs = {DISTRIBUTION_CONSTANT, MILLION, 0},
	        .bound = 1000 * (uint64_t)MILLION,
	};

	*play = (struct play){0};
	assert_int_equal(setup_make(&words, &play->setup, &problem), 0);
	play->trace = trace_create(true, false);
	options.setup = &play->setup;
	options.trace = play->trace;
	play->sim = sim_create(&play->setup);
	random_seed(&play->random, seed);
	sim_begin(play->sim, &options, &play->result);
}

static void end(struct play *play)
{
	sim_end(play->sim);
	sim_destroy(play->sim);
	trace_destroy(play->trace);
	setup_free(&play->setup);
}

/* Returns the number of a message in flight; 0 if there is none. */
static uint64_t draw_message(struct play *play)
{
	struct envelope *flights;
	size_t count = sim_flights(play->sim, &flights);
	uint64_t number = count == 0 ? 0 : flights[random_below(&play->random, count)].number;

	free(flights);
	return number;
}

static void act(struct play *play)
{
	uint32_t nodes = play->setup.network.graph.nodes;
	uint32_t node = 1 + (uint32_t)random_below(&play->random, nodes);
	uint64_t number = draw_message(play), before = sim_steps(play->sim);
	bool exclusion = play->setup.network.algorithm->kind == KIND_MUTEX;
	bool done = false, steps = true;

	switch (random_below(&play->random, 4)) {
	case 0:
		/* All places of an election initiate it by themselves; doing it again would be
		 * another election. */
		done = exclusion && hand_request(play->sim, node);
		break;
	case 1:
		done = exclusion && hand_release(play->sim, node);
		break;
	case 2:
		done = hand_deliver(play->sim, number);
		break;
	default:
		done = hand_delay(play->sim, number,
		                  random_below(&play->random, 5 * (uint64_t)MILLION));
		steps = false;
	}
	play->acts += done;
	assert_int_equal(sim_steps(play->sim), before + (done && steps));
}

/* Alternates steps and acts, then runs to the end. */
static void play_through(struct play *play)
{
	for (int i = 0; i < 150; i++) {
		if (random_below(&play->random, 2) == 0)
			act(play);
		else
			sim_step(play->sim);
	}
	while (sim_step(play->sim))
		;
}

static void test_whatever_a_hand_does_the_algorithms_hold(void **state)
{
	(void)state;
	for (size_t i = 0; algorithms[i] != NULL; i++) {
		uint64_t acts = 0;
		for (uint64_t seed = 1; seed <= 20; seed++) {
			struct play play, again;
			begin(&play, algorithms[i], ORDER_DEFAULT, seed);
			play_through(&play);
			if (play.result.violation != NULL)
				fail_msg("%s, seed %u: %s", algorithms[i]->name, (unsigned)seed,
				         play.result.violation);
			begin(&again, algorithms[i], ORDER_DEFAULT, seed);
			play_through(&again);
			assert_string_equal(trace_lines(play.trace)->bytes,
			                    trace_lines(again.trace)->bytes);
			acts += play.acts;
			end(&play);
			end(&again);
		}
		assert_true(acts > 50);
	}
}

static uint64_t first_message(struct sim *sim)
{
	struct envelope *flights;
	size_t count = sim_flights(sim, &flights);
	uint64_t number = count == 0 ? 0 : flights[0].number;

	free(flights);
	return number;
}

static void test_a_lost_token_is_lost(void **state)
{
	struct play play;

	(void)state;
	begin(&play, algorithm_find("neilsen"), ORDER_DEFAULT, 2);
	while (strstr(trace_lines(play.trace)->bytes, "\"token\":true") == NULL)
		assert_true(sim_step(play.sim));
	struct envelope *flights;
	size_t count = sim_flights(play.sim, &flights);
	for (size_t i = 0; i < count; i++) {
		if (play.setup.network.algorithm->messages[flights[i].body[0]].token)
			assert_true(hand_lose(play.sim, flights[i].number));
	}
	free(flights);
	while (sim_step(play.sim))
		;
	assert_string_equal(play.result.violation, "stuck: somebody waits and nothing can happen");
	assert_int_equal(play.result.lost, 1);
	end(&play);
}

static void test_what_cannot_happen_does_not(void **state)
{
	struct play play;

	(void)state;
	begin(&play, algorithm_find("neilsen"), ORDER_DEFAULT, 2);
	assert_false(hand_release(play.sim, 1));
	assert_false(hand_deliver(play.sim, 99));
	assert_false(hand_lose(play.sim, 99));
	assert_false(hand_delay(play.sim, 99, 1));
	assert_false(hand_expire(play.sim, 1));
	assert_false(hand_crash(play.sim, 1));
	assert_true(hand_request(play.sim, 2));
	assert_false(hand_request(play.sim, 2));
	assert_true(first_message(play.sim) != 0);
	assert_int_equal(sim_steps(play.sim), 1);
	end(&play);
}

static void test_the_greatest_crashes_in_its_election(void **state)
{
	struct play play;

	(void)state;
	begin(&play, algorithm_find("bully"), ORDER_DEFAULT, 2);
	assert_true(hand_crash(play.sim, 5));
	assert_false(hand_crash(play.sim, 5));
	assert_false(hand_request(play.sim, 5));
	while (sim_step(play.sim))
		;
	assert_non_null(strstr(trace_lines(play.trace)->bytes, "\"ev\":\"crash\",\"node\":5"));
	assert_null(strstr(trace_lines(play.trace)->bytes, "\"ev\":\"elected\",\"node\":5"));
	assert_int_equal(play.result.leader, 4);
	end(&play);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_whatever_a_hand_does_the_algorithms_hold),
	        cmocka_unit_test(test_a_lost_token_is_lost),
	        cmocka_unit_test(test_what_cannot_happen_does_not),
	        cmocka_unit_test(test_the_greatest_crashes_in_its_election),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
