#include "claims.h"
#include "cli.h"
#include "sim.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sim_request {
	struct setup_words words;
	struct sim_options options;
	const char *load;
	const char *trace, *diagram;
	uint64_t seed_first, seed_last;
	bool seeds, json;
	const char *not_for_elections; /* an option that was given */
	uint64_t *lose_hops;
};

enum { ENTRIES_MAX = 2000000000 };

static int parse_lose_hops(const char *text, struct sim_request *request, struct problem *problem)
{
	size_t count = 1;
	for (const char *c = text; *c != '\0'; c++)
		count += *c == ',';
	free(request->lose_hops);
	request->lose_hops = malloc(count * sizeof(*request->lose_hops));
	must(request->lose_hops != NULL);
	for (size_t i = 0; i < count; i++) {
		char word[32];
		size_t length = strcspn(text, ",");
		snprintf(word, sizeof(word), "%.*s",
		         (int)(length < sizeof(word) ? length : sizeof(word)), text);
		uint64_t least = i == 0 ? 1 : request->lose_hops[i - 1] + 1;
		if (parse_number(word, least, INT64_MAX,
		                 "--lose-token (increasing numbers of hops):",
		                 &request->lose_hops[i], problem) != 0)
			return -1;
		text += length + (text[length] == ',');
	}
	request->options.lose_hops = request->lose_hops;
	request->options.lose_hops_count = count;
	return 0;
}

static int parse_lose(const char *text, struct sim_request *request, struct problem *problem)
{
	uint64_t millionths;
	if (parse_decimal(text, &millionths) != 0 || millionths > MILLION)
		return problem_set(problem,
		                   "--lose '%.40s': a probability from 0 to 1 is needed, with at "
		                   "most 6 digits behind the point",
		                   text);
	request->options.lose_below = (millionths << 32) / MILLION;
	return 0;
}

static int parse_option(int option, const char *value, struct sim_request *request,
                        struct problem *problem)
{
	struct sim_options *options = &request->options;
	uint64_t rate = 0;
	int result = network_option(option, value, &request->words, problem);

	if (result <= 0)
		return result;
	if (option == 'e' || option == 'l' || option == 'c' || option == 'X')
		request->not_for_elections = option == 'e'   ? "--entries"
		                             : option == 'l' ? "--load"
		                             : option == 'c' ? "--cs"
		                                             : "--lose-token";
	switch (option) {
	case 'e':
		return parse_number(value, 1, ENTRIES_MAX, "--entries", &options->entries, problem);
	case 's':
		if (parse_number(value, 0, INT64_MAX, "--seed", &request->seed_first, problem) != 0)
			return -1;
		request->seed_last = request->seed_first;
		request->seeds = false;
		return 0;
	case 'S':
		request->seeds = true;
		return parse_seeds(value, &request->seed_first, &request->seed_last, problem);
	case 'l':
		request->load = value;
		if (parse_load(value, &options->load, &rate, problem) != 0)
			return -1;
		options->interval = rate != 0 ? (uint64_t)MILLION * MILLION / rate : 0;
		return 0;
	case 'd':
		return distribution_parse(value, "--delay", &options->delay, problem);
	case 'c':
		return distribution_parse(value, "--cs", &options->cs, problem);
	case 'b':
		if (parse_decimal(value, &options->bound) != 0 || options->bound == 0)
			return problem_set(problem,
			                   "--bound '%.40s': a decimal above 0 is needed, with at "
			                   "most 6 digits "
			                   "behind the point, below 1000000000",
			                   value);
		return 0;
	case 'x':
		return parse_lose(value, request, problem);
	case 'X':
		return parse_lose_hops(value, request, problem);
	case 't':
		request->trace = value;
		return 0;
	case 'D':
		request->diagram = value;
		return 0;
	case 'j':
		request->json = true;
		return 0;
	default:
		return -1; /* next_option has said why */
	}
}

