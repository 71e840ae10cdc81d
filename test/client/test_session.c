/*
 * libbaton with a real node, whose program is in $BATON: sessions that compete, lose their locks,
 * and begin again when the node restarts.
 */
#include <baton/baton.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <setjmp.h>

#include <cmocka.h>

enum { LONG_MS = 60000 };

static char folder[32];
static char path[64];
static pid_t node;
static char *program; /* the path of baton */

/* --- a node --- */

static void wait_until_ready(int notify)
{
	char text[1024];
	struct pollfd item = {.fd = notify, .events = POLLIN};

	do {
		assert_int_equal(poll(&item, 1, LONG_MS), 1);
		ssize_t size = recv(notify, text, sizeof(text) - 1, 0);
		assert_true(size >= 0);
		text[size] = '\0';
	} while (strstr(text, "READY=1") == NULL);
}

static void start_node(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char *words[] = {program, "node", "--name", "n1", "--socket", path, "--log", "error", NULL};

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/notify", folder);
	int notify = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(notify, (struct sockaddr *)&address, sizeof(address)), 0);
	setenv("NOTIFY_SOCKET", address.sun_path, 1);
	assert_int_equal(posix_spawn(&node, words[0], NULL, NULL, words, environ), 0);
	unsetenv("NOTIFY_SOCKET");
	wait_until_ready(notify);
	close(notify);
	unlink(address.sun_path);
}

static void stop_node(int number)
{
	int status;

	kill(node, number);
	assert_int_equal(waitpid(node, &status, 0), node);
	if (number == SIGTERM)
		assert_int_equal(status, 0);
	node = 0;
}

static int set_up(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/baton-session-XXXXXX");
	if (mkdtemp(folder) == NULL)
		return -1;
	snprintf(path, sizeof(path), "%s/socket", folder);
	start_node();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	if (node != 0)
		stop_node(SIGTERM);
	unlink(path);
	return rmdir(folder);
}

static bool readable(int fd, int timeout_ms)
{
	struct pollfd item = {.fd = fd, .events = POLLIN};

	return poll(&item, 1, timeout_ms) == 1;
}

/* Waits until a client waits for the lock. */
static void await_waiter(struct baton *baton, const char *name)
{
	for (bool waits = false; !waits;) {
		char *json;
		assert_int_equal(baton_status(baton, name, 0, &json), 0);
		waits = strstr(json, "\"waiters\":[]") == NULL;
		free(json);
	}
}

/* --- tests --- */

static void test_a_lock_goes_from_one_to_the_next(void **state)
{
	struct baton *one = baton_open(path), *two = baton_open(path);
	uint64_t first, second;

	(void)state;
	assert_int_equal(baton_lock(one, "x", BATON_FOREVER, &first), 0);
	assert_int_equal(baton_trylock(two, "x", NULL), BATON_ENOTFREE);
	assert_int_equal(baton_lock(two, "x", 20, NULL), BATON_ETIMEOUT);
	assert_int_equal(baton_lock_start(two, "x", BATON_FOREVER), 0);
	await_waiter(one, "x");
	assert_int_equal(baton_finish(two, &second), BATON_EPENDING);
	assert_int_equal(baton_unlock(one, "x"), 0);
	assert_true(readable(baton_fd(two), LONG_MS));
	assert_int_equal(baton_finish(two, &second), 0);
	assert_true(second > first);
	assert_int_equal(baton_sync(one), 0);
	/* Closing the handle withdraws a request, too. */
	assert_int_equal(baton_lock_start(one, "x", BATON_FOREVER), 0);
	baton_close(two);
	assert_true(readable(baton_fd(one), LONG_MS));
	assert_int_equal(baton_finish(one, &first), 0);
	assert_true(first > second);
	baton_close(one);
}

/* Takes so many locks that the commands would not fit into the sockets' buffers if nobody read
 * them. */
static void test_many_locks_are_taken_and_given_back(void **state)
{
	enum { LOCKS = 3000 };
	struct baton *baton = baton_open(path);
	char name[16];

	(void)state;
	for (int i = 0; i < LOCKS; i++) {
		snprintf(name, sizeof(name), "%d", i);
		assert_int_equal(baton_lock(baton, name, BATON_FOREVER, NULL), 0);
	}
	for (int i = 0; i < LOCKS; i++) {
		snprintf(name, sizeof(name), "%d", i);
		assert_int_equal(baton_unlock(baton, name), 0);
	}
	assert_int_equal(baton_sync(baton), 0);
	baton_close(baton);
}

