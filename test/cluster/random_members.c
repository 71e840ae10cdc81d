/*
 * Random runs of whole members (colony.h), one for each seed. Every sixteenth is run twice and must
 * give the same hash.
 */
#include "colony.h"

#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char help[] =
        "usage: random_members [--seed S | --seeds A..B] [--tls] [--failures F] [--trace FILE]\n"
        "\n"
        "Runs whole members in virtual time: born from a list, or joining; with connections that\n"
        "are cut at any byte, processes that are killed, paused and leave, and disks that are\n"
        "lost. In every third an operator gives orders. Then heals everything and demands that\n"
        "every client is let in, and orders are obeyed.\n"
        "\n"
        "  --seed S      one run (default 1)\n"
        "  --seeds A..B  a run for each\n"
        "  --tls         the members use TLS\n"
        "  --failures F  so many runs that failed are enough (default 10)\n"
        "  --trace FILE  what happened, as text, of one run; - is the standard output\n"
        "\n"
        "example: random_members --seeds 1..100\n"
        "exit: 0 all held, 1 something is broken (the seeds are told), 2 bad usage\n";

static uint64_t seed_first = 1, seed_last = 1, failures_max = 10;
static bool tls;
static const char *trace_path;
static char again[64]; /* the command line that repeats the run */

static bool read_number(const char *text, char stop, uint64_t *ret_number, const char **ret_end)
{
	char *end;

	*ret_number = strtoull(text, &end, 10);
	*ret_end = end;
	return end != text && *end == stop;
}

static bool parse_option(int option)
{
	const char *end;

	if (option == 'T') {
		trace_path = optarg;
		return true;
	}
	if (option == 't')
		return tls = true;
	if (option == 'f')
		return read_number(optarg, '\0', &failures_max, &end);
	if (option == 's' && read_number(optarg, '\0', &seed_first, &end)) {
		seed_last = seed_first;
		return true;
	}
	return option == 'S' && read_number(optarg, '.', &seed_first, &end) &&
	       strncmp(end, "..", 2) == 0 && read_number(end + 2, '\0', &seed_last, &end);
}

static void write_again(void)
{
	ssize_t ignored = write(STDERR_FILENO, again, strlen(again));

	(void)ignored;
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

static void run(uint64_t seed, FILE *trace, struct colony_result *ret_result)
{
	enum { TWICE_EVERY = 16 };
	struct colony_result second;
	struct colony_plan plan;

	snprintf(again, sizeof(again), "    random_members --seed %" PRIu64 "%s --trace -\n", seed,
	         tls ? " --tls" : "");
	colony_plan(seed, tls, &plan);
	colony_run(&plan, trace, ret_result);
	if (seed % TWICE_EVERY == 0 && trace == NULL && !ret_result->failed) {
		colony_run(&plan, NULL, &second);
		if (second.hash != ret_result->hash) {
			ret_result->failed = true;
			strcpy(ret_result->wrong, "a second run goes another way");
		}
	}
	if (ret_result->failed)
		fprintf(stderr, "seed %" PRIu64 " (%s, %u nodes, %u founders): %s\n%s", seed,
		        plan.algorithm->name, plan.nodes, plan.founders, ret_result->wrong, again);
}

static uint64_t run_all(FILE *trace)
{
	struct colony_result sum = {0};
	uint64_t failures = 0, seed = seed_first;

	for (; seed <= seed_last && failures < failures_max; seed++) {
		struct colony_result result;
		run(seed, trace, &result);
		failures += result.failed;
		sum.hash = (sum.hash ^ result.hash) * UINT64_C(0x100000001b3);
		sum.events += result.events;
		sum.grants += result.grants;
		sum.connections += result.connections;
		sum.cuts += result.cuts;
		sum.bytes += result.bytes;
		sum.kills += result.kills;
		sum.wipes += result.wipes;
		sum.orders += result.orders;
	}
	printf("%" PRIu64 " runs, %" PRIu64 " failed: %" PRIu64 " events, %" PRIu64
	       " grants, %" PRIu64 " orders, %" PRIu64 " processes ended, %" PRIu64
	       " disks lost; %016" PRIx64 "\n",
	       seed - seed_first, failures, sum.events, sum.grants, sum.orders, sum.kills,
	       sum.wipes, sum.hash);
	printf("%" PRIu64 " connections, %" PRIu64 " cut, %" PRIu64 " bytes\n", sum.connections,
	       sum.cuts, sum.bytes);
	return failures;
}

int main(int count, char **words)
{
	static const struct option options[] = {
	        {"seed", required_argument, NULL, 's'},
	        {"seeds", required_argument, NULL, 'S'},
	        {"failures", required_argument, NULL, 'f'},
	        {"trace", required_argument, NULL, 'T'},
	        {"tls", no_argument, NULL, 't'},
	        {"help", no_argument, NULL, 'h'},
	        {0},
	};
	FILE *trace = NULL;
	int option;

	while ((option = getopt_long(count, words, "", options, NULL)) != -1) {
		if (option == 'h') {
			fputs(help, stdout);
			return 0;
		}
		if (!parse_option(option)) {
			fputs("random_members: bad usage; see --help\n", stderr);
			return 2;
		}
	}
	if (trace_path != NULL)
		trace = strcmp(trace_path, "-") == 0 ? stdout : fopen(trace_path, "w");
	if (trace_path != NULL && (trace == NULL || seed_first != seed_last)) {
		fputs("random_members: --trace needs one seed, and a file that can be written\n",
		      stderr);
		return 2;
	}
	signal(SIGABRT, on_signal);
	clock_t begin = clock();
	uint64_t failures = run_all(trace);
	fprintf(stderr, "%.1f seeds a second of computing\n",
	        (double)(seed_last - seed_first + 1) * CLOCKS_PER_SEC /
	                (double)(clock() - begin + 1));
	if (trace != NULL && trace != stdout)
		fclose(trace);
	return failures == 0 ? 0 : 1;
}
