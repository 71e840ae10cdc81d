#include "jobs.h"

#include "grow.h"
#include "memory.h"
#include "team.h"

#include <math.h>
#include <stdlib.h>

/* Reports progress, and names the job that has been at work longest. The caller holds the mutex. */
static void tell(const struct job_pool *pool)
{
	static const char *const kinds[] = {
	        [JOB_LIGHT] = "light load",
	        [JOB_LIGHT_VARIED] = "light load, delays vary",
	        [JOB_LIGHT_BOUNDED] = "light load, delays vary",
	        [JOB_HEAVY] = "heavy load",
	        [JOB_HEAVY_VARIED] = "heavy load, delays vary",
	        [JOB_POISSON] = "poisson load",
	        [JOB_FIRST] = "first requests",
	        [JOB_LOSS] = "lost tokens",
	        [JOB_ALL] = "all begin",
	        [JOB_ONE] = "one begins",
	};
	const struct job *first = NULL;
	double done = pool->done;
	char text[128];

	if (pool->options->progress == NULL)
		return;
	for (size_t i = 0; i < pool->next; i++) {
		const struct job *job = &pool->jobs[i];
		if (!job->running)
			continue;
		done += job->weight * job->part;
		first = first != NULL ? first : job;
	}
	if (first == NULL)
		return;
	snprintf(text, sizeof(text), "%s of %u, %s", first->row->subject->algorithm->name,
	         first->row->nodes, kinds[first->kind]);
	pool->options->progress(done / pool->weight, text);
}

void job_note_part(struct job *job, double part)
{
	pthread_mutex_lock(&job->pool->mutex);
	job->part = fmax(job->part, fmin(part, 1));
	tell(job->pool);
	pthread_mutex_unlock(&job->pool->mutex);
}

/* One run of a job, while it is under way: `before` is how much of the job was done before the run,
 * and `share` is how much of the job the run is. */
struct job_part {
	struct job *job;
	double before, share;
};

static void note_exits(void *context, uint64_t exits, uint64_t entries)
{
	const struct job_part *part = context;
	job_note_part(part->job, part->before + part->share * (double)exits / (double)entries);
}

static const struct distribution unit = {DISTRIBUTION_CONSTANT, MILLION, 0};
static const struct distribution varied = {DISTRIBUTION_EXPONENTIAL, MILLION, 0};
static const struct distribution bounded = {DISTRIBUTION_UNIFORM, 1, MILLION};
const struct range range_none = {.min = UINT64_MAX};

uint64_t compare_seeds_count(const struct compare_options *options)
{
	return options->seed_last - options->seed_first + 1;
}

void range_widen(struct range *range, struct range other)
{
	if (other.min > other.max)
		return;
	range->min = other.min < range->min ? other.min : range->min;
	range->max = other.max > range->max ? other.max : range->max;
}

struct compare_mean mean_make(uint64_t count, double sum, double squares)
{
	struct compare_mean mean = {.count = count};

	if (count == 0)
		return mean;
	mean.mean = sum / (double)count;
	double variance = squares / (double)count - mean.mean * mean.mean;
	mean.error = count > 1 && variance > 0 ? sqrt(variance / (double)(count - 1)) : 0;
	return mean;
}

void job_note_run(struct job *job, const struct sim_result *result)
{
	const struct algorithm *algorithm = job->row->subject->algorithm;
	uint64_t token = sim_largest_message(algorithm, result, CARRIES_TOKEN);
	uint64_t request = sim_largest_message(algorithm, result, CARRIES_NO_TOKEN);

	job->token_bytes = token > job->token_bytes ? token : job->token_bytes;
	job->request_bytes = request > job->request_bytes ? request : job->request_bytes;
	if (job->violation == NULL && result->endless)
		job->violation = "the run lasts longer than virtual time can count";
	if (job->violation == NULL)
		job->violation = result->violation;
}

/* Sums over all runs under one load, from which the means are made. */
struct sums {
	uint64_t entries, messages, squares, bytes, idle, sync_count, sync, sync_max;
	uint64_t response_count, response, response_max, bypass_max;
	uint64_t asked_time_max, token_time_max;
	/* The mean of each run counts as one sample, because entries of the same run are not
	 * independent. */
	uint64_t runs;
	double means, means_squares;
};

