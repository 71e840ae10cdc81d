#include "choose.h"

#include "host.h"
#include "memory.h"
#include "registry.h"
#include "report.h"

#include <stdlib.h>
#include <string.h>

/* Returns the depth of a tree, which is given by each node's parent. */
static uint32_t depth_of(const uint32_t *toward, uint32_t nodes)
{
	uint32_t deepest = 0;

	for (uint32_t i = 1; i <= nodes; i++) {
		uint32_t depth = 0;
		for (uint32_t k = toward[i - 1]; k != 0; k = toward[k - 1])
			depth++;
		deepest = depth > deepest ? depth : deepest;
	}
	return deepest;
}

/* Returns a tree of shortest paths as a topology "edges:1-2,…", which the caller frees. The root
 * is the node for which the tree is least deep. */
static char *make_spanning_tree(const struct graph *graph)
{
	uint32_t nodes = graph->nodes, best = UINT32_MAX, centre = 1;
	uint32_t *arrays = malloc(2 * (size_t)nodes * sizeof(*arrays));
	char *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);

	memory_must(arrays != NULL && file != NULL);
	for (uint32_t i = 1; i <= nodes; i++) {
		graph_toward(graph, i, arrays, arrays + nodes);
		uint32_t depth = depth_of(arrays, nodes);
		if (depth < best) {
			best = depth;
			centre = i;
		}
	}
	graph_toward(graph, centre, arrays, arrays + nodes);
	fputs("edges:", file);
	for (uint32_t i = 1, count = 0; i <= nodes; i++) {
		if (arrays[i - 1] != 0)
			fprintf(file, "%s%u-%u", count++ == 0 ? "" : ",", i, arrays[i - 1]);
	}
	fclose(file);
	free(arrays);
	return text;
}

static const char *why_not(enum graph_class links)
{
	switch (links) {
	case GRAPH_COMPLETE:
		return "every node must be able to send to every other";
	case GRAPH_STAR:
		return "node 1 must be linked to all others";
	case GRAPH_RING:
		return "the links must be a ring";
	case GRAPH_NONE:
	case GRAPH_TREE:
	case GRAPH_CONNECTED:
		break;
	}
	return "the links do not suit it";
}

/* Finds how each algorithm can use the links that exist: in its best shape if all nodes are
 * linked, on the network itself if that suits it, or on a spanning tree. Algorithms with a
 * circulating token are left out if the load may be light, because then the hops for an entry
 * depend on how long nobody asks. */
static void find_subjects(struct choice *choice, const struct graph *graph, size_t *ret_count)
{
	uint32_t *scratch = malloc(graph->nodes * sizeof(*scratch));
	const char *topology = choice->options.topology;
	size_t count = 0;

	memory_must(scratch != NULL);
	bool complete = graph_is(graph, GRAPH_COMPLETE, scratch);
	for (size_t i = 0; algorithms[i] != NULL; i++) {
		const struct algorithm *algorithm = algorithms[i];
		struct compare_subject subject = {.algorithm = algorithm, .topology = topology};
		if (algorithm->kind != KIND_MUTEX)
			continue;
		bool suited = graph_is(graph, algorithm->links, scratch);
		if (choice->options.light && algorithm->circulates && (suited || complete)) {
			choice->refused[choice->refused_count++] = (struct refused){
			        algorithm, "its token goes round for ever while nobody wants in"};
			continue;
		}
		if (complete) {
			/* An algorithm that floods uses all links. */
			subject.topology = algorithm->links == GRAPH_CONNECTED ? "complete" : NULL;
		} else if (!suited && algorithm->links == GRAPH_TREE) {
			if (choice->spanning_tree == NULL)
				choice->spanning_tree = make_spanning_tree(graph);
			subject.topology = choice->spanning_tree;
		} else if (!suited) {
			choice->refused[choice->refused_count++] =
			        (struct refused){algorithm, why_not(algorithm->links)};
			continue;
		}
		choice->subjects[count++] = subject;
	}
	free(scratch);
	*ret_count = count;
}

static double or_nothing(double number)
{
	return isnan(number) ? 0 : number;
}

static struct choose_cost cost_of(const struct compare_load *load, double delay)
{
	return (struct choose_cost){load->messages.mean + load->idle, or_nothing(delay)};
}

static double product(struct choose_cost cost)
{
	return cost.messages * cost.delay;
}

static struct candidate judge_candidate(const struct choice *choice, const struct compare_row *row)
{
	const struct choose_options *options = &choice->options;
	struct candidate candidate = {
	        .row = row,
	        .spanning = choice->spanning_tree != NULL &&
	                    row->subject->topology == choice->spanning_tree,
	        .bytes = row->light.bytes + row->heavy.bytes + row->poisson->bytes,
	};

