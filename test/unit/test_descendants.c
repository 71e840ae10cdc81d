/*
 * Tests that all descendants of a process are ended. The tests are subreapers, as `baton run` is.
 */
#include "descendants.h"

#include <errno.h>
#include <linux/sched.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
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
		else if (depth == guardian + 1)
			prctl(PR_SET_NAME, "command"); /* names are inherited */
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

/* Reaps at most `most` children that have ended, without another round of killing. */
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
	alarm(PATIENCE_S); /* ends a test that waits for a process that was not killed */
	return prctl(PR_SET_CHILD_SUBREAPER, 1);
}

static void test_one_round_ends_a_whole_tree(void **context)
{
	(void)context;
	make_chain(0);
	assert_int_equal(descendants_left(&none, 0).count, DEPTH);
	struct descendants left = descendants_kill(&none, 0, 0);
	assert_int_equal(left.count, DEPTH);
	assert_int_equal(left.refused, 0);
	assert_int_equal(reap(DEPTH), DEPTH);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	assert_int_equal(descendants_left(&none, 0).count, 0);
}

/* If a guardian is killed before its command, its lock is released while the command still runs. */
static void test_one_round_ends_all_but_a_guardian(void **context)
{
	(void)context;
	make_chain(2);
	assert_int_equal(descendants_kill(&none, 0, 0).count, DEPTH);
	/* The guardian has lost its parent, and is now our child. It reaps nothing. */
	while (descendants_left(&none, 0).count > 1)
		usleep(1000);
	assert_int_equal(reap(1), 1);
	assert_int_equal(descendants_kill(&none, 0, KILL_GUARDIANS).count, 1);
	while (waitpid(-1, NULL, 0) > 0)
		;
	assert_int_equal(descendants_left(&none, 0).count, 0);
}

static void test_a_stopped_guardian_is_continued(void **context)
{
	(void)context;
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		alarm(PATIENCE_S);
		prctl(PR_SET_NAME, GUARDIAN_NAME);
		raise(SIGSTOP);
		_exit(7);
	}
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	assert_int_equal(descendants_kill(&none, 0, 0).count, 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
}

