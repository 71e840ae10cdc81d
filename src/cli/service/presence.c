#include "presence.h"

#include "await.h"
#include "cli.h"
#include "must.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { EXIT_STREAM = 74 }; /* EX_IOERR */

int presence_check(struct problem *problem)
{
	struct stat input;
	const char *what = NULL;

	if (fstat(STDIN_FILENO, &input) != 0)
		what = "is closed";
	else if (S_ISREG(input.st_mode))
		what = "is a file";
	else if (S_ISDIR(input.st_mode))
		what = "is a directory";
	else if (S_ISCHR(input.st_mode) && input.st_rdev == makedev(1, 3))
		what = "is /dev/null";
	if (what == NULL)
		return 0;
	return problem_set(problem,
	                   "standard input %s and cannot stay open, so the lock would be released "
	                   "at once: give it a pipe or a terminal, or use 'baton run LOCK COMMAND'",
	                   what);
}

static int print_fence(const struct holding *holding)
{
	const struct holding_words *words = holding->words;

	if (words->json) {
		json_t *name = json_string(words->name); /* NULL if the name is not UTF-8 */
		print_json(json_pack("{s:o?, s:I, s:s}", "name", name, "fence",
		                     (json_int_t)holding->fence, "node", holding->node));
	} else {
		printf("%llu\n", (unsigned long long)holding->fence);
	}
	if (fflush(stdout) == 0)
		return 0;
	fprintf(stderr, "baton %s: standard output cannot be written: %s\n", words->command,
	        strerror(errno));
	clearerr(stdout);
	return EXIT_STREAM;
}

/* Reads some input. Returns true if there may be more to come. */
static bool read_input(void)
{
	char bytes[4096];
	ssize_t count = read(STDIN_FILENO, bytes, sizeof(bytes));

	return count > 0 || (count < 0 && (errno == EINTR || errno == EAGAIN));
}

static bool somebody_writes(void)
{
	struct stat input;

	return fstat(STDIN_FILENO, &input) == 0 &&
	       (S_ISFIFO(input.st_mode) || S_ISSOCK(input.st_mode) || isatty(STDIN_FILENO));
}

/* Has the input already ended? Its content does not matter. */
static bool input_has_ended(void)
{
	struct pollfd item = {.fd = STDIN_FILENO, .events = POLLIN};

	/* Do not read for ever: the input may be endless. */
	for (int i = 0; i < 64 && poll(&item, 1, 0) == 1; i++) {
		if (!read_input())
			return true;
	}
	return false;
}

/* Waits until the hold must end. Returns true if the lock is lost. */
static bool wait_for_end(struct holding *holding, bool any_input)
{
	sigset_t ending, blocked;

	holding_ending_signals(holding, &ending);
	int signals = signalfd(-1, &ending, SFD_CLOEXEC);
	must(signals >= 0);
	/* All signals that are not blocked act as on any process. */
	sigorset(&blocked, &holding->mask, &ending);
	sigprocmask(SIG_SETMASK, &blocked, NULL);
	struct pollfd items[] = {
	        {.fd = any_input || somebody_writes() ? STDIN_FILENO : -1, .events = POLLIN},
	        {.fd = signals, .events = POLLIN},
	        {.fd = holding->watch, .events = POLLIN},
	};
	for (;;) {
		if (await_any(items, sizeof(items) / sizeof(*items), -1) < 0)
			continue;
		if (items[2].revents != 0 && holding_lost(holding))
			return true;
		if (items[1].revents != 0 || (items[0].revents != 0 && !read_input()))
			return false;
	}
}

/* Holds the lock. Returns the exit code, and whether the lock was lost. */
static int hold(struct holding *holding, bool must_stay, bool *ret_lost)
{
	/* Check before the fence is printed: a program that has read it may close the input at
	 * once. */
	if (must_stay && input_has_ended()) {
		fprintf(stderr,
		        "baton %s: standard input ended before '%s' was held: nothing is held; "
		        "keep "
		        "the input open, or use 'baton run'\n",
		        holding->words->command, holding->words->name);
		return EXIT_STREAM;
	}
	int code = print_fence(holding);
	*ret_lost = code == 0 && wait_for_end(holding, must_stay);
	return code;
}

int presence_hold(struct holding *holding, bool must_stay)
{
	const struct holding_words *words = holding->words;
	bool lost = false;
	int code = hold(holding, must_stay, &lost);

	if (lost || !holding_release(holding)) {
		lost = true;
		fprintf(stderr, "baton %s: '%s' was lost (fence %llu)%s\n", words->command,
		        words->name, (unsigned long long)holding->fence, holding->why);
		code = EXIT_LOST;
	}
	holding_report(holding, lost, -1);
	holding_free(holding);
	return code;
}
