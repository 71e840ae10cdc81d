/*
 * Random runs of whole clusters of lock nodes (src/service/torture/run.h), one run for each seed.
 * Every sixteenth is run twice and must give the same journal, byte for byte.
 */
#include "run.h"
#include "setup.h"

#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char help[] =
        "usage: random_cluster [--seed S | --seeds A..B] [--algorithm NAME]\n"
        "                      [--topology T] [--nodes N] [--locks L] [--failures F]\n"
        "                      [--trace FILE]\n"
        "\n"
        "Runs clusters of lock nodes with random clients in virtual time, while links stall,\n"
        "processes crash and views change; then heals everything and demands that every client\n"
        "is served. What is not given is drawn from the seed.\n"
        "\n"
        "  --seed S          one run (default 1)\n"
        "  --seeds A..B      a run for each\n"
        "  --algorithm NAME  of mutual exclusion\n"
        "  --topology T      that suits it\n"
        "  --nodes N         how many places there are for nodes, 1 to 9\n"
        "  --locks L         how many locks, 1 to 50\n"
        "  --failures F      so many runs that failed are enough (default 10)\n"
        "  --trace FILE      what happened, as text, of one run; - is the standard output\n"
        "\n"
        "example: random_cluster --seeds 1..100 --algorithm neilsen\n"
        "exit: 0 all held, 1 something is broken (seed and command line are told), 2 bad usage\n";

struct words {
	struct plan_words plan;
	uint64_t seed_first, seed_last;
	uint64_t failures_max;
	const char *trace;
};

static int parse_seeds(const char *text, struct words *words, struct problem *problem)
{
	const char *dots = strstr(text, "..");
	char first[32];

	if (dots == NULL || dots - text >= (int)sizeof(first))
		return problem_set(problem, "--seeds '%.40s': A..B is needed, such as 1..1000",
		                   text);
	snprintf(first, sizeof(first), "%.*s", (int)(dots - text), text);
	if (parse_number(first, 0, INT64_MAX, "--seeds", &words->seed_first, problem) != 0)
		return -1;
	return parse_number(dots + 2, words->seed_first, INT64_MAX, "--seeds", &words->seed_last,
	                    problem);
}

static int parse_small(const char *text, uint32_t most, const char *what, uint32_t *ret_number,
                       struct problem *problem)
{
	uint64_t number;

	if (parse_number(text, 1, most, what, &number, problem) != 0)
		return -1;
	*ret_number = (uint32_t)number;
	return 0;
}

static int parse_option(int option, struct words *words, struct problem *problem)
{
	switch (option) {
	case 's':
		if (parse_number(optarg, 0, INT64_MAX, "--seed", &words->seed_first, problem) != 0)
			return -1;
		words->seed_last = words->seed_first;
		return 0;
	case 'S':
		return parse_seeds(optarg, words, problem);
	case 'a':
		words->plan.algorithm = optarg;
		return 0;
	case 't':
		words->plan.topology = optarg;
		return 0;
	case 'n':
		return parse_small(optarg, PLAN_NODES_MAX, "--nodes", &words->plan.nodes, problem);
	case 'l':
		return parse_small(optarg, PLAN_LOCKS_MAX, "--locks", &words->plan.locks, problem);
	case 'f':
		return parse_number(optarg, 1, INT64_MAX, "--failures", &words->failures_max,
		                    problem);
	case 'T':
		words->trace = optarg;
		return 0;
	default:
		must(false);
		return -1;
	}
}

/* Returns 0; 1 if help was printed; or -1 and a problem. */
static int parse_arguments(int argc, char **argv, struct words *words, struct problem *problem)
{
	static const struct option options[] = {
	        {"seed", required_argument, NULL, 's'},
	        {"seeds", required_argument, NULL, 'S'},
	        {"algorithm", required_argument, NULL, 'a'},
	        {"topology", required_argument, NULL, 't'},
	        {"nodes", required_argument, NULL, 'n'},
	        {"locks", required_argument, NULL, 'l'},
	        {"failures", required_argument, NULL, 'f'},
	        {"trace", required_argument, NULL, 'T'},
	        {"help", no_argument, NULL, 'h'},
	        {NULL, 0, NULL, 0},
	};

	opterr = 0;
	for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
		if (option == 'h') {
			fputs(help, stdout);
			return 1;
		}
		if (option == '?')
			return problem_set(
			        problem, "'%.40s' is not an option, or needs a value: --help tells",
			        argv[optind - 1]);
		if (parse_option(option, words, problem) != 0)
			return -1;
	}
	if (optind != argc)
		return problem_set(problem, "'%.40s' is not an option", argv[optind]);
	if (words->trace != NULL && words->seed_first != words->seed_last)
		return problem_set(problem, "--trace is for one run: give --seed, not --seeds");
	return 0;
}