static void *say_and_run(void *ready)
{
	if (write(*(int *)ready, "x", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

/* /proc shows a process whose first thread has ended as a zombie, although it runs. */
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
		alarm(PATIENCE_S); /* ends this process if the test fails */
		if (pthread_create(&thread, NULL, say_and_run, &ready[1]) != 0)
			_exit(1);
		syscall(SYS_exit, 0); /* ends only this thread */
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	usleep(50000); /* the first thread ends meanwhile; if it does not, the test shows nothing */
	assert_int_equal(descendants_left(&none, 0).count, 1);
	assert_int_equal(descendants_kill(&none, 0, 0).count, 1);
	assert_int_equal(reap(1), 1);
}

/* --- numbers that are given twice --- */

/* Makes a process with this pid, which waits for a signal. Returns false if that is not
 * permitted. */
static bool make_with_number(pid_t number)
{
	pid_t numbers[] = {number};
	struct clone_args words = {
	        .exit_signal = SIGCHLD, .set_tid = (uint64_t)(uintptr_t)numbers, .set_tid_size = 1};
	long pid = syscall(SYS_clone3, &words, sizeof(words));

	if (pid == 0) {
		alarm(PATIENCE_S);
		for (;;)
			pause();
	}
	return pid == number;
}

/* Waits for one tick: processes that were made within the same tick cannot be told apart. */
static void let_a_tick_pass(void)
{
	usleep(30000);
}

static char ask(const int channel[2], const void *question, size_t size)
{
	char answer = 0;

	if (write(channel[1], question, size) != (ssize_t)size || read(channel[0], &answer, 1) != 1)
		return 0;
	return answer;
}

/* Forks a process with a pair of pipes to it. Returns 0 in the new process. */
static pid_t fork_with_channel(int ret_channel[2])
{
	int to[2], from[2];

	assert_int_equal(pipe(to), 0);
	assert_int_equal(pipe(from), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	ret_channel[0] = pid == 0 ? to[0] : from[0];
	ret_channel[1] = pid == 0 ? from[1] : to[1];
	close(pid == 0 ? to[1] : to[0]);
	close(pid == 0 ? from[0] : from[1]);
	if (pid == 0)
		alarm(PATIENCE_S);
	return pid;
}

/* The processes for swap_now, which is called when `parent` is about to be killed. */
static struct {
	pid_t parent, child;
	int parent_channel[2], stranger_channel[2];
	char made; /* 'y' if a stranger was made with the pid of the child */
} swap;

/* Lets the parent reap its child, and gives the child's pid to a stranger. */
static void swap_now(void)
{
	char word = 'x';

	swap.parent = 0;
	if (ask(swap.parent_channel, &word, 1) == 'y')
		swap.made = ask(swap.stranger_channel, &swap.child, sizeof(swap.child));
}

/* Replaces the function of the C library. */
int kill(pid_t pid, int signal)
{
	if (pid == swap.parent && swap.parent != 0)
		swap_now();
	return (int)syscall(SYS_kill, pid, signal);
}

/* Runs a parent: it makes a child when told to, ends it when told to, and waits. */
static _Noreturn void be_parent(const int channel[2])
{
	char byte;
	pid_t child = fork();

	if (child == 0) {
		for (;;)
			pause();
	}
	if (write(channel[1], &child, sizeof(child)) != sizeof(child) ||
	    read(channel[0], &byte, 1) != 1)
		_exit(1);
	syscall(SYS_kill, child, SIGKILL);
	waitpid(child, NULL, 0);
	let_a_tick_pass();
	if (write(channel[1], "y", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

/* Runs the stranger's parent: it makes the stranger, and tells whether it still runs when asked
 * again. */
static _Noreturn void be_strangers_parent(const int channel[2])
{
	siginfo_t info = {.si_pid = 0};
	pid_t number;
	char byte;

	if (read(channel[0], &number, sizeof(number)) != sizeof(number) ||
	    write(channel[1], make_with_number(number) ? "y" : "n", 1) != 1 ||
	    read(channel[0], &byte, 1) != 1)
		_exit(1);
	let_a_tick_pass(); /* by now a signal would have arrived */
	if (waitid(P_PID, (id_t)number, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT) != 0 ||
	    write(channel[1], info.si_pid == 0 ? "y" : "n", 1) != 1)
		_exit(1);
	syscall(SYS_kill, number, SIGKILL);
	waitpid(number, NULL, 0);
	_exit(0);
}

static void test_a_stranger_with_the_number_of_a_descendant_lives_on(void **context)
{
	(void)context;
	struct spared spared;
	int channel[2];

	pid_t strangers_parent = fork_with_channel(swap.stranger_channel);
	if (strangers_parent == 0)
		be_strangers_parent(swap.stranger_channel);
	spared_note(&spared);
	assert_int_equal(spared.count, 1);
	pid_t parent = fork_with_channel(channel);
	if (parent == 0)
		be_parent(channel);
	assert_int_equal(read(channel[0], &swap.child, sizeof(swap.child)), sizeof(swap.child));
	memcpy(swap.parent_channel, channel, sizeof(channel));
	swap.parent = parent;
	assert_int_equal(descendants_kill(&spared, 0, 0).count, 2);
	assert_int_equal(waitpid(parent, NULL, 0), parent);
	bool lives = ask(swap.stranger_channel, "x", 1) == 'y';
	assert_int_equal(waitpid(strangers_parent, NULL, 0), strangers_parent);
	spared_free(&spared);
	if (swap.made != 'y')
		skip(); /* pids cannot be chosen here */
	assert_true(lives);
}

static void test_a_process_with_the_number_of_a_spared_child_is_killed(void **context)
{
	(void)context;
	struct spared spared;
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0) {
		for (;;)
			pause();
	}
	spared_note(&spared);
	assert_int_equal(spared.count, 1);
	assert_int_equal(descendants_left(&spared, 0).count, 0);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	let_a_tick_pass();
	if (!make_with_number(child)) {
		spared_free(&spared);
		skip();
	}
	assert_int_equal(descendants_kill(&spared, 0, 0).count, 1);
	assert_int_equal(waitpid(child, NULL, 0), child);
	spared_free(&spared);
}

static double cpu_of_a_round(void)
{
	struct timespec begin, end;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
	descendants_kill(&none, 0, 0);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	return (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9;
}

/* Without descriptors, children are found by trying pids. There may be four million. */
static void test_an_ended_child_is_reaped_before_all_numbers_are_tried(void **context)
{
	(void)context;
	struct rlimit before, no_descriptors;
	siginfo_t info;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	no_descriptors = (struct rlimit){.rlim_cur = 0, .rlim_max = before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &no_descriptors), 0);
	double all_numbers = cpu_of_a_round();
	pid_t pid = fork();
	if (pid == 0)
		_exit(0);
	int waited = waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
	double with_child = cpu_of_a_round();
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(waited, 0);
	assert_int_equal(reap(1), 1);
	assert_true(with_child < all_numbers / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup(test_one_round_ends_a_whole_tree, begin),
	        cmocka_unit_test_setup(test_a_process_without_its_first_thread_is_killed, begin),
	        cmocka_unit_test_setup(test_one_round_ends_all_but_a_guardian, begin),
	        cmocka_unit_test_setup(test_a_stopped_guardian_is_continued, begin),
	        cmocka_unit_test_setup(test_a_stranger_with_the_number_of_a_descendant_lives_on,
	                               begin),
	        cmocka_unit_test_setup(test_an_ended_child_is_reaped_before_all_numbers_are_tried,
	                               begin),
	        cmocka_unit_test_setup(test_a_process_with_the_number_of_a_spared_child_is_killed,
	                               begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
