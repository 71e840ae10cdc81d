#include "claims.h"
#include "cli.h"
#include "clock.h"
#include "host.h"
#include "memory.h"
#include "memory_limit.h"
#include "outputs.h"
#include "page_file.h"
#include "sim_report.h"
#include "sim_words.h"
#include "slow.h"
#include "summary.h"
#include "trace_file.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sim_request {
	struct sim_words words;
	const char *trace, *html;
	struct diagram_words diagram;
	/* The options as NAME=VALUE, one a line, for the page of the run. */
	struct text words_given;
	uint64_t seed_first, seed_last;
	bool seeds, json;
	char conditions[256]; /* options that change what the figures mean, for the heading */
};

enum { SIM_SEEDS_MAX = 100000 };

/* Parses the options that sim_words_option does not know: seeds, memory and output. */
static int parse_other_option(int option, const char *value, struct sim_request *request,
                              struct problem *problem)
{
	if (diagram_option(option, value, &request->diagram))
		return 0;
	switch (option) {
	case 'S':
		request->seeds = true;
		if (parse_seeds(value, &request->seed_first, &request->seed_last, problem) != 0)
			return -1;
		/* All reports are kept in memory until the end. */
		if (request->seed_last - request->seed_first >= SIM_SEEDS_MAX)
			return problem_set(problem, "--seeds '%.40s': at most %d seeds", value,
			                   SIM_SEEDS_MAX);
		return 0;
	case 'm':
		return parse_size(value, &request->words.options.memory_max, problem);
	case 't':
		request->trace = value;
		return 0;
	case 'w':
		request->html = value;
		return page_file_check(problem);
	case 'j':
		request->json = true;
		return 0;
	default:
		return -1; /* next_option has set the problem */
	}
}

static const struct option sim_option_table[] = {
        NETWORK_OPTIONS,
        {"entries", required_argument, NULL, 'e'},
        {"warmup", required_argument, NULL, 'W'},
        {"seed", required_argument, NULL, 's'},
        {"seeds", required_argument, NULL, 'S'},
        {"load", required_argument, NULL, 'l'},
        {"askers", required_argument, NULL, 'a'},
        {"slow", required_argument, NULL, 'o'},
        {"delay", required_argument, NULL, 'd'},
        {"cs", required_argument, NULL, 'c'},
        {"bound", required_argument, NULL, 'b'},
        {"max-memory", required_argument, NULL, 'm'},
        {"lose", required_argument, NULL, 'x'},
        {"lose-token", required_argument, NULL, 'X'},
        {"trace", required_argument, NULL, 't'},
        DIAGRAM_OPTIONS,
        {"html", required_argument, NULL, 'w'},
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
};

/* Writes the text with the value in place of its %s. */
static void fill_in(char *ret_text, size_t size, const char *text, const char *value)
{
	size_t before = strcspn(text, "%");

	snprintf(ret_text, size, "%.*s%s%s", (int)before, text, text[before] != '\0' ? value : "",
	         text[before] != '\0' ? text + before + 2 : "");
}

/* Remembers an option that changes what the figures mean, for the heading. The holder is added
 * later, when the algorithm is known: without a token it changes nothing. */
static void note_condition(const char *name, const char *value, struct sim_request *request)
{
	static const struct {
		const char *name, *text;
	} conditions[] = {
	        {"param", "%s"},
	        {"holder", "node %s has the token at the start"},
	        {"fifo", "channels keep order"},
	        {"reorder", "messages may overtake each other"},
	        {"askers", "only %s ask"},
	        {"slow", "slow %s"},
	        {"delay", "delay %s"},
	        {"cs", "cs %s"},
	        {"bound", "bound %s"},
	        {"lose", "lose %s"},
	        {"lose-token", "lose-token %s"},
	        {"arrangement", "arrangement %s"},
	        {"initiators", "initiators %s"},
	        {"crash", "dead: %s"},
	};
	char *end = request->conditions + strlen(request->conditions);
	size_t room = (size_t)(request->conditions + sizeof(request->conditions) - end);

	for (size_t i = 0; i < sizeof(conditions) / sizeof(*conditions); i++) {
		if (strcmp(conditions[i].name, name) != 0)
			continue;
		int length = snprintf(end, room, "; ");
		if (length > 0 && (size_t)length < room)
			fill_in(end + length, room - (size_t)length, conditions[i].text, value);
	}
}

