#include "cli.h"
#include "compare_table.h"
#include "fault_page.h"
#include "fault_text.h"
#include "host.h"
#include "load.h"
#include "memory.h"
#include "outputs.h"
#include "page.h"
#include "registry.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SEEDS_MAX = 100000, ALGORITHMS_MAX = 64 };

/* A plot needs more sizes than a table. Elections are cheap, so they get larger sizes too. */
static const char sizes_default[] = "4,16,64", page_sizes_default[] = "2,4,8,16,32,64,128,256";
enum { PAGE_EXCLUSION_MAX = 64 };

struct compare_request {
	const char *nodes, *algorithms, *topology, *html;
	char *command; /* the command line, for the page */
	struct compare_options options;
	uint64_t rate, rates[PAGE_RATES];
	const struct algorithm *list[ALGORITHMS_MAX];
	char *parameters[ALGORITHMS_MAX]; /* a parameter for each algorithm, or NULL */
	size_t list_count;
	/* The name of an option that was given and has no effect with --claims. */
	const char *of_runs;
	/* The name of an option that was given and has no effect on elections. */
	const char *of_exclusion;
	bool claims, faults, one_load, json, csv;
};

static const struct option option_table[] = {
        {"nodes", required_argument, NULL, 'N'},
        {"algorithms", required_argument, NULL, 'a'},
        {"topology", required_argument, NULL, 'T'},
        {"load", required_argument, NULL, 'l'},
        {"entries", required_argument, NULL, 'e'},
        {"seeds", required_argument, NULL, 'S'},
        {"threads", required_argument, NULL, 't'},
        {"claims", no_argument, NULL, 'C'},
        {"faults", no_argument, NULL, 'f'},
        {"json", no_argument, NULL, 'j'},
        {"csv", no_argument, NULL, 'c'},
        {"html", required_argument, NULL, 'w'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
};

static int parse_one_load(const char *value, struct compare_request *request,
                          struct problem *problem)
{
	enum load load;

	if (parse_compared_load(value, &load, &request->rate, problem) != 0)
		return -1;
	request->options.light = load == LOAD_LIGHT;
	request->options.heavy = load == LOAD_HEAVY;
	request->options.rates = &request->rate;
	request->options.rates_count = load == LOAD_POISSON;
	request->one_load = true;
	return 0;
}

static int parse_option(int option, const char *value, struct compare_request *request,
                        struct problem *problem)
{
	struct compare_options *options = &request->options;
	uint64_t number;

	for (size_t i = 0; option_table[i].name != NULL; i++) {
		if (option_table[i].val != option)
			continue;
		if (strchr("NTleSt", option) != NULL)
			request->of_runs = option_table[i].name;
		if (strchr("le", option) != NULL)
			request->of_exclusion = option_table[i].name;
	}
	switch (option) {
	case 'N':
		request->nodes = value;
		return 0;
	case 'a':
		request->algorithms = value;
		return 0;
	case 'T':
		request->topology = value;
		return 0;
	case 'l':
		return parse_one_load(value, request, problem);
	case 'e':
		return parse_number(value, 1, COMPARE_ENTRIES_MAX, "--entries", &options->entries,
		                    problem);
	case 'S':
		if (parse_seeds(value, &options->seed_first, &options->seed_last, problem) != 0)
			return -1;
		if (options->seed_last - options->seed_first >= SEEDS_MAX)
			return problem_set(problem, "--seeds '%.40s': at most %d seeds", value,
			                   SEEDS_MAX);
		return 0;
	case 't':
		if (parse_number(value, 1, THREADS_MAX, "--threads", &number, problem) != 0)
			return -1;
		options->threads = (uint32_t)number;
		return 0;
	case 'C':
		request->claims = true;
		return 0;
	case 'f':
		request->faults = true;
		return 0;
	case 'j':
		request->json = true;
		return 0;
	case 'c':
		request->csv = true;
		return 0;
	case 'w':
		request->html = value;
		return 0;
	default:
		return -1; /* next_option has set the problem */
	}
}

/* Checks the options that go with --faults, which checks a small system instead of running a large
 * one. */
static int check_fault_words(const struct compare_request *request, struct problem *problem)
{
	if (request->claims)
		return problem_set(problem, "--faults or --claims, not both");
	if (request->csv)
		return problem_set(
		        problem,
		        "--faults can be printed with --json or --html, but not with --csv");
	if (request->of_runs != NULL && strcmp(request->of_runs, "nodes") != 0)
		return problem_set(
		        problem,
		        "--%s is for simulated runs, and --faults tries every schedule instead",
		        request->of_runs);
	return 0;
}

/* Returns 0; or -1 and a problem; or 1 if help was printed and there is nothing more to do. */
static int parse_arguments(int argc, char **argv, struct compare_request *request,
                           struct problem *problem)
{
	for (int option; (option = next_option(argc, argv, option_table, problem)) != -1;) {
		if (option == 'h') {
			print_help("compare");
			return 1;
		}
		if (parse_option(option, optarg, request, problem) != 0)
			return -1;
	}
	if (argc > optind)
		return problem_set(
		        problem,
		        "'%.40s' is not an option; algorithms are given as --algorithms a,b",
		        argv[optind]);
	if (request->json && request->csv)
		return problem_set(problem, "--json or --csv, not both");
	if (request->claims && request->csv)
		return problem_set(problem,
		                   "--claims can be printed with --json, but not with --csv");
	if (request->claims && request->html != NULL)
		return problem_set(problem,
		                   "--claims runs nothing, so it has no results for --html");
	if (request->claims && request->of_runs != NULL)
		return problem_set(problem, "--%s: --claims runs nothing", request->of_runs);
	if (request->faults && check_fault_words(request, problem) != 0)
		return -1;
	return outputs_check(topology_file(request->topology), "the topology",
	                     &(struct output){"--html", request->html}, 1, problem);
}

static int compare_numbers(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

/* Finds the sizes: those that the user gave, the one that the topology prescribes, or the defaults.
 * The caller frees the array. */
static int find_sizes(struct compare_request *request, uint32_t **ret_sizes, uint32_t *ret_count,
                      struct problem *problem)
{
	const char *text = request->nodes != NULL  ? request->nodes
	                   : request->html != NULL ? page_sizes_default
	                                           : sizes_default;
	uint32_t fixed = 0;
	char digits[16];

	if (request->topology != NULL &&
	    setup_topology_nodes(host_here(), request->topology, &fixed, problem) != 0)
		return -1;
	if (fixed != 0 && request->nodes == NULL) {
		snprintf(digits, sizeof(digits), "%u", fixed);
		text = digits;
	}
	request->options.exclusion_nodes_max = text == page_sizes_default ? PAGE_EXCLUSION_MAX : 0;
	if (parse_numbers(text, 1, COMPARE_NODES_MAX,
	                  text == digits ? "nodes of the topology" : "--nodes", 0, ret_sizes,
	                  ret_count, problem) != 0)
		return -1;
	qsort(*ret_sizes, *ret_count, sizeof(**ret_sizes), compare_numbers);
	for (uint32_t i = 1; i < *ret_count; i++) {
		if ((*ret_sizes)[i] == (*ret_sizes)[i - 1]) {
			problem_set(problem, "--nodes '%.40s': %u occurs twice", text,
			            (*ret_sizes)[i]);
			free(*ret_sizes);
			return -1;
		}
	}
	return 0;
}

/* Adds NAME, or NAME:PARAMETER=VALUE, which runs only with that parameter. */
static int add_algorithm(const char *word, size_t length, struct compare_request *request,
                         struct problem *problem)
{
	size_t count = request->list_count;
	char name[64];
	size_t name_length = strcspn(word, ":,");

	must(count < ALGORITHMS_MAX);
	snprintf(name, sizeof(name), "%.*s",
	         (int)(name_length < sizeof(name) ? name_length : sizeof(name)), word);
	request->list[count] = setup_algorithm(name, problem);
	if (request->list[count] == NULL)
		return -1;
	if (name_length < length) {
		request->parameters[count] =
		        strndup(word + name_length + 1, length - name_length - 1);
		memory_must(request->parameters[count] != NULL);
	}
	request->list_count++;
	for (size_t i = 0; i < count; i++) {
		const char *one = request->parameters[i], *other = request->parameters[count];
		if (request->list[i] == request->list[count] &&
		    (one == NULL || other == NULL ? one == other : strcmp(one, other) == 0))
			return problem_set(problem, "--algorithms: %s occurs twice", name);
	}
	return 0;
}

/* Lists the algorithms that were named, or all. */
static int find_algorithms(struct compare_request *request, struct problem *problem)
{
	const char *text = request->algorithms;

	for (; text == NULL && algorithms[request->list_count] != NULL; request->list_count++)
		request->list[request->list_count] = algorithms[request->list_count];
	while (text != NULL) {
		size_t length = strcspn(text, ",");
		if (request->list_count == ALGORITHMS_MAX)
			return problem_set(problem, "--algorithms: at most %d", ALGORITHMS_MAX);
		if (add_algorithm(text, length, request, problem) != 0)
			return -1;
		text = text[length] == ',' ? text + length + 1 : NULL;
	}
	return 0;
}

/* Warns if --load or --entries was given and there are only elections. */
static void warn_of_elections(const struct compare_request *request,
                              const struct algorithm *const *list, size_t count)
{
	size_t elections = 0;

	for (size_t i = 0; i < count; i++)
		elections += list[i]->kind == KIND_ELECTION;
	if (request->of_exclusion != NULL && elections == count)
		fprintf(stderr,
		        "baton compare: --%s has no effect: these are elections, which have no "
		        "entries\n",
		        request->of_exclusion);
}

/* Returns the command line, quoted for a shell. The caller frees it. */
static char *command_line(int argc, char **argv)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	                            "0123456789-_./:,=+@%";
	char *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);

	memory_must(file != NULL);
	fputs("baton", file);
	for (int i = 0; i < argc; i++) {
		bool quoted = *argv[i] == '\0' || argv[i][strspn(argv[i], plain)] != '\0';
		fputs(quoted ? " '" : " ", file);
		for (const char *c = argv[i]; *c != '\0'; c++)
			fputs(*c == '\'' ? "'\\''" : (const char[]){*c, '\0'}, file);
		fputs(quoted ? "'" : "", file);
	}
	fclose(file);
	return text;
}

