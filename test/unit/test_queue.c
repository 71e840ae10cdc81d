/*
 * The queue beside a plain one that is trivially right: a heap ordered by (time, order of pushing).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "queue.h"
#include "random.h"

#include <stdlib.h>

struct plain {
	struct entry {
		uint64_t time, order;
	} * heap;
	size_t count, size;
	uint64_t pushed;
};

static bool before(const struct entry *a, const struct entry *b)
{
	return a->time < b->time || (a->time == b->time && a->order < b->order);
}

static void plain_push(struct plain *plain, uint64_t time)
{
	if (plain->count == plain->size) {
		plain->size = plain->size * 2 + 64;
		plain->heap = realloc(plain->heap, plain->size * sizeof(*plain->heap));
		assert_non_null(plain->heap);
	}
	struct entry entry = {time, plain->pushed++};
	size_t i = plain->count++;
	for (; i > 0 && before(&entry, &plain->heap[(i - 1) / 2]); i = (i - 1) / 2)
		plain->heap[i] = plain->heap[(i - 1) / 2];
	plain->heap[i] = entry;
}

static struct entry plain_pop(struct plain *plain)
{
	struct entry first = plain->heap[0], last = plain->heap[--plain->count];
	size_t i = 0;

	for (size_t child = 1; child < plain->count; child = 2 * i + 1) {
		if (child + 1 < plain->count &&
		    before(&plain->heap[child + 1], &plain->heap[child]))
			child++;
		if (!before(&plain->heap[child], &last))
			break;
		plain->heap[i] = plain->heap[child];
		i = child;
	}
	plain->heap[i] = last;
	return first;
}

struct pair {
	struct queue *queue;
	struct plain plain;
	uint64_t now;
};

static void push(struct pair *pair, uint64_t time)
{
	queue_push(pair->queue, &(struct event){.time = time, .number = pair->plain.pushed});
	plain_push(&pair->plain, time);
}

static void pop(struct pair *pair)
{
	struct event event;
	struct entry expected = plain_pop(&pair->plain);

	assert_true(queue_pop(pair->queue, &event));
	assert_int_equal(event.time, expected.time);
	assert_int_equal(event.number, expected.order);
	assert_int_equal(queue_count(pair->queue), pair->plain.count);
	pair->now = event.time;
}

enum pattern { CONSTANT, ZERO, UNIFORM, EXPONENTIAL, GAPS, TWO_LANES, PATTERNS_COUNT };

static uint64_t delay_of(enum pattern pattern, struct random *random)
{
	switch (pattern) {
	case CONSTANT:
		return 1000000;
	case ZERO:
		return random_below(random, 10) == 0;
	case UNIFORM:
		return random_below(random, 2000000);
	case EXPONENTIAL:
		return random_exponential(random, 1000000);
	case GAPS:
		return random_below(random, 20) == 0 ? UINT64_C(1000000000000000)
		                                     : random_below(random, 3);
	case TWO_LANES:
		return random_below(random, 2) == 0 ? 0 : 1000000;
	case PATTERNS_COUNT:
		break;
	}
	return 0;
}

static void run_pattern(enum pattern pattern, uint64_t start, size_t pending, size_t holds)
{
	struct pair pair = {.queue = queue_create()};
	struct random random;
	struct event event;

	random_seed(&random, pending + pattern);
	for (size_t i = 0; i < pending; i++)
		push(&pair, start + delay_of(pattern, &random));
	for (size_t i = 0; i < holds; i++) {
		uint64_t pushes = random_below(&random, 3);
		if (pair.plain.count > 0)
			pop(&pair);
		while (pushes-- > 0 && pair.plain.count < 2 * pending)
			push(&pair,
			     (pair.now > start ? pair.now : start) + delay_of(pattern, &random));
	}
	while (pair.plain.count > 0)
		pop(&pair);
	assert_false(queue_pop(pair.queue, &event));
	free(pair.plain.heap);
	queue_destroy(pair.queue);
}

static void test_events_come_by_time_and_then_in_the_order_of_pushing(void **state)
{
	(void)state;
	for (enum pattern pattern = CONSTANT; pattern < PATTERNS_COUNT; pattern++) {
		for (size_t pending = 1; pending <= 3000; pending = pending * 3 + 1)
			run_pattern(pattern, 0, pending, 20000);
	}
}

static void test_times_may_be_far_away(void **state)
{
	(void)state;
	for (enum pattern pattern = CONSTANT; pattern < PATTERNS_COUNT; pattern++)
		run_pattern(pattern, (UINT64_C(1) << 62) - 12345, 100, 5000);
}

static void test_it_grows_and_shrinks(void **state)
{
	(void)state;
	run_pattern(EXPONENTIAL, 0, 300000, 600000);
}

static void test_cleared_it_starts_anew(void **state)
{
	struct queue *queue = queue_create();
	struct event event;

	(void)state;
	for (uint64_t i = 0; i < 5000; i++)
		queue_push(queue, &(struct event){.time = 1000000 + i * i});
	assert_true(queue_pop(queue, &event));
	queue_clear(queue);
	assert_int_equal(queue_count(queue), 0);
	assert_false(queue_pop(queue, &event));
	queue_push(queue, &(struct event){.time = 7});
	assert_true(queue_pop(queue, &event));
	assert_int_equal(event.time, 7);
	queue_destroy(queue);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_events_come_by_time_and_then_in_the_order_of_pushing),
	        cmocka_unit_test(test_times_may_be_far_away),
	        cmocka_unit_test(test_it_grows_and_shrinks),
	        cmocka_unit_test(test_cleared_it_starts_anew),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
