#include "sim_words.h"

#include "load.h"
#include "memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRIES_MAX = 2000000000 };

void sim_words_init(struct sim_words *words, const struct host *host)
{
	*words = (struct sim_words){
	        .setup = {.host = host, .seed = 1},
	        .options = {.entries = 1000,
	                    .load = LOAD_HEAVY,
	                    .delay = {DISTRIBUTION_CONSTANT, MILLION, 0},
	                    .cs = {DISTRIBUTION_CONSTANT, MILLION, 0}},
	        .load = "heavy",
	};
}

void sim_words_free(struct sim_words *words)
{
	free(words->lose_hops);
	free(words->askers);
}

static int parse_lose_hops(const char *text, struct sim_words *words, struct problem *problem)
{
	size_t count = 1;
	for (const char *c = text; *c != '\0'; c++)
		count += *c == ',';
	free(words->lose_hops);
	words->lose_hops = malloc(count * sizeof(*words->lose_hops));
	memory_must(words->lose_hops != NULL);
	for (size_t i = 0; i < count; i++) {
		char word[32];
		size_t length = strcspn(text, ",");
		snprintf(word, sizeof(word), "%.*s",
		         (int)(length < sizeof(word) ? length : sizeof(word)), text);
		uint64_t least = i == 0 ? 1 : words->lose_hops[i - 1] + 1;
		if (parse_number(word, least, INT64_MAX,
		                 "--lose-token (increasing numbers of hops):", &words->lose_hops[i],
		                 problem) != 0)
			return -1;
		text += length + (text[length] == ',');
	}
	words->options.lose_hops = words->lose_hops;
	words->options.lose_hops_count = count;
	return 0;
}

static int parse_lose(const char *text, struct sim_words *words, struct problem *problem)
{
	uint64_t millionths;
	if (parse_decimal(text, &millionths) != 0 || millionths > MILLION)
		return problem_set(problem,
		                   "--lose '%.40s': a probability from 0 to 1 is needed, with at "
		                   "most 6 digits after the point",
		                   text);
	words->options.lose_below = (millionths << 32) / MILLION;
	return 0;
}

