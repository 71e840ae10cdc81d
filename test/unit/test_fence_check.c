/*
 * The guard of a resource: which fences pass, which do not, and what a crash leaves.
 */
#include <baton/baton.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <setjmp.h>

#include <cmocka.h>

#define FENCE_MAX ((UINT64_C(1) << 53) - 1)

static char folder[32];

static int set_up(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/baton-fence-XXXXXX");
	return mkdtemp(folder) != NULL && chdir(folder) == 0 ? 0 : -1;
}

static int tear_down(void **state)
{
	static const char *const names[] = {"f", "f.new", "f.lock", "link", "sub/f", "sub/f.lock"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		unlink(names[i]);
	rmdir("sub");
	return chdir("/") == 0 && rmdir(folder) == 0 ? 0 : -1;
}

static void write_file(const char *name, const char *bytes, size_t size)
{
	FILE *file = fopen(name, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

static void expect_file(const char *name, const char *text)
{
	char found[64] = "";
	FILE *file = fopen(name, "r");

	assert_non_null(file);
	found[fread(found, 1, sizeof(found) - 1, file)] = '\0';
	fclose(file);
	assert_string_equal(found, text);
}

static void test_only_the_highest_and_higher_pass(void **state)
{
	uint64_t highest = 0;

	(void)state;
	assert_int_equal(baton_fence_check("f", 5, &highest), 0);
	assert_int_equal(highest, 5);
	assert_int_equal(baton_fence_check("f", 5, &highest), 0);
	assert_int_equal(baton_fence_check("f", 4, &highest), BATON_ESTALE);
	assert_int_equal(highest, 5);
	assert_int_equal(baton_fence_check("f", FENCE_MAX, &highest), 0);
	assert_int_equal(baton_fence_check("f", FENCE_MAX - 1, NULL), BATON_ESTALE);
	assert_int_equal(baton_fence_check("f", FENCE_MAX, NULL), 0);
	expect_file("f", "9007199254740991\n");
}

static void test_what_is_no_fence_does_not_pass(void **state)
{
	(void)state;
	assert_int_equal(baton_fence_check("f", 0, NULL), BATON_EFENCE);
	assert_int_equal(baton_fence_check("f", FENCE_MAX + 1, NULL), BATON_EFENCE);
	assert_int_equal(access("f", F_OK), -1);
}

static void test_a_torn_file_lets_nothing_pass(void **state)
{
	static const struct {
		const char *bytes;
		size_t size;
	} torn[] = {{"", 0},
	            {"7", 1},
	            {"\n", 1},
	            {"7\n\n", 3},
	            {"7\n8\n", 4},
	            {"-7\n", 3},
	            {"0\n", 2},
	            {"\0\0\0", 3},
	            {"7\0\n", 3},
	            {" 7\n", 3},
	            {"0x7\n", 4},
	            {"7 \n", 3},
	            {"7\r\n", 3},
	            {"9007199254740992\n", 17},
	            {"99999999999999999999999999999999999999\n", 39}};

	(void)state;
	for (size_t i = 0; i < sizeof(torn) / sizeof(*torn); i++) {
		uint64_t highest = 1;
		write_file("f", torn[i].bytes, torn[i].size);
		int result = baton_fence_check("f", FENCE_MAX, &highest);
		if (result != BATON_ETORN)
			fail_msg("case %zu: %s", i, baton_error_name(result));
		assert_int_equal(highest, 1);
	}
	write_file("f", "7\n", 2);
	assert_int_equal(baton_fence_check("f", 6, NULL), BATON_ESTALE);
	assert_int_equal(baton_fence_check("f", 7, NULL), 0);
}

static void test_leavings_of_a_crash_are_in_nobodys_way(void **state)
{
	(void)state;
	write_file("f", "7\n", 2);
	write_file("f.new", "99", 2);
	write_file("f.lock", "", 0);
	assert_int_equal(baton_fence_check("f", 8, NULL), 0);
	expect_file("f", "8\n");
	assert_int_equal(access("f.new", F_OK), -1);
}

static void test_all_ways_to_a_file_are_one(void **state)
{
	struct stat status;

	(void)state;
	assert_int_equal(mkdir("sub", 0700), 0);
	assert_int_equal(baton_fence_check("sub/f", 7, NULL), 0);
	assert_int_equal(chmod("sub/f", 0640), 0);
	assert_int_equal(symlink("sub/f", "link"), 0);
	assert_int_equal(baton_fence_check("link", 6, NULL), BATON_ESTALE);
	assert_int_equal(baton_fence_check("link", 8, NULL), 0);
	assert_int_equal(baton_fence_check("./sub/../sub/f", 7, NULL), BATON_ESTALE);
	assert_int_equal(lstat("link", &status), 0);
	assert_true(S_ISLNK(status.st_mode));
	assert_int_equal(stat("sub/f", &status), 0);
	assert_int_equal(status.st_mode & 0777, 0640);
}

static void test_what_cannot_be_a_file(void **state)
{
	(void)state;
	assert_int_equal(baton_fence_check("", 7, NULL), BATON_EFILE);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(baton_fence_check("nowhere/f", 7, NULL), BATON_EFILE);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(baton_fence_check("nowhere/", 7, NULL), BATON_EFILE);
	assert_int_equal(mkdir("sub", 0700), 0);
	assert_int_equal(baton_fence_check("sub", 7, NULL), BATON_ETORN);
	assert_int_equal(unlink("sub.lock"), 0);
	assert_int_equal(mkfifo("f", 0600), 0);
	assert_int_equal(baton_fence_check("f", 7, NULL), BATON_ETORN);
}

/* --- many at once, and killed in the middle --- */

/* Memory that processes share. */
struct board {
	_Atomic uint64_t passed; /* the highest fence for which a call has succeeded */
	_Atomic uint64_t next;
	_Atomic uint32_t wrong, calls;
};

static struct board *make_board(void)
{
	struct board *board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE,
	                           MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(board, MAP_FAILED);
	return board;
}

static void check_one(struct board *board, uint64_t fence)
{
	uint64_t before = atomic_load(&board->passed);
	int result = baton_fence_check("f", fence, NULL);

	if (result == 0 && fence < before)
		atomic_fetch_add(&board->wrong, 1);
	if (result != 0 && result != BATON_ESTALE)
		atomic_fetch_add(&board->wrong, 1);
	uint64_t seen = atomic_load(&board->passed);
	while (result == 0 && seen < fence &&
	       !atomic_compare_exchange_weak(&board->passed, &seen, fence))
		;
	atomic_fetch_add(&board->calls, 1);
}

static void test_many_processes_at_once(void **state)
{
	enum { CHILDREN = 4, CALLS = 50 };
	struct board *board = make_board();
	pid_t children[CHILDREN];

	(void)state;
	for (int i = 0; i < CHILDREN; i++) {
		children[i] = fork();
		if (children[i] == 0) {
			/* Every other call comes with a late fence. */
			for (int k = 0; k < CALLS; k++)
				check_one(board, atomic_fetch_add(&board->next, 1) + 20 -
				                         (k % 2 == 0 ? 10 : 0));
			_exit(0);
		}
	}
	for (int i = 0; i < CHILDREN; i++) {
		int status;
		assert_int_equal(waitpid(children[i], &status, 0), children[i]);
		assert_int_equal(status, 0);
	}
	assert_int_equal(atomic_load(&board->wrong), 0);
	assert_int_equal(atomic_load(&board->calls), CHILDREN * CALLS);
	munmap(board, sizeof(*board));
}

static void test_kill_at_any_moment(void **state)
{
	enum { KILLS = 40 };
	struct board *board = make_board();

	(void)state;
	for (uint32_t i = 0; i < KILLS; i++) {
		pid_t child = fork();
		if (child == 0) {
			for (;;)
				check_one(board, atomic_fetch_add(&board->next, 1) + 1);
		}
		/* Kill the process after a few calls, and a little later each time. */
		uint32_t goal = atomic_load(&board->calls) + 2;
		while (atomic_load(&board->calls) < goal)
			;
		for (volatile uint32_t spin = 0; spin < i * 2000; spin = spin + 1)
			;
		kill(child, SIGKILL);
		assert_int_equal(waitpid(child, NULL, 0), child);
		uint64_t passed = atomic_load(&board->passed);
		assert_int_equal(baton_fence_check("f", passed - 1, NULL), BATON_ESTALE);
	}
	assert_int_equal(atomic_load(&board->wrong), 0);
	munmap(board, sizeof(*board));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(test_only_the_highest_and_higher_pass, set_up,
	                                        tear_down),
	        cmocka_unit_test_setup_teardown(test_what_is_no_fence_does_not_pass, set_up,
	                                        tear_down),
	        cmocka_unit_test_setup_teardown(test_a_torn_file_lets_nothing_pass, set_up,
	                                        tear_down),
	        cmocka_unit_test_setup_teardown(test_leavings_of_a_crash_are_in_nobodys_way, set_up,
	                                        tear_down),
	        cmocka_unit_test_setup_teardown(test_all_ways_to_a_file_are_one, set_up, tear_down),
	        cmocka_unit_test_setup_teardown(test_what_cannot_be_a_file, set_up, tear_down),
	        cmocka_unit_test_setup_teardown(test_many_processes_at_once, set_up, tear_down),
	        cmocka_unit_test_setup_teardown(test_kill_at_any_moment, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