static const struct option sim_option_table[] = {
        NETWORK_OPTIONS,
        {"entries", required_argument, NULL, 'e'},
        {"seed", required_argument, NULL, 's'},
        {"seeds", required_argument, NULL, 'S'},
        {"load", required_argument, NULL, 'l'},
        {"delay", required_argument, NULL, 'd'},
        {"cs", required_argument, NULL, 'c'},
        {"bound", required_argument, NULL, 'b'},
        {"lose", required_argument, NULL, 'x'},
        {"lose-token", required_argument, NULL, 'X'},
        {"trace", required_argument, NULL, 't'},
        {"diagram", required_argument, NULL, 'D'},
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
};

/* 0; -1 and a problem; 1 if help was printed and nothing is to be done. */
static int parse_arguments(int argc, char **argv, struct sim_request *request,
                           struct problem *problem)
{
	for (int option; (option = next_option(argc, argv, sim_option_table, problem)) != -1;) {
		if (option == 'h') {
			print_help("sim");
			return 1;
		}
		if (parse_option(option, optarg, request, problem) != 0)
			return -1;
	}
	if (optind == argc)
		return problem_set(problem, "which algorithm? 'baton algorithms' lists them");
	if (argc - optind > 1)
		return problem_set(problem, "one algorithm at a time, and '%.40s' is the second",
		                   argv[optind + 1]);
	request->words.algorithm = argv[optind];
	if (request->seeds && (request->trace != NULL || request->diagram != NULL))
		return problem_set(
		        problem, "--trace and --diagram are for one run: give --seed, not --seeds");
	return 0;
}

/* What a document says; else what follows from the rules, and no claim. */
static void print_claimed(const struct algorithm *algorithm)
{
	const struct headline *headline = headline_of(algorithm, NULL);

	printf(" (%s: %s)", headline != NULL ? "claimed" : "expected",
	       headline != NULL ? headline->text : algorithm->claim_messages);
}

static void print_messages(const struct sim_options *options, const struct sim_result *result)
{
	const struct algorithm *algorithm = options->setup->network.algorithm;

	printf("  messages    %.6g an entry, %" PRIu64 " in all",
	       (double)result->messages / (double)result->entries, result->messages);
	if (options->load == LOAD_LIGHT && result->entry.all.min <= result->entry.all.max)
		printf("; %" PRIu64 " to %" PRIu64 " for one", result->entry.all.min,
		       result->entry.all.max);
	print_claimed(algorithm);
	printf("\n             ");
	for (size_t i = 0; i < algorithm->messages_count; i++) {
		if (!algorithm->messages[i].init)
			printf(" %s %" PRIu64, algorithm->messages[i].name,
			       result->messages_by_type[i]);
	}
	if (result->messages_init != 0)
		printf("; before any request %" PRIu64, result->messages_init);
	if (algorithm->circulates)
		printf("; while nobody wanted in %" PRIu64, result->messages_idle);
	putchar('\n');
}

