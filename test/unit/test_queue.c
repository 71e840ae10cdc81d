/*
 * Compares the queue with a simple one that is obviously right: a heap ordered by time and, at
 * equal times, by the order of pushing.
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

/* Each field tells which event it is, so that a lost or exchanged field is noticed. */
static void push(struct pair *pair, uint64_t time)
{
	uint64_t order = pair->plain.pushed;
	struct event event = {
	        .time = time,
	        .number = order,
	        .node = (uint32_t)(order + 1),
	        .from = (uint32_t)(order + 2),
	        .size = (uint32_t)(order + 3),
	        .kind = (uint8_t)(order + 4),
	        .side = (uint8_t)(order + 5),
	};

	for (size_t i = 0; i < sizeof(event.body); i++)
		event.body[i] = (uint8_t)(order + 6 + i);
	queue_push(pair->queue, &event);
	plain_push(&pair->plain, time);
}

static void pop(struct pair *pair)
{
	struct event event;
	struct entry expected = plain_pop(&pair->plain);
	uint64_t order = expected.order;

	assert_true(queue_pop(pair->queue, &event));
	bool same = event.time == expected.time && event.number == order &&
	            event.node == (uint32_t)(order + 1) && event.from == (uint32_t)(order + 2) &&
	            event.size == (uint32_t)(order + 3) && event.kind == (uint8_t)(order + 4) &&
	            event.side == (uint8_t)(order + 5);
	for (size_t i = 0; i < sizeof(event.body); i++)
		same &= event.body[i] == (uint8_t)(order + 6 + i);
	if (!same || queue_count(pair->queue) != pair->plain.count) {
		fail_msg("popped (%ju, %ju) and not (%ju, %ju), or changed; %zu left, not %zu",
		         (uintmax_t)event.time, (uintmax_t)event.number, (uintmax_t)expected.time,
		         (uintmax_t)order, queue_count(pair->queue), pair->plain.count);
	}
	pair->now = event.time;
}

static void end(struct pair *pair)
{
	struct event event;

	while (pair->plain.count > 0)
		pop(pair);
	assert_false(queue_pop(pair->queue, &event));
	assert_int_equal(queue_count(pair->queue), 0);
	free(pair->plain.heap);
	queue_destroy(pair->queue);
}

enum pattern {
	CONSTANT,
	ZERO,
	NEARLY_ZERO,
	UNIFORM,
	EXPONENTIAL,
	GAPS,
	TWO_LANES,
	ANY_MAGNITUDE,
	PATTERNS_COUNT
};

static uint64_t delay_of(enum pattern pattern, struct random *random)
{
	switch (pattern) {
	case CONSTANT:
		return 1000000;
	case ZERO:
		return 0;
	case NEARLY_ZERO:
		return random_below(random, 10) == 0;
	case UNIFORM:
		return random_below(random, 2000000);
	case EXPONENTIAL:
		return random_exponential(random, 1000000);
	case GAPS:
		return (random_below(random, 20) == 0) * UINT64_C(1000000000000000) +
		       random_below(random, 3);
	case TWO_LANES:
		return random_below(random, 2) == 0 ? 0 : 1000000;
	case ANY_MAGNITUDE:
		return random_next(random) >> (18 + random_below(random, 46));
	case PATTERNS_COUNT:
		break;
	}
	return 0;
}

/* Pushes and pops at random so that the number of events wanders between `few` and `many`. */
static void wander(struct pair *pair, enum pattern pattern, struct random *random, size_t few,
                   size_t many, size_t steps)
{
	while (pair->plain.count < few)
		push(pair, pair->now + delay_of(pattern, random));
	for (size_t i = 0; i < steps; i++) {
		uint64_t pushes = random_below(random, 3);
		if (pair->plain.count > few)
			pop(pair);
		while (pushes-- > 0 && pair->plain.count < many)
			push(pair, pair->now + delay_of(pattern, random));
	}
}

static void run_pattern(enum pattern pattern, uint64_t start, size_t pending, size_t steps)
{
	struct pair pair = {.queue = queue_create(), .now = start};
	struct random random;

	random_seed(&random, pending + pattern);
	wander(&pair, pattern, &random, pending, 2 * pending, steps);
	end(&pair);
}

static void test_events_come_by_time_and_then_in_the_order_of_pushing(void **state)
{
	(void)state;
	for (enum pattern pattern = CONSTANT; pattern < PATTERNS_COUNT; pattern++) {
		for (size_t pending = 1; pending <= 10000; pending = pending * 3 + 1)
			run_pattern(pattern, 0, pending, 20000);
	}
}

static void test_times_may_be_far_away(void **state)
{
	(void)state;
	for (enum pattern pattern = CONSTANT; pattern < ANY_MAGNITUDE; pattern++) {
		run_pattern(pattern, (UINT64_C(1) << 62) - 12345, 100, 20000);
		run_pattern(pattern, (UINT64_C(1) << 62) - 12345, 2000, 20000);
		run_pattern(pattern, (UINT64_C(1) << 63) - 12345, 500, 20000);
	}
}

