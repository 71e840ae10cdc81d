/*
 * `baton run`: hold a lock while a command runs.
 */
#include "cli.h"
#include "guardian.h"
#include "holding.h"

#include <string.h>

static const struct option options_long[] = {
        HOLDING_NONBLOCK,
        HOLDING_WAIT,
        HOLDING_CODE,
        HOLDING_SOCKET,
        CLIENT_TLS_OPTIONS,
        HOLDING_VERBOSE,
        HOLDING_TIMEOUT,
        HOLDING_FLOCK,
        HOLDING_GRACE,
        HOLDING_STATUS_FD,
        {"close", no_argument, NULL, 'o'},
        {"no-fork", no_argument, NULL, 'F'},
        {"command", required_argument, NULL, 'c'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
};

struct run_words {
	struct holding_words holding;
	char *string; /* the argument of -c, or NULL */
	char **command;
	bool help;
};

/* Reads the options up to the next operand. Returns 0, or -1 and a problem. */
static int read_options(int argc, char **argv, struct run_words *words, struct problem *problem)
{
	int option;

	while ((option = next_letter_or_option(argc, argv, "+:nw:E:S:c:oFh" HOLDING_FLOCK_LETTERS,
	                                       options_long, problem)) != -1) {
		if (option == 'h') {
			words->help = true;
			return 0;
		}
		if (option == '?')
			return -1;
		if (option == 'c') {
			if (words->string != NULL)
				return problem_set(problem, "-c can be given once");
			words->string = optarg;
		} else if (holding_option(option, optarg, &words->holding, problem) != 0) {
			return -1;
		}
	}
	return 0;
}

/* Reads LOCK, with options before and after it, and the command. Returns 0 or -1. */
static int read_words(int argc, char **argv, struct run_words *words, struct problem *problem)
{
	if (read_options(argc, argv, words, problem) != 0)
		return -1;
	if (words->help)
		return 0;
	if (optind == argc)
		return problem_set(problem, "a lock and a command are needed: baton run LOCK "
		                            "COMMAND...");
	words->holding.name = argv[optind];
	/* Read the options after LOCK. getopt expects a program's name before the first option, and
	 * now LOCK stands there. */
	argc -= optind;
	argv += optind;
	optind = 0;
	if (read_options(argc, argv, words, problem) != 0)
		return -1;
	if (words->help)
		return 0;
	if (words->string == NULL && optind == argc)
		return problem_set(problem, "a command is needed after the lock '%.60s'",
		                   words->holding.name);
	if (words->string != NULL && optind < argc)
		return problem_set(problem,
		                   "unexpected '%.60s': -c has the whole command in one string",
		                   argv[optind]);
	words->command = argv + optind;
	size_t size = strlen(words->holding.name);
	if (size < 1 || size > BATON_NAME_MAX)
		return problem_set(problem, "the name of a lock has 1 to %d bytes, not %zu",
		                   BATON_NAME_MAX, size);
	return 0;
}

int command_run(int argc, char **argv)
{
	struct run_words words = {.string = NULL};
	struct holding holding;
	struct problem problem;
	char shell[] = "/bin/sh", dash_c[] = "-c";

	holding_defaults(&words.holding, "run");
	if (read_words(argc, argv, &words, &problem) != 0)
		return holding_misused(&words.holding, &problem);
	if (words.help) {
		print_help("run");
		return EXIT_HELD;
	}
	char *by_shell[] = {shell, dash_c, words.string, NULL};
	int code = holding_acquire(&holding, &words.holding);
	if (code != HOLDING_ACQUIRED)
		return code;
	return guarded_run(&holding, words.string != NULL ? by_shell : words.command);
}