static void print_run(const struct sim_request *request, const struct sim_options *options,
                      const struct sim_result *result, double seconds)
{
	const struct network *network = &options->setup->network;
	double unit = (double)distribution_mean(&options->delay);
	double entries = (double)result->entries;
	char time[32];

	printf("%s, %s of %" PRIu32 ", %s load, seed %" PRIu64 "\n", network->algorithm->name,
	       options->setup->topology, network->graph.nodes, request->load, options->seed);
	printf("  entries     %" PRIu64, result->entries);
	if (result->violations == 0)
		printf(", no violation\n");
	else
		printf(", %" PRIu64 " VIOLATED: %s\n", result->violations, result->violation);
	if (result->entries == 0)
		return;
	print_messages(options, result);
	printf("  bytes       %.6g an entry, %" PRIu64 " the largest message\n",
	       (double)result->bytes / entries,
	       sim_largest_message(network->algorithm, result, CARRIES_ANY));
	if (result->sync_count != 0 && unit != 0)
		printf("  sync delay  mean %.6g, max %.6g message delays (%s: %s)\n",
		       (double)result->sync_sum / (double)result->sync_count / unit,
		       (double)result->sync_max / unit,
		       claim_of_document(network->algorithm, HEAVY_SYNC_MAX) ? "claimed"
		                                                             : "expected",
		       network->algorithm->claim_delay);
	printf("  response    mean %.6g, half within %.6g, 99 %% within %.6g, max %.6g\n",
	       (double)result->response_sum / (double)result->response_count / MILLION,
	       (double)result->response_p50 / MILLION, (double)result->response_p99 / MILLION,
	       (double)result->response_max / MILLION);
	printf("  bypass      at most %" PRIu64
	       " entries of others between a request and its entry\n",
	       result->bypass_max);
	printf("  state       mean %.6g, max %" PRIu64 " bytes a node\n",
	       (double)result->state_sum / network->graph.nodes, result->state_max);
	if (result->lost != 0)
		printf("  lost        %" PRIu64 " messages\n", result->lost);
	if (result->regenerated != 0)
		printf("  regenerated %" PRIu64 " times, after %.6g hops on average, %" PRIu64
		       " at most\n",
		       result->regenerated,
		       (double)result->regenerated_hops_sum / (double)result->regenerated,
		       result->regenerated_hops_max);
	printf("  time        %s virtual, %" PRIu64 " events in %.3f s\n",
	       time_text(result->time, time), result->events, seconds);
}

static void print_election(const struct sim_options *options, const struct sim_result *result,
                           double seconds)
{
	const struct network *network = &options->setup->network;
	const struct algorithm *algorithm = network->algorithm;
	uint64_t announcement = 0;
	char time[32];

	printf("%s, %s of %" PRIu32 ", %" PRIu32 " initiators, seed %" PRIu64 "\n", algorithm->name,
	       options->setup->topology, network->graph.nodes,
	       options->setup->electorate.initiators_count, options->seed);
	if (result->violations == 0)
		printf("  leader      %" PRIu32 ", agreed by all\n", result->leader);
	else
		printf("  leader      VIOLATED: %s\n", result->violation);
	for (size_t i = 0; i < algorithm->messages_count; i++) {
		if (algorithm->messages[i].announcement)
			announcement += result->messages_by_type[i];
	}
	printf("  messages    %" PRIu64 " to elect, %" PRIu64 " to announce",
	       result->messages - announcement, announcement);
	print_claimed(algorithm);
	printf("\n             ");
	for (size_t i = 0; i < algorithm->messages_count; i++)
		printf(" %s %" PRIu64, algorithm->messages[i].name, result->messages_by_type[i]);
	printf("\n  bytes       %" PRIu64 "\n", result->bytes);
	printf("  time        %s virtual, %" PRIu64 " events in %.3f s\n",
	       time_text(result->time, time), result->events, seconds);
}

/* What makes no sense for this algorithm. */
static int check_options_fit(const struct sim_request *request, const struct algorithm *algorithm,
                             struct problem *problem)
{
	if (algorithm->kind == KIND_ELECTION && request->not_for_elections != NULL)
		return problem_set(problem, "%s: %s is an election", request->not_for_elections,
		                   algorithm->name);
	if (algorithm->expire == NULL && request->options.bound != 0)
		return problem_set(problem, "--bound: %s has no timers", algorithm->name);
	if (algorithm->circulates && distribution_mean(&request->options.delay) == 0)
		return problem_set(problem,
		                   "--delay: the token of %s goes round for ever; without delay "
		                   "time would stand still",
		                   algorithm->name);
	if (!algorithm->has_token && request->options.lose_hops_count != 0)
		return problem_set(problem, "--lose-token: %s has no token", algorithm->name);
	return 0;
}

static void show_exits(void *context, uint64_t exits, uint64_t entries)
{
	(void)context;
	progress_count(exits, entries);
}

