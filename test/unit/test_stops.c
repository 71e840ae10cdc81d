/* A process that cannot go on stops: a bug aborts it, and a lack of memory ends it. */
#include "memory.h"
#include "must.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs a function in a child. Returns its wait status, and what it printed on stderr. */
static int run_apart(void (*run)(void), char *ret_said, size_t size)
{
	int ends[2], status;

	assert_int_equal(pipe(ends), 0);
	fflush(stdout);
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		struct rlimit none = {0};
		setrlimit(RLIMIT_CORE, &none);
		signal(SIGABRT, SIG_DFL); /* cmocka catches SIGABRT; this undoes it */
		dup2(ends[1], STDERR_FILENO);
		run();
		_exit(0);
	}
	close(ends[1]);
	size_t length = 0;
	for (ssize_t got = 1; got > 0 && length < size - 1; length += (size_t)got) {
		got = read(ends[0], ret_said + length, size - 1 - length);
		assert_true(got >= 0);
	}
	ret_said[length] = '\0';
	close(ends[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static int line_of_bug;

static void meet_a_bug(void)
{
	must(1 + 1 == 2);
	must(line_of_bug == -1);
}

static void test_a_bug_tells_file_line_and_condition_and_aborts(void **state)
{
	char said[300], expected[300];

	(void)state;
	int status = run_apart(meet_a_bug, said, sizeof(said));
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	snprintf(expected, sizeof(expected),
	         "test_stops.c:%d: must(line_of_bug == -1) does not hold\n", __LINE__ - 11);
	if (strstr(said, expected) == NULL)
		fail_msg("'%s' does not end in '%s'", said, expected);
}

static void lack_memory(void)
{
	memory_must(1 + 1 == 2);
	memory_must(line_of_bug == -1);
}

static void lack_memory_in_the_laboratory(void)
{
	memory_exit_set(3);
	lack_memory();
}

static void test_a_lack_of_memory_is_told_and_ends_with_the_code_of_the_command(void **state)
{
	char said[300];

	(void)state;
	int status = run_apart(lack_memory, said, sizeof(said));
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 71);
	assert_string_equal(said, "baton: out of memory\n");
	status = run_apart(lack_memory_in_the_laboratory, said, sizeof(said));
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 3);
	assert_string_equal(said, "baton: out of memory\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_a_bug_tells_file_line_and_condition_and_aborts),
	        cmocka_unit_test(
	                test_a_lack_of_memory_is_told_and_ends_with_the_code_of_the_command),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