static void add_run(struct sums *sums, const struct sim_result *result)
{
	if (result->entries != 0) {
		double mean = (double)result->messages / (double)result->entries;
		sums->runs++;
		sums->means += mean;
		sums->means_squares += mean * mean;
	}
	sums->entries += result->entries;
	sums->messages += result->messages;
	sums->squares += result->entry.squares;
	sums->bytes += result->bytes;
	sums->idle += result->messages_idle;
	sums->sync_count += result->sync_count;
	sums->sync += result->sync_sum;
	sums->response_count += result->response_count;
	sums->response += result->response_sum;
	if (result->sync_max > sums->sync_max)
		sums->sync_max = result->sync_max;
	if (result->response_max > sums->response_max)
		sums->response_max = result->response_max;
	if (result->bypass_max > sums->bypass_max)
		sums->bypass_max = result->bypass_max;
	if (result->asked_time_max > sums->asked_time_max)
		sums->asked_time_max = result->asked_time_max;
	if (result->token_time_max > sums->token_time_max)
		sums->token_time_max = result->token_time_max;
}

static void divide(const struct job *job, const struct sums *sums, struct compare_load *load)
{
	double entries = (double)sums->entries;
	bool light = job->kind <= JOB_LIGHT_BOUNDED;

	load->messages = mean_make(sums->entries, (double)sums->messages, (double)sums->squares);
	/* JOB_HEAVY is not random, so its error is 0. For the other kinds one run alone does not
	 * tell the error. */
	if (!light)
		load->messages.error =
		        job->kind == JOB_HEAVY ? 0
		        : sums->runs > 1
		                ? mean_make(sums->runs, sums->means, sums->means_squares).error
		                : NAN;
	if (sums->entries == 0)
		return;
	load->bytes = (double)sums->bytes / entries;
	load->idle = (double)sums->idle / entries;
	load->sync_mean = sums->sync_count != 0
	                          ? (double)sums->sync / (double)sums->sync_count / MILLION
	                          : NAN;
	load->sync_max = sums->sync_count != 0 ? (double)sums->sync_max / MILLION : NAN;
	load->response_mean = (double)sums->response / (double)sums->response_count / MILLION;
	load->response_max = (double)sums->response_max / MILLION;
	load->bypass_max = sums->bypass_max;
	load->asked_time = (double)sums->asked_time_max / MILLION;
	load->token_time = (double)sums->token_time_max / MILLION;
}

/*
 * The warm-up lasts until every node has been inside several times (light load), or has waited for
 * its turn (other loads). Under other loads the number of entries is a multiple of twenty rounds of
 * all nodes. This has two reasons. Messages that are sent during the measurement for later entries
 * then balance those that were sent before it for the first entries. And the rounds of
 * suzuki-kasami-b are complete for L = 2, 4, 5 and 10.
 */
static struct sim_options run_options(const struct job *job, const struct compare_options *options,
                                      enum load load)
{
	enum { ROUNDS = 20 };
	uint64_t nodes = job->row->nodes;
	uint64_t together = ROUNDS * nodes;
	bool light = load == LOAD_LIGHT;

	return (struct sim_options){
	        .setup = job->setup,
	        .load = load,
	        .entries = light ? options->entries
	                         : (options->entries + together - 1) / together * together,
	        .warmup = light ? 4 * nodes : 2 * nodes,
	        .delay = unit,
	        .cs = unit,
	        .bound = MILLION,
	};
}

/* Returns how many runs a job needs. Under heavy load with constant delays nothing is random, so
 * one run is enough. Where delays vary, a few runs are enough if there are many nodes, because
 * each run is long then. */
static uint64_t runs_count(const struct job *job, const struct compare_options *options,
                           const struct sim_options *run)
{
	enum { ENTRIES_ENOUGH = 20000 };
	uint64_t count = compare_seeds_count(options);
	uint64_t enough = (ENTRIES_ENOUGH + run->entries - 1) / run->entries;

	if (job->kind == JOB_HEAVY)
		return 1;
	return job->kind == JOB_HEAVY_VARIED && enough < count ? enough : count;
}

