#include "check_text.h"
#include "cli.h"
#include "distribution.h"
#include "host.h"
#include "memory.h"
#include "memory_limit.h"
#include "outputs.h"
#include "page_program.h"
#include "registry.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ENTRIES_CHECKED_MAX = 1000000, SECONDS_DEFAULT = 60, REWIRES_MAX = 100 };

struct check_request {
	struct setup_words words;
	struct check_options options;
	const char *entries; /* the text of --entries, or NULL */
	/* The texts of the options about faults, or NULL. */
	const char *lose, *duplicate, *crash;
	uint32_t entries_each[MODEL_NODES_MAX];
	const char *trace;
	bool json, open;
};

static const struct option check_option_table[] = {
        NETWORK_OPTIONS,
        {"entries", required_argument, NULL, 'e'},
        {"max-states", required_argument, NULL, 's'},
        {"max-memory", required_argument, NULL, 'm'},
        {"timeout", required_argument, NULL, 'w'},
        {"threads", required_argument, NULL, 'p'},
        {"reduce", no_argument, NULL, 'r'},
        {"lose-token", no_argument, NULL, 'x'},
        {"lose", required_argument, NULL, 'l'},
        {"duplicate", required_argument, NULL, 'd'},
        {"restart", required_argument, NULL, 'a'},
        {"cut", no_argument, NULL, 'c'},
        {"rewire", required_argument, NULL, 'W'},
        {"find", required_argument, NULL, 'f'},
        {"trace", required_argument, NULL, 't'},
        {"json", no_argument, NULL, 'j'},
        {"open", no_argument, NULL, 'o'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
};

static int parse_sought(const char *text, enum sought *ret_sought, struct problem *problem)
{
	static const char *const names[] = {
	        [SOUGHT_ANY] = "any",
	        [SOUGHT_TWO_INSIDE] = "two-inside",
	        [SOUGHT_ALL_WAIT] = "all-wait",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strcmp(text, names[i]) == 0) {
			*ret_sought = (enum sought)i;
			return 0;
		}
	}
	return problem_set(problem, "--find '%.40s': any, two-inside or all-wait is needed", text);
}

static int parse_option(int option, const char *value, struct check_request *request,
                        struct problem *problem)
{
	/* For an election, --crash names places; otherwise it is a number of nodes. */
	int result = option == 'C' ? 1 : network_option(option, value, &request->words, problem);
	uint64_t number;

	if (result <= 0)
		return result;
	switch (option) {
	case 'e':
		request->entries = value;
		return 0;
	case 's':
		return parse_number(value, 1, INT64_MAX, "--max-states",
		                    &request->options.states_max, problem);
	case 'm':
		if (parse_size(value, &request->options.memory_max, problem) != 0)
			return -1;
		if (request->options.memory_max > STATES_MEMORY_MAX)
			return problem_set(problem, "--max-memory '%.40s': at most 16G", value);
		return 0;
	case 'w':
		if (parse_duration(value, "--timeout", &number, problem) != 0)
			return -1;
		request->options.seconds_max = (double)number / 1000;
		return 0;
	case 'p':
		if (parse_number(value, 1, LANES_MAX, "--threads", &number, problem) != 0)
			return -1;
		request->options.threads = (uint32_t)number;
		return 0;
	case 'r':
		request->options.reduce = true;
		return 0;
	case 'x':
		request->options.lose_token = true;
		return 0;
	case 'C':
		request->crash = value;
		return 0;
	case 'l':
		request->lose = value;
		return 0;
	case 'd':
		request->duplicate = value;
		return 0;
	case 'a':
		if (parse_number(value, 1, MODEL_NODES_MAX, "--restart", &number, problem) != 0)
			return -1;
		request->options.faults.restarts_max = (uint32_t)number;
		return 0;
	case 'c':
		request->options.faults.cut = true;
		return 0;
	case 'W':
		if (parse_number(value, 1, REWIRES_MAX, "--rewire", &number, problem) != 0)
			return -1;
		request->options.faults.rewires_max = (uint32_t)number;
		return 0;
	case 'f':
		return parse_sought(value, &request->options.sought, problem);
	case 't':
		request->trace = value;
		return 0;
	case 'j':
		request->json = true;
		return 0;
	case 'o':
		request->open = true;
		return page_program_check(problem);
	default:
		return -1; /* next_option has set the problem */
	}
}

