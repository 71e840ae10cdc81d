/*
 * `baton break`: an operator takes a lock from a holder that does not give it back.
 */
#include "cli.h"
#include "must.h"
#include "service.h"

#include <baton/baton.h>

#include <stdio.h>

static const struct option options_long[] = {
        {"fence", required_argument, NULL, 'f'},
        {"socket", required_argument, NULL, 'S'},
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
};

static int break_lock(const char *name, uint64_t fence, const char *socket, bool json)
{
	struct baton *baton = baton_open(socket);

	must(baton != NULL);
	int code = service_reach("break", baton);
	if (code != 0) {
		baton_close(baton);
		return code;
	}
	int error = baton_break(baton, name, fence);
	if (error == BATON_ENOTHELD) {
		fprintf(stderr,
		        "baton break: nobody holds '%s' with fence %llu: see 'baton status'\n",
		        name, (unsigned long long)fence);
		code = EXIT_VIOLATED;
	} else if (error < 0) {
		code = service_problem("break", baton, error);
	}
	if (json && (error == 0 || error == BATON_ENOTHELD))
		print_json(json_pack("{s:o?, s:I, s:b}", "name", json_string(name), "fence",
		                     (json_int_t)fence, "broken", error == 0));
	baton_close(baton);
	return code;
}

int command_break(int argc, char **argv)
{
	const char *socket = NULL;
	struct problem problem;
	uint64_t fence = 0;
	bool json = false;
	int option;

	while ((option = next_letter_or_option(argc, argv, ":S:h", options_long, &problem)) != -1) {
		if (option == 'S')
			socket = optarg;
		else if (option == 'j')
			json = true;
		else if (option == 'h') {
			print_help("break");
			return EXIT_HELD;
		} else if (option != 'f' || parse_number(optarg, 1, (UINT64_C(1) << 53) - 1,
		                                         "--fence", &fence, &problem) != 0)
			return usage_problem("break", &problem);
	}
	if (argc - optind != 1 || fence == 0) {
		problem_set(&problem,
		            argc - optind != 1
		                    ? "one lock is needed: baton break LOCK --fence F"
		                    : "--fence is needed, so that it is not taken from the "
		                      "next holder: 'baton status' tells it");
		return usage_problem("break", &problem);
	}
	return break_lock(argv[optind], fence, socket, json);
}