static void run_load(struct job *job, const struct compare_options *options, enum load kind,
                     struct compare_load *load)
{
	struct sim *sim = sim_create(job->setup);
	struct sim_options run = run_options(job, options, kind);
	struct sums sums = {0};
	struct sim_result result;
	uint64_t count = runs_count(job, options, &run);
	struct job_part part = {job, 0, 1 / (double)count};

	load->entry =
	        (struct sim_entry_messages){range_none, range_none, range_none, range_none, 0};
	if (kind == LOAD_POISSON) {
		load->rate = (double)options->rates[job->rate] / MILLION;
		run.interval = (uint64_t)MILLION * MILLION / options->rates[job->rate];
	}
	if (job->kind == JOB_LIGHT_VARIED || job->kind == JOB_HEAVY_VARIED)
		run.delay = varied;
	if (job->kind == JOB_LIGHT_BOUNDED)
		run.delay = bounded;
	run.progress = note_exits;
	run.progress_context = &part;
	for (uint64_t i = 0; i < count && job->violation == NULL; i++) {
		run.seed = options->seed_first + i;
		part.before = (double)i / (double)count;
		sim_run(sim, &run, &result);
		job_note_run(job, &result);
		add_run(&sums, &result);
		range_widen(&load->entry.all, result.entry.all);
		range_widen(&load->entry.asked, result.entry.asked);
		range_widen(&load->entry.asked_token, result.entry.asked_token);
		range_widen(&load->entry.asked_others, result.entry.asked_others);
	}
	divide(job, &sums, load);
	sim_destroy(sim);
}

/* Measures the first request of a run, many times, with the token at node `holder` at the start. */
static struct compare_mean run_first(struct job *job, const struct compare_options *options,
                                     uint32_t holder)
{
	enum { RUNS_MAX = 20000 };
	uint64_t count = options->entries * compare_seeds_count(options), sum = 0, squares = 0;
	struct sim_options run = run_options(job, options, LOAD_LIGHT);
	struct setup setup = *job->setup; /* the same network with another holder */
	uint32_t *arrays = malloc(2 * (size_t)job->row->nodes * sizeof(*arrays));
	struct sim_result result;

	memory_must(arrays != NULL);
	setup.network.holder = holder;
	if (setup.network.toward != NULL) {
		graph_toward(&setup.network.graph, holder, arrays, arrays + job->row->nodes);
		setup.network.toward = arrays;
	}
	run.setup = &setup;
	run.entries = 1;
	run.warmup = 0;
	struct sim *sim = sim_create(&setup);
	count = count < RUNS_MAX ? count : RUNS_MAX;
	for (uint64_t i = 0; i < count; i++) {
		run.seed = options->seed_first + i;
		sim_run(sim, &run, &result);
		job_note_run(job, &result);
		sum += result.messages;
		squares += result.messages * result.messages;
	}
	sim_destroy(sim);
	free(arrays);
	return mean_make(count, (double)sum, (double)squares);
}

static void run_firsts(struct job *job, const struct compare_options *options)
{
	const struct graph *graph = &job->setup->network.graph;
	uint32_t centre = 1, leaf = 1;

	for (uint32_t i = 2; i <= graph->nodes; i++) {
		centre = graph_degree(graph, i) > graph_degree(graph, centre) ? i : centre;
		leaf = graph_degree(graph, i) < graph_degree(graph, leaf) ? i : leaf;
	}
	job->row->first_centre = run_first(job, options, centre);
	job->row->first_leaf = run_first(job, options, leaf);
}