static void test_a_broken_lock_is_told(void **state)
{
	struct baton *holder = baton_open(path), *operator= baton_open(path);
	char name[BATON_NAME_MAX + 1];
	uint64_t fence, lost;
	int fd = baton_watch(holder);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(baton_lock(holder, "x", BATON_FOREVER, &fence), 0);
	assert_int_equal(baton_lock(holder, "y", BATON_FOREVER, NULL), 0);
	assert_int_equal(baton_break(operator, "x", fence + 1), BATON_ENOTHELD);
	assert_int_equal(baton_break(operator, "x", fence), 0);
	do
		assert_true(readable(fd, LONG_MS));
	while (baton_lost(holder, name, &lost) == 0);
	assert_string_equal(name, "x");
	assert_int_equal(lost, fence);
	assert_int_equal(baton_fence(holder, "y", NULL), 0);
	assert_int_equal(baton_unlock(holder, "y"), 0);
	/* Without baton_watch, the answer to the unlock tells that the lock was lost. */
	assert_int_equal(baton_lock(operator, "x", BATON_FOREVER, &fence), 0);
	assert_int_equal(baton_break(holder, "x", fence), 0);
	assert_int_equal(baton_unlock(operator, "x"), 0);
	assert_int_equal(baton_sync(operator), BATON_ELOST);
	baton_close(holder);
	baton_close(operator);
}

static void test_what_happens_when_the_node_is_killed_and_comes_back(void **state)
{
	struct baton *idle = baton_open(path), *holder = baton_open(path),
	             *waiter = baton_open(path);
	char name[BATON_NAME_MAX + 1];
	uint64_t fence, later;
	int fd = baton_watch(holder);

	(void)state;
	assert_int_equal(baton_leader(idle, "x", NULL), 0);
	assert_int_equal(baton_lock(holder, "x", BATON_FOREVER, &fence), 0);
	assert_int_equal(baton_lock_start(waiter, "x", BATON_FOREVER), 0);
	await_waiter(idle, "x");
	while (readable(fd, 0))
		assert_int_equal(baton_lost(holder, NULL, NULL), 0);
	stop_node(SIGKILL);
	assert_true(readable(fd, LONG_MS));
	assert_int_equal(baton_lost(holder, name, NULL), 1);
	assert_string_equal(name, "x");
	assert_true(readable(baton_fd(waiter), LONG_MS));
	assert_int_equal(baton_finish(waiter, NULL), BATON_ECONNECTION);
	assert_int_equal(baton_lock(idle, "x", BATON_FOREVER, NULL), BATON_ENODE);
	start_node();
	assert_int_equal(baton_lock(idle, "x", BATON_FOREVER, &later), 0);
	assert_int_equal(baton_trylock(holder, "x", NULL), BATON_ENOTFREE);
	assert_int_equal(baton_trylock(waiter, "x", NULL), BATON_ENOTFREE);
	assert_int_equal(baton_unlock(idle, "x"), 0);
	assert_int_equal(baton_lock(holder, "x", BATON_FOREVER, NULL), 0);
	baton_close(idle);
	baton_close(holder);
	baton_close(waiter);
}

static void test_an_idle_session_does_not_mind_a_restart(void **state)
{
	struct baton *baton = baton_open(path);

	(void)state;
	assert_int_equal(baton_lock(baton, "x", BATON_FOREVER, NULL), 0);
	assert_int_equal(baton_unlock(baton, "x"), 0);
	stop_node(SIGTERM);
	start_node();
	assert_int_equal(baton_lock(baton, "x", BATON_FOREVER, NULL), 0);
	stop_node(SIGTERM);
	start_node();
	/* This time a lock was held. */
	assert_int_equal(baton_lock(baton, "y", BATON_FOREVER, NULL), BATON_ELOST);
	baton_close(baton);
}

static void expect_change(struct baton *baton, int change, uint64_t fence, const char *value)
{
	struct baton_leader leader;

	assert_int_equal(baton_observe_next(baton, LONG_MS, &leader), change);
	assert_int_equal(leader.fence, fence);
	assert_string_equal(leader.node, "n1");
	assert_string_equal(leader.value, value);
}

