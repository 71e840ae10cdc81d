/*
 * `baton break`: an operator takes a lock from a holder that does not give it back.
 */
#include "cli.h"
#include "must.h"
#include "service.h"

#include <baton/baton.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct option options_long[] = {
        {"fence", required_argument, NULL, 'f'},
        {"socket", required_argument, NULL, 'S'},
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
};

/*
 * Does the holder still have it? It was told that it lost the lock, and may have been promised time to stop
 * (its grace). Nobody else comes in before.
 */
static bool is_losing(struct baton *baton, const char *name, uint64_t fence)
{
	char pattern[BATON_NAME_MAX + 1];
	char *text;
	bool losing = false;
	size_t i;
	const json_t *lock;

	/* What a pattern would not take literally may be any byte; the names are compared below. */
	snprintf(pattern, sizeof(pattern), "%s", name);
	for (char *at = pattern; (at = strpbrk(at, "*[]\\")) != NULL;)
		*at = '?';
	if (baton_status(baton, pattern, 0, &text) != 0)
		return false;
	json_t *status = json_loads(text, 0, NULL);
	free(text);
	json_array_foreach (json_object_get(status, "locks"), i, lock) {
		const json_t *its_fence = json_object_get(lock, "fence");
		const char *its_name = json_string_value(json_object_get(lock, "name"));
		losing = losing || (its_name != NULL && strcmp(its_name, name) == 0 &&
		                    json_integer_value(its_fence) == (json_int_t)fence &&
		                    json_is_object(json_object_get(lock, "holder")));
	}
	json_decref(status);
	return losing;
}

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
	bool losing = error == 0 && is_losing(baton, name, fence);
	if (losing)
		fprintf(stderr,
		        "baton break: '%s' is being taken away: its holder was told and has not "
		        "stopped yet. Nobody else gets it before, or before its time is over: "
		        "see 'baton status'\n",
		        name);
	if (json && (error == 0 || error == BATON_ENOTHELD))
		print_json(json_pack("{s:o?, s:I, s:b, s:b}", "name", json_string(name), "fence",
		                     (json_int_t)fence, "broken", error == 0, "losing", losing));
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