/* Opens for appending: the old content stays until the new page is complete. */
static FILE *open_page(const char *path, struct problem *problem)
{
	FILE *file = fopen(path, "ab");
	if (file == NULL)
		problem_set(problem, "page file '%.200s': %s", path, strerror(errno));
	return file;
}

/* Writes the page of a comparison, or of the fault table if that is not NULL. Closes the file. */
static int write_page(const struct compare_request *request, const struct comparison *comparison,
                      const struct fault_table *faults, FILE *file, struct problem *problem)
{
	/* A pipe cannot be truncated and does not need it. */
	bool failed = ftruncate(fileno(file), 0) != 0 && errno != EINVAL;

	if (faults != NULL)
		fault_page_write(faults, request->command, BATON_VERSION, file);
	else
		page_write(comparison, request->command, BATON_VERSION, file);
	failed = ferror(file) != 0 || failed;
	failed = fclose(file) != 0 || failed;
	return failed ? problem_set(problem, "page file '%.200s' could not be written",
	                            request->html)
	              : 0;
}

static void report(const struct compare_request *request, const struct comparison *comparison)
{
	if (request->json) {
		print_json(compare_report(comparison));
	} else if (request->csv) {
		print_left_out(comparison, stderr);
		compare_write_csv(comparison, stdout);
	} else {
		print_comparison(comparison);
	}
}

