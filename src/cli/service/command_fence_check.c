/*
 * baton fence-check: guards a resource in a shell script by comparing fences.
 */
#include "cli.h"

#include <baton/baton.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Returns 0; -1 and a problem; or 1 if help was printed and nothing is left to do. */
static int parse_arguments(int argc, char **argv, bool *ret_json, struct problem *problem)
{
	static const struct option options[] = {
	        {"json", no_argument, NULL, 'j'},
	        {"help", no_argument, NULL, 'h'},
	        {NULL, 0, NULL, 0},
	};

	for (int option; (option = next_option(argc, argv, options, problem)) != -1;) {
		switch (option) {
		case 'j':
			*ret_json = true;
			break;
		case 'h':
			print_help("fence-check");
			return 1;
		default:
			return -1; /* next_option has set the problem */
		}
	}
	if (argc - optind != 2)
		return problem_set(problem,
		                   "a file and a fence are needed: baton fence-check FILE FENCE");
	return 0;
}

/* Parses a fence. Returns 0, which is never a fence, if the text is not one. */
static uint64_t parse_fence(const char *text)
{
	uint64_t fence = 0;

	if (strlen(text) > 16)
		return 0;
	for (; *text != '\0'; text++) {
		if (*text < '0' || *text > '9')
			return 0;
		fence = fence * 10 + (uint64_t)(*text - '0');
	}
	return fence;
}

static int report(bool json, const char *file, uint64_t fence, uint64_t highest, bool passed)
{
	if (json)
		print_json(json_pack("{s:b, s:I, s:I}", "passed", passed, "fence",
		                     (json_int_t)fence, "highest", (json_int_t)highest));
	if (!passed)
		fprintf(stderr,
		        "baton fence-check: %s: the fence %" PRIu64 " is stale: %" PRIu64
		        " was seen\n",
		        file, fence, highest);
	return passed ? EXIT_HELD : EXIT_VIOLATED;
}

int command_fence_check(int argc, char **argv)
{
	struct problem problem;
	bool json = false;
	uint64_t highest;

	int parsed = parse_arguments(argc, argv, &json, &problem);
	if (parsed != 0)
		return parsed > 0 ? EXIT_HELD : usage_problem("fence-check", &problem);
	const char *file = argv[optind];
	uint64_t fence = parse_fence(argv[optind + 1]);
	int result = baton_fence_check(file, fence, &highest);
	switch (result) {
	case 0:
	case BATON_ESTALE:
		return report(json, file, fence, highest, result == 0);
	case BATON_EFENCE:
		problem_set(&problem, "'%.40s' is no fence: %s", argv[optind + 1],
		            baton_error_text(result));
		break;
	case BATON_EFILE:
		problem_set(&problem, "%.200s: %s", file, strerror(errno));
		break;
	case BATON_ETORN:
		problem_set(&problem,
		            "%.200s does not hold a fence (a number and a newline): nothing passes "
		            "until the file is repaired",
		            file);
		break;
	default:
		problem_set(&problem, "%.200s: %s", file, baton_error_text(result));
	}
	return usage_problem("fence-check", &problem);
}