static void note_holder(struct sim_request *request, const struct algorithm *algorithm)
{
	char text[16];

	if (request->words.setup.holder == 0 || !algorithm->has_token)
		return;
	snprintf(text, sizeof(text), "%" PRIu32, request->words.setup.holder);
	note_condition("holder", text, request);
}

static int parse_option(int option, const char *value, struct sim_request *request,
                        struct problem *problem)
{
	const struct option *known = sim_option_table;

	while (known->name != NULL && known->val != option)
		known++;
	int result = known->name == NULL
	                     ? 1
	                     : sim_words_option(known->name, value, &request->words, problem);
	if (result == 0 && strcmp(known->name, "holder") != 0)
		note_condition(known->name, value, request);
	if (result > 0)
		return parse_other_option(option, value, request, problem);
	/* The page cannot read files. For file:PATH the edges themselves are added later, when
	 * they are known. */
	if (result == 0 && (value == NULL || strncmp(value, "file:", 5) != 0))
		text_format(&request->words_given, "%s%s%s\n", known->name,
		            value != NULL ? "=" : "", value != NULL ? value : "");
	return result;
}

/* Returns 0; or -1 and a problem; or 1 if help was printed and there is nothing more to do. */
static int parse_arguments(int argc, char **argv, struct sim_request *request,
                           struct problem *problem)
{
	for (int option; (option = next_option(argc, argv, sim_option_table, problem)) != -1;) {
		if (option == 'h') {
			print_help("sim");
			return 1;
		}
		if (option_given_once(option, sim_option_table, argv, problem) != 0 ||
		    parse_option(option, optarg, request, problem) != 0)
			return -1;
	}
	if (optind == argc)
		return problem_set(problem, "which algorithm? 'baton algorithms' lists them");
	if (argc - optind > 1)
		return problem_set(problem, "one algorithm at a time, and '%.40s' is the second",
		                   argv[optind + 1]);
	request->words.setup.algorithm = argv[optind];
	if (request->words.seeded && request->seeds)
		return problem_set(problem, "--seed or --seeds, not both");
	if (!request->seeds)
		request->seed_first = request->seed_last = request->words.setup.seed;
	if (sim_words_check(&request->words, problem) != 0)
		return -1;
	if (request->seeds && (request->trace != NULL || request->diagram.path != NULL))
		return problem_set(
		        problem, "--trace and --diagram are for one run: give --seed, not --seeds");
	if (request->seeds && request->html != NULL)
		return problem_set(problem, "--html is for one run: give --seed, not --seeds");
	const struct output outputs[] = {{"--trace", request->trace},
	                                 {"--diagram", request->diagram.path},
	                                 {"--html", request->html}};
	return outputs_check(topology_file(request->words.setup.topology), "the topology", outputs,
	                     3, problem);
}

/* Prints what a document claims, or else what follows from the rules. */
static void print_claimed(const struct sim_request *request, const struct algorithm *algorithm)
{
	const struct headline *headline = headline_of(algorithm, NULL);

	/* A document may make a claim about a variant, which is chosen by a parameter. */
	for (size_t i = 0; i < request->words.setup.parameters_count; i++) {
		const struct headline *own =
		        headline_of(algorithm, request->words.setup.parameters[i]);
		headline = own != NULL ? own : headline;
	}

	printf(" (%s: %s)", headline != NULL ? "claimed" : "expected",
	       headline != NULL ? headline->text : algorithm->claim_messages);
}

