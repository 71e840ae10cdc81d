/*
 * Tests of what the contract (algorithm.h) demands of every algorithm.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "json_text.h"
#include "random.h"
#include "registry.h"
#include "setup.h"
#include "world.h"

#include <stdlib.h>
#include <string.h>

/* A system that is driven at random, with its own heap of messages in flight. */
struct chaos {
	struct setup setup;
	struct world world;
	struct random random;
	struct {
		uint32_t to, size;
		enum side side;
		uint8_t *body;
	} flight[4096];
	size_t flight_count;
};

static void take_sends(struct chaos *chaos)
{
	const struct out *out = &chaos->world.out;

	for (uint32_t i = 0; i < out->effects_count; i++) {
		const struct effect *effect = &out->effects[i];
		if (effect->kind != EFFECT_SEND || chaos->flight_count == 4096)
			continue;
		uint8_t *body = malloc(effect->send.size);
		assert_non_null(body);
		memcpy(body, out->bytes + effect->send.offset, effect->send.size);
		chaos->flight[chaos->flight_count].to = effect->send.to;
		chaos->flight[chaos->flight_count].size = effect->send.size;
		chaos->flight[chaos->flight_count].side = effect->send.side;
		chaos->flight[chaos->flight_count++].body = body;
	}
}

static void chaos_start(struct chaos *chaos, const struct algorithm *algorithm, uint32_t nodes,
                        uint64_t seed)
{
	struct setup_words words = {.algorithm = algorithm->name, .nodes = nodes, .seed = seed};
	struct problem problem;

	assert_int_equal(setup_make(&words, &chaos->setup, &problem), 0);
	world_init(&chaos->world, &chaos->setup.network);
	world_reset(&chaos->world);
	random_seed(&chaos->random, seed);
	chaos->flight_count = 0;
	for (uint32_t i = 1; i <= nodes; i++) {
		world_start(&chaos->world, i);
		take_sends(chaos);
	}
}

static void chaos_end(struct chaos *chaos)
{
	for (size_t i = 0; i < chaos->flight_count; i++)
		free(chaos->flight[i].body);
	world_free(&chaos->world);
	setup_free(&chaos->setup);
}

/* Does one thing that can happen. Delivers messages in order if the algorithm needs that. */
static void chaos_step(struct chaos *chaos)
{
	struct world *world = &chaos->world;
	uint32_t nodes = chaos->setup.network.graph.nodes;
	uint32_t node = 1 + (uint32_t)random_below(&chaos->random, nodes);

	if (random_below(&chaos->random, 3) != 0 && chaos->flight_count > 0) {
		size_t k =
		        chaos->setup.fifo ? 0 : random_below(&chaos->random, chaos->flight_count);
		uint8_t *body = chaos->flight[k].body;
		uint32_t to = chaos->flight[k].to, size = chaos->flight[k].size;
		enum side side = chaos->flight[k].side;
		chaos->flight_count--;
		memmove(chaos->flight + k, chaos->flight + k + 1,
		        (chaos->flight_count - k) * sizeof(*chaos->flight));
		world_deliver(world, to, side, body, size);
		free(body);
	} else if (world->phases[node - 1] == PHASE_INSIDE) {
		world_release(world, node);
	} else if (world_may_request(world, node)) {
		world_request(world, node);
	} else {
		return;
	}
	take_sends(chaos);
	assert_null(world->broken);
	assert_true(world->inside_count <= 1);
}

/* Makes bytes that are no message of this algorithm, or a damaged one. */
static uint32_t make_bad_message(struct chaos *chaos, uint8_t *bytes, uint32_t size_max)
{
	uint32_t size = 1 + (uint32_t)random_below(&chaos->random, 12);

	if (chaos->flight_count > 0 && random_below(&chaos->random, 2) == 0) {
		size_t k = random_below(&chaos->random, chaos->flight_count);
		size = chaos->flight[k].size < size_max ? chaos->flight[k].size : size_max;
		memcpy(bytes, chaos->flight[k].body, size);
		bytes[random_below(&chaos->random, size)] ^=
		        (uint8_t)(1u << random_below(&chaos->random, 8));
		if (random_below(&chaos->random, 2) == 0)
			size = 1 + (uint32_t)random_below(&chaos->random, size);
		return size;
	}
	for (uint32_t i = 0; i < size; i++)
		bytes[i] = (uint8_t)random_next(&chaos->random);
	bytes[0] = (uint8_t)(bytes[0] % 8);
	return size;
}

static void test_bad_bytes_give_an_error_and_change_nothing(void **state)
{
	(void)state;
	for (size_t a = 0; algorithms[a] != NULL; a++) {
		static struct chaos chaos;
		chaos_start(&chaos, algorithms[a], 5, 42 + a);
		size_t size = world_state_size(&chaos.world, 1) + 4096;
		uint8_t *before = malloc(size);
		unsigned refused = 0;
		assert_non_null(before);
		for (unsigned i = 0; i < 20000; i++) {
			uint8_t bytes[512] = {0};
			uint32_t node = 1 + (uint32_t)random_below(&chaos.random, 5);
			struct site site = network_site(&chaos.setup.network, node);
			void *now = world_state(&chaos.world, node);
			size_t state_size = world_state_size(&chaos.world, node);
			struct message message = {.side = (enum side)random_below(&chaos.random, 3),
			                          .body = bytes};

			message.size = make_bad_message(&chaos, bytes, sizeof(bytes));
			memcpy(before, now, state_size);
			out_clear(&chaos.world.out);
			if (algorithms[a]->receive(&site, now, &message, &chaos.world.out) != 0) {
				refused++;
				assert_int_equal(chaos.world.out.effects_count, 0);
				assert_memory_equal(before, now, state_size);
			}
			/* The bytes may happen to be a valid message; then the state may no longer
			 * be a reachable one. */
			memcpy(now, before, state_size);
			chaos_step(&chaos);
		}
		assert_true(refused > 1000);
		free(before);
		chaos_end(&chaos);
	}
}