static void report_claims(const struct compare_request *request,
                          const struct algorithm *const *list, size_t count)
{
	if (request->json)
		print_json(compare_report_claims(list, count));
	else
		print_claims(list, count);
}

static void announce(double messages)
{
	announce_work("compare", messages, "fewer --nodes, --algorithms, --entries or --seeds");
}

static int run_faults(const struct compare_request *request, struct problem *problem)
{
	enum { FAULT_NODES_DEFAULT = 3, FAULT_NODES_MOST = 5 };
	uint64_t nodes = FAULT_NODES_DEFAULT;

	for (size_t i = 0; i < request->list_count; i++) {
		if (request->parameters[i] != NULL) {
			problem_set(problem, "--algorithms '%.60s': --faults takes no parameters",
			            request->parameters[i]);
			return usage_problem("compare", problem);
		}
	}
	if (request->nodes != NULL &&
	    parse_number(request->nodes, 2, FAULT_NODES_MOST, "--nodes", &nodes, problem) != 0)
		return usage_problem("compare", problem);
	struct fault_table table;
	FILE *page = NULL;
	if (request->html != NULL && (page = open_page(request->html, problem)) == NULL)
		return usage_problem("compare", problem);
	if (make_fault_table(request->list, request->list_count, (uint32_t)nodes, &table,
	                     problem) != 0) {
		if (page != NULL)
			fclose(page);
		return usage_problem("compare", problem);
	}
	int wrong = page != NULL ? write_page(request, NULL, &table, page, problem) : 0;
	if (wrong == 0)
		print_fault_table(&table, request->json);
	bool undecided = table.undecided;
	fault_table_free(&table);
	return wrong != 0 ? usage_problem("compare", problem) : undecided ? EXIT_LIMIT : EXIT_HELD;
}

