/*
 * How all descendants of a process are ended. The tests are subreapers, as `baton run` is.
 */
#include "descendants.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { DEPTH = 5, PATIENCE_S = 60 };

static const struct spared none;

/* Makes a chain of processes, each the child of the one before. `guardian` is the one that has a
 * guardian's name; 0: none. Returns when the last one lives. */
static void make_chain(int guardian)
{
	int ready[2];
	char byte;

	assert_int_equal(pipe(ready), 0);
	for (int depth = 1; depth <= DEPTH; depth++) {
		pid_t pid = fork();
		assert_true(pid >= 0);
		if (pid > 0) {
			if (depth == 1)
				break;
			for (;;)
				pause();
		}
		if (depth == guardian)
			prctl(PR_SET_NAME, GUARDIAN_NAME);
		if (depth == DEPTH) {
			if (write(ready[1], "x", 1) != 1)
				_exit(1);
			for (;;)
				pause();
		}
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
}

/* Reaps children that have ended, at most `most`, without another round of killing. */
static int reap(int most)
{
	int count = 0;

	while (count < most && waitpid(-1, NULL, 0) > 0)
		count++;
	return count;
}

static int begin(void **context)
{
	(void)context;
	alarm(PATIENCE_S); /* a test that waits for a process that was not killed ends by this */
	return prctl(PR_SET_CHILD_SUBREAPER, 1);
}

static void test_one_round_ends_a_whole_tree(void **context)
{
	(void)context;
	make_chain(0);
	assert_int_equal(descendants_left(&none, 0).count, DEPTH);
	struct descendants left = descendants_kill(&none, 0, false);
	assert_int_equal(left.count, DEPTH);
	assert_int_equal(left.refused, 0);
	assert_int_equal(reap(DEPTH), DEPTH);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	assert_int_equal(descendants_left(&none, 0).count, 0);
}

/* A guardian that is killed before its command gives its lock back while the command lives. */
static void test_below_a_guardian_children_are_killed_before_their_parents(void **context)
{
	(void)context;
	make_chain(2);
	for (int left = DEPTH; left > 0; left--) {
		struct descendants before;
		/* Zombies are not counted, but the last one that was killed may still be ending. */
		while ((before = descendants_left(&none, 0)).count > (size_t)left)
			usleep(1000);
		assert_int_equal(before.count, left);
		assert_int_equal(descendants_kill(&none, 0, false).count, left);
	}
	assert_int_equal(reap(1), 1);
	while (waitpid(-1, NULL, 0) > 0)
		;
}

static void *say_and_run(void *ready)
{
	if (write(*(int *)ready, "x", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

/* /proc shows such a process as a zombie, and it runs. */
static void test_a_process_without_its_first_thread_is_killed(void **context)
{
	(void)context;
	int ready[2];
	char byte;
	pthread_t thread;

	assert_int_equal(pipe(ready), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		alarm(PATIENCE_S); /* nobody else ends it if the test fails */
		if (pthread_create(&thread, NULL, say_and_run, &ready[1]) != 0)
			_exit(1);
		syscall(SYS_exit, 0); /* only this thread */
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	usleep(50000); /* its first thread ends meanwhile; if it has not, the test shows nothing */
	assert_int_equal(descendants_left(&none, 0).count, 1);
	assert_int_equal(descendants_kill(&none, 0, false).count, 1);
	assert_int_equal(reap(1), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup(test_one_round_ends_a_whole_tree, begin),
	        cmocka_unit_test_setup(test_a_process_without_its_first_thread_is_killed, begin),
	        cmocka_unit_test_setup(
	                test_below_a_guardian_children_are_killed_before_their_parents, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