static void test_a_step_writes_within_its_state_and_is_repeatable(void **state)
{
	(void)state;
	for (size_t a = 0; algorithms[a] != NULL; a++) {
		for (uint32_t nodes = 1; nodes <= 8; nodes++) {
			static struct chaos one, two;
			chaos_start(&one, algorithms[a], nodes, nodes);
			chaos_start(&two, algorithms[a], nodes, nodes);
			for (unsigned i = 0; i < 2000; i++) {
				chaos_step(&one);
				chaos_step(&two);
			}
			for (uint32_t node = 1; node <= nodes; node++)
				assert_memory_equal(world_state(&one.world, node),
				                    world_state(&two.world, node),
				                    world_state_size(&one.world, node));
			chaos_end(&one);
			chaos_end(&two);
		}
	}
}

static void test_every_table_is_filled(void **state)
{
	(void)state;
	for (size_t a = 0; algorithms[a] != NULL; a++) {
		const struct algorithm *algorithm = algorithms[a];
		assert_ptr_equal(algorithm_find(algorithm->name), algorithm);
		assert_non_null(algorithm->title);
		assert_non_null(algorithm->claim_messages);
		assert_true(algorithm->year >= 1970);
		assert_non_null(algorithm->state_size);
		assert_non_null(algorithm->init);
		assert_non_null(algorithm->request);
		assert_non_null(algorithm->receive);
		assert_non_null(algorithm->describe);
		assert_non_null(algorithm->show);
		assert_int_equal(algorithm->has_token, algorithm->has_privilege != NULL);
		for (size_t i = 0; i < algorithm->messages_count; i++)
			assert_non_null(algorithm->messages[i].name);
	}
}

/* Checks a variable for drawings: it must be in the table of variables, and what the table says
 * about it must be true. */
static void check_variable(const struct chaos *chaos, const struct json_member *member)
{
	const struct variable *variable = chaos->world.algorithm->variables;
	uint32_t commas = 0, depth = 0;

	while (variable->name != NULL &&
	       (strlen(variable->name) != member->name_length ||
	        memcmp(variable->name, member->name, member->name_length) != 0))
		variable++;
	if (variable->name == NULL)
		fail_msg("%s: the table has no %.*s", chaos->world.algorithm->name,
		         (int)member->name_length, member->name);
	for (size_t i = 0; i < member->value_length; i++) {
		depth += member->value[i] == '[';
		depth -= member->value[i] == ']';
		commas += depth == 1 && member->value[i] == ',';
	}
	bool array = member->value[0] == '[', null = member->value[0] == 'n';
	bool number = member->value[0] >= '0' && member->value[0] <= '9';
	if ((variable->kind == VARIABLE_NODE && !number && !array && !null) ||
	    (variable->kind == VARIABLE_QUEUE && !array && !null) ||
	    (variable->kind == VARIABLE_ROW && !null &&
	     (!array || commas + 1 != chaos->setup.network.graph.nodes)))
		fail_msg("%s: %s is %.*s", chaos->world.algorithm->name, variable->name,
		         (int)member->value_length, member->value);
}

static void check_variables(const struct chaos *chaos)
{
	for (uint32_t node = 1; node <= chaos->setup.network.graph.nodes; node++) {
		char *variables = world_describe(&chaos->world, node);
		struct json_member member;
		for (const char *at = variables; (at = json_next_member(at, &member)) != NULL;)
			check_variable(chaos, &member);
		free(variables);
	}
}

static void test_every_variable_is_in_the_table(void **state)
{
	(void)state;
	for (size_t a = 0; algorithms[a] != NULL; a++) {
		static struct chaos chaos;
		chaos_start(&chaos, algorithms[a], 4, a);
		for (int i = 0; i < 300; i++) {
			chaos_step(&chaos);
			check_variables(&chaos);
		}
		chaos_end(&chaos);
	}
}

/* The sentence is printed after "it says that", and a full stop is added to it. */
static void test_every_invariant_has_a_sentence(void **state)
{
	(void)state;
	for (size_t a = 0; algorithms[a] != NULL; a++) {
		const struct invariant *invariant = algorithms[a]->invariants;
		for (; invariant != NULL && invariant->name != NULL; invariant++) {
			const char *meaning = invariant->meaning;
			if (meaning == NULL || strchr(meaning, ' ') == NULL ||
			    meaning[strlen(meaning) - 1] == '.' || strstr(meaning, "  ") != NULL)
				fail_msg("%s: %s", algorithms[a]->name, invariant->name);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_every_table_is_filled),
	        cmocka_unit_test(test_every_invariant_has_a_sentence),
	        cmocka_unit_test(test_every_variable_is_in_the_table),
	        cmocka_unit_test(test_bad_bytes_give_an_error_and_change_nothing),
	        cmocka_unit_test(test_a_step_writes_within_its_state_and_is_repeatable),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