/* The command line that repeats the run. It is prepared before the run, because the run may end the
 * process. */
static char again[512];

static void prepare_again(const char *program, const struct words *words, uint64_t seed)
{
	const struct plan_words *plan = &words->plan;
	FILE *text = fmemopen(again, sizeof(again), "w");

	must(text != NULL);
	fprintf(text, "    %.200s --seed %" PRIu64, program, seed);
	if (plan->algorithm != NULL)
		fprintf(text, " --algorithm %.40s", plan->algorithm);
	if (plan->topology != NULL)
		fprintf(text, " --topology %.80s", plan->topology);
	if (plan->nodes != 0)
		fprintf(text, " --nodes %u", plan->nodes);
	if (plan->locks != 0)
		fprintf(text, " --locks %u", plan->locks);
	fputs(" --trace -\n", text);
	must(fclose(text) == 0);
}

static void write_again(void)
{
	static const char text[] = "a node has stopped the process; this does it again:\n";
	ssize_t written = write(STDERR_FILENO, text, sizeof(text) - 1);

	if (written > 0)
		written = write(STDERR_FILENO, again, strlen(again));
	(void)written;
}

/* These print the command line after a failed assertion, and after an error that the sanitizer has
 * found. */
static void on_signal(int number)
{
	write_again();
	signal(number, SIG_DFL);
	raise(number);
}

/* NOLINTBEGIN(bugprone-reserved-identifier): the sanitizer gave it this name. */
void __asan_on_error(void);
void __asan_on_error(void)
/* NOLINTEND(bugprone-reserved-identifier) */
{
	write_again();
}

static int run_all(const char *program, struct words *words, FILE *trace, struct problem *problem)
{
	enum { TWICE_EVERY = 16 };
	struct run_result sum = {0};
	uint64_t failed = 0, seed = words->seed_first;
	struct timespec begin, end;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (; seed <= words->seed_last && failed < words->failures_max; seed++) {
		struct run_result result, second;
		struct plan plan;
		words->plan.seed = seed;
		if (plan_make(&words->plan, &plan, problem) != 0)
			return -1;
		prepare_again(program, words, seed);
		run_plan(&plan, trace, &result);
		if (seed % TWICE_EVERY == 0 && trace == NULL && !result.failed) {
			run_plan(&plan, NULL, &second);
			if (second.hash != result.hash) {
				result.failed = true;
				snprintf(result.wrong, sizeof(result.wrong),
				         "a second run goes another way");
			}
		}
		if (result.failed) {
			failed++;
			fprintf(stderr, "seed %" PRIu64 " (%s, %s of %u, %u locks): %s\n", seed,
			        plan.algorithm->name, plan.topology, plan.places_count,
			        plan.locks_count, result.wrong);
			fputs(again, stderr);
		}
		sum.hash = (sum.hash ^ result.hash) * UINT64_C(0x100000001b3);
		sum.events += result.events;
		sum.grants += result.grants;
		sum.views += result.views;
		sum.refusals += result.refusals;
	}
	printf("%" PRIu64 " runs, %" PRIu64 " failed: %" PRIu64 " events, %" PRIu64
	       " grants, %" PRIu64 " views, %" PRIu64 " refused frames; journals %016" PRIx64 "\n",
	       seed - words->seed_first, failed, sum.events, sum.grants, sum.views, sum.refusals,
	       sum.hash);
	/* The time is printed to another stream, because it differs in every run. */
	clock_gettime(CLOCK_MONOTONIC, &end);
	double seconds =
	        (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9;
	fprintf(stderr, "%.0f seeds a second\n", (double)(seed - words->seed_first) / seconds);
	return failed != 0;
}

int main(int argc, char **argv)
{
	struct words words = {.seed_first = 1, .seed_last = 1, .failures_max = 10};
	struct problem problem;
	FILE *trace = NULL;
	int result = parse_arguments(argc, argv, &words, &problem);

	if (result > 0)
		return 0;
	if (result == 0 && words.trace != NULL) {
		trace = strcmp(words.trace, "-") == 0 ? stdout : fopen(words.trace, "w");
		if (trace == NULL)
			result = problem_set(&problem, "--trace '%.200s': cannot be written",
			                     words.trace);
	}
	signal(SIGABRT, on_signal);
	if (result == 0)
		result = run_all(argv[0], &words, trace, &problem);
	if (trace != NULL && trace != stdout && fclose(trace) != 0 && result >= 0)
		result = problem_set(&problem, "--trace '%.200s': cannot be written", words.trace);
	if (result >= 0)
		return result;
	fprintf(stderr, "random_cluster: %s\n", problem.text);
	return 2;
}
