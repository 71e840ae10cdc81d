/*
 * `baton lock`: hold a lock for another program, such as a shell script.
 */
#include "cli.h"
#include "holding.h"
#include "presence.h"

static const struct option options_long[] = {
        HOLDING_NONBLOCK,
        HOLDING_WAIT,
        HOLDING_CODE,
        HOLDING_SOCKET,
        CLIENT_TLS_OPTIONS,
        HOLDING_VERBOSE,
        HOLDING_TIMEOUT,
        HOLDING_FLOCK,
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
};

int command_lock(int argc, char **argv)
{
	struct holding_words words;
	struct holding holding;
	struct problem problem;
	int option;

	holding_defaults(&words, "lock");
	while ((option = next_letter_or_option(argc, argv, ":nw:E:S:h" HOLDING_FLOCK_LETTERS,
	                                       options_long, &problem)) != -1) {
		if (option == 'h') {
			print_help("lock");
			return EXIT_HELD;
		}
		if (option == 'j')
			words.json = true;
		else if (option == '?' || holding_option(option, optarg, &words, &problem) != 0)
			return holding_misused(&words, &problem);
	}
	if (argc - optind != 1) {
		if (optind == argc)
			problem_set(&problem, "a lock is needed: baton lock LOCK");
		else
			problem_set(&problem,
			            "unexpected '%.60s': 'baton lock' takes one lock, 'baton run' "
			            "also a command",
			            argv[optind + 1]);
		return holding_misused(&words, &problem);
	}
	words.name = argv[optind];
	if (presence_check(&problem) != 0)
		return holding_misused(&words, &problem);
	int code = holding_acquire(&holding, &words);
	return code != HOLDING_ACQUIRED ? code : presence_hold(&holding, true);
}
