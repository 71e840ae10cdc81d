#include "choose.h"
#include "cli.h"
#include "compare_table.h"
#include "host.h"
#include "load.h"
#include "memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct choose_request {
	struct choose_options options;
	const char *load; /* the text of --load, or NULL */
	bool json;
};

static const struct option option_table[] = {
        {"nodes", required_argument, NULL, 'N'},
        {"topology", required_argument, NULL, 'T'},
        {"load", required_argument, NULL, 'l'},
        {"seed", required_argument, NULL, 's'},
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
};

static int parse_option(int option, const char *value, struct choose_request *request,
                        struct problem *problem)
{
	struct choose_options *options = &request->options;
	uint64_t number;
	enum load load;

	switch (option) {
	case 'N':
		if (parse_number(value, 1, COMPARE_NODES_MAX, "--nodes", &number, problem) != 0)
			return -1;
		options->nodes = (uint32_t)number;
		return 0;
	case 'T':
		options->topology = value;
		return 0;
	case 'l':
		request->load = value;
		if (parse_compared_load(value, &load, &options->rate, problem) != 0)
			return -1;
		options->light = load == LOAD_LIGHT;
		options->heavy = load == LOAD_HEAVY;
		return 0;
	case 's':
		return parse_number(value, 0, INT64_MAX / 2, "--seed", &options->seed, problem);
	case 'j':
		request->json = true;
		return 0;
	default:
		return -1; /* next_option has set the problem */
	}
}

/* Returns 0; or -1 and a problem; or 1 if help was printed and there is nothing more to do. */
static int parse_arguments(int argc, char **argv, struct choose_request *request,
                           struct problem *problem)
{
	struct choose_options *options = &request->options;
	uint32_t fixed = 0;

	for (int option; (option = next_option(argc, argv, option_table, problem)) != -1;) {
		if (option == 'h') {
			print_help("choose");
			return 1;
		}
		if (parse_option(option, optarg, request, problem) != 0)
			return -1;
	}
	if (argc > optind)
		return problem_set(problem, "unexpected '%.40s': nodes are given as --nodes N",
		                   argv[optind]);
	if (options->topology != NULL &&
	    setup_topology_nodes(host_here(), options->topology, &fixed, problem) != 0)
		return -1;
	if (options->nodes == 0)
		options->nodes = fixed != 0 ? fixed : NODES_DEFAULT;
	if (options->nodes > COMPARE_NODES_MAX)
		return problem_set(problem,
		                   "topology '%.40s' has %u nodes; at most %d can be tried",
		                   options->topology, options->nodes, COMPARE_NODES_MAX);
	return 0;
}

static void print_cost(struct choose_cost cost)
{
	char messages[16], delay[16];
	printf(" %8s %5s", number_text(cost.messages, 5, messages),
	       number_text(cost.delay, 5, delay));
}

static const char *place_of(const struct candidate *candidate)
{
	return candidate->spanning ? "spanning tree" : candidate->row->topology;
}

static void print_candidates(const struct choice *choice, const char *load)
{
	enum { PLACE_MAX = 30 };
	const struct choose_options *options = &choice->options;
	char cost[16], text[FITTED_SIZE];
	int width = 2;

	for (size_t i = 0; i < choice->candidates_count; i++) {
		int own = text_width(fit_text(place_of(&choice->candidates[i]), PLACE_MAX, text));
		width = own > width ? own : width;
	}
	printf("%-21s %*s", "", width, "");
	if (options->light)
		printf(" %14s", "light load");
	if (options->heavy)
		printf(" %14s", "heavy load");
	if (!options->light && !options->heavy)
		printf(" %14.40s", load);
	printf("\n%-21s %-*s", "algorithm", width, "on");
	for (int i = 0; i < (options->light && options->heavy ? 2 : 1); i++)
		printf(" %8s %5s", "messages", "delay");
	printf(" %5s\n", "cost");
	for (size_t i = 0; i < choice->candidates_count; i++) {
		const struct candidate *candidate = &choice->candidates[i];
		printf("%-21s %s", candidate->row->subject->algorithm->name,
		       fit_text(place_of(candidate), PLACE_MAX, text));
		printf("%*s", width - text_width(text), "");
		if (options->light)
			print_cost(candidate->light);
		if (options->heavy)
			print_cost(candidate->heavy);
		if (!options->light && !options->heavy)
			print_cost(candidate->poisson);
		printf(" %5s\n", number_text(candidate->cost, 5, cost));
	}
}

/* Prints one line for each reason. Candidates with the same reason share one text. */
static void print_refused(const struct choice *choice)
{
	for (size_t i = 0; i < choice->refused_count; i++) {
		const char *why = choice->refused[i].why;
		bool told = false;
		for (size_t k = 0; k < i; k++)
			told = told || choice->refused[k].why == why;
		if (told)
			continue;
		char *text = NULL;
		size_t size = 0;
		FILE *file = open_memstream(&text, &size);
		memory_must(file != NULL);
		fprintf(file, "left out, because %s:", why);
		for (size_t k = i; k < choice->refused_count; k++) {
			if (choice->refused[k].why == why)
				fprintf(file, "%s %s", k == i ? "" : ",",
				        choice->refused[k].algorithm->name);
		}
		fclose(file);
		print_paragraph(stdout, text, 2);
		free(text);
	}
}

static void print_choice(const struct choice *choice, const char *load)
{
	const struct candidate *best = &choice->candidates[0];
	const char *phrases[8];
	size_t count = choice_assumptions(choice, phrases);
	char *reason = choice_reason(choice), *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);

	memory_must(file != NULL);
	printf("%s (%s%.60s, %" PRIu32 " node%s)\n\n", best->row->subject->algorithm->name,
	       best->spanning ? "a spanning tree of " : "",
	       best->spanning ? choice->options.topology : best->row->topology, best->row->nodes,
	       best->row->nodes == 1 ? "" : "s");
	print_paragraph(stdout, reason, 0);
	fputs("It assumes: ", file);
	for (size_t i = 0; i < count; i++)
		fprintf(file, "%s%s", phrases[i], i + 1 < count ? "; " : ".");
	fclose(file);
	print_paragraph(stdout, text, 0);
	putchar('\n');
	print_candidates(choice, load);
	if (choice->refused_count != 0)
		putchar('\n');
	print_refused(choice);
	free(text);
	free(reason);
}

static void announce(double messages)
{
	announce_work("choose", messages, "fewer --nodes");
}

int command_choose(int argc, char **argv)
{
	struct choose_request request = {.options = {.light = true,
	                                             .heavy = true,
	                                             .seed = 1,
	                                             .threads = processors_count(),
	                                             .progress = progress_show,
	                                             .announce = announce}};
	struct choice choice;
	struct problem problem;
	int parsed = parse_arguments(argc, argv, &request, &problem);

	if (parsed > 0)
		return EXIT_HELD;
	progress_start();
	if (parsed < 0 || choose_run(&request.options, &choice, &problem) != 0)
		return usage_problem("choose", &problem);
	progress_clear();
	if (request.json)
		print_json(choice_report(&choice, request.load));
	else
		print_choice(&choice, request.load);
	int code = choice.comparison.violated ? EXIT_VIOLATED : EXIT_HELD;
	choice_free(&choice);
	return code;
}
