/*
 * libbaton with a node that follows a script. Checks what is sent and in which order, and what
 * happens when a connection ends in the middle or the answers make no sense.
 */
#include "../lib/fake_node.h"

#include <baton/baton.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <setjmp.h>

#include <cmocka.h>

#define NIL "$-1\r\n"
#define NOBODY_BUT(silent) "*4\r\n" NIL NIL NIL silent
#define NOBODY NOBODY_BUT("*0\r\n")
#define MESSAGE(channel, text) "*3\r\n" BULK(7, "message") channel text
#define SUBSCRIBED(channel) "*3\r\n" BULK(9, "subscribe") channel ":1\r\n"
#define UNSUBSCRIBED(channel) "*3\r\n" BULK(11, "unsubscribe") channel ":0\r\n"
#define X BULK(1, "x")

/* Starts a node with this script, and makes a handle for it. */
#define BEGIN(...)                                                                                 \
	const struct step steps[] = {__VA_ARGS__};                                                 \
	struct fake_node *node = fake_node_start(steps, sizeof(steps) / sizeof(*steps), false);    \
	struct baton *baton = baton_open(fake_node_address(node));                                 \
	uint64_t fence = 0;                                                                        \
	assert_non_null(baton);                                                                    \
	(void)fence

static void end(struct fake_node *node, struct baton *baton)
{
	baton_close(baton);
	fake_node_stop(node);
}

static bool readable(int fd, int timeout_ms)
{
	struct pollfd item = {.fd = fd, .events = POLLIN};

	return poll(&item, 1, timeout_ms) == 1;
}

/* The time to wait for the end of the script, so that commands that are sent without waiting arrive
 * too. */
enum { LONG_MS = 60000 };

static void test_an_unlock_does_not_wait_for_its_answer(void **state)
{
	(void)state;
	BEGIN({0, "LOCK x", ":7\r\n"}, {0, "UNLOCK x 7", NULL}, {0, "LOCK y", ":1\r\n:8\r\n"},
	      {0, "UNLOCK y 8", ":1\r\n"});

	assert_int_equal(baton_lock(baton, "x", BATON_FOREVER, &fence), 0);
	assert_int_equal(fence, 7);
	assert_int_equal(baton_unlock(baton, "x"), 0);
	assert_int_equal(baton_lock(baton, "y", BATON_FOREVER, &fence), 0);
	assert_int_equal(fence, 8);
	assert_int_equal(baton_fence(baton, "y", &fence), 0);
	assert_int_equal(baton_unlock(baton, "y"), 0);
	assert_int_equal(baton_sync(baton), 0);
	assert_int_equal(baton_fence(baton, "y", &fence), BATON_ENOTHELD);
	assert_int_equal(baton_unlock(baton, "y"), BATON_ENOTHELD);
	end(node, baton);
}

static void test_sync_tells_that_a_lock_had_been_lost(void **state)
{
	(void)state;
	BEGIN({0, "LOCK x", ":7\r\n"}, {0, "UNLOCK x 7", ":0\r\n"});

	assert_int_equal(baton_lock(baton, "x", BATON_FOREVER, &fence), 0);
	assert_int_equal(baton_unlock(baton, "x"), 0);
	assert_int_equal(baton_sync(baton), BATON_ELOST);
	assert_int_equal(baton_sync(baton), 0);
	end(node, baton);
}

static void test_sync_does_not_know_when_the_connection_ends(void **state)
{
	(void)state;
	BEGIN({0, "LOCK x", ":7\r\n"}, {0, "UNLOCK x 7", CLOSE});

	assert_int_equal(baton_lock(baton, "x", BATON_FOREVER, &fence), 0);
	assert_int_equal(baton_unlock(baton, "x"), 0);
	assert_int_equal(baton_sync(baton), BATON_ECONNECTION);
	assert_int_equal(baton_sync(baton), 0);
	end(node, baton);
}

static void test_stay_tells_what_the_node_says(void **state)
{
	(void)state;
	BEGIN({0, "LOCK x", ":7\r\n"}, {0, "CLIENT STAY", "+OK\r\n"},
	      {0, "CLIENT STAY", "-ERR CLIENT knows nothing of it\r\n"},
	      {0, "UNLOCK x 7", ":1\r\n"});

	assert_int_equal(baton_lock(baton, "x", BATON_FOREVER, &fence), 0);
	assert_int_equal(baton_stay(baton), 0);
	assert_int_equal(baton_stay(baton), BATON_EREFUSED);
	assert_non_null(strstr(baton_message(baton), "knows nothing of it"));
	assert_int_equal(baton_fence(baton, "x", &fence), 0);
	assert_int_equal(baton_unlock(baton, "x"), 0);
	assert_int_equal(baton_sync(baton), 0);
	end(node, baton);
}

/* The session goes on, and later answers belong to the right commands. */
static void test_stay_does_not_wait_for_a_node_that_is_stopped(void **state)
{
	(void)state;
	BEGIN({0, "LOCK x", ":7\r\n"}, {0, "CLIENT STAY", NULL}, {0, "UNLOCK x 7", "+OK\r\n:1\r\n"},
	      {0, "LOCK y", ":8\r\n"});

	assert_int_equal(baton_lock(baton, "x", BATON_FOREVER, &fence), 0);
	assert_int_equal(baton_stay(baton), BATON_EPENDING);
	assert_int_equal(baton_unlock(baton, "x"), 0);
	assert_int_equal(baton_sync(baton), 0);
	assert_int_equal(baton_lock(baton, "y", BATON_FOREVER, &fence), 0);
	assert_int_equal(fence, 8);
	end(node, baton);
}

static void test_stay_never_connects(void **state)
{
	(void)state;
	BEGIN({0, "LOCK x", ":7\r\n"}, {0, "CLIENT STAY", CLOSE});

	assert_int_equal(baton_stay(baton), BATON_ECONNECTION);
	assert_int_equal(baton_lock(baton, "x", BATON_FOREVER, &fence), 0);
	assert_int_equal(baton_stay(baton), BATON_ELOST);
	assert_int_equal(baton_stay(baton), BATON_ECONNECTION);
	end(node, baton);
}