static void test_the_last_of_all_times_is_a_time(void **state)
{
	struct pair pair = {.queue = queue_create()};
	struct random random;

	(void)state;
	random_seed(&random, 1);
	for (size_t i = 0; i < 1000; i++) {
		push(&pair, UINT64_MAX);
		push(&pair, UINT64_MAX - random_below(&random, 100));
		push(&pair, random_next(&random));
	}
	while (pair.plain.count > 100)
		pop(&pair);
	for (size_t i = 0; i < 1000; i++) {
		push(&pair, UINT64_MAX);
		pop(&pair);
	}
	end(&pair);
}

static void test_few_events_may_be_spread_over_all_times(void **state)
{
	struct random random;

	(void)state;
	random_seed(&random, 6);
	for (size_t pending = 1; pending < 600; pending++) {
		struct pair pair = {.queue = queue_create()};
		for (size_t i = 0; i < pending; i++)
			push(&pair, random_next(&random));
		for (size_t i = 0; i < pending; i++) {
			pop(&pair);
			push(&pair, UINT64_MAX - random_below(&random, UINT64_MAX - pair.now));
		}
		end(&pair);
	}
}

static void test_a_mixture_of_patterns_changes_nothing(void **state)
{
	struct pair pair = {.queue = queue_create()};
	struct random random;

	(void)state;
	random_seed(&random, 2);
	for (size_t i = 0; i < 1000; i++) {
		enum pattern pattern = (enum pattern)random_below(&random, PATTERNS_COUNT);
		size_t many = (size_t)1 << random_below(&random, 13);
		while (pair.plain.count > many)
			pop(&pair);
		wander(&pair, pattern, &random, many / 2, many, random_below(&random, 2000));
		if (pair.now > UINT64_C(1) << 62) {
			queue_clear(pair.queue);
			pair.plain.count = 0;
			pair.now = 0;
		}
	}
	end(&pair);
}

/* Pushes events in order, and others that come between them, while the front is full. */
static void test_events_may_come_between_those_that_are_in_order(void **state)
{
	struct pair pair = {.queue = queue_create()};
	struct random random;

	(void)state;
	random_seed(&random, 3);
	for (uint64_t i = 0; i < 20000; i++)
		push(&pair, 1000 + i * 8);
	for (size_t i = 0; i < 30000; i++) {
		pop(&pair);
		if (i % 200 < 150)
			push(&pair, pair.now + random_below(&random, 2000));
	}
	end(&pair);
}

/* A queue whose cost depends on how many events share a time would not finish this. */
static void test_a_million_events_may_share_one_time(void **state)
{
	struct pair pair = {.queue = queue_create()};

	(void)state;
	for (size_t i = 0; i < 500000; i++)
		push(&pair, 77);
	for (size_t i = 0; i < 1000000; i++) {
		push(&pair, i % 3 == 0 ? pair.now + 1 : 77 + i / 400000);
		if (pair.now < 77)
			pop(&pair);
		pop(&pair);
		if (pair.plain.count < 400000)
			push(&pair, pair.now);
	}
	end(&pair);
}

static void test_it_grows_to_two_millions_and_shrinks(void **state)
{
	struct pair pair = {.queue = queue_create()};
	struct random random;

	(void)state;
	random_seed(&random, 4);
	wander(&pair, EXPONENTIAL, &random, 3, 10, 1000);
	wander(&pair, EXPONENTIAL, &random, 2000000, 2100000, 300000);
	while (pair.plain.count > 3)
		pop(&pair);
	wander(&pair, EXPONENTIAL, &random, 3, 10, 1000);
	end(&pair);
}

static void test_cleared_it_starts_anew(void **state)
{
	struct pair pair = {.queue = queue_create()};
	struct random random;

	(void)state;
	random_seed(&random, 5);
	for (size_t i = 0; i < 300; i++) {
		enum pattern pattern = (enum pattern)(i % PATTERNS_COUNT);
		size_t many = i * i / 10 + 1;
		wander(&pair, pattern, &random, many, 2 * many, 1 + random_below(&random, many));
		queue_clear(pair.queue);
		assert_int_equal(queue_count(pair.queue), 0);
		assert_false(queue_pop(pair.queue, &(struct event){0}));
		pair.plain.count = 0;
		pair.now = 0;
	}
	push(&pair, 7);
	end(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_events_come_by_time_and_then_in_the_order_of_pushing),
	        cmocka_unit_test(test_times_may_be_far_away),
	        cmocka_unit_test(test_the_last_of_all_times_is_a_time),
	        cmocka_unit_test(test_few_events_may_be_spread_over_all_times),
	        cmocka_unit_test(test_a_mixture_of_patterns_changes_nothing),
	        cmocka_unit_test(test_events_may_come_between_those_that_are_in_order),
	        cmocka_unit_test(test_a_million_events_may_share_one_time),
	        cmocka_unit_test(test_it_grows_to_two_millions_and_shrinks),
	        cmocka_unit_test(test_cleared_it_starts_anew),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