/* Makes one run for each hop at which the token is lost: the first, the second, and so on. */
static void run_losses(struct job *job, const struct compare_options *options)
{
	enum { HOPS_MAX = 256 };
	struct sim *sim = sim_create(job->setup);
	struct sim_options run = run_options(job, options, LOAD_HEAVY);
	uint64_t nodes = job->row->nodes;
	uint64_t hops = 4 * nodes + 8 < HOPS_MAX ? 4 * nodes + 8 : HOPS_MAX;
	struct sim_result result;

	run.seed = options->seed_first;
	run.warmup = 0;
	run.entries = hops + 4 * nodes; /* each entry takes at least one hop of the token */
	run.lose_hops_count = 1;
	for (uint64_t hop = 1; hop <= hops && job->violation == NULL; hop++) {
		run.lose_hops = &hop;
		job_note_part(job, (double)hop / (double)hops);
		sim_run(sim, &run, &result);
		job_note_run(job, &result);
		if (result.regenerated != 0)
			range_widen(&job->row->regenerated,
			            (struct range){result.regenerated_hops_max,
			                           result.regenerated_hops_max});
	}
	sim_destroy(sim);
}

static void run_job(struct job *job, const struct compare_options *options)
{
	switch (job->kind) {
	case JOB_LIGHT:
		run_load(job, options, LOAD_LIGHT, &job->row->light);
		break;
	case JOB_LIGHT_VARIED:
	case JOB_LIGHT_BOUNDED:
		run_load(job, options, LOAD_LIGHT, &job->varied);
		break;
	case JOB_HEAVY:
		run_load(job, options, LOAD_HEAVY, &job->row->heavy);
		break;
	case JOB_HEAVY_VARIED:
		run_load(job, options, LOAD_HEAVY, &job->varied);
		break;
	case JOB_POISSON:
		run_load(job, options, LOAD_POISSON, &job->row->poisson[job->rate]);
		break;
	case JOB_FIRST:
		run_firsts(job, options);
		break;
	case JOB_LOSS:
		run_losses(job, options);
		break;
	case JOB_ALL:
		job_run_elections(job, options, &job->row->all);
		break;
	case JOB_ONE:
		job_run_elections(job, options, &job->row->one);
		break;
	}
}

static void work(void *context, uint32_t member)
{
	struct job_pool *pool = context;

	(void)member;
	pthread_mutex_lock(&pool->mutex);
	while (pool->next < pool->jobs_count) {
		struct job *job = &pool->jobs[pool->next++];
		job->running = true;
		tell(pool);
		pthread_mutex_unlock(&pool->mutex);
		run_job(job, pool->options);
		pthread_mutex_lock(&pool->mutex);
		job->running = false;
		pool->done += job->weight;
	}
	pthread_mutex_unlock(&pool->mutex);
}

/* Estimates the messages for an entry, or for an election in which all begin: the least number
 * that a claim allows, or one for each node. */
static double expected_messages(const struct compare_row *row, bool light)
{
	bool election = row->subject->algorithm->kind == KIND_ELECTION;
	double least = INFINITY;

	for (size_t i = 0; i < row->verdicts_count; i++) {
		const struct paper_claim *claim = row->verdicts[i].claim;
		bool speaks =
		        election ? claim->quantity == ALL_MAX
		        : light  ? claim->quantity == LIGHT_MAX || claim->quantity == LIGHT_MEAN
		                 : claim->quantity == HEAVY_MEAN;
		if (speaks && claim->relation != AT_LEAST && claim->relation != AT_BEST)
			least = fmin(least, row->verdicts[i].claimed);
	}
	return fmax(1, isinf(least) ? row->nodes : least);
}

/* Estimates how many messages a job takes, including the hops of a circulating token while nobody
 * wants to enter. */
static double estimate(const struct job *job, const struct compare_options *options)
{
	const struct algorithm *algorithm = job->row->subject->algorithm;
	bool light = job->kind <= JOB_LIGHT_BOUNDED || job->kind == JOB_FIRST;
	struct sim_options run = run_options(job, options, light ? LOAD_LIGHT : LOAD_HEAVY);
	double each = expected_messages(job->row, light), nodes = job->row->nodes;
	double seeds = (double)compare_seeds_count(options);

	if (algorithm->kind == KIND_ELECTION)
		return (seeds + 3) * (job->kind == JOB_ALL ? each : nodes);
	if (job->kind == JOB_FIRST)
		return each * seeds * (double)options->entries;
	if (job->kind == JOB_LOSS)
		return each * nodes * nodes;
	if (light && algorithm->circulates)
		each += 2 * nodes;
	return each * (double)(run.entries + run.warmup) * (double)runs_count(job, options, &run);
}