	if (options->light)
		candidate.light = cost_of(&row->light, row->light.response_mean);
	if (options->heavy)
		candidate.heavy = cost_of(&row->heavy, row->heavy.sync_mean);
	if (!options->light && !options->heavy)
		candidate.poisson = cost_of(row->poisson, row->poisson->response_mean);
	candidate.cost = options->light && options->heavy
	                         ? sqrt(product(candidate.light) * product(candidate.heavy))
	                 : options->light ? product(candidate.light)
	                 : options->heavy ? product(candidate.heavy)
	                                  : product(candidate.poisson);
	return candidate;
}

/* Sorts candidates by cost, the cheapest first. Among equals the order of the list of algorithms
 * decides. */
static int compare_candidates(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->cost != y->cost)
		return x->cost < y->cost ? -1 : 1;
	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

static void try_subjects(struct choice *choice, size_t count)
{
	enum { ENTRIES = 2000, SEEDS = 5 };
	const struct choose_options *options = &choice->options;
	struct compare_options work = {
	        .subjects = choice->subjects,
	        .subjects_count = count,
	        .nodes = &choice->options.nodes,
	        .nodes_count = 1,
	        .light = options->light,
	        .heavy = options->heavy,
	        .means_only = true,
	        .rates = &choice->options.rate,
	        .rates_count = !options->light && !options->heavy,
	        .entries = ENTRIES,
	        .seed_first = options->seed,
	        .seed_last = options->seed + SEEDS - 1,
	        .threads = options->threads,
	        .progress = options->progress,
	        .announce = options->announce,
	};
	compare_run(&work, &choice->comparison);
	for (size_t i = 0; i < choice->comparison.rows_count; i++)
		choice->candidates[choice->candidates_count++] =
		        judge_candidate(choice, &choice->comparison.rows[i]);
	qsort(choice->candidates, choice->candidates_count, sizeof(*choice->candidates),
	      compare_candidates);
}

/* Returns an algorithm that runs on every connected graph, so that a setup can be made for any
 * network. */
static const struct algorithm *undemanding(void)
{
	for (size_t i = 0; algorithms[i] != NULL; i++) {
		if (algorithms[i]->kind == KIND_MUTEX && algorithms[i]->links == GRAPH_CONNECTED)
			return algorithms[i];
	}
	must(false);
	return NULL;
}

int choose_run(const struct choose_options *options, struct choice *ret_choice,
               struct problem *problem)
{
	struct setup setup;
	struct setup_words words = {
	        .host = host_here(),
	        .algorithm = undemanding()->name,
	        .topology = options->topology != NULL ? options->topology : "complete",
	        .nodes = options->nodes,
	        .seed = options->seed,
	};
	size_t most = 0, count;

	if (setup_make(&words, &setup, problem) != 0)
		return -1;
	while (algorithms[most] != NULL)
		most++;
	must(most > 0);
	*ret_choice = (struct choice){.options = *options};
	ret_choice->subjects = calloc(most, sizeof(*ret_choice->subjects));
	ret_choice->candidates = calloc(most, sizeof(*ret_choice->candidates));
	ret_choice->refused = calloc(most, sizeof(*ret_choice->refused));
	memory_must(ret_choice->subjects != NULL && ret_choice->candidates != NULL &&
	            ret_choice->refused != NULL);
	find_subjects(ret_choice, &setup.network.graph, &count);
	setup_free(&setup);
	try_subjects(ret_choice, count);
	if (ret_choice->candidates_count == 0) {
		problem_set(problem, "nothing can run: %s", ret_choice->comparison.left_out[0].why);
		choice_free(ret_choice);
		return -1;
	}
	return 0;
}

void choice_free(struct choice *choice)
{
	comparison_free(&choice->comparison);
	free(choice->subjects);
	free(choice->spanning_tree);
	free(choice->candidates);
	free(choice->refused);
}

/* Writes a text like "2.71 × 2.7 with one request at a time and 2.88 × 1 when every node always
 * wants in", or only the figures. */
static void write_costs(FILE *file, const struct choice *choice, const struct candidate *candidate,
                        bool words)
{
	const struct choose_options *options = &choice->options;

	if (options->light)
		fprintf(file, "%.3g × %.3g%s", candidate->light.messages, candidate->light.delay,
		        words ? " with one request at a time" : "");
	if (options->light && options->heavy)
		fputs(" and ", file);
	if (options->heavy)
		fprintf(file, "%.3g × %.3g%s", candidate->heavy.messages, candidate->heavy.delay,
		        words ? " when every node always wants in" : "");
	if (!options->light && !options->heavy)
		fprintf(file, "%.3g × %.3g", candidate->poisson.messages, candidate->poisson.delay);
	if (!options->light && !options->heavy && words)
		fprintf(file, " when each node asks at the rate %g",
		        (double)options->rate / MILLION);
}

