/*
 * Two links and a connection that is cut, delayed, broken and opened again at random: every frame
 * arrives once and in order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "baton/error.h"
#include "link.h"
#include "random.h"

#include <stdlib.h>
#include <string.h>

enum { KEPT_MAX = 1 << 14, FRAMES_MAX = 4000, WIRE_MAX = 1 << 20 };

static struct link *a, *b;
static uint64_t seed; /* the seed of the present run; 0: none */

static int setup(void **state)
{
	(void)state;
	a = link_create(KEPT_MAX);
	b = link_create(KEPT_MAX);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	if (seed != 0)
		print_error("seed %d\n", (int)seed);
	seed = 0;
	link_destroy(a);
	link_destroy(b);
	return 0;
}

/* One direction of a link. */
struct way {
	struct link *from, *to;
	struct random *random;
	uint8_t wire[WIRE_MAX]; /* the bytes in flight */
	size_t wire_size;
	uint64_t epoch;     /* the epoch of the frames that are sent now */
	uint64_t forgotten; /* frames of epochs before this one may be missing */
	uint64_t full;      /* the epoch of a frame that did not fit */
	/* The limit is KEPT_MAX * (doubled + 1). It is doubled when a frame does not fit, at most
	 * three times. */
	size_t doubled;
	uint64_t epochs[FRAMES_MAX]; /* the epoch of each frame */
	/* The number of the next frame to send, and of the next frame to arrive. */
	unsigned sent, expected;
	bool refuses;
};

/* A frame begins with its number; the rest and the size are derived from it. */
static size_t make_bytes(uint8_t *bytes, unsigned number)
{
	struct random random;

	random_seed(&random, number);
	size_t size = 4 + random_below(&random, random_below(&random, 20) == 0 ? 4000 : 60);
	bytes[0] = (uint8_t)number;
	bytes[1] = (uint8_t)(number >> 8);
	for (size_t i = 2; i < size; i++)
		bytes[i] = (uint8_t)random_next(&random);
	return size;
}

static unsigned number_of(const uint8_t *bytes, size_t size)
{
	uint8_t right[8192];
	unsigned number = bytes[0] + 256U * bytes[1];

	assert_int_equal(make_bytes(right, number), size);
	assert_memory_equal(bytes, right, size);
	return number;
}

static void way_send(struct way *way)
{
	uint8_t bytes[8192];
	size_t size = make_bytes(bytes, way->sent);

	if (way->sent == FRAMES_MAX)
		return;
	if (way->full != way->epoch &&
	    link_pending(way->from) + size + 13 > KEPT_MAX * (way->doubled + 1)) {
		way->full = way->epoch;
		way->doubled = way->doubled == 7 ? 7 : way->doubled * 2 + 1;
	}
	if (way->full == way->epoch) {
		assert_int_equal(link_send(way->from, way->epoch, bytes, size), BATON_ELINK);
		way->epoch += random_below(way->random, 10) == 0;
	} else {
		assert_int_equal(link_send(way->from, way->epoch, bytes, size), 0);
		way->epochs[way->sent++] = way->epoch;
	}
}

static void way_write(struct way *way)
{
	const uint8_t *bytes;

	if (!link_attached(way->from))
		return;
	size_t size = link_output(way->from, &bytes);
	if (size > WIRE_MAX - way->wire_size)
		size = WIRE_MAX - way->wire_size;
	if (random_below(way->random, 2) == 0)
		size = random_below(way->random, size + 1);
	if (size > 0)
		memcpy(way->wire + way->wire_size, bytes, size);
	way->wire_size += size;
	link_written(way->from, size);
}

static void take_frame(struct way *way, const uint8_t *bytes, size_t size)
{
	unsigned number = number_of(bytes, size);

	/* The missing frames were dropped on purpose. */
	for (; way->expected < number; way->expected++)
		assert_true(way->epochs[way->expected] < way->forgotten);
	assert_int_equal(number, way->expected);
	way->expected++;
	link_take(way->to);
	assert_int_equal(link_received(way->to), way->expected);
}