/* Returns the number in the text of --entries, which decides the default number of nodes. A list
 * counts as one entry for each node. If the text is wrong, prepare_entries will report it. */
static uint32_t entries_asked(const char *text)
{
	if (text == NULL || strchr(text, ',') != NULL)
		return 1;
	if (strcmp(text, "unlimited") == 0)
		return SEARCHED_UNLIMITED;
	unsigned long long number = strtoull(text, NULL, 10);
	return number == 0 ? 1 : number < SEARCHED_UNLIMITED ? (uint32_t)number : 2;
}

/* Returns 0; or -1 and a problem; or 1 if help was printed and there is nothing more to do. */
static int parse_arguments(int argc, char **argv, struct check_request *request,
                           struct problem *problem)
{
	for (int option; (option = next_option(argc, argv, check_option_table, problem)) != -1;) {
		if (option == 'h') {
			print_help("check");
			return 1;
		}
		if (option_given_once(option, check_option_table, argv, problem) != 0 ||
		    parse_option(option, optarg, request, problem) != 0)
			return -1;
	}
	if (optind == argc)
		return problem_set(problem, "which algorithm? 'baton algorithms' lists them");
	if (argc - optind > 1)
		return problem_set(problem, "one algorithm at a time, and '%.40s' is the second",
		                   argv[optind + 1]);
	request->words.algorithm = argv[optind];
	request->words.searched = entries_asked(request->entries);
	return outputs_check(topology_file(request->words.topology), "the topology",
	                     &(struct output){"--trace", request->trace}, 1, problem);
}

/* Parses the entries of each node: K for all, K,K,… node by node, or unlimited. */
static int parse_entries(const char *text, uint32_t nodes, uint32_t *ret_entries,
                         struct problem *problem)
{
	bool list = strchr(text, ',') != NULL;
	uint64_t number = 0;

	for (uint32_t i = 0; i < nodes; i++) {
		char word[32];
		size_t length = strcspn(text, ",");
		snprintf(word, sizeof(word), "%.*s",
		         (int)(length < sizeof(word) ? length : sizeof(word)), text);
		if (strcmp(word, "unlimited") == 0)
			number = ENTRIES_UNLIMITED;
		else if (parse_number(word, 0, ENTRIES_CHECKED_MAX,
		                      "--entries (K, K,K,... or unlimited):", &number,
		                      problem) != 0)
			return -1;
		ret_entries[i] = (uint32_t)number;
		if (!list)
			continue;
		if ((text[length] == ',') != (i + 1 < nodes))
			return problem_set(
			        problem,
			        "--entries: a list needs a number for each of the %" PRIu32
			        " nodes",
			        nodes);
		text += length + 1;
	}
	return 0;
}

static bool progress_shown;

static void show_progress(const char *doing, uint64_t states, uint64_t depth, uint64_t memory,
                          double seconds)
{
	static double shown;
	if (seconds < 1 || seconds - shown < 0.2)
		return;
	shown = seconds;
	progress_shown = true;
	fprintf(stderr,
	        "\r\033[K%s: %" PRIu64 " states, %.2f M/s, depth %" PRIu64 ", %" PRIu64
	        " MB, %.0f s",
	        doing, states, (double)states / seconds / 1e6, depth, memory >> 20, seconds);
}

static int trace_problem(const struct check_request *request, struct problem *problem)
{
	return problem_set(problem, "trace file '%.200s': %s", request->trace, strerror(errno));
}

/* Checks before the search begins that the path can be written. Otherwise the error would come only
 * at the end, with the counterexample. */
static int try_trace(const struct check_request *request, struct problem *problem)
{
	if (request->trace == NULL)
		return 0;
	int file = open(request->trace, O_WRONLY | O_CLOEXEC);
	if (file >= 0)
		return close(file);
	if (errno != ENOENT)
		return trace_problem(request, problem);
	char *copy = strdup(request->trace);
	memory_must(copy != NULL);
	int allowed = request->trace[0] != '\0' ? access(dirname(copy), W_OK | X_OK) : -1;
	free(copy);
	return allowed == 0 ? 0 : trace_problem(request, problem);
}

