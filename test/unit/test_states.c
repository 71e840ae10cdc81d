/* The set of states: no state is lost or found twice while it grows, with one thread and with
 * several. */
#include "states.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <xxhash.h>

enum { ROWS = 300000, MEMORY = 64 << 20 };

static uint32_t make_row(uint32_t number, uint8_t *bytes)
{
	uint32_t size = 4 + number % 23;
	memset(bytes, (int)(number % 7), size);
	memcpy(bytes, &number, sizeof(number));
	return size;
}

static uint32_t put(struct states *states, uint32_t number, uint32_t parent, bool *ret_new)
{
	uint8_t bytes[32];
	uint32_t size = make_row(number, bytes);
	uint64_t hash = XXH3_64bits(bytes, size);
	struct lane *lane = &states->lanes[number % states->lanes_count];

	states_reserve(states, 1);
	return states_put(states, lane, states_seek(states, hash), bytes, size, hash, parent,
	                  ret_new);
}

static uint32_t get(const struct states *states, uint32_t number)
{
	uint8_t bytes[32];
	uint32_t size = make_row(number, bytes);
	uint64_t hash = XXH3_64bits(bytes, size);
	return states_get(states, states_seek(states, hash), bytes, size, hash);
}

static void fill(uint32_t lanes_count)
{
	struct states states;
	bool new;

	states_init(&states, lanes_count, 3, MEMORY);
	for (uint32_t i = 0; i < ROWS; i++) {
		put(&states, i, i, &new);
		assert_true(new);
	}
	assert_int_equal(states_count(&states), ROWS);
	for (uint32_t i = 0; i < ROWS; i++) {
		uint32_t name = put(&states, i, ROWS, &new);
		assert_false(new);
		assert_int_equal(states_record(&states, name)->parent, i);
		assert_int_equal(get(&states, i), name);
	}
	for (uint32_t i = ROWS; i < ROWS + 1000; i++)
		assert_int_equal(get(&states, i), STATE_NONE);
	states_free(&states);
}

static void test_nothing_is_lost_or_found_twice(void **state)
{
	(void)state;
	fill(1);
}

static void test_nor_in_several_lanes(void **state)
{
	(void)state;
	fill(3);
}

/* Several threads insert the same rows at the same time. */
struct putter {
	struct states *states;
	uint32_t number;
	uint32_t new;
	uint32_t names[ROWS];
};

static void *put_all(void *argument)
{
	struct putter *putter = argument;
	struct lane *lane = &putter->states->lanes[putter->number];
	uint8_t bytes[32];
	bool new;

	for (uint32_t i = 0; i < ROWS; i++) {
		uint32_t size = make_row(i, bytes);
		uint64_t hash = XXH3_64bits(bytes, size);
		putter->names[i] =
		        states_put(putter->states, lane, states_seek(putter->states, hash), bytes,
		                   size, hash, putter->number, &new);
		putter->new += new;
	}
	return NULL;
}

static void test_several_threads_agree(void **state)
{
	enum { THREADS = 3 };
	static struct putter putters[THREADS];
	struct states states;
	pthread_t threads[THREADS];
	uint32_t new = 0;

	(void)state;
	states_init(&states, THREADS, 3, MEMORY);
	states_reserve(&states, ROWS);
	for (uint32_t i = 0; i < THREADS; i++) {
		putters[i] = (struct putter){.states = &states, .number = i};
		assert_int_equal(pthread_create(&threads[i], NULL, put_all, &putters[i]), 0);
	}
	for (uint32_t i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		new += putters[i].new;
	}
	assert_int_equal(new, ROWS);
	assert_int_equal(states_count(&states), ROWS);
	for (uint32_t k = 0; k < ROWS; k++) {
		for (uint32_t i = 0; i < THREADS; i++)
			assert_int_equal(putters[i].names[k], get(&states, k));
	}
	for (uint32_t i = 0; i < THREADS; i++) {
		struct lane_cursor cursor = {0}, end = lane_end(&states.lanes[i]);
		uint32_t name, count = 0;
		for (; lane_next(&states, &states.lanes[i], &cursor, &end, &name); count++)
			assert_int_equal(states_record(&states, name)->parent, i);
		assert_int_equal(count, putters[i].new);
	}
	states_free(&states);
}

static void test_records_come_in_the_order_in_which_they_were_found(void **state)
{
	struct states states;
	struct lane_cursor cursor = {0};
	uint32_t name, number = 0;
	bool new;

	(void)state;
	states_init(&states, 1, 3, MEMORY);
	for (uint32_t i = 0; i < ROWS; i++)
		put(&states, i, i, &new);
	struct lane_cursor end = lane_end(&states.lanes[0]);
	states_begin_level(&states);
	for (uint32_t i = ROWS; i < 3 * ROWS; i++) {
		name = put(&states, i, i, &new);
		assert_true(states_is_new_level(&states, name));
	}
	while (lane_next(&states, &states.lanes[0], &cursor, &end, &name)) {
		assert_int_equal(states_record(&states, name)->parent, number++);
		assert_false(states_is_new_level(&states, name));
	}
	assert_int_equal(number, ROWS);
	states_free(&states);
}

static void test_a_table_that_may_not_grow_says_so(void **state)
{
	struct states states;
	bool new;

	(void)state;
	states_init(&states, 1, 0, 1 << 20);
	assert_int_equal(states_reserve_cost(&states, 100), 0);
	put(&states, 1, 0, &new);
	assert_true(states_reserve_cost(&states, 1 << 14) > 0);
	assert_true(states_reserve_cost(&states, 1 << 14) < 1 << 20);
	assert_true(states_reserve_cost(&states, 1 << 20) > UINT32_MAX);
	states_free(&states);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_nothing_is_lost_or_found_twice),
	        cmocka_unit_test(test_nor_in_several_lanes),
	        cmocka_unit_test(test_several_threads_agree),
	        cmocka_unit_test(test_records_come_in_the_order_in_which_they_were_found),
	        cmocka_unit_test(test_a_table_that_may_not_grow_says_so),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