static int run(struct compare_request *request, struct problem *problem)
{
	const struct algorithm *const *list = request->list;
	struct compare_options *options = &request->options;
	struct comparison comparison;
	uint32_t *sizes, sizes_count;
	FILE *page = NULL;

	if (find_algorithms(request, problem) != 0)
		return usage_problem("compare", problem);
	if (request->claims) {
		report_claims(request, list, request->list_count);
		return EXIT_HELD;
	}
	if (request->faults)
		return run_faults(request, problem);
	if (find_sizes(request, &sizes, &sizes_count, problem) != 0)
		return usage_problem("compare", problem);
	if (request->html != NULL && (page = open_page(request->html, problem)) == NULL) {
		free(sizes);
		return usage_problem("compare", problem);
	}
	warn_of_elections(request, list, request->list_count);
	struct compare_subject *subjects =
	        compare_subjects(list, (const char *const *)request->parameters,
	                         request->list_count, request->topology, &options->subjects_count);
	options->subjects = subjects;
	options->nodes = sizes;
	options->nodes_count = sizes_count;
	if (page != NULL && !request->one_load)
		page_plan_rates(options, request->rates);
	options->progress = progress_show;
	options->announce = announce;
	progress_start();
	compare_run(options, &comparison);
	progress_clear();
	int code = comparison.violated ? EXIT_VIOLATED : EXIT_HELD;
	if (comparison.rows_count == 0) {
		problem_set(problem, "nothing can run: %s", comparison.left_out[0].why);
		code = usage_problem("compare", problem);
		if (page != NULL)
			fclose(page);
	} else if (page != NULL && write_page(request, &comparison, NULL, page, problem) != 0) {
		code = usage_problem("compare", problem);
	} else {
		report(request, &comparison);
	}
	comparison_free(&comparison);
	free(subjects);
	free(sizes);
	return code;
}

int command_compare(int argc, char **argv)
{
	struct compare_request request = {
	        .options = {.light = true,
	                    .heavy = true,
	                    .entries = 1000,
	                    .seed_first = 1,
	                    .seed_last = 20,
	                    .threads = processors_count()},
	        .command = command_line(argc, argv),
	};
	struct problem problem;
	int parsed = parse_arguments(argc, argv, &request, &problem);
	int code = parsed < 0   ? usage_problem("compare", &problem)
	           : parsed > 0 ? EXIT_HELD
	                        : run(&request, &problem);

	for (size_t i = 0; i < request.list_count; i++)
		free(request.parameters[i]);
	free(request.command);
	return code;
}