char *choice_reason(const struct choice *choice)
{
	const struct candidate *best = &choice->candidates[0], *second = best + 1;
	char *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);

	memory_must(file != NULL);
	if (choice->candidates_count == 1) {
		fprintf(file, "No other algorithm can run on this network. Its cost, messages for "
		              "an entry × message delays, is ");
		write_costs(file, choice, best, true);
		fputs(".", file);
		fclose(file);
		return text;
	}
	fprintf(file,
	        "Of the %zu algorithms that can run on this network it has the lowest cost, "
	        "messages for an entry × message delays: ",
	        choice->candidates_count);
	write_costs(file, choice, best, true);
	fprintf(file, ". The runner-up, %s, takes ", second->row->subject->algorithm->name);
	write_costs(file, choice, second, false);
	if (second->cost == best->cost)
		fputs(", the same, and no fewer bytes.", file);
	else if (best->cost > 0)
		fprintf(file, ", %.4g times as much.", second->cost / best->cost);
	else
		fputs(", and that is more.", file);
	fclose(file);
	return text;
}

size_t choice_assumptions(const struct choice *choice, const char *ret_phrases[8])
{
	const struct candidate *best = &choice->candidates[0];
	const struct algorithm *algorithm = best->row->subject->algorithm;
	size_t count = 0;

	if (algorithm->links == GRAPH_COMPLETE)
		ret_phrases[count++] = "every node can send to every other";
	if (algorithm->links == GRAPH_STAR)
		ret_phrases[count++] =
		        "node 1 serves all others: every message goes to it or comes from it";
	if (best->spanning)
		ret_phrases[count++] = "links outside a spanning tree are left unused";
	ret_phrases[count++] = algorithm->needs_fifo ? "channels keep the order of messages"
	                                             : "messages may overtake each other";
	if (algorithm->circulates)
		ret_phrases[count++] = "its token goes round for ever, even if nobody wants in";
	ret_phrases[count++] =
	        algorithm->regenerates
	                ? "nobody fails, and at most one of its two tokens is lost at a time"
	                : "nobody fails, and no message is lost";
	ret_phrases[count++] = "the members stay the same";
	return count;
}

static json_t *report_cost(struct choose_cost cost)
{
	return json_pack("{s:o, s:o}", "messages", report_number(cost.messages), "delay",
	                 report_number(cost.delay));
}

static json_t *report_candidate(const struct choice *choice, const struct candidate *candidate)
{
	const struct choose_options *options = &choice->options;
	const struct compare_row *row = candidate->row;
	json_t *report = json_pack("{s:s, s:s, s:b}", "algorithm", row->subject->algorithm->name,
	                           "topology", row->topology, "spanning_tree", candidate->spanning);

	if (options->light)
		json_object_set_new(report, "light", report_cost(candidate->light));
	if (options->heavy)
		json_object_set_new(report, "heavy", report_cost(candidate->heavy));
	if (!options->light && !options->heavy)
		json_object_set_new(report, "poisson", report_cost(candidate->poisson));
	json_object_set_new(report, "cost", report_number(candidate->cost));
	json_object_set_new(report, "bytes", report_number(candidate->bytes));
	return report;
}

json_t *choice_report(const struct choice *choice, const char *load)
{
	const struct choose_options *options = &choice->options;
	json_t *candidates = json_array(), *refused = json_array(), *assumptions = json_array();
	const char *phrases[8];
	size_t count = choice_assumptions(choice, phrases);
	char *reason = choice_reason(choice);

	for (size_t i = 0; i < choice->candidates_count; i++)
		json_array_append_new(candidates, report_candidate(choice, &choice->candidates[i]));
	for (size_t i = 0; i < choice->refused_count; i++)
		json_array_append_new(refused, json_pack("{s:s, s:s}", "algorithm",
		                                         choice->refused[i].algorithm->name, "why",
		                                         choice->refused[i].why));
	for (size_t i = 0; i < count; i++)
		json_array_append_new(assumptions, json_string(phrases[i]));
	json_t *report = json_pack("{s:o, s:s, s:o, s:o, s:O, s:O, s:s, s:o, s:o, s:o}", "nodes",
	                           json_integer(options->nodes), "topology",
	                           options->topology != NULL ? options->topology : "complete",
	                           "load", load != NULL ? json_string(load) : json_null(), "seed",
	                           json_integer((json_int_t)options->seed), "recommended",
	                           json_array_get(candidates, 0), "runner_up",
	                           choice->candidates_count > 1 ? json_array_get(candidates, 1)
	                                                        : json_null(),
	                           "reason", reason, "assumptions", assumptions, "candidates",
	                           candidates, "left_out", refused);
	free(reason);
	return report;
}