/* One run; a report is added to `runs` if that is not NULL. 0, or -1 and a problem. */
static int run_once(struct sim_request *request, uint64_t seed, bool quiet, json_t *runs,
                    uint64_t *ret_violations, struct problem *problem)
{
	struct sim_options options = request->options;
	struct sim_result result;
	struct setup setup;

	request->words.seed = seed;
	if (setup_make(&request->words, &setup, problem) != 0)
		return -1;
	if (check_options_fit(request, setup.network.algorithm, problem) != 0) {
		setup_free(&setup);
		return -1;
	}
	if (seed == request->seed_first)
		warn_of_order("sim", &setup);
	if (request->trace != NULL || request->diagram != NULL) {
		options.trace = trace_open(request->trace, request->diagram, problem);
		if (options.trace == NULL) {
			setup_free(&setup);
			return -1;
		}
	}
	options.setup = &setup;
	options.seed = seed;
	options.progress = request->seeds ? NULL : show_exits;
	if (options.bound == 0)
		options.bound = distribution_bound(&options.delay);
	bool election = setup.network.algorithm->kind == KIND_ELECTION;
	if (election)
		options.load = LOAD_ELECTION;
	double begin = seconds_now();
	struct sim *sim = sim_create(&setup);
	sim_run(sim, &options, &result);
	sim_destroy(sim);
	double seconds = seconds_now() - begin;
	int written = options.trace != NULL ? trace_end(options.trace, result.time, problem) : 0;
	if (!request->seeds)
		progress_clear();
	if (written == 0 && result.endless)
		written = problem_set(
		        problem,
		        "seed %" PRIu64
		        ": the run lasts longer than virtual time can tell (about 4.6e12): "
		        "fewer --entries or shorter delays are needed",
		        seed);
	if (written != 0) {
		setup_free(&setup);
		return -1;
	}
	if (runs != NULL)
		json_array_append_new(
		        runs, election ? election_report(&options, &result, seconds)
		                       : sim_report(&options, request->load, &result, seconds));
	else if ((!quiet || result.violations != 0) && election)
		print_election(&options, &result, seconds);
	else if (!quiet || result.violations != 0)
		print_run(request, &options, &result, seconds);
	*ret_violations = result.violations;
	setup_free(&setup);
	return 0;
}

static int run_all(struct sim_request *request, struct problem *problem)
{
	json_t *runs = request->json ? json_array() : NULL;
	uint64_t violated = 0, count = request->seed_last - request->seed_first + 1;

	progress_start();
	for (uint64_t seed = request->seed_first; seed <= request->seed_last; seed++) {
		uint64_t violations;
		if (run_once(request, seed, request->seeds, runs, &violations, problem) != 0) {
			json_decref(runs);
			return usage_problem("sim", problem);
		}
		violated += violations != 0;
		if (request->seeds)
			progress_count(seed - request->seed_first, count);
	}
	progress_clear();
	if (request->json) {
		json_t *report = request->seeds ? json_pack("{s:O}", "runs", runs)
		                                : json_incref(json_array_get(runs, 0));
		print_json(report);
		json_decref(runs);
	} else if (request->seeds) {
		printf("%s: %" PRIu64 " runs, %" PRIu64 " violated\n", request->words.algorithm,
		       count, violated);
	}
	return violated != 0 ? EXIT_VIOLATED : EXIT_HELD;
}

int command_sim(int argc, char **argv)
{
	struct sim_request request = {
	        .options = {.entries = 1000,
	                    .load = LOAD_HEAVY,
	                    .delay = {DISTRIBUTION_CONSTANT, MILLION, 0},
	                    .cs = {DISTRIBUTION_CONSTANT, MILLION, 0}},
	        .load = "heavy",
	        .seed_first = 1,
	        .seed_last = 1,
	};
	struct problem problem;
	int parsed = parse_arguments(argc, argv, &request, &problem);
	int code = parsed < 0   ? usage_problem("sim", &problem)
	           : parsed > 0 ? EXIT_HELD
	                        : run_all(&request, &problem);

	free(request.lose_hops);
	return code;
}
