/*
 * Random runs of the replicated log (raft_world.h), a run for each seed.
 */
#include "raft_world.h"

#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char help[] =
        "usage: random_raft [--seed S | --seeds A..B] [--failures F] [--keep-id]\n"
        "\n"
        "Runs servers of the replicated log in virtual time, over a network and disks that mean\n"
        "harm; then heals everything and demands progress.\n"
        "\n"
        "  --seed S      one run (default 1)\n"
        "  --seeds A..B  a run for each\n"
        "  --failures F  so many runs that failed are enough (default 10)\n"
        "  --keep-id     a server with a wiped disk comes back as itself: must fail\n"
        "\n"
        "example: random_raft --seeds 1..200\n"
        "exit: 0 all held, 1 something is broken (the seeds are told), 2 bad usage\n";

static uint64_t seed_first = 1, seed_last = 1, failures_max = 10;
static bool keeps_id;
static char seed_text[64];

/* A must() of the program itself failed: print the seed. */
static void tell_seed(int number)
{
	(void)number;
	ssize_t ignored = write(STDERR_FILENO, seed_text, strlen(seed_text));
	(void)ignored;
}

static bool parse_number(const char *text, char stop, uint64_t *ret_number, const char **ret_end)
{
	char *end;

	*ret_number = strtoull(text, &end, 10);
	*ret_end = end;
	return end != text && *end == stop;
}

static bool parse_option(int option)
{
	const char *end;

	if (option == 'k')
		return keeps_id = true;
	if (option == 'f')
		return parse_number(optarg, '\0', &failures_max, &end);
	if (option == 's' && parse_number(optarg, '\0', &seed_first, &end)) {
		seed_last = seed_first;
		return true;
	}
	return option == 'S' && parse_number(optarg, '.', &seed_first, &end) &&
	       strncmp(end, "..", 2) == 0 && parse_number(end + 2, '\0', &seed_last, &end);
}

static uint64_t run_all(struct raft_world_counts *counts, uint64_t *ret_runs)
{
	uint64_t failures = 0, runs = 0;

	for (uint64_t seed = seed_first; seed <= seed_last && failures < failures_max; seed++) {
		snprintf(seed_text, sizeof seed_text, "random_raft --seed %" PRIu64 "\n", seed);
		const char *problem = raft_world_run(seed, keeps_id, counts);
		runs++;
		if (problem == NULL)
			continue;
		failures++;
		printf("random_raft --seed %" PRIu64 ": %s\n", seed, problem);
	}
	*ret_runs = runs;
	return failures;
}

static void print_counts(const struct raft_world_counts *counts)
{
	printf("%" PRIu64 " events, %" PRIu64 " entries committed, %" PRIu64 " leaders, %" PRIu64
	       " crashes, %" PRIu64 " disks wiped\n",
	       counts->events, counts->commits, counts->leaders, counts->crashes, counts->wiped);
	printf("snapshots: %" PRIu64 " taken, %" PRIu64 " installed, %" PRIu64
	       " restarts from one\n",
	       counts->taken, counts->installed, counts->restarts_from_snapshot);
	printf("%" PRIu64 " changes of the servers (%" PRIu64 " promotions, %" PRIu64
	       " removals), %" PRIu64 " transfers of the lead\n",
	       counts->changes, counts->promotions, counts->removals, counts->transfers);
}

int main(int count, char **words)
{
	static const struct option options[] = {
	        {"seed", required_argument, NULL, 's'},     {"seeds", required_argument, NULL, 'S'},
	        {"failures", required_argument, NULL, 'f'}, {"keep-id", no_argument, NULL, 'k'},
	        {"help", no_argument, NULL, 'h'},           {0},
	};
	struct raft_world_counts counts = {0};
	uint64_t runs;
	int option;

	while ((option = getopt_long(count, words, "", options, NULL)) != -1) {
		if (option == 'h') {
			fputs(help, stdout);
			return 0;
		}
		if (!parse_option(option)) {
			fputs("random_raft: bad usage; see --help\n", stderr);
			return 2;
		}
	}
	signal(SIGABRT, tell_seed);
	clock_t begin = clock();
	uint64_t failures = run_all(&counts, &runs);
	double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
	printf("%" PRIu64 " runs, %" PRIu64 " failed; %.1f seconds of computing\n", runs, failures,
	       seconds);
	print_counts(&counts);
	return failures == 0 ? 0 : 1;
}