static void read_records(struct way *way)
{
	const uint8_t *bytes;
	size_t size;

	for (;;) {
		enum link_record kind = link_next(way->to, &bytes, &size);
		if (kind == LINK_NOTHING)
			return;
		assert_int_equal(kind, LINK_FRAME);
		if (way->refuses) {
			link_keep(way->to);
			return;
		}
		take_frame(way, bytes, size);
		way->refuses = random_below(way->random, 50) == 0;
	}
}

static void way_read(struct way *way)
{
	if (!link_attached(way->to) || (way->refuses && random_below(way->random, 4) > 0))
		return;
	size_t size = way->wire_size;
	if (random_below(way->random, 3) > 0)
		size = random_below(way->random, size + 1);
	/* In memory of its own, so that a sanitizer notices a dangling pointer. */
	uint8_t *bytes = malloc(size + 1);
	assert_non_null(bytes);
	memcpy(bytes, way->wire, size);
	way->wire_size -= size;
	memmove(way->wire, way->wire + size, way->wire_size);
	link_input(way->to, bytes, size);
	read_records(way);
	memset(bytes, 0xee, size);
	free(bytes);
}

static void ways_part(struct way ways[2])
{
	for (int i = 0; i < 2; i++) {
		link_detach(ways[i].from);
		ways[i].wire_size = 0;
		ways[i].refuses = false;
	}
}

/* The HELLOs may have been written before the old connection ended. */
static void ways_meet(struct way ways[2], const uint64_t received[2])
{
	ways_part(ways);
	for (int i = 0; i < 2; i++)
		assert_int_equal(link_attach(ways[i].from, received[i]), 0);
}

static void way_step(struct way *way)
{
	uint64_t what = random_below(way->random, 100);

	if (what < 40) {
		way_send(way);
	} else if (what < 65) {
		way_write(way);
	} else if (what < 95) {
		way_read(way);
	} else if (what < 97) {
		way->refuses = false;
	} else if (what < 98) {
		way->epoch++;
	} else if (what < 99) {
		if (way->forgotten < way->epoch)
			way->forgotten = way->epoch;
		link_forget(way->from, way->epoch);
	} else {
		link_ack(way->to);
	}
	if (link_wants_ack(way->to))
		link_ack(way->to);
}

static void check_healed(struct way ways[2])
{
	uint64_t received[2] = {link_received(ways[0].to), link_received(ways[1].to)};

	ways_meet(ways, received);
	for (int i = 0; i < 10000 && link_pending(ways[0].from) + link_pending(ways[1].from) > 0;
	     i++) {
		struct way *way = &ways[i % 2];
		way->refuses = false;
		link_ack(way->to);
		way_write(way);
		way_read(way);
	}
	for (int i = 0; i < 2; i++) {
		assert_int_equal(link_pending(ways[i].from), 0);
		for (; ways[i].expected < ways[i].sent; ways[i].expected++)
			assert_true(ways[i].epochs[ways[i].expected] < ways[i].forgotten);
	}
}

static void run_seed(void)
{
	static struct way ways[2];
	struct random random;
	uint64_t received[2] = {0, 0};

	random_seed(&random, seed);
	/* The number of steps between two reconnections. */
	uint64_t calm = 20 + random_below(&random, 400);
	for (int i = 0; i < 2; i++) {
		memset(&ways[i], 0, sizeof(ways[i]));
		ways[i].random = &random;
		ways[i].epoch = 1;
		ways[i].from = i == 0 ? a : b;
		ways[i].to = i == 0 ? b : a;
	}
	for (int i = 0; i < 6000; i++) {
		way_step(&ways[random_below(&random, 2)]);
		uint64_t event = random_below(&random, calm * 3);
		if (event == 0)
			ways_meet(ways, received);
		if (event == 1)
			ways_part(ways);
		if (event <= 2) {
			received[0] = link_received(b);
			received[1] = link_received(a);
		}
	}
	check_healed(ways);
}

static void test_every_frame_comes_once_and_in_order(void **state)
{
	for (uint64_t i = 1; i <= 100; i++) {
		seed = i;
		run_seed();
		seed = 0;
		teardown(state);
		setup(state);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(test_every_frame_comes_once_and_in_order, setup,
	                                        teardown),
	};
	return cmocka_run_group_tests_name("link, at random", tests, NULL, NULL);
}
