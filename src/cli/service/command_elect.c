/*
 * `baton elect`: campaign, and lead while a command runs.
 */
#include "cli.h"
#include "guardian.h"
#include "holding.h"
#include "presence.h"

#include <string.h>

static const struct option options_long[] = {
        HOLDING_WAIT,
        HOLDING_CODE,
        HOLDING_SOCKET,
        CLIENT_TLS_OPTIONS,
        HOLDING_VERBOSE,
        HOLDING_TIMEOUT,
        HOLDING_GRACE,
        HOLDING_STATUS_FD,
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
};

/* Returns the index of the word after the first "--", or argc. */
static int find_command(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--") == 0)
			return i + 1;
	}
	return argc;
}

/* Reads the words before the command. Returns 0; 1 if help was asked for; or -1 and a problem. */
static int read_words(int argc, char **argv, struct holding_words *words, struct problem *problem)
{
	int option;

	while ((option = next_letter_or_option(argc, argv, ":w:E:S:h", options_long, problem)) !=
	       -1) {
		if (option == 'h')
			return 1;
		if (option == 'j')
			words->json = true;
		else if (option == '?' || holding_option(option, optarg, words, problem) != 0)
			return -1;
	}
	if (words->timeout_ms == BATON_TRY)
		return problem_set(problem, "-w 0: a campaign takes time, at least 1ms");
	if (argc - optind < 2)
		return problem_set(problem,
		                   "a name and a value are needed: baton elect NAME VALUE");
	if (argc - optind > 2)
		return problem_set(problem, "unexpected '%.60s': '--' goes before a command",
		                   argv[optind + 2]);
	words->name = argv[optind];
	words->value = argv[optind + 1];
	return 0;
}

int command_elect(int argc, char **argv)
{
	int command = find_command(argc, argv);
	bool has_command = strcmp(argv[command - 1], "--") == 0;
	struct holding_words words;
	struct holding holding;
	struct problem problem;

	holding_defaults(&words, "elect");
	int read = read_words(has_command ? command - 1 : argc, argv, &words, &problem);
	if (read == 1) {
		print_help("elect");
		return EXIT_HELD;
	}
	if (read == 0 && has_command && command == argc)
		read = problem_set(&problem, "a command is needed after '--'");
	if (read == 0 && has_command && words.json)
		read = problem_set(&problem,
		                   "--json cannot be used with a command, which writes the output");
	if (read != 0)
		return holding_misused(&words, &problem);
	int code = holding_acquire(&holding, &words);
	if (code != HOLDING_ACQUIRED)
		return code;
	return has_command ? guarded_run(&holding, argv + command) : presence_hold(&holding, false);
}