/* Without this limit the node would stop reading, and both would wait for each other. */
static void test_not_too_many_unlocks_are_unanswered(void **state)
{
	enum { LOCKS = 100, UNANSWERED = 64 };
	static char words[2 * LOCKS][24];
	struct step steps[2 * LOCKS + 1];
	size_t used = 0;

	(void)state;
	for (int i = 0; i < 2 * LOCKS; i++) {
		snprintf(words[i], sizeof(words[i]), i < LOCKS ? "LOCK %d" : "UNLOCK %d 1",
		         i % LOCKS);
		/* The first 64 answers are sent after the 64th unlock has arrived. */
		bool quiet = i >= LOCKS && i < LOCKS + UNANSWERED;
		steps[used++] = (struct step){0, words[i], quiet ? NULL : ":1\r\n"};
		if (i == LOCKS + UNANSWERED - 1) {
			static char answers[UNANSWERED * 4 + 1];
			for (int k = 0; k < UNANSWERED; k++)
				memcpy(answers + 4 * (ptrdiff_t)k, ":1\r\n", 5);
			steps[used++] = (struct step){0, NULL, answers};
		}
	}
	struct fake_node *node = fake_node_start(steps, used, false);
	struct baton *baton = baton_open(fake_node_address(node));
	for (int i = 0; i < LOCKS; i++)
		assert_int_equal(baton_lock(baton, strchr(words[i], ' ') + 1, -1, NULL), 0);
	for (int i = 0; i < LOCKS; i++)
		assert_int_equal(baton_unlock(baton, strchr(words[i], ' ') + 1), 0);
	assert_int_equal(baton_sync(baton), 0);
	end(node, baton);
}

static void test_busy_and_late_are_told_apart(void **state)
{
	(void)state;
	BEGIN({0, "LOCK x NOWAIT", NIL}, {0, "LOCK x TIMEOUT 250", NIL},
	      {0, "LOCK x TIMEOUT 31536000000", NIL}, {0, "LOCK x NOWAIT", ":3\r\n"});

	assert_int_equal(baton_trylock(baton, "x", &fence), BATON_ENOTFREE);
	assert_string_equal(baton_message(baton), "'x' is not free");
	assert_int_equal(baton_lock(baton, "x", 250, &fence), BATON_ETIMEOUT);
	assert_string_equal(baton_message(baton), "'x' was not free within 250 ms");
	assert_int_equal(baton_lock(baton, "x", INT64_MAX, &fence), BATON_ETIMEOUT);
	assert_int_equal(baton_lock(baton, "x", BATON_TRY, &fence), 0);
	assert_int_equal(baton_trylock(baton, "x", &fence), BATON_EHELD);
	end(node, baton);
}

static void test_refusals_have_codes(void **state)
{
	(void)state;
	BEGIN({0, "LOCK x", "-HELD this session holds the lock already\r\n"},
	      {0, "LOCK x", "-NOVIEW this node is in no agreed view\r\n"},
	      {0, "LOCK x", "-NOPERM not yours\r\n"}, {0, "LOCK x", "-ACCESS not yours\r\n"},
	      {0, "LOCK x", "-ERR something else\r\n"}, {0, "LEADER x SILENT", "-NOVIEW none\r\n"});
	static const int codes[] = {BATON_EHELD, BATON_ENOVIEW, BATON_EACCESS, BATON_EACCESS,
	                            BATON_EREFUSED};

	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++)
		assert_int_equal(baton_lock(baton, "x", BATON_FOREVER, &fence), codes[i]);
	assert_non_null(strstr(baton_message(baton), "ERR something else"));
	assert_int_equal(baton_leader(baton, "x", NULL), BATON_ENOVIEW);
	end(node, baton);
}

