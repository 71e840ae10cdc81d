/*
 * Runs elections in many arrangements of the identifiers. Either all processes begin, or one does.
 */
#include "jobs.h"
#include "memory.h"

#include <stdlib.h>

static const struct distribution unit = {DISTRIBUTION_CONSTANT, MILLION, 0};

/* Ways to place the identifiers around the ring, in the ring's direction. */
enum arrangement {
	INCREASING,
	DECREASING,
	/* Every second process is greater than both its neighbours; among these processes again
	 * every second one is, and so on. So as many processes as possible survive each round of
	 * franklin and dolev-klawe-rodeh. */
	NESTED,
	RANDOM,
};

static void arrange(enum arrangement arrangement, struct random *random, uint32_t nodes,
                    uint32_t *ret_identifiers)
{
	for (uint32_t i = 0; i < nodes; i++)
		ret_identifiers[i] = arrangement == DECREASING ? nodes - i : i + 1;
	if (arrangement == NESTED) {
		/* The places first, first + step, first + 2 step, … have no identifier yet. Each
		 * pass gives identifiers to every other one of them. */
		uint32_t next = 1;
		for (uint64_t first = 0, step = 1; first < nodes; first += step, step *= 2) {
			for (uint64_t i = first; i < nodes; i += 2 * step)
				ret_identifiers[i] = next++;
		}
	}
	for (uint32_t i = nodes; i > 1 && arrangement == RANDOM; i--) {
		uint32_t k = (uint32_t)random_below(random, i), moved = ret_identifiers[i - 1];
		ret_identifiers[i - 1] = ret_identifiers[k];
		ret_identifiers[k] = moved;
	}
}

/* Sums over several elections, from which the means are made. */
struct election_sums {
	uint64_t random_count;
	double messages, squares, bytes, time;
};

static void run_election(struct job *job, uint64_t seed, bool is_random, struct election_sums *sums,
                         struct compare_elections *elections, const struct setup *setup)
{
	const struct algorithm *algorithm = job->row->subject->algorithm;
	struct sim_options run = {
	        .setup = setup,
	        .seed = seed,
	        .load = LOAD_ELECTION,
	        .delay = unit,
	        .cs = unit,
	        .bound = MILLION,
	};
	struct sim *sim = sim_create(setup);
	struct sim_result result;
	uint64_t announcement = 0;

	sim_run(sim, &run, &result);
	sim_destroy(sim);
	job_note_run(job, &result);
	for (size_t i = 0; i < algorithm->messages_count; i++)
		announcement +=
		        algorithm->messages[i].announcement ? result.messages_by_type[i] : 0;
	uint64_t messages = result.messages - announcement;
	double time = (double)result.elected / MILLION;
	range_widen(&elections->messages_range, (struct range){messages, messages});
	range_widen(&elections->announcement, (struct range){announcement, announcement});
	elections->time_max = time > elections->time_max ? time : elections->time_max;
	if (is_random) {
		sums->random_count++;
		sums->messages += (double)messages;
		sums->squares += (double)messages * (double)messages;
		sums->bytes += (double)result.bytes;
		sums->time += time;
	}
}

/* JOB_ALL: all processes begin, in each fixed arrangement and in a random one for each seed.
 * JOB_ONE: one process begins. Two runs have the increasing arrangement: in one the greatest
 * process begins, in the other its successor. Then, for each seed, a random process begins in a
 * random arrangement. */
void job_run_elections(struct job *job, const struct compare_options *options,
                       struct compare_elections *elections)
{
	uint32_t nodes = job->row->nodes;
	struct setup setup = *job->setup; /* the same network with another electorate */
	uint32_t *identifiers = malloc(nodes * sizeof(*identifiers)), initiator = nodes;
	struct election_sums sums = {0};
	struct random random;
	bool one = job->kind == JOB_ONE;

	memory_must(identifiers != NULL);
	elections->messages_range = elections->announcement = range_none;
	setup.network.identifiers = setup.electorate.identifiers = identifiers;
	if (one) {
		setup.electorate.initiators = &initiator;
		setup.electorate.initiators_count = 1;
	}
	for (unsigned i = INCREASING; i < (one ? DECREASING + 1u : RANDOM); i++) {
		arrange(one ? INCREASING : (enum arrangement)i, NULL, nodes, identifiers);
		run_election(job, options->seed_first, false, &sums, elections, &setup);
		initiator = 1;
	}
	for (uint64_t seed = options->seed_first; seed <= options->seed_last; seed++) {
		job_note_part(job, (double)(seed - options->seed_first) /
		                           (double)compare_seeds_count(options));
		random_seed(&random, seed);
		arrange(RANDOM, &random, nodes, identifiers);
		initiator = 1 + (uint32_t)random_below(&random, nodes);
		run_election(job, seed, true, &sums, elections, &setup);
	}
	elections->messages = mean_make(sums.random_count, sums.messages, sums.squares);
	elections->bytes = sums.bytes / (double)sums.random_count;
	elections->time_mean = sums.time / (double)sums.random_count;
	free(identifiers);
}