static void test_leaders_are_observed(void **state)
{
	struct baton *one = baton_open(path), *two = baton_open(path), *observer = baton_open(path),
	             *late = baton_open(path);
	struct baton_leader leader;
	uint64_t first, second, third;

	(void)state;
	assert_int_equal(baton_observe(observer, "e"), 0);
	assert_int_equal(baton_observe_next(observer, 0, NULL), 0);
	assert_int_equal(baton_elect(one, "e", "here", 4, &first), 0);
	expect_change(observer, BATON_LEADS, first, "here");
	assert_int_equal(baton_leader(two, "e", &leader), 1);
	assert_int_equal(leader.fence, first);
	assert_string_equal(leader.value, "here");
	assert_int_equal(baton_observe(late, "e"), 0);
	expect_change(late, BATON_LEADS, first, "here");
	assert_int_equal(baton_elect_start(two, "e", "a b\nc", 5), 0);
	assert_int_equal(baton_resign(one, "e"), 0);
	assert_true(readable(baton_fd(two), LONG_MS));
	assert_int_equal(baton_finish(two, &second), 0);
	struct baton *observers[] = {observer, late};
	for (int i = 0; i < 2; i++) {
		expect_change(observers[i], BATON_LED, first, "here");
		expect_change(observers[i], BATON_LEADS, second, "a b\nc");
	}
	/* The session of a leader ends. */
	baton_close(two);
	assert_int_equal(baton_elect(one, "e", "", 0, &third), 0);
	expect_change(observer, BATON_LED, second, "a b\nc");
	expect_change(observer, BATON_LEADS, third, "");
	assert_true(first < second && second < third);
	baton_close(one);
	baton_close(observer);
	baton_close(late);
}

static void test_the_longest_names_and_values(void **state)
{
	struct baton *baton = baton_open(path), *observer = baton_open(path);
	struct baton_leader leader;
	char name[BATON_NAME_MAX + 1], value[BATON_VALUE_MAX];

	(void)state;
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	memset(value, '\0', sizeof(value));
	assert_int_equal(baton_elect(baton, name, value, sizeof(value), NULL), 0);
	assert_int_equal(baton_observe(observer, name), 0);
	assert_int_equal(baton_observe_next(observer, LONG_MS, &leader), BATON_LEADS);
	assert_int_equal(leader.value_size, sizeof(value));
	assert_memory_equal(leader.value, value, sizeof(value));
	baton_close(baton);
	baton_close(observer);
}

static void test_who_is_at_the_other_end(void **state)
{
	struct baton *baton = baton_open(path);
	char name[BATON_NAME_MAX + 1];
	uint64_t lease_ms;

	(void)state;
	assert_int_equal(baton_node(baton, name, &lease_ms), 0);
	assert_string_equal(name, "n1");
	assert_int_equal(lease_ms, 3000);
	baton_close(baton);
}

/* The session lasts as long as any process has its connection: the guardian relies on this. */
static void test_a_child_keeps_the_session(void **state)
{
	struct baton *other = baton_open(path);
	int ready[2], end[2];
	char byte;

	(void)state;
	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(end), 0);
	pid_t holder = fork();
	if (holder == 0) {
		static struct baton
		        *baton; /* static, so that sanitizers do not take it for a leak */
		baton = baton_open(path);
		if (baton_lock(baton, "x", BATON_FOREVER, NULL) < 0 || fork() < 0)
			_exit(1);
		/* By now both the child and its own child are alive. */
		close(end[1]);
		(void)!write(ready[1], "r", 1);
		(void)!read(end[0], &byte, 1);
		_exit(0);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	kill(holder, SIGKILL);
	assert_int_equal(waitpid(holder, NULL, 0), holder);
	assert_int_equal(baton_trylock(other, "x", NULL), BATON_ENOTFREE);
	close(end[1]);
	assert_int_equal(baton_lock(other, "x", LONG_MS, NULL), 0);
	close(end[0]);
	close(ready[0]);
	close(ready[1]);
	baton_close(other);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
	        TEST(test_a_lock_goes_from_one_to_the_next),
	        TEST(test_many_locks_are_taken_and_given_back),
	        TEST(test_a_broken_lock_is_told),
	        TEST(test_what_happens_when_the_node_is_killed_and_comes_back),
	        TEST(test_an_idle_session_does_not_mind_a_restart),
	        TEST(test_leaders_are_observed),
	        TEST(test_the_longest_names_and_values),
	        TEST(test_who_is_at_the_other_end),
	        TEST(test_a_child_keeps_the_session),
	};

	program = getenv("BATON");
	if (program == NULL) {
		fprintf(stderr, "test_session: set BATON to the program to test\n");
		return 2;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