static void print_messages(const struct sim_request *request, const struct sim_options *options,
                           const struct sim_result *result)
{
	const struct algorithm *algorithm = options->setup->network.algorithm;

	printf("  messages    ");
	if (result->entries != 0)
		printf("%.6g an entry, ", (double)result->messages / (double)result->entries);
	printf("%" PRIu64 " in all", result->messages);
	if (options->load == LOAD_LIGHT && result->entry.all.min <= result->entry.all.max)
		printf("; %" PRIu64 " to %" PRIu64 " for one", result->entry.all.min,
		       result->entry.all.max);
	print_claimed(request, algorithm);
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

static void print_nodes(const char *what, const uint32_t *nodes, uint32_t count)
{
	enum { SHOWN_MAX = 20 };

	printf("  %-12snode%s ", what, plural(count));
	for (uint32_t i = 0; i < count && i < SHOWN_MAX; i++)
		printf("%s%" PRIu32, i == 0 ? "" : ", ", nodes[i]);
	if (count > SHOWN_MAX)
		printf(" and %" PRIu32 " more", count - SHOWN_MAX);
}

/* Says that the run was too short to tell whether a node starves. */
static void write_undecided(FILE *out, const struct sim_options *options,
                            const struct sim_result *result)
{
	uint64_t much = (uint64_t)SIM_STARVES * options->setup->network.graph.nodes;

	fprintf(out,
	        "not decided: node %" PRIu32 " still waits, and others entered %" PRIu64
	        " time%s since it asked. It counts as starved after %" PRIu64
	        " such entries and as many mean message delays: give more --entries\n",
	        result->undecided, result->undecided_passed, plural(result->undecided_passed),
	        much);
}

/* Prints how often nodes entered, which still wait, and which starve. */
static void print_entries(const struct sim_options *options, const struct sim_result *result)
{
	printf("  entries     %" PRIu64, result->entries_all);
	if (result->askers > 1 && result->entries_all != 0)
		printf(", %" PRIu64 " to %" PRIu64 " a node (Jain's index %.4g)",
		       result->entries_each.min, result->entries_each.max, sim_jain(result));
	if (options->warmup != 0 && result->measured)
		printf(", %" PRIu64 " of them left out of the means", options->warmup);
	if (result->violations == 0)
		printf("; no violation%s\n", result->undecided != 0 ? " seen" : "");
	else
		printf("; %" PRIu64 " VIOLATED: %s\n", result->violations, result->violation);
	if (result->waiting_count != 0) {
		char since[32];
		print_nodes("waiting", result->waiting, result->waiting_count);
		printf(" at the end; longest: node %" PRIu32 ", since %s, for %.6g\n",
		       result->waiting_first,
		       time_text(result->time - result->waiting_longest, since),
		       (double)result->waiting_longest / MILLION);
	}
	if (result->starved_count != 0) {
		print_nodes("starved", result->starved, result->starved_count);
		putchar('\n');
	}
	if (result->undecided != 0) {
		printf("  starvation  ");
		write_undecided(stdout, options, result);
	}
}

static void print_means(const struct sim_request *request, const struct sim_options *options,
                        const struct sim_result *result)
{
	const struct algorithm *algorithm = options->setup->network.algorithm;
	double unit = (double)distribution_mean(&options->delay);

	print_messages(request, options, result);
	printf("  bytes       ");
	if (result->entries != 0)
		printf("%.6g an entry, ", (double)result->bytes / (double)result->entries);
	printf("%" PRIu64 " the largest message\n",
	       sim_largest_message(algorithm, result, CARRIES_ANY));
	if (result->sync_count != 0 && unit != 0)
		printf("  sync delay  mean %.6g, max %.6g message delays (%s: %s)\n",
		       (double)result->sync_sum / (double)result->sync_count / unit,
		       (double)result->sync_max / unit,
		       claim_of_document(algorithm, HEAVY_SYNC_MAX) ? "claimed" : "expected",
		       algorithm->claim_delay);
	if (result->response_count != 0)
		printf("  response    mean %.6g, half within %.6g, 99 %% within %.6g, max %.6g\n",
		       (double)result->response_sum / (double)result->response_count / MILLION,
		       (double)result->response_p50 / MILLION,
		       (double)result->response_p99 / MILLION,
		       (double)result->response_max / MILLION);
	else if (result->waiting_count != 0)
		printf("  response    max %.6g, for a node that still waits\n",
		       (double)result->response_max / MILLION);
}

/* Prints what the slow node costs the others. */
static void print_slow(const struct sim_options *options, const struct slow_cost *cost)
{
	printf("  slow        node %" PRIu32 ", %" PRIu64 " times: ", options->slow_node,
	       options->slow_factor);
	if (cost->others == 0) {
		printf("nothing to compare: without the slow node nobody else entered either\n");
		return;
	}
	if (cost->slower == 0) {
		printf("nobody else waits longer\n");
		return;
	}
	printf("%" PRIu32 " of %" PRIu32 " others wait%s longer, %.6g on average instead of %.6g\n",
	       cost->slower, cost->others, cost->slower == 1 ? "s" : "", cost->response,
	       cost->response_before);
	if (!isnan(cost->sync) && !isnan(cost->sync_before))
		printf("              sync delay %.6g instead of %.6g\n", cost->sync,
		       cost->sync_before);
}

static void print_run(const struct sim_request *request, const struct sim_options *options,
                      const struct sim_result *result, const struct slow_cost *cost, double seconds)
{
	const struct network *network = &options->setup->network;
	char time[32];

	printf("%s, %s of %" PRIu32 ", %s load, seed %" PRIu64, network->algorithm->name,
	       options->setup->topology, network->graph.nodes, request->words.load, options->seed);
	printf("%s\n", request->conditions);
	print_entries(options, result);
	if (result->measured)
		print_means(request, options, result);
	else
		printf("  measured    nothing: the run ended in its warm-up of %" PRIu64
		       " entr%s\n",
		       options->warmup, options->warmup == 1 ? "y" : "ies");
	if (cost != NULL && result->measured)
		print_slow(options, cost);
	printf("  bypass      at most %" PRIu64 " %s of others between a request and its entry\n",
	       result->bypass_max, result->bypass_max == 1 ? "entry" : "entries");
	printf("  state       mean %.6g, max %" PRIu64 " bytes a node\n",
	       (double)result->state_sum / network->graph.nodes, result->state_max);
	if (result->lost != 0)
		printf("  lost        %" PRIu64 " message%s\n", result->lost, plural(result->lost));
	if (result->regenerated != 0)
		printf("  regenerated %" PRIu64 " time%s, after %.6g hops on average, %" PRIu64
		       " at most\n",
		       result->regenerated, plural(result->regenerated),
		       (double)result->regenerated_hops_sum / (double)result->regenerated,
		       result->regenerated_hops_max);
	printf("  time        %s virtual, %" PRIu64 " event%s in %.3f s\n",
	       time_text(result->time, time), result->events, plural(result->events), seconds);
}

static void print_election(const struct sim_request *request, const struct sim_options *options,
                           const struct sim_result *result, double seconds)
{
	const struct network *network = &options->setup->network;
	const struct algorithm *algorithm = network->algorithm;
	uint64_t announcement = 0;
	char time[32];

	printf("%s, %s of %" PRIu32 ", %" PRIu32 " initiator%s, seed %" PRIu64, algorithm->name,
	       options->setup->topology, network->graph.nodes,
	       options->setup->electorate.initiators_count,
	       plural(options->setup->electorate.initiators_count), options->seed);
	printf("%s\n", request->conditions);
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
	print_claimed(request, algorithm);
	printf("\n             ");
	for (size_t i = 0; i < algorithm->messages_count; i++)
		printf(" %s %" PRIu64, algorithm->messages[i].name, result->messages_by_type[i]);
	printf("\n  bytes       %" PRIu64 "\n", result->bytes);
	printf("  time        %s virtual, %" PRIu64 " event%s in %.3f s\n",
	       time_text(result->time, time), result->events, plural(result->events), seconds);
}

static void show_exits(void *context, uint64_t exits, uint64_t entries)
{
	(void)context;
	progress_count(exits, entries);
}

/* Refuses a run that cannot fit into memory, before it starts. */
static int check_memory(const struct sim_options *options, struct problem *problem)
{
	uint64_t needed = sim_memory_foreseen(options->setup, options->load);
	char least[16], most[16];

	if (needed <= options->memory_max)
		return 0;
	return problem_set(problem,
	                   "%" PRIu32 " nodes of %s need at least %s of memory for their states "
	                   "and the first messages, and --max-memory is %s: give fewer --nodes or "
	                   "a larger --max-memory",
	                   options->setup->network.graph.nodes,
	                   options->setup->network.algorithm->name, memory_text(needed, least),
	                   memory_text(options->memory_max, most));
}

/* Results of run_once for a run that could not be finished, because of bad input or because a limit
 * was reached. */
enum { RUN_BAD = -1, RUN_LIMITED = -2 };

static int give_up_memory(uint64_t seed, const struct sim_options *options,
                          const struct sim_result *result, struct problem *problem)
{
	char most[16];

	problem_set(problem,
	            "seed %" PRIu64 ": --max-memory %s was reached after %" PRIu64
	            " entr%s, by messages in flight: give fewer --nodes or a larger --max-memory",
	            seed, memory_text(options->memory_max, most), result->entries_all,
	            result->entries_all == 1 ? "y" : "ies");
	return RUN_LIMITED;
}

/* Reports why a run could not be finished, and returns the exit code. */
static int end_unfinished(int wrong, const struct problem *problem)
{
	usage_problem("sim", problem);
	return wrong == RUN_LIMITED ? EXIT_LIMIT : EXIT_USAGE;
}

/* Warns if overtaking messages break the algorithm, and if --reorder has no effect. */
static void warn_of_overtaking(const struct sim_request *request, const struct sim_options *options)
{
	if (options->delay.kind != DISTRIBUTION_CONSTANT)
		warn_of_order("sim", options->setup);
	else if (request->words.setup.order == ORDER_REORDER)
		fprintf(stderr, "baton sim: --reorder has no effect: with constant delays no "
		                "message overtakes another; with --delay exp:1 they do\n");
}

/* Warns of a loss that was asked for and did not happen. */
static void warn_of_losses(uint64_t seed, const struct sim_options *options,
                           const struct sim_result *result)
{
	for (size_t i = 0; i < options->lose_hops_count; i++) {
		if (options->lose_hops[i] <= result->token_hops)
			continue;
		fprintf(stderr,
		        "baton sim: seed %" PRIu64 ": --lose-token %" PRIu64
		        " has no effect: the token made %" PRIu64 " hop%s\n",
		        seed, options->lose_hops[i], result->token_hops,
		        plural(result->token_hops));
		return;
	}
}

/* Prints on stderr that a node may starve, because the JSON report has no field for it. */
static void tell_undecided(uint64_t seed, const struct sim_options *options,
                           const struct sim_result *result)
{
	if (result->undecided == 0)
		return;
	fprintf(stderr, "baton sim: seed %" PRIu64 ": starvation ", seed);
	write_undecided(stderr, options, result);
}

/* Writes the page of a run. It contains the options that the run was begun with. */
static int write_page(struct sim_request *request, const struct setup *setup,
                      struct problem *problem)
{
	const struct graph *graph = &setup->network.graph;
	struct text *words = &request->words_given;

	text_format(words, "algorithm=%s\n", setup->network.algorithm->name);
	if (strncmp(setup->topology, "file:", 5) == 0) {
		const char *separator = "topology=edges:";
		for (uint32_t i = 1; i <= graph->nodes; i++) {
			for (uint32_t k = 0; k < graph_degree(graph, i); k++) {
				if (graph_neighbour(graph, i, k) < i)
					continue;
				text_format(words, "%s%" PRIu32 "-%" PRIu32, separator, i,
				            graph_neighbour(graph, i, k));
				separator = ",";
			}
		}
		text_add_string(words, "\n");
	}
	return page_file_write(request->html, "words", words->bytes, words->used, problem);
}

/* Prints a run that is over, or adds its report to `runs`. `cost` is NULL unless a node was
 * slow. */
static void tell_run(const struct sim_request *request, const struct sim_options *options,
                     const struct sim_result *result, const struct slow_cost *cost, double seconds,
                     json_t *runs)
{
	bool election = options->load == LOAD_ELECTION;

	warn_of_losses(options->seed, options, result);
	if (runs != NULL) {
		json_t *report =
		        election ? election_report(options, result, seconds)
		                 : sim_report(options, request->words.load, result, seconds);
		if (cost != NULL)
			json_object_set_new(report, "slow", slow_report(options, cost));
		json_array_append_new(runs, report);
		if (!request->seeds && !election)
			tell_undecided(options->seed, options, result);
	} else if (election) {
		print_election(request, options, result, seconds);
	} else {
		print_run(request, options, result, cost, seconds);
	}
}

/* Makes one run and prints it, or adds its report to `runs`. Returns 0; or RUN_BAD or
 * RUN_LIMITED and a problem. */
static int run_once(struct sim_request *request, uint64_t seed, json_t *runs,
                    struct sim_result *ret_result, struct problem *problem)
{
	struct sim_options options;
	struct trace_file file;
	struct setup setup;

	request->words.setup.seed = seed;
	if (setup_make(&request->words.setup, &setup, problem) != 0)
		return -1;
	if (sim_words_options(&request->words, &setup, &options, problem) != 0) {
		setup_free(&setup);
		return -1;
	}
	bool election = setup.network.algorithm->kind == KIND_ELECTION;
	options.progress = request->seeds ? NULL : show_exits;
	options.interrupted = watch_for_interrupt();
	if (check_memory(&options, problem) != 0 ||
	    page_file_fits(request->html != NULL ? "--html" : NULL, setup.network.graph.nodes,
	                   problem) != 0) {
		setup_free(&setup);
		return -1;
	}
	if (trace_file_open(request->trace, &request->diagram, setup.network.graph.nodes, NULL,
	                    &file, problem) != 0) {
		setup_free(&setup);
		return -1;
	}
	options.trace = file.trace;
	double begin = clock_seconds();
	struct sim *sim = sim_create(&setup);
	/* The table of many runs has no row for the cost of a slow node. */
	bool compares = options.slow_node != 0 && !request->seeds && !election;
	struct slow_cost cost;
	if (compares)
		slow_run(sim, &options, ret_result, &cost);
	else
		sim_run(sim, &options, ret_result);
	double seconds = clock_seconds() - begin;
	int wrong = trace_file_end(&file, ret_result->time, problem);
	if (wrong == 0 && request->html != NULL && !ret_result->interrupted)
		wrong = write_page(request, &setup, problem);
	if (!request->seeds)
		progress_clear();
	if (ret_result->interrupted) {
		progress_clear();
		fprintf(stderr,
		        "baton sim: seed %" PRIu64 ": interrupted after %" PRIu64 " entr%s\n", seed,
		        ret_result->entries_all, ret_result->entries_all == 1 ? "y" : "ies");
		end_if_interrupted();
	}
	if (wrong == 0 && ret_result->exhausted)
		wrong = give_up_memory(seed, &options, ret_result, problem);
	if (wrong == 0 && ret_result->endless)
		wrong = problem_set(problem,
		                    "seed %" PRIu64
		                    ": the run lasts longer than virtual time can count (about "
		                    "4.6e12): fewer --entries or shorter delays are needed",
		                    seed);
	/* Bad input gives exactly one line on stderr, so warnings are printed only after the
	 * run. */
	if (wrong == 0 && seed == request->seed_first) {
		warn_of_overtaking(request, &options);
		warn_of_holder("sim", &request->words.setup, &setup);
		note_holder(request, setup.network.algorithm);
	}
	if (wrong == 0)
		tell_run(request, &options, ret_result, compares ? &cost : NULL, seconds, runs);
	sim_destroy(sim);
	setup_free(&setup);
	return wrong;
}

/* The rows of the table of many runs: the path of each figure in the reports, and its name. */
static const struct {
	const char *path, *name;
} table_rows[] = {
        {"messages.per_entry", "messages an entry"},
        {"messages.election", "messages to elect"},
        {"messages.announcement", "messages to announce"},
        {"bytes.per_entry", "bytes an entry"},
        {"bytes", "bytes"},
        {"sync_delay.mean", "sync delay, mean"},
        {"sync_delay.max", "sync delay, longest"},
        {"response.mean", "response, mean"},
        {"response.p99", "response, 99 %"},
        {"response.max", "response, longest"},
        {"bypass.max", "bypass, most"},
        {"entries_per_node.jain", "Jain's index"},
        {"waiting.count", "waiting at the end"},
        {"lost", "lost"},
        {"virtual_time", "virtual time"},
};

static void print_table(const json_t *runs)
{
	json_t *summary = summary_make(runs);

	printf("%24s%12s   %s\n", "", "mean", "95 % interval");
	for (size_t i = 0; i < sizeof(table_rows) / sizeof(*table_rows); i++) {
		const json_t *row = json_object_get(summary, table_rows[i].path);
		const json_t *interval = json_object_get(row, "ci95");
		if (row == NULL)
			continue;
		printf("  %-22s%12.6g", table_rows[i].name,
		       json_number_value(json_object_get(row, "mean")));
		if (json_is_array(interval))
			printf("   %.6g to %.6g", json_number_value(json_array_get(interval, 0)),
			       json_number_value(json_array_get(interval, 1)));
		/* Some runs may not have this figure. */
		size_t count = summary_count(runs, table_rows[i].path);
		if (count < json_array_size(runs))
			printf("   (of %zu run%s)", count, plural(count));
		putchar('\n');
	}
	json_decref(summary);
}

/* Prints the table of many runs, and which of them were violated. */
static void print_runs(const struct sim_request *request, const json_t *runs, uint64_t violated,
                       const char *remarks)
{
	const json_t *first = json_array_get(runs, 0);
	const char *topology = json_string_value(json_object_get(first, "topology"));
	json_int_t nodes = json_integer_value(json_object_get(first, "nodes"));
	uint64_t count = json_array_size(runs);

	printf("%s, ", request->words.setup.algorithm);
	if (topology != NULL)
		printf("%s of %" JSON_INTEGER_FORMAT ", %s load, ", topology, nodes,
		       request->words.load);
	else
		printf("%" JSON_INTEGER_FORMAT " node%s, ", nodes, plural((uint64_t)nodes));
	printf("seeds %" PRIu64 "..%" PRIu64 ": %" PRIu64 " run%s, ", request->seed_first,
	       request->seed_last, count, plural(count));
	if (violated != 0)
		printf("%" PRIu64 " violated\n", violated);
	else
		printf("none violated\n");
	if (request->conditions[0] != '\0')
		printf("  with %s\n", request->conditions + 2);
	fputs(remarks, stdout);
	print_table(runs);
}

static int run_seeds(struct sim_request *request, struct problem *problem)
{
	enum { TOLD_MAX = 10 };
	uint64_t violated = 0, undecided = 0, count = request->seed_last - request->seed_first + 1;
	json_t *runs = json_array();
	char *remarks = NULL;
	size_t size = 0;
	FILE *told = open_memstream(&remarks, &size);
	int wrong = 0;

	memory_must(told != NULL);
	progress_start();
	for (uint64_t i = 0; i < count && wrong == 0; i++) {
		struct sim_result result;
		wrong = run_once(request, request->seed_first + i, runs, &result, problem);
		if (wrong == 0 && result.violations != 0 && violated++ < TOLD_MAX)
			fprintf(told, "  seed %" PRIu64 ": VIOLATED: %s\n", request->seed_first + i,
			        result.violation);
		undecided += wrong == 0 && result.undecided != 0;
		progress_count(i, count);
	}
	progress_clear();
	if (violated > TOLD_MAX)
		fprintf(told, "  and %" PRIu64 " more\n", violated - TOLD_MAX);
	if (undecided != 0)
		fprintf(request->json ? stderr : told,
		        "%sstarvation not decided in %" PRIu64
		        " run%s: somebody waits at the end, and the run is too short to tell; give "
		        "more --entries\n",
		        request->json ? "baton sim: " : "  ", undecided, plural(undecided));
	fclose(told);
	if (wrong == 0 && request->json)
		print_json(json_pack("{s:O, s:o}", "runs", runs, "summary", summary_make(runs)));
	else if (wrong == 0)
		print_runs(request, runs, violated, remarks);
	free(remarks);
	json_decref(runs);
	if (wrong != 0)
		return end_unfinished(wrong, problem);
	return violated != 0 ? EXIT_VIOLATED : EXIT_HELD;
}

static int run_one(struct sim_request *request, struct problem *problem)
{
	json_t *runs = request->json ? json_array() : NULL;
	struct sim_result result;

	progress_start();
	int wrong = run_once(request, request->seed_first, runs, &result, problem);
	if (wrong == 0 && request->json)
		print_json(json_incref(json_array_get(runs, 0)));
	json_decref(runs);
	if (wrong != 0)
		return end_unfinished(wrong, problem);
	return result.violations != 0 ? EXIT_VIOLATED : EXIT_HELD;
}

int command_sim(int argc, char **argv)
{
	struct sim_request request = {0};
	struct problem problem;

	sim_words_init(&request.words, host_here());
	request.words.options.memory_max = memory_by_default();
	int parsed = parse_arguments(argc, argv, &request, &problem);
	int code = parsed < 0      ? usage_problem("sim", &problem)
	           : parsed > 0    ? EXIT_HELD
	           : request.seeds ? run_seeds(&request, &problem)
	                           : run_one(&request, &problem);

	sim_words_free(&request.words);
	text_free(&request.words_given);
	return code;
}