static void test_bad_arguments_send_nothing(void **state)
{
	(void)state;
	BEGIN({0, "LOCK x", ":1\r\n"});
	char name[BATON_NAME_MAX + 2];
	char *json = NULL;

	memset(name, 'n', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(baton_lock(baton, "", BATON_FOREVER, &fence), BATON_ENAME);
	assert_int_equal(baton_lock(baton, NULL, BATON_FOREVER, &fence), BATON_ENAME);
	assert_int_equal(baton_lock(baton, name, BATON_FOREVER, &fence), BATON_ENAME);
	assert_int_equal(baton_elect(baton, "x", name, BATON_VALUE_MAX + 1, &fence), BATON_EVALUE);
	assert_int_equal(baton_break(baton, "x", 0), BATON_EFENCE);
	assert_int_equal(baton_break(baton, "x", UINT64_C(1) << 53), BATON_EFENCE);
	assert_int_equal(baton_break(baton, "", 1), BATON_ENAME);
	assert_int_equal(baton_leader(baton, "", NULL), BATON_ENAME);
	assert_int_equal(baton_observe(baton, ""), BATON_ENAME);
	assert_int_equal(baton_status(baton, "", 0, &json), BATON_ENAME);
	assert_int_equal(baton_observe_next(baton, 0, NULL), BATON_EMODE);
	assert_int_equal(baton_finish(baton, &fence), BATON_ENOTHELD);
	assert_int_equal(baton_cancel(baton), 0);
	assert_int_equal(baton_fd(baton), BATON_ECONNECTION);
	assert_int_equal(baton_lock(baton, "x", BATON_FOREVER, &fence), 0);
	assert_int_equal(baton_watch(baton), BATON_EHELD);
	assert_int_equal(baton_observe(baton, "x"), BATON_EHELD);
	end(node, baton);
}

/* --- connections that end --- */

static void test_an_idle_connection_that_ended_is_made_anew(void **state)
{
	(void)state;
	BEGIN({0, "LOCK x", ":1\r\n"}, {0, "UNLOCK x 1", ":1\r\n"}, {0, NULL, CLOSE},
	      {1, "LOCK x", ":2\r\n"}, {1, "UNLOCK x 2", ":1\r\n"}, {1, NULL, CLOSE},
	      {2, "LEADER x SILENT", NOBODY}, {2, NULL, CLOSE}, {3, "BREAK x 4", ":0\r\n"});

	assert_int_equal(baton_lock(baton, "x", BATON_FOREVER, &fence), 0);
	assert_int_equal(baton_unlock(baton, "x"), 0);
	assert_int_equal(baton_lock(baton, "x", BATON_FOREVER, &fence), 0);
	assert_int_equal(fence, 2);
	assert_int_equal(baton_unlock(baton, "x"), 0);
	assert_int_equal(baton_leader(baton, "x", NULL), 0);
	/* A command that may have been carried out is not repeated, so the end must have been
	 * noticed before it. */
	assert_true(readable(baton_fd(baton), LONG_MS));
	assert_int_equal(baton_break(baton, "x", 4), BATON_ENOTHELD);
	end(node, baton);
}

static void test_a_break_that_may_have_been_done_is_not_repeated(void **state)
{
	(void)state;
	BEGIN({0, "LEADER x SILENT", NOBODY}, {0, "BREAK x 4", CLOSE},
	      {1, "LEADER x SILENT", NOBODY});

	assert_int_equal(baton_leader(baton, "x", NULL), 0);
	assert_int_equal(baton_break(baton, "x", 4), BATON_ECONNECTION);
	assert_int_equal(baton_leader(baton, "x", NULL), 0);
	end(node, baton);
}

static void test_a_try_that_ends_with_an_older_session_begins_anew_once(void **state)
{
	(void)state;
	BEGIN({0, "LEADER x SILENT", NOBODY}, {0, "LOCK x NOWAIT", CLOSE},
	      {1, "LOCK x NOWAIT", CLOSE}, {2, "LOCK x NOWAIT", ":5\r\n"});

	assert_int_equal(baton_leader(baton, "x", NULL), 0);
	assert_int_equal(baton_trylock(baton, "x", &fence), BATON_ECONNECTION);
	assert_int_equal(baton_trylock(baton, "x", &fence), 0);
	end(node, baton);
}

static void test_what_was_held_is_lost_with_the_connection(void **state)
{
	(void)state;
	char name[BATON_NAME_MAX + 1];
	BEGIN({0, "LOCK x", ":1\r\n"}, {0, "LOCK y", ":2\r\n"}, {0, "LOCK w", ":3\r\n"},
	      {0, "LOCK z", CLOSE}, {1, "LOCK z", ":9\r\n"}, {1, "LOCK w", ":10\r\n"});

	assert_int_equal(baton_lock(baton, "x", BATON_FOREVER, &fence), 0);
	assert_int_equal(baton_lock(baton, "y", BATON_FOREVER, &fence), 0);
	assert_int_equal(baton_lock(baton, "w", BATON_FOREVER, &fence), 0);
	assert_int_equal(baton_lock(baton, "z", BATON_FOREVER, &fence), BATON_ELOST);
	assert_int_equal(baton_fence(baton, "x", &fence), BATON_ELOST);
	assert_int_equal(baton_unlock(baton, "x"), BATON_ELOST);
	assert_int_equal(baton_unlock(baton, "x"), BATON_ENOTHELD);
	/* The loss was reported, so no lock can be mistaken for held any more. */
	assert_int_equal(baton_lock(baton, "z", BATON_FOREVER, &fence), 0);
	assert_int_equal(baton_lock(baton, "w", BATON_FOREVER, &fence), 0);
	assert_int_equal(baton_lost(baton, name, &fence), 1);
	assert_string_equal(name, "y");
	assert_int_equal(fence, 2);
	assert_int_equal(baton_lost(baton, name, &fence), 0);
	assert_int_equal(baton_fence(baton, "w", &fence), 0);
	assert_int_equal(fence, 10);
	end(node, baton);
}

/* This program would end by SIGPIPE if the library did not suppress it. */
static void test_unlock_tells_that_the_connection_had_ended(void **state)
{
	(void)state;
	BEGIN({0, "LOCK x", ":1\r\n"}, {0, NULL, CLOSE});

	assert_int_equal(baton_lock(baton, "x", BATON_FOREVER, &fence), 0);
	assert_true(readable(baton_fd(baton), LONG_MS));
	assert_int_equal(baton_unlock(baton, "x"), BATON_ELOST);
	assert_int_equal(baton_lost(baton, NULL, NULL), 0);
	end(node, baton);
}

static void test_nonsense_ends_the_session(void **state)
{
	static const char *const nonsense[] = {
	        "hello\r\n",
	        "*1\r\n:5\r\n",
	        ":0\r\n",
	        ":-4\r\n",
	        "+OK\r\n",
	        "$1\r\n5\r\n",
	        ":9007199254740992\r\n",
	        ":12345678901234567890123\r\n",
	        "\r\n\r\n",
	        "*-7\r\n",
	        "%1\r\n+a\r\n:1\r\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(nonsense) / sizeof(*nonsense); i++) {
		char *say = strdup(nonsense[i]);
		BEGIN({0, "LOCK w", ":1\r\n"}, {0, "LOCK x", say}, {1, "LOCK x", ":6\r\n"});
		assert_int_equal(baton_lock(baton, "w", BATON_FOREVER, &fence), 0);
		int error = baton_lock(baton, "x", BATON_FOREVER, &fence);
		if (error != BATON_EPROTOCOL)
			fail_msg("%s: %s", nonsense[i], baton_error_name(error));
		assert_int_equal(baton_fence(baton, "w", &fence), BATON_ELOST);
		assert_int_equal(baton_lock(baton, "x", BATON_FOREVER, &fence), 0);
		assert_int_equal(fence, 6);
		end(node, baton);
		free(say);
	}
}

static void test_half_an_answer_is_none(void **state)
{
	(void)state;
	BEGIN({0, "LOCK x NOWAIT", ":12"}, {0, NULL, CLOSE}, {1, "STATUS", "$100\r\nabc"},
	      {1, NULL, CLOSE});
	char *json = NULL;

	assert_int_equal(baton_lock(baton, "x", BATON_TRY, &fence), BATON_ECONNECTION);
	assert_int_equal(baton_status(baton, NULL, 0, &json), BATON_ECONNECTION);
	end(node, baton);
}

/* The node has accepted the connection and sends nothing more: it is stopped. */
static void test_a_try_does_not_wait_for_a_node_that_is_stopped(void **state)
{
	(void)state;
	BEGIN({0, "LOCK x NOWAIT", NULL}, {1, "LOCK x NOWAIT", ":7\r\n"}, {1, "QUIT", NULL});
	assert_int_equal(baton_trylock(baton, "x", &fence), BATON_ESILENT);
	assert_non_null(strstr(baton_message(baton), "does not answer"));
	/* Anything that the node may have granted ended with that session. */
	assert_int_equal(baton_fence(baton, "x", &fence), BATON_ENOTHELD);
	assert_int_equal(baton_trylock(baton, "x", &fence), 0);
	assert_int_equal(fence, 7);
	end(node, baton);
}

static void test_a_wait_for_ever_goes_through_restarts(void **state)
{
	(void)state;
	BEGIN({0, "LOCK x", ":1"}, {0, NULL, CLOSE}, {1, "LOCK x", "-NOVIEW not yet\r\n"},
	      {1, "LOCK x", NULL}, {1, NULL, CLOSE}, {2, "LOCK x", ":7\r\n"});

	assert_int_equal(baton_lock(baton, "x", BATON_FOREVER, &fence), 0);
	assert_int_equal(fence, 7);
	end(node, baton);
}

/* If there is no view when the wait begins, that is reported at once. */
static void test_a_wait_for_ever_needs_a_view_to_begin_with(void **state)
{
	(void)state;
	BEGIN({0, "LOCK x", "-NOVIEW not yet\r\n"},
	      {0, "LOCK x TIMEOUT 9000", "-NOVIEW not yet\r\n"}, {0, NULL, CLOSE});

	assert_int_equal(baton_lock(baton, "x", BATON_FOREVER, &fence), BATON_ENOVIEW);
	/* With a timeout, the call waits for a view. */
	assert_int_equal(baton_lock_start(baton, "x", 9000), 0);
	assert_true(readable(baton_fd(baton), LONG_MS));
	assert_int_equal(baton_finish(baton, &fence), BATON_ENOVIEW);
	end(node, baton);
}

static void test_members_that_do_not_answer_are_named(void **state)
{
	(void)state;
	BEGIN({0, "LOCK x NOWAIT", "-SILENT n2 n3\r\n"}, {0, "LOCK x NOWAIT", "-SILENT\r\n"});

	assert_int_equal(baton_trylock(baton, "x", &fence), BATON_ESILENT);
	assert_non_null(strstr(baton_message(baton), "'x'"));
	assert_non_null(strstr(baton_message(baton), "n2 n3"));
	assert_int_equal(baton_trylock(baton, "x", &fence), BATON_ESILENT);
	assert_null(strstr(baton_message(baton), "answer from"));
	end(node, baton);
}

static volatile sig_atomic_t alarms;

static void on_alarm(int signal)
{
	(void)signal;
	alarms = alarms + 1;
}

static void test_signals_do_not_end_a_wait(void **state)
{
	(void)state;
	struct sigaction action = {.sa_handler = on_alarm}, before;
	const struct itimerval often = {{0, 2000}, {0, 2000}}, never = {{0, 0}, {0, 0}};
	BEGIN({0, "LOCK x", PAUSE}, {0, NULL, ":4\r\n"});

	sigaction(SIGALRM, &action, &before);
	setitimer(ITIMER_REAL, &often, NULL);
	assert_int_equal(baton_lock_start(baton, "x", BATON_FOREVER), 0);
	while (alarms < 3)
		pause();
	fake_node_go(node);
	int error;
	do {
		struct pollfd item = {.fd = baton_fd(baton), .events = POLLIN};
		poll(&item, 1, LONG_MS);
		error = baton_finish(baton, &fence);
	} while (error == BATON_EPENDING);
	setitimer(ITIMER_REAL, &never, NULL);
	sigaction(SIGALRM, &before, NULL);
	assert_int_equal(error, 0);
	end(node, baton);
}

/* --- start and finish --- */

static void test_a_lock_is_started_and_finished(void **state)
{
	(void)state;
	BEGIN({0, "LOCK x TIMEOUT 9000", PAUSE}, {0, NULL, ":4\r\n"},
	      {0, "ELECT e host:80", "-LOST too bad\r\n"}, {0, "LOCK y NOWAIT", NIL});

	assert_int_equal(baton_lock_start(baton, "x", 9000), 0);
	assert_int_equal(baton_finish(baton, &fence), BATON_EPENDING);
	assert_int_equal(baton_lock(baton, "y", BATON_FOREVER, &fence), BATON_EBUSY);
	assert_int_equal(baton_lock_start(baton, "y", BATON_FOREVER), BATON_EBUSY);
	assert_int_equal(baton_unlock(baton, "y"), BATON_EBUSY);
	assert_int_equal(baton_sync(baton), BATON_EBUSY);
	assert_int_equal(baton_watch(baton), BATON_EBUSY);
	assert_int_equal(baton_observe(baton, "y"), BATON_EBUSY);
	assert_int_equal(baton_connect(baton), BATON_EBUSY);
	fake_node_go(node);
	assert_true(readable(baton_fd(baton), LONG_MS));
	assert_int_equal(baton_finish(baton, &fence), 0);
	assert_int_equal(fence, 4);
	assert_int_equal(baton_finish(baton, &fence), BATON_ENOTHELD);
	assert_int_equal(baton_elect_start(baton, "e", "host:80", 7), 0);
	assert_true(readable(baton_fd(baton), LONG_MS));
	assert_int_equal(baton_finish(baton, &fence), BATON_ELOST);
	assert_int_equal(baton_lock_start(baton, "y", BATON_TRY), 0);
	assert_true(readable(baton_fd(baton), LONG_MS));
	assert_int_equal(baton_finish(baton, &fence), BATON_ENOTFREE);
	assert_int_equal(baton_fence(baton, "x", &fence), 0);
	end(node, baton);
}

static void test_a_started_lock_ends_with_the_connection(void **state)
{
	(void)state;
	BEGIN({0, "LEADER x SILENT", NOBODY}, {0, "LOCK x", CLOSE}, {1, "LOCK w", ":1\r\n"},
	      {1, "LOCK x", CLOSE});

	assert_int_equal(baton_leader(baton, "x", NULL), 0);
	assert_int_equal(baton_lock_start(baton, "x", BATON_FOREVER), 0);
	assert_true(readable(baton_fd(baton), LONG_MS));
	assert_int_equal(baton_finish(baton, &fence), BATON_ECONNECTION);
	assert_int_equal(baton_finish(baton, &fence), BATON_ENOTHELD);
	assert_int_equal(baton_lock(baton, "w", BATON_FOREVER, &fence), 0);
	assert_int_equal(baton_lock_start(baton, "x", BATON_FOREVER), 0);
	assert_true(readable(baton_fd(baton), LONG_MS));
	assert_int_equal(baton_finish(baton, &fence), BATON_ELOST);
	end(node, baton);
}

static void test_a_started_lock_is_withdrawn(void **state)
{
	(void)state;
	BEGIN({0, "LOCK x", NULL}, {1, "LOCK w", ":1\r\n"}, {1, "LOCK x", NULL});

	assert_int_equal(baton_lock_start(baton, "x", BATON_FOREVER), 0);
	assert_int_equal(baton_cancel(baton), 0);
	assert_int_equal(baton_lock(baton, "w", BATON_FOREVER, &fence), 0);
	assert_int_equal(baton_lock_start(baton, "x", BATON_FOREVER), 0);
	assert_int_equal(baton_cancel(baton), BATON_EHELD);
	assert_int_equal(baton_finish(baton, &fence), BATON_EPENDING);
	end(node, baton);
}

/* --- losing --- */

static void test_a_broken_lock_is_seen_on_the_descriptor(void **state)
{
	(void)state;
	char name[BATON_NAME_MAX + 1];
	BEGIN({1, "SUBSCRIBE x", SUBSCRIBED(X) MESSAGE(X, BULK(12, "released 3 b"))},
	      {0, "LOCK x", ":4\r\n"}, {1, NULL, MESSAGE(X, BULK(11, "granted 4 a"))},
	      {1, NULL, PAUSE},
	      {1, NULL, MESSAGE(X, BULK(34, "lost 4 a 1 broken uid 0 pid 7 at b"))},
	      {1, "UNSUBSCRIBE x", UNSUBSCRIBED(X)}, {1, "SUBSCRIBE x", SUBSCRIBED(X)},
	      {0, "LOCK x", ":6\r\n"});
	int fd = baton_watch(baton);

	assert_true(fd >= 0);
	assert_int_equal(baton_watch(baton), fd);
	assert_int_equal(baton_lock(baton, "x", BATON_FOREVER, &fence), 0);
	/* The client's own grant is no loss. */
	while (readable(fd, 0))
		assert_int_equal(baton_lost(baton, name, &fence), 0);
	assert_int_equal(baton_fence(baton, "x", &fence), 0);
	fake_node_go(node);
	assert_int_equal(baton_lost_reason(baton, NULL), 0);
	/* The event of the client's own grant may arrive only now. */
	do
		assert_true(readable(fd, LONG_MS));
	while (baton_lost(baton, name, &fence) == 0);
	assert_string_equal(name, "x");
	assert_int_equal(fence, 4);
	const char *why;
	assert_int_equal(baton_lost_reason(baton, &why), BATON_LOST_BROKEN);
	assert_string_equal(why, "broken uid 0 pid 7 at b");
	assert_int_equal(baton_lost(baton, name, &fence), 0);
	assert_int_equal(baton_lock(baton, "x", BATON_FOREVER, &fence), 0);
	assert_int_equal(fence, 6);
	end(node, baton);
}

static void test_a_lock_can_be_lost_before_its_grant_is_read(void **state)
{
	(void)state;
	char name[BATON_NAME_MAX + 1];
	BEGIN({1, "SUBSCRIBE x", SUBSCRIBED(X)}, {0, "LOCK x", NULL},
	      {1, NULL, MESSAGE(X, BULK(8, "lost 4 a"))}, {0, NULL, PAUSE}, {0, NULL, ":4\r\n"},
	      {1, "UNSUBSCRIBE x", NULL});
	int fd = baton_watch(baton);

	assert_int_equal(baton_lock_start(baton, "x", BATON_FOREVER), 0);
	assert_true(readable(fd, LONG_MS));
	assert_int_equal(baton_lost(baton, name, &fence), 0);
	fake_node_go(node);
	assert_true(readable(baton_fd(baton), LONG_MS));
	assert_int_equal(baton_finish(baton, &fence), BATON_ELOST);
	assert_int_equal(baton_fence(baton, "x", &fence), BATON_ELOST);
	assert_int_equal(baton_lost(baton, name, &fence), 1);
	end(node, baton);
}

/* Whichever of the two connections ends, everything is lost, and the other connection is closed. */
static void test_the_end_of_either_connection_is_a_loss(void **state)
{
	(void)state;
	for (int closing = 0; closing < 2; closing++) {
		char name[BATON_NAME_MAX + 1];
		BEGIN({1, "SUBSCRIBE x", SUBSCRIBED(X)}, {0, "LOCK x", ":4\r\n"},
		      {closing, NULL, PAUSE}, {closing, NULL, CLOSE},
		      {3, "SUBSCRIBE x", SUBSCRIBED(X)}, {2, "LOCK x", ":5\r\n"},
		      {3, "UNSUBSCRIBE x", NULL}, {2, "UNLOCK x 5", NULL});
		int fd = baton_watch(baton);

		assert_int_equal(baton_lock(baton, "x", BATON_FOREVER, &fence), 0);
		fake_node_go(node);
		assert_true(readable(fd, LONG_MS));
		assert_int_equal(baton_fence(baton, "x", &fence), BATON_ELOST);
		assert_true(readable(fd, 0)); /* the loss was not reported yet */
		assert_int_equal(baton_lost(baton, name, &fence), 1);
		assert_false(readable(fd, 0));
		assert_int_equal(baton_lost(baton, name, &fence), 0);
		assert_int_equal(baton_lock(baton, "x", BATON_FOREVER, &fence), 0);
		assert_int_equal(baton_unlock(baton, "x"), 0);
		assert_int_equal(baton_lost(baton, name, &fence), 0);
		end(node, baton);
	}
}

static void test_a_started_lock_and_the_watch_end_together(void **state)
{
	(void)state;
	BEGIN({1, "SUBSCRIBE x", SUBSCRIBED(X)}, {0, "LOCK x", NULL}, {1, NULL, CLOSE},
	      {0, NULL, CLOSE});
	int fd = baton_watch(baton);

	assert_int_equal(baton_lock_start(baton, "x", BATON_FOREVER), 0);
	assert_true(readable(fd, LONG_MS));
	assert_int_equal(baton_lost(baton, NULL, NULL), 0);
	assert_true(readable(baton_fd(baton), LONG_MS));
	assert_int_equal(baton_finish(baton, &fence), BATON_ECONNECTION);
	end(node, baton);
}

static void test_a_subscription_that_is_refused_locks_nothing(void **state)
{
	(void)state;
	BEGIN({1, "SUBSCRIBE x", "-SUBSCRIPTIONS too many\r\n"}, {1, "UNSUBSCRIBE x", NULL},
	      {1, "SUBSCRIBE x", "+OK\r\n"});

	assert_true(baton_watch(baton) >= 0);
	assert_int_equal(baton_lock(baton, "x", BATON_FOREVER, &fence), BATON_ESUBSCRIPTIONS);
	assert_int_equal(baton_lock(baton, "x", BATON_FOREVER, &fence), BATON_EPROTOCOL);
	end(node, baton);
}

/* Rules that forbid the lock forbid the subscription. Of the two refusals, that of the lock counts:
 * it names the rule that is needed. */
static void test_a_subscription_that_rules_forbid(void **state)
{
	(void)state;
	BEGIN({1, "SUBSCRIBE x", "-NOPERM observe\r\n"}, {0, "ELECT x v", "-NOPERM elect\r\n"},
	      {1, "UNSUBSCRIBE x", NULL}, {1, "SUBSCRIBE x", "-NOPERM observe\r\n"},
	      {0, "LOCK x", ":4\r\n"}, {3, "SUBSCRIBE x", SUBSCRIBED(X)}, {2, "LOCK x", ":5\r\n"});

	assert_true(baton_watch(baton) >= 0);
	assert_int_equal(baton_elect(baton, "x", "v", 1, &fence), BATON_EACCESS);
	assert_non_null(strstr(baton_message(baton), "elect"));
	/* The rules change between SUBSCRIBE, which is refused, and LOCK, which is granted. A lock
	 * without the subscription is not kept, so the library tries again. */
	assert_int_equal(baton_lock(baton, "x", BATON_FOREVER, &fence), 0);
	assert_int_equal(fence, 5);
	end(node, baton);
}

/* --- leaders --- */

static void test_who_leads(void **state)
{
	(void)state;
	struct baton_leader leader;
	BEGIN({0, "LEADER x SILENT", NOBODY},
	      {0, "LEADER x SILENT", "*4\r\n:5\r\n" BULK(2, "n1") BULK(3, "a b") "*0\r\n"},
	      {0, "ELECT x me", ":6\r\n"}, {0, "UNLOCK x 6", ":1\r\n"},
	      {0, "LEADER x SILENT", "*2\r\n:5\r\n" BULK(2, "n1")});

	assert_int_equal(baton_leader(baton, "x", &leader), 0);
	assert_int_equal(baton_leader(baton, "x", &leader), 1);
	assert_int_equal(leader.fence, 5);
	assert_string_equal(leader.node, "n1");
	assert_string_equal(leader.value, "a b");
	assert_int_equal(leader.value_size, 3);
	assert_int_equal(baton_elect(baton, "x", "me", 2, &fence), 0);
	assert_int_equal(baton_fence(baton, "x", &fence), 0);
	assert_int_equal(baton_resign(baton, "x"), 0);
	assert_int_equal(baton_leader(baton, "x", &leader), BATON_EPROTOCOL);
	end(node, baton);
}

#define LEADER_BUT(fence, value, silent) "*4\r\n:" #fence "\r\n" BULK(1, "n") BULK(1, value) silent
#define LEADER(fence, value) LEADER_BUT(fence, value, "*0\r\n")

static void expect_change(struct baton *baton, int change, uint64_t fence, const char *value)
{
	struct baton_leader leader = {.fence = 0};

	assert_int_equal(baton_observe_next(baton, LONG_MS, &leader), change);
	assert_int_equal(leader.fence, fence);
	assert_string_equal(leader.node, "n");
	assert_string_equal(leader.value, value);
}

#define SILENT "*2\r\n" BULK(1, "n") BULK(2, "n3")

static void test_who_leads_may_not_be_known(void **state)
{
	(void)state;
	struct baton_leader leader;
	BEGIN({0, "LEADER x SILENT", NOBODY_BUT(SILENT)},
	      {0, "LEADER x SILENT", LEADER_BUT(6, "b", SILENT)},
	      {0, "LEADER x SILENT", LEADER_BUT(6, "b", "*1\r\n" BULK(2, "n3"))},
	      {0, "LEADER x SILENT", NOBODY_BUT(":1\r\n")});

	assert_int_equal(baton_leader(baton, "x", &leader), BATON_ESILENT);
	assert_non_null(strstr(baton_message(baton), "no answer from n n3"));
	assert_int_equal(baton_leader(baton, "x", &leader), 1);
	assert_int_equal(leader.silent, 1);
	assert_int_equal(baton_leader(baton, "x", &leader), 1);
	assert_int_equal(leader.silent, 0);
	assert_int_equal(baton_leader(baton, "x", &leader), BATON_EPROTOCOL);
	end(node, baton);
}

static void expect_silence(struct baton *baton, int change, int silent)
{
	struct baton_leader leader = {.silent = 2};

	assert_int_equal(baton_observe_next(baton, LONG_MS, &leader), change);
	assert_int_equal(leader.silent, silent);
	if (change == BATON_UNKNOWN)
		assert_string_equal(leader.value, "n n3");
}

/* An answer that contradicts the last one must come twice in a row. */
static void test_an_observer_is_told_what_cannot_be_known(void **state)
{
	(void)state;
	BEGIN({0, "SUBSCRIBE x", SUBSCRIBED(X)}, {1, "LEADER x SILENT", NOBODY_BUT(SILENT)},
	      {1, "LEADER x SILENT", NOBODY_BUT(SILENT)}, {1, "LEADER x SILENT", LEADER(6, "b")},
	      {1, "LEADER x SILENT", LEADER_BUT(6, "b", SILENT)},
	      {1, "LEADER x SILENT", LEADER(6, "b")},
	      {1, "LEADER x SILENT", LEADER_BUT(6, "b", SILENT)},
	      {1, "LEADER x SILENT", "-NOVIEW none\r\n"}, {1, "LEADER x SILENT", NOBODY},
	      {1, "LEADER x SILENT", NOBODY_BUT(SILENT)},
	      {1, "LEADER x SILENT", NOBODY_BUT(SILENT)}, {1, "LEADER x SILENT", NOBODY},
	      {0, NULL, PAUSE}, {0, NULL, MESSAGE(X, BULK(12, "leader 7 n c"))});

	assert_int_equal(baton_observe(baton, "x"), 0);
	expect_silence(baton, BATON_UNKNOWN, 1);
	expect_change(baton, BATON_LEADS, 6, "b");
	expect_silence(baton, BATON_LEADS, 1);
	expect_change(baton, BATON_LED, 6, "b");
	expect_silence(baton, BATON_UNKNOWN, 1);
	expect_silence(baton, BATON_NOBODY, 0);
	fake_node_go(node);
	expect_change(baton, BATON_LEADS, 7, "c");
	end(node, baton);
}

static void test_an_observer_sees_each_change_once(void **state)
{
	(void)state;
	/* The second connection asks who leads; an event on the first that repeats it is not
	 * reported again. */
	BEGIN({0, "SUBSCRIBE x", SUBSCRIBED(X) MESSAGE(X, BULK(12, "leader 5 n a"))},
	      {1, "LEADER x SILENT", LEADER(6, "b")},
	      {0, NULL,
	       MESSAGE(X, BULK(12, "released 5 n")) MESSAGE(X, BULK(11, "granted 6 n"))
	               MESSAGE(X, BULK(12, "leader 6 n b")) MESSAGE(X, BULK(8, "lost 6 n")) MESSAGE(
	                       X, BULK(11, "granted 7 n")) MESSAGE(X, BULK(12, "released 7 n"))
	                       MESSAGE(X, BULK(12, "leader 8 n c"))
	                               MESSAGE(X, BULK(11, "leader 9 n "))},
	      {0, NULL, PAUSE}, {0, NULL, MESSAGE(X, BULK(6, "leader"))});

	assert_int_equal(baton_observe(baton, "x"), 0);
	assert_int_equal(baton_lock(baton, "x", BATON_FOREVER, &fence), BATON_EMODE);
	expect_change(baton, BATON_LEADS, 6, "b");
	expect_change(baton, BATON_LED, 6, "b");
	expect_change(baton, BATON_LEADS, 8, "c");
	expect_change(baton, BATON_LEADS, 9, "");
	assert_int_equal(baton_observe_next(baton, 0, NULL), 0);
	assert_int_equal(baton_observe_next(baton, 1, NULL), 0);
	fake_node_go(node);
	assert_true(readable(baton_fd(baton), LONG_MS));
	assert_int_equal(baton_observe_next(baton, 0, NULL), BATON_EPROTOCOL);
	end(node, baton);
}

static void test_an_observer_goes_on_after_the_connection_ended(void **state)
{
	(void)state;
	BEGIN({0, "SUBSCRIBE x", SUBSCRIBED(X)}, {1, "LEADER x SILENT", LEADER(6, "b")},
	      {0, NULL, CLOSE}, {2, "SUBSCRIBE x", SUBSCRIBED(X)},
	      {3, "LEADER x SILENT", LEADER(6, "b")}, {2, NULL, CLOSE},
	      {4, "SUBSCRIBE x", SUBSCRIBED(X)}, {5, "LEADER x SILENT", NOBODY},
	      {4, NULL, MESSAGE(X, BULK(12, "leader 7 n c"))}, {4, NULL, CLOSE},
	      {6, "SUBSCRIBE x", SUBSCRIBED(X)}, {7, "LEADER x SILENT", "-NOVIEW none\r\n"});

	assert_int_equal(baton_observe(baton, "x"), 0);
	expect_change(baton, BATON_LEADS, 6, "b");
	assert_int_equal(baton_observe_next(baton, BATON_FOREVER, NULL), BATON_ECONNECTION);
	assert_int_equal(baton_observe_next(baton, BATON_FOREVER, NULL), BATON_ECONNECTION);
	expect_change(baton, BATON_LED, 6, "b");
	expect_change(baton, BATON_LEADS, 7, "c");
	assert_int_equal(baton_observe_next(baton, BATON_FOREVER, NULL), BATON_ECONNECTION);
	assert_int_equal(baton_observe_next(baton, BATON_FOREVER, NULL), BATON_ENOVIEW);
	end(node, baton);
}

/* --- the rest --- */

static void test_status_and_break(void **state)
{
	(void)state;
	char *json = NULL;
	BEGIN({0, "STATUS", BULK(2, "{}")}, {0, "STATUS a* COUNT 7", BULK(2, "{}")},
	      {0, "STATUS * COUNT 1", BULK(2, "{}")}, {0, "BREAK x 9007199254740991", ":1\r\n"},
	      {0, "BREAK x 4", ":0\r\n"}, {0, "BREAK x 4", "-SILENT b is silent\r\n"});

	assert_int_equal(baton_status(baton, NULL, 0, &json), 0);
	assert_string_equal(json, "{}");
	free(json);
	assert_int_equal(baton_status(baton, "a*", 7, &json), 0);
	free(json);
	assert_int_equal(baton_status(baton, NULL, 1, NULL), 0);
	assert_int_equal(baton_break(baton, "x", (UINT64_C(1) << 53) - 1), 0);
	assert_int_equal(baton_break(baton, "x", 4), BATON_ENOTHELD);
	assert_int_equal(baton_break(baton, "x", 4), BATON_ESILENT);
	end(node, baton);
}

static void test_who_is_there(void **state)
{
	(void)state;
	char name[BATON_NAME_MAX + 1];
	uint64_t lease_ms;
	BEGIN({0, "HELLO 2",
	       "*6\r\n" BULK(5, "proto") ":2\r\n" BULK(4, "node") BULK(1, "a")
	               BULK(8, "lease_ms") ":700\r\n"},
	      {0, "HELLO 2", "*2\r\n" BULK(4, "node") BULK(1, "a")}, {1, "HELLO 2", "*0\r\n"});

	assert_int_equal(baton_node(baton, name, &lease_ms), 0);
	assert_string_equal(name, "a");
	assert_int_equal(lease_ms, 700);
	assert_int_equal(baton_node(baton, name, &lease_ms), BATON_EPROTOCOL);
	assert_int_equal(baton_node(baton, name, &lease_ms), BATON_EPROTOCOL);
	end(node, baton);
}

static void test_over_tcp(void **state)
{
	static const struct step steps[] = {{0, "LOCK x", ":7\r\n"}, {0, "UNLOCK x 7", ":1\r\n"}};
	uint64_t fence;

	(void)state;
	struct fake_node *node = fake_node_start(steps, 2, true);
	struct baton *baton = baton_open(fake_node_address(node));
	assert_int_equal(baton_lock(baton, "x", BATON_FOREVER, &fence), 0);
	assert_int_equal(baton_unlock(baton, "x"), 0);
	assert_int_equal(baton_sync(baton), 0);
	end(node, baton);
}

static void expect_open(const char *address, int error, const char *message)
{
	struct baton *baton = baton_open(address);

	assert_int_equal(baton_connect(baton), error);
	if (strstr(baton_message(baton), message) == NULL)
		fail_msg("'%s' is not in '%s'", message, baton_message(baton));
	baton_close(baton);
}

static void test_addresses_that_are_none(void **state)
{
	char path[200];

	(void)state;
	memset(path, 'p', sizeof(path));
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	expect_open("", BATON_EADDRESS, "1 to 107 bytes");
	expect_open(path, BATON_EADDRESS, "1 to 107 bytes");
	expect_open("host:", BATON_EADDRESS, "HOST:PORT");
	expect_open(":80", BATON_EADDRESS, "HOST:PORT");
	expect_open("host:0", BATON_EADDRESS, "HOST:PORT");
	expect_open("host:65536", BATON_EADDRESS, "HOST:PORT");
	expect_open("host:http", BATON_EADDRESS, "HOST:PORT");
	expect_open("[]:80", BATON_EADDRESS, "HOST:PORT");
	expect_open("/nonexistent/baton.sock", BATON_ENODE, "/nonexistent/baton.sock");
	expect_open("127.0.0.1:1", BATON_ENODE, "127.0.0.1:1");
	expect_open("[::1]:1", BATON_ENODE, "[::1]:1");
	expect_open("/dev/null", BATON_ENODE, "/dev/null");
}

static void test_a_socket_of_others_is_not_permitted(void **state)
{
	static const struct step steps[] = {{0, "LOCK x", ":7\r\n"}};

	(void)state;
	struct fake_node *node = fake_node_start(steps, 1, false);
	struct baton *baton = baton_open(fake_node_address(node));
	/* root may open everything */
	bool root = geteuid() == 0;
	char *folder = strdup(fake_node_address(node));
	*strrchr(folder, '/') = '\0';
	assert_int_equal(chmod(folder, root ? 0700 : 0), 0);
	assert_true(!root || seteuid(65534) == 0);
	int error = baton_connect(baton);
	assert_true(!root || seteuid(0) == 0);
	assert_int_equal(error, BATON_EACCESS);
	assert_non_null(strstr(baton_message(baton), fake_node_address(node)));
	assert_int_equal(chmod(folder, 0700), 0);
	assert_int_equal(baton_lock(baton, "x", BATON_FOREVER, NULL), 0);
	free(folder);
	end(node, baton);
}

static void test_where_a_node_is_looked_for(void **state)
{
	static const struct step steps[] = {{0, "LOCK x", ":7\r\n"}};
	char folder[] = "/tmp/baton-client-XXXXXX";
	char socket[64];

	(void)state;
	struct fake_node *node = fake_node_start(steps, 1, false);
	assert_non_null(mkdtemp(folder));
	snprintf(socket, sizeof(socket), "%s/baton.sock", folder);
	setenv("XDG_RUNTIME_DIR", folder, 1);
	setenv("BATON_SOCKET", "/nonexistent/socket", 1);
	struct baton *baton = baton_open(NULL);
	/* None of the sockets exists (unless /run/baton.sock does), so the error is about the
	 * first. */
	if (access("/run/baton.sock", F_OK) != 0)
		assert_string_equal(baton_address(baton), "/nonexistent/socket");
	/* The next connection looks again. */
	assert_int_equal(symlink(fake_node_address(node), socket), 0);
	assert_int_equal(baton_lock(baton, "x", BATON_FOREVER, NULL), 0);
	assert_string_equal(baton_address(baton), socket);
	baton_close(baton);
	setenv("BATON_SOCKET", "host:80", 1);
	baton = baton_open(NULL);
	assert_string_equal(baton_address(baton), "host:80");
	baton_close(baton);
	setenv("BATON_SOCKET", fake_node_address(node), 1);
	baton = baton_open(NULL);
	assert_string_equal(baton_address(baton), fake_node_address(node));
	unsetenv("BATON_SOCKET");
	unsetenv("XDG_RUNTIME_DIR");
	unlink(socket);
	rmdir(folder);
	end(node, baton);
}

static void test_descriptors_are_closed_on_exec(void **state)
{
	(void)state;
	BEGIN({1, "SUBSCRIBE x", SUBSCRIBED(X)}, {0, "LOCK x", ":4\r\n"});
	bool before[256];

	for (int fd = 0; fd < 256; fd++)
		before[fd] = fcntl(fd, F_GETFD) >= 0;
	assert_true(baton_watch(baton) >= 0);
	int opened = 0;
	for (int fd = 0; fd < 256; fd++) {
		if (before[fd] || fcntl(fd, F_GETFD) < 0)
			continue;
		struct stat status;
		/* The other ends belong to the fake node. */
		if (fstat(fd, &status) == 0 && fcntl(fd, F_GETFD) == FD_CLOEXEC)
			opened++;
	}
	assert_int_equal(opened, 5); /* two connections, epoll, eventfd, timerfd */
	assert_int_equal(baton_lock(baton, "x", BATON_FOREVER, &fence), 0);
	end(node, baton);
}

static void test_every_error_has_a_name_and_a_text(void **state)
{
	(void)state;
#define EXPECT_NAME(name, code, text)                                                              \
	assert_string_equal(baton_error_name(name), #name);                                        \
	assert_string_equal(baton_error_text(code), text);
	BATON_ERRORS(EXPECT_NAME)
#undef EXPECT_NAME
	assert_string_equal(baton_error_text(0), "no error");
	assert_non_null(strstr(baton_error_text(-12345), "does not know"));
	assert_non_null(baton_error_name(-12345));
	baton_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_an_unlock_does_not_wait_for_its_answer),
	        cmocka_unit_test(test_sync_tells_that_a_lock_had_been_lost),
	        cmocka_unit_test(test_sync_does_not_know_when_the_connection_ends),
	        cmocka_unit_test(test_stay_tells_what_the_node_says),
	        cmocka_unit_test(test_stay_does_not_wait_for_a_node_that_is_stopped),
	        cmocka_unit_test(test_stay_never_connects),
	        cmocka_unit_test(test_not_too_many_unlocks_are_unanswered),
	        cmocka_unit_test(test_busy_and_late_are_told_apart),
	        cmocka_unit_test(test_refusals_have_codes),
	        cmocka_unit_test(test_bad_arguments_send_nothing),
	        cmocka_unit_test(test_an_idle_connection_that_ended_is_made_anew),
	        cmocka_unit_test(test_a_break_that_may_have_been_done_is_not_repeated),
	        cmocka_unit_test(test_a_try_that_ends_with_an_older_session_begins_anew_once),
	        cmocka_unit_test(test_what_was_held_is_lost_with_the_connection),
	        cmocka_unit_test(test_unlock_tells_that_the_connection_had_ended),
	        cmocka_unit_test(test_nonsense_ends_the_session),
	        cmocka_unit_test(test_half_an_answer_is_none),
	        cmocka_unit_test(test_a_try_does_not_wait_for_a_node_that_is_stopped),
	        cmocka_unit_test(test_a_wait_for_ever_goes_through_restarts),
	        cmocka_unit_test(test_a_wait_for_ever_needs_a_view_to_begin_with),
	        cmocka_unit_test(test_members_that_do_not_answer_are_named),
	        cmocka_unit_test(test_signals_do_not_end_a_wait),
	        cmocka_unit_test(test_a_lock_is_started_and_finished),
	        cmocka_unit_test(test_a_started_lock_ends_with_the_connection),
	        cmocka_unit_test(test_a_started_lock_is_withdrawn),
	        cmocka_unit_test(test_a_broken_lock_is_seen_on_the_descriptor),
	        cmocka_unit_test(test_a_lock_can_be_lost_before_its_grant_is_read),
	        cmocka_unit_test(test_the_end_of_either_connection_is_a_loss),
	        cmocka_unit_test(test_a_started_lock_and_the_watch_end_together),
	        cmocka_unit_test(test_a_subscription_that_is_refused_locks_nothing),
	        cmocka_unit_test(test_a_subscription_that_rules_forbid),
	        cmocka_unit_test(test_who_leads),
	        cmocka_unit_test(test_who_leads_may_not_be_known),
	        cmocka_unit_test(test_an_observer_is_told_what_cannot_be_known),
	        cmocka_unit_test(test_an_observer_sees_each_change_once),
	        cmocka_unit_test(test_an_observer_goes_on_after_the_connection_ended),
	        cmocka_unit_test(test_status_and_break),
	        cmocka_unit_test(test_who_is_there),
	        cmocka_unit_test(test_over_tcp),
	        cmocka_unit_test(test_addresses_that_are_none),
	        cmocka_unit_test(test_a_socket_of_others_is_not_permitted),
	        cmocka_unit_test(test_where_a_node_is_looked_for),
	        cmocka_unit_test(test_descriptors_are_closed_on_exec),
	        cmocka_unit_test(test_every_error_has_a_name_and_a_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
