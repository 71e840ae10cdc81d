/* Command lines of processes that can be slow to read: here, they come from a pipe. */
#include "clock.h"
#include "command_lines.h"
#include "loop.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* A wait for what never comes takes less than this, however slow the machine is. */
static const uint64_t soon_ns = UINT64_C(5000000000);

struct world {
	struct loop loop;
	struct command_lines *lines;
	int late_count;
	uint64_t late_session;
	char late_command[NODE_COMMAND_MAX + 1];
};

static void on_late(void *context, uint64_t session, const char *command)
{
	struct world *world = context;

	world->late_count++;
	world->late_session = session;
	snprintf(world->late_command, sizeof(world->late_command), "%s", command);
}

static void begin(struct world *world)
{
	*world = (struct world){0};
	loop_open(&world->loop);
	world->lines = command_lines_open(&world->loop, on_late, world);
}

static void end(struct world *world)
{
	command_lines_close(world->lines);
	loop_close(&world->loop);
}

static void wait_for_late(struct world *world, int count)
{
	while (world->late_count < count)
		loop_turn(&world->loop, false, LOOP_NEVER);
	assert_int_equal(world->late_count, count);
}

/* Asks for a command line that can be read at once. */
static bool read_quick(struct world *world, const char *bytes, size_t size,
                       char command[NODE_COMMAND_MAX + 1], uint64_t *ret_ticket)
{
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], bytes, size), size);
	close(ends[1]);
	return command_lines_read(world->lines, ends[0], command, ret_ticket);
}

/* Asks for a command line that comes when the descriptor that is returned is written or closed. */
static int read_slow(struct world *world, uint64_t *ret_ticket)
{
	char command[NODE_COMMAND_MAX + 1];
	uint64_t began_ns = clock_monotonic_ns();
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	assert_false(command_lines_read(world->lines, ends[0], command, ret_ticket));
	assert_true(clock_monotonic_ns() - began_ns < soon_ns);
	return ends[1];
}

static void test_a_command_line_comes_in_time(void **state)
{
	static const char bytes[] = "sleep\0005\0\x1b[31m\n"; /* arguments end with a zero */
	char command[NODE_COMMAND_MAX + 1];
	uint64_t ticket;
	struct world world;
	bool in_time = false;

	(void)state;
	begin(&world);
	/* If the machine is busy, the thread may need several attempts. */
	for (int i = 0; i < 1000 && !in_time; i++) {
		in_time = read_quick(&world, bytes, sizeof(bytes), command, &ticket);
		if (!in_time)
			usleep((COMMAND_LINES_PAUSE_MS + 1) * 1000);
		while (!in_time && world.late_count == 0 && ticket != 0) {
			command_lines_expect(world.lines, ticket, 1);
			loop_turn(&world.loop, false, LOOP_NEVER);
		}
		world.late_count = 0;
	}
	assert_true(in_time);
	assert_string_equal(command, "sleep 5  [31m ");
	end(&world);
}

static void test_one_that_is_slow_comes_late(void **state)
{
	struct world world;
	uint64_t ticket;

	(void)state;
	begin(&world);
	int slow = read_slow(&world, &ticket);
	assert_true(ticket != 0);
	command_lines_expect(world.lines, ticket, 42);
	assert_int_equal(write(slow, "late", 4), 4);
	wait_for_late(&world, 1);
	assert_int_equal(world.late_session, 42);
	assert_string_equal(world.late_command, "late");
	close(slow);
	end(&world);
}

static void test_those_after_a_slow_one_come_late_without_a_wait(void **state)
{
	char command[NODE_COMMAND_MAX + 1];
	struct world world;
	uint64_t ticket;

	(void)state;
	begin(&world);
	int slow = read_slow(&world, &ticket);
	for (int i = 1; i < COMMAND_LINES_MAX; i++) {
		assert_false(read_quick(&world, "next", 4, command, &ticket));
		assert_true(ticket != 0);
		command_lines_expect(world.lines, ticket, (uint64_t)i);
	}
	/* There is no room for more. */
	assert_false(read_quick(&world, "more", 4, command, &ticket));
	assert_int_equal(ticket, 0);
	close(slow); /* nobody expects this one */
	wait_for_late(&world, COMMAND_LINES_MAX - 1);
	assert_string_equal(world.late_command, "next");
	end(&world);
}

/* A process that is slow each time must not make the loop wait each time. */
static void test_after_a_wait_in_vain_the_loop_does_not_wait_for_a_while(void **state)
{
	enum { TIMES = 60 };
	struct world world;
	uint64_t ticket;
	int waits_count = 0;

	(void)state;
	begin(&world);
	for (int i = 0; i < TIMES; i++) {
		uint64_t began_ns = clock_monotonic_ns();
		int slow = read_slow(&world, &ticket);
		waits_count += clock_monotonic_ns() - began_ns >= COMMAND_LINES_WAIT_MS * LOOP_MS;
		command_lines_expect(world.lines, ticket, 1);
		close(slow);
		wait_for_late(&world, i + 1);
	}
	assert_true(waits_count < TIMES / 2);
	end(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_a_command_line_comes_in_time),
	        cmocka_unit_test(test_one_that_is_slow_comes_late),
	        cmocka_unit_test(test_those_after_a_slow_one_come_late_without_a_wait),
	        cmocka_unit_test(test_after_a_wait_in_vain_the_loop_does_not_wait_for_a_while),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