/* Removes the counterexample of an earlier check, which would mislead. Any other file is left
 * alone. */
static void remove_old_trace(const char *path)
{
	static const char mark[] = "# baton check: ";
	char head[sizeof(mark)] = "";
	FILE *file = fopen(path, "rb");

	if (file == NULL)
		return;
	size_t size = fread(head, 1, sizeof(mark) - 1, file);
	fclose(file);
	if (size == sizeof(mark) - 1 && strcmp(head, mark) == 0)
		remove(path);
}

static int write_trace(const struct check_request *request, const char *scenario,
                       struct problem *problem)
{
	if (request->trace == NULL)
		return 0;
	if (scenario == NULL) {
		remove_old_trace(request->trace);
		return 0;
	}
	FILE *file = fopen(request->trace, "wb");
	if (file == NULL)
		return trace_problem(request, problem);
	bool failed = fputs(scenario, file) == EOF;
	return fclose(file) != 0 || failed ? trace_problem(request, problem) : 0;
}

/* Refuses unlimited entries if there would be infinitely many states: the search would not end. */
static int check_finite(const struct check_request *request, const struct setup *setup,
                        struct problem *problem)
{
	const char *grows = setup_grows(setup);

	for (uint32_t i = 0; i < setup->network.graph.nodes && grows != NULL; i++) {
		if (request->entries_each[i] == ENTRIES_UNLIMITED)
			return problem_set(
			        problem,
			        "--entries unlimited: %s of %s grow without bound, so that there "
			        "are infinitely many states; give a number, such as --entries 2",
			        grows, setup->network.algorithm->name);
	}
	return 0;
}

static int prepare_faults(struct check_request *request, const struct algorithm *algorithm,
                          struct problem *problem)
{
	struct faults *faults = &request->options.faults;

	if (request->lose != NULL &&
	    faults_types(request->lose, "--lose", algorithm, &faults->lose, problem) != 0)
		return -1;
	if (request->duplicate != NULL && faults_types(request->duplicate, "--duplicate", algorithm,
	                                               &faults->duplicate, problem) != 0)
		return -1;
	const char *exclusive = faults->cut                             ? "--cut"
	                        : faults->restarts_max != 0             ? "--restart"
	                        : request->options.sought != SOUGHT_ANY ? "--find"
	                                                                : NULL;
	if (algorithm->kind == KIND_ELECTION && exclusive != NULL)
		return problem_set(problem, "%s: this is for mutual exclusion, and %s elects",
		                   exclusive, algorithm->name);
	if (algorithm->kind == KIND_MUTEX && request->crash != NULL &&
	    faults_crashes(request->crash, faults, problem) != 0)
		return -1;
	if (faults->restarts_max > faults->crashes_max)
		return problem_set(
		        problem,
		        "--restart: only a node that has crashed can restart; give --crash K, "
		        "with K at least as great");
	if (faults->rewires_max != 0 && algorithm->linked == NULL)
		return problem_set(problem, "--rewire: %s runs in a network that does not change",
		                   algorithm->name);
	if (faults->rewires_max != 0 && (request->lose != NULL || request->duplicate != NULL ||
	                                 request->crash != NULL || faults->cut))
		return problem_set(problem, "--rewire cannot be combined with faults (--lose, "
		                            "--duplicate, --crash, --cut)");
	if (faults_any(faults) && request->options.lose_token)
		return problem_set(
		        problem,
		        "--lose-token cannot be combined with other faults (--lose, --duplicate, "
		        "--crash, --cut) or --rewire; --lose token loses one token message");
	if (faults_any(faults) && request->options.reduce)
		return problem_set(problem, "--reduce cannot be combined with faults (--lose, "
		                            "--duplicate, --crash K, --cut) or --rewire");
	return 0;
}

/* Fills in the entries of each node, for mutual exclusion. An election has initiators instead. */
static int prepare_entries(struct check_request *request, const struct setup *setup,
                           struct problem *problem)
{
	const struct algorithm *algorithm = setup->network.algorithm;