static int compare_numbers(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

static int parse_askers(const char *text, struct sim_words *words, struct problem *problem)
{
	uint32_t count;

	free(words->askers);
	words->askers = NULL;
	if (parse_numbers(text, 1, INT32_MAX, "--askers", 0, &words->askers, &count, problem) != 0)
		return -1;
	qsort(words->askers, count, sizeof(*words->askers), compare_numbers);
	for (uint32_t i = 1; i < count; i++) {
		if (words->askers[i] == words->askers[i - 1])
			return problem_set(problem, "--askers '%.40s': node %u occurs twice", text,
			                   words->askers[i]);
	}
	words->options.askers = words->askers;
	words->options.askers_count = count;
	return 0;
}

static int parse_slow(const char *text, struct sim_words *words, struct problem *problem)
{
	enum { FACTOR_MAX = 1000000 };
	size_t length = strcspn(text, ":");
	char node[16];
	uint64_t number;

	snprintf(node, sizeof(node), "%.*s",
	         (int)(length < sizeof(node) ? length : sizeof(node) - 1), text);
	if (text[length] != ':')
		return problem_set(problem,
		                   "--slow '%.40s': a node and a factor are needed, such as 2:10",
		                   text);
	if (parse_number(node, 1, INT32_MAX, "--slow: the node", &number, problem) != 0 ||
	    parse_number(text + length + 1, 1, FACTOR_MAX, "--slow: the factor",
	                 &words->options.slow_factor, problem) != 0)
		return -1;
	words->options.slow_node = (uint32_t)number;
	return 0;
}

/* Checks that the nodes that the words name exist. */
static int check_nodes(const struct sim_options *options, uint32_t nodes, struct problem *problem)
{
	uint32_t last = options->askers_count != 0 ? options->askers[options->askers_count - 1] : 0;

	if (last > nodes)
		return problem_set(problem, "--askers: there is no node %u, only 1 to %u", last,
		                   nodes);
	if (options->slow_node > nodes)
		return problem_set(problem, "--slow: there is no node %u, only 1 to %u",
		                   options->slow_node, nodes);
	return 0;
}

static int parse_bound(const char *text, uint64_t *ret_bound, struct problem *problem)
{
	if (parse_decimal(text, ret_bound) == 0 && *ret_bound != 0)
		return 0;
	return problem_set(problem,
	                   "--bound '%.40s': a decimal above 0 is needed, with at most 6 digits "
	                   "after the point, below 1000000000",
	                   text);
}

static int parse_load_word(const char *text, struct sim_words *words, struct problem *problem)
{
	uint64_t rate;

	words->load = text;
	if (parse_load(text, &words->options.load, &rate, problem) != 0)
		return -1;
	words->options.interval = rate != 0 ? (uint64_t)MILLION * MILLION / rate : 0;
	return 0;
}

/* Remembers an option that makes no sense for an election, which has no entries. */
static void note_word(const char *name, struct sim_words *words)
{
	static const char *const entries_words[] = {"--entries", "--load",   "--cs",
	                                            "--warmup",  "--askers", "--lose-token"};

	for (size_t i = 0; i < sizeof(entries_words) / sizeof(*entries_words); i++) {
		if (strcmp(entries_words[i] + 2, name) == 0)
			words->not_for_elections = entries_words[i];
	}
}

int sim_words_option(const char *name, const char *value, struct sim_words *words,
                     struct problem *problem)
{
	struct sim_options *options = &words->options;
	int result = setup_option(name, value, &words->setup, problem);

	if (result <= 0)
		return result;
	note_word(name, words);
	if (strcmp(name, "entries") == 0)
		return parse_number(value, 1, ENTRIES_MAX, "--entries", &options->entries, problem);
	if (strcmp(name, "warmup") == 0) {
		words->warmed = true;
		return parse_number(value, 0, ENTRIES_MAX, "--warmup", &words->warmup, problem);
	}
	if (strcmp(name, "seed") == 0) {
		words->seeded = true;
		return parse_number(value, 0, INT64_MAX, "--seed", &words->setup.seed, problem);
	}
	if (strcmp(name, "load") == 0)
		return parse_load_word(value, words, problem);
	if (strcmp(name, "askers") == 0)
		return parse_askers(value, words, problem);
	if (strcmp(name, "slow") == 0)
		return parse_slow(value, words, problem);
	if (strcmp(name, "delay") == 0)
		return distribution_parse(value, "--delay", &options->delay, problem);
	if (strcmp(name, "cs") == 0)
		return distribution_parse(value, "--cs", &options->cs, problem);
	if (strcmp(name, "bound") == 0)
		return parse_bound(value, &options->bound, problem);
	if (strcmp(name, "lose") == 0)
		return parse_lose(value, words, problem);
	if (strcmp(name, "lose-token") == 0)
		return parse_lose_hops(value, words, problem);
	return 1;
}

int sim_words_check(const struct sim_words *words, struct problem *problem)
{
	if (!words->warmed || words->warmup < words->options.entries)
		return 0;
	return problem_set(
	        problem, "--warmup %" PRIu64 ": it must be less than --entries, which is %" PRIu64,
	        words->warmup, words->options.entries);
}

/* Refuses options that make no sense for this algorithm. */
static int check_options_fit(const struct sim_words *words, const struct algorithm *algorithm,
                             struct problem *problem)
{
	if (algorithm->kind == KIND_ELECTION && words->not_for_elections != NULL)
		return problem_set(problem, "%s: %s is an election, which has no entries",
		                   words->not_for_elections, algorithm->name);
	if (algorithm->expire == NULL && words->options.bound != 0)
		return problem_set(problem, "--bound: %s has no timers", algorithm->name);
	if (algorithm->circulates && distribution_mean(&words->options.delay) == 0)
		return problem_set(problem,
		                   "--delay: the token of %s goes round for ever, and without a "
		                   "delay time would stand still: give a delay above 0",
		                   algorithm->name);
	if (!algorithm->has_token && words->options.lose_hops_count != 0)
		return problem_set(problem, "--lose-token: %s has no token", algorithm->name);
	return 0;
}

/* Returns the length of the warm-up. The default is one entry of each node, but at most half of
 * the run. Without a warm-up the first entries, for which nobody has to wait long, would distort
 * the means. */
static uint64_t warmup_of(const struct sim_words *words, uint32_t nodes)
{
	uint64_t half = words->options.entries / 2;

	if (words->warmed)
		return words->warmup;
	return words->options.load == LOAD_LIGHT ? 0 : nodes < half ? nodes : half;
}

int sim_words_options(const struct sim_words *words, const struct setup *setup,
                      struct sim_options *ret_options, struct problem *problem)
{
	struct sim_options options = words->options;
	bool election = setup->network.algorithm->kind == KIND_ELECTION;

	if (check_options_fit(words, setup->network.algorithm, problem) != 0 ||
	    check_nodes(&options, setup->network.graph.nodes, problem) != 0)
		return -1;
	options.setup = setup;
	options.seed = setup->seed;
	if (options.bound == 0)
		options.bound = distribution_bound(&options.delay);
	if (election)
		options.load = LOAD_ELECTION;
	options.warmup = election ? 0 : warmup_of(words, setup->network.graph.nodes);
	options.entries -= options.warmup;
	*ret_options = options;
	return 0;
}