void pool_run(struct job_pool *pool)
{
	struct team team;

	for (size_t i = 0; i < pool->jobs_count; i++) {
		pool->jobs[i].pool = pool;
		pool->jobs[i].weight = estimate(&pool->jobs[i], pool->options);
		pool->weight += pool->jobs[i].weight;
	}
	if (pool->options->announce != NULL)
		pool->options->announce(pool->weight);
	pthread_mutex_init(&pool->mutex, NULL);
	team_init(&team, pool->options->threads);
	team_run(&team, work, pool);
	team_free(&team);
	pthread_mutex_destroy(&pool->mutex);
}

static void add_job(struct job_pool *pool, struct compare_row *row, const struct setup *setup,
                    enum job_kind kind, size_t rate)
{
	pool->jobs = grow(pool->jobs, &pool->jobs_size, pool->jobs_count + 1, sizeof(*pool->jobs));
	pool->jobs[pool->jobs_count++] =
	        (struct job){.kind = kind, .row = row, .setup = setup, .rate = rate};
}

static bool has_claim(const struct compare_row *row, enum quantity quantity)
{
	for (const struct paper_claim *claim = claims; claim->algorithm != NULL; claim++) {
		if (claim_concerns(claim, row->subject->algorithm, row->subject->parameter) &&
		    claim->quantity == quantity)
			return true;
	}
	return false;
}

void pool_add_row(struct job_pool *pool, struct compare_row *row, const struct setup *setup)
{
	const struct compare_options *options = pool->options;

	if (row->subject->algorithm->kind == KIND_ELECTION) {
		add_job(pool, row, setup, JOB_ALL, 0);
		add_job(pool, row, setup, JOB_ONE, 0);
		return;
	}
	if (options->light)
		add_job(pool, row, setup, JOB_LIGHT, 0);
	if (options->heavy)
		add_job(pool, row, setup, JOB_HEAVY, 0);
	for (size_t i = 0; i < row->poisson_count; i++)
		add_job(pool, row, setup, JOB_POISSON, i);
	if (options->means_only)
		return;
	if (options->light)
		add_job(pool, row, setup, JOB_LIGHT_VARIED, 0);
	if (options->light && has_claim(row, LIGHT_ASKED_TIME))
		add_job(pool, row, setup, JOB_LIGHT_BOUNDED, 0);
	if (options->heavy && has_claim(row, HEAVY_VARIED_MEAN))
		add_job(pool, row, setup, JOB_HEAVY_VARIED, 0);
	if (options->light && has_claim(row, FIRST_CENTRE_MEAN))
		add_job(pool, row, setup, JOB_FIRST, 0);
	if (options->heavy && has_claim(row, REGENERATED_MAX))
		add_job(pool, row, setup, JOB_LOSS, 0);
}

void pool_gather(struct job_pool *pool)
{
	for (size_t i = 0; i < pool->jobs_count; i++) {
		const struct job *job = &pool->jobs[i];
		struct compare_row *row = job->row;
		if (job->token_bytes > row->token_bytes)
			row->token_bytes = job->token_bytes;
		if (job->request_bytes > row->request_bytes)
			row->request_bytes = job->request_bytes;
		if (row->violation == NULL)
			row->violation = job->violation;
		if (job->kind == JOB_HEAVY_VARIED)
			row->heavy_varied = job->varied.messages;
		if (job->kind == JOB_LIGHT_BOUNDED) {
			struct compare_load *light = &row->light;
			light->response_max = fmax(light->response_max, job->varied.response_max);
			light->asked_time = fmax(light->asked_time, job->varied.asked_time);
			light->token_time = fmax(light->token_time, job->varied.token_time);
		}
		if (job->kind == JOB_LIGHT_VARIED) {
			range_widen(&row->light.entry.all, job->varied.entry.all);
			range_widen(&row->light.entry.asked, job->varied.entry.asked);
			range_widen(&row->light.entry.asked_token, job->varied.entry.asked_token);
			range_widen(&row->light.entry.asked_others, job->varied.entry.asked_others);
		}
	}
}