	if (prepare_faults(request, algorithm, problem) != 0)
		return -1;
	if (request->options.lose_token && !algorithm->has_token)
		return problem_set(problem, "--lose-token: %s has no token", algorithm->name);
	if (setup->network.graph.nodes > MODEL_NODES_MAX)
		return problem_set(problem, "--nodes: at most %d can be checked", MODEL_NODES_MAX);
	if (algorithm->kind == KIND_ELECTION) {
		if (request->options.reduce && !setup->fifo)
			return problem_set(problem,
			                   "--reduce: this needs channels that keep order; "
			                   "give --fifo");
		if (request->entries != NULL)
			return problem_set(problem,
			                   "--entries: %s is an election, which has no entries: "
			                   "use --initiators",
			                   algorithm->name);
		return 0;
	}
	if (request->options.reduce)
		return problem_set(problem, "--reduce: this is for elections, and %s is not one",
		                   algorithm->name);
	request->options.entries = request->entries_each;
	if (parse_entries(request->entries != NULL ? request->entries : "1",
	                  setup->network.graph.nodes, request->entries_each, problem) != 0)
		return -1;
	return check_finite(request, setup, problem);
}

static void tell_limit(const struct check_options *options, const char *limit)
{
	if (strcmp(limit, "--timeout") == 0)
		fprintf(stderr,
		        "baton check: --timeout %.6g s was reached before an answer; give fewer "
		        "--nodes or --entries, or a longer --timeout\n",
		        options->seconds_max);
	else
		fprintf(stderr, "baton check: %s was reached before an answer\n", limit);
}

static int run(struct check_request *request, struct problem *problem)
{
	struct check_result result;
	struct setup setup;

	const struct algorithm *algorithm = algorithm_find(request->words.algorithm);
	if (algorithm != NULL && algorithm->kind == KIND_ELECTION)
		request->words.crash = request->crash;
	if (setup_make(&request->words, &setup, problem) != 0)
		return usage_problem("check", problem);
	if (prepare_entries(request, &setup, problem) != 0 || try_trace(request, problem) != 0) {
		setup_free(&setup);
		return usage_problem("check", problem);
	}
	request->options.setup = &setup;
	request->options.progress = isatty(STDERR_FILENO) ? show_progress : NULL;
	request->options.interrupted = watch_for_interrupt();
	if (setup.network.algorithm->kind == KIND_MUTEX) {
		check_run(&request->options, &result);
	} else if (check_elections(&request->words, &request->options, &result, problem) != 0) {
		setup_free(&setup);
		return usage_problem("check", problem);
	}
	if (progress_shown)
		fputs("\r\033[K", stderr);
	int code = result.verdict != VERDICT_HOLDS ? EXIT_VIOLATED
	           : result.complete               ? EXIT_HELD
	                                           : EXIT_LIMIT;
	if (write_trace(request, result.scenario, problem) != 0) {
		code = usage_problem("check", problem);
	} else {
		warn_of_order("check", &setup);
		warn_of_holder("check", &request->words, &setup);
		if (request->json)
			print_json(check_report(&request->options, &result));
		else
			check_print(&request->words, request->entries, &request->options, &result);
	}
	if (result.interrupted)
		fprintf(stderr, "baton check: interrupted before an answer\n");
	else if (code == EXIT_LIMIT)
		tell_limit(&request->options, result.limit);
	if (request->open && result.scenario != NULL && code != EXIT_USAGE &&
	    page_program_show(result.scenario, strlen(result.scenario), problem) != 0)
		code = usage_problem("check", problem);
	check_result_free(&result);
	setup_free(&setup);
	end_if_interrupted();
	return code;
}

int command_check(int argc, char **argv)
{
	struct check_request request = {
	        .words = {.host = host_here(), .searched = 1},
	        .options = {.seconds_max = SECONDS_DEFAULT,
	                    .states_max = INT64_MAX,
	                    .memory_max = memory_by_default(),
	                    .threads = 1},
	};
	struct problem problem;
	int parsed = parse_arguments(argc, argv, &request, &problem);

	if (parsed != 0)
		return parsed < 0 ? usage_problem("check", &problem) : EXIT_HELD;
	return run(&request, &problem);
}
