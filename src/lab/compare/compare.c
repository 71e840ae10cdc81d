#include "compare.h"

#include "grow.h"
#include "host.h"
#include "jobs.h"
#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct setup_words words_of(const struct compare_row *row,
                                   const struct compare_options *options)
{
	return (struct setup_words){
	        .host = host_here(),
	        .algorithm = row->subject->algorithm->name,
	        .topology = row->subject->topology,
	        .nodes = row->nodes,
	        .seed = options->seed_first,
	        .parameters = {row->subject->parameter},
	        .parameters_count = row->subject->parameter != NULL,
	};
}

/* Adds a row if the subject can run at that size. */
static void add_row(struct comparison *comparison, const struct compare_subject *subject,
                    uint32_t nodes, struct setup *setups)
{
	const struct compare_options *options = &comparison->options;
	struct compare_row *row = &comparison->rows[comparison->rows_count];
	struct setup *setup = &setups[comparison->rows_count];
	struct problem problem;

	if (subject->algorithm->kind == KIND_MUTEX && options->exclusion_nodes_max != 0 &&
	    nodes > options->exclusion_nodes_max)
		return;
	*row = (struct compare_row){.subject = subject, .nodes = nodes, .regenerated = range_none};
	struct setup_words words = words_of(row, options);
	int made = setup_make(&words, setup, &problem);
	if (made != 0) {
		const struct algorithm *algorithm = subject->algorithm;
		bool unsuited = made == SETUP_UNSUITED && subject->topology != NULL;
		enum graph_class needs =
		        algorithm->shape != GRAPH_NONE ? algorithm->shape : algorithm->links;
		char *why = strdup(problem.text);
		memory_must(why != NULL);
		comparison->left_out[comparison->left_out_count++] = (struct compare_left_out){
		        subject, nodes, unsuited ? needs : GRAPH_NONE, why};
		return;
	}
	row->topology = setup->topology;
	row->edges = setup->network.graph.edges_count;
	row->fifo = setup->fifo;
	row->poisson_count = options->rates_nodes == 0 || options->rates_nodes == nodes
	                             ? options->rates_count
	                             : 0;
	row->poisson = calloc(row->poisson_count + 1, sizeof(*row->poisson));
	memory_must(row->poisson != NULL);
	uint64_t states = 0;
	for (uint32_t i = 1; i <= nodes; i++) {
		struct site site = network_site(&setup->network, i);
		uint64_t size = subject->algorithm->state_size(&site);
		states += size;
		row->state_max = size > row->state_max ? size : row->state_max;
	}
	row->state_mean = (double)states / nodes;
	comparison->rows_count++;
}

/* Lists the claims about a row and their values. compare_judge fills in the verdicts. */
static void find_claims(struct compare_row *row, const struct setup *setup)
{
	struct claim_facts facts;
	size_t size = 0;

	claim_facts_make(setup, &facts);
	row->diameter = facts.diameter;
	row->committee_min = facts.asked_min;
	row->committee_max = facts.asked_max;
	for (const struct paper_claim *claim = claims; claim->algorithm != NULL; claim++) {
		double claimed = NAN;
		if (claim_concerns(claim, row->subject->algorithm, row->subject->parameter))
			claimed = claim_value(claim, &facts);
		if (isnan(claimed))
			continue;
		row->verdicts =
		        grow(row->verdicts, &size, row->verdicts_count + 1, sizeof(*row->verdicts));
		row->verdicts[row->verdicts_count++] =
		        (struct compare_verdict){claim, claimed, NAN, CLAIM_UNMEASURED};
	}
}

void compare_run(const struct compare_options *options, struct comparison *ret_comparison)
{
	size_t most = options->subjects_count * options->nodes_count;
	struct comparison *comparison = ret_comparison;
	struct job_pool pool = {.options = options};
	struct setup *setups = calloc(most + 1, sizeof(*setups));

	*comparison = (struct comparison){.options = *options};
	comparison->rows = calloc(most + 1, sizeof(*comparison->rows));
	comparison->left_out = calloc(most + 1, sizeof(*comparison->left_out));
	memory_must(setups != NULL && comparison->rows != NULL && comparison->left_out != NULL);
	for (size_t i = 0; i < options->nodes_count; i++) {
		for (size_t k = 0; k < options->subjects_count; k++)
			add_row(comparison, &options->subjects[k], options->nodes[i], setups);
	}
	/* The jobs of the largest networks come first, so that all threads end at about the same
	 * time. */
	for (size_t i = comparison->rows_count; i > 0; i--) {
		find_claims(&comparison->rows[i - 1], &setups[i - 1]);
		pool_add_row(&pool, &comparison->rows[i - 1], &setups[i - 1]);
	}
	pool_run(&pool);
	pool_gather(&pool);
	compare_judge(comparison);
	for (size_t i = 0; i < comparison->rows_count; i++)
		setup_free(&setups[i]);
	free(setups);
	free(pool.jobs);
}

void comparison_free(struct comparison *comparison)
{
	for (size_t i = 0; i < comparison->rows_count; i++) {
		free(comparison->rows[i].poisson);
		free(comparison->rows[i].verdicts);
	}
	for (size_t i = 0; i < comparison->left_out_count; i++)
		free(comparison->left_out[i].why);
	free(comparison->rows);
	free(comparison->left_out);
}

struct compare_subject *compare_subjects(const struct algorithm *const *algorithms,
                                         const char *const *parameters, size_t count,
                                         const char *topology, size_t *ret_count)
{
	struct compare_subject *subjects = NULL;
	size_t size = 0, used = 0;

	for (size_t i = 0; i < count; i++) {
		const char *only = parameters != NULL ? parameters[i] : NULL, *last = NULL;
		subjects = grow(subjects, &size, used + 1, sizeof(*subjects));
		subjects[used++] = (struct compare_subject){algorithms[i], only, topology};
		for (const struct paper_claim *claim = claims;
		     only == NULL && claim->algorithm != NULL; claim++) {
			if (claim->parameter == NULL ||
			    !claim_concerns(claim, algorithms[i], claim->parameter) ||
			    (last != NULL && strcmp(last, claim->parameter) == 0))
				continue;
			const struct headline *headline =
			        headline_of(algorithms[i], claim->parameter);
			if (headline != NULL && headline->apart)
				continue;
			last = claim->parameter;
			subjects = grow(subjects, &size, used + 1, sizeof(*subjects));
			subjects[used++] = (struct compare_subject){algorithms[i], last, topology};
		}
	}
	*ret_count = used;
	return subjects;
}
