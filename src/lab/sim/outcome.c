/*
 * Completes the result of a run once it is over.
 */
#include "simulation.h"

/* Was the run too short to tell whether this node, which still waits, starves? With N nodes, a
 * node simply waits its turn if it has entered before and the others together have entered fewer
 * than N times since it asked. */
static bool is_undecided(const struct sim *sim, uint32_t node)
{
	const struct asking *asking = &sim->asking[node - 1];

	return !asking->starved && (asking->exits == 0 || sim->entered - asking->entries >=
	                                                          sim->setup->network.graph.nodes);
}

/* Counts a node that still waits towards the longest bypass and the longest wait. */
static void note_waiting(struct sim *sim, uint32_t node)
{
	struct asking *asking = &sim->asking[node - 1];
	struct sim_result *result = sim->result;
	uint64_t bypass = sim->entered - asking->entries, waited = sim->now - asking->time;

	sim->waiting[result->waiting_count++] = node;
	if (bypass > result->bypass_max)
		result->bypass_max = bypass;
	if (waited > result->waiting_longest || result->waiting_first == 0) {
		result->waiting_longest = waited;
		result->waiting_first = node;
	}
	if (waited > result->response_max)
		result->response_max = waited;
	asking->starved = asking->starved || sim->stuck || sim_waits_too_long(sim, node);
	if (is_undecided(sim, node) &&
	    (result->undecided == 0 || bypass > result->undecided_passed)) {
		result->undecided = node;
		result->undecided_passed = bypass;
	}
}

uint64_t sim_node_response(const struct sim *sim, uint32_t node, uint64_t *ret_count)
{
	*ret_count = sim->asking[node - 1].response_count;
	return sim->asking[node - 1].response_sum;
}

/* Counts how often each node entered, and which nodes wait or starve. */
static void count_nodes(struct sim *sim)
{
	const struct sim_options *options = &sim->options;
	struct sim_result *result = sim->result;
	uint32_t next = 0; /* the index of the next asker in options->askers */

	result->starved = sim->starved;
	result->waiting = sim->waiting;
	for (uint32_t i = 0; i < sim->setup->network.graph.nodes; i++) {
		struct asking *asking = &sim->asking[i];
		result->entries_all += asking->exits;
		result->entries_squares += (double)asking->exits * (double)asking->exits;
		bool asks = options->askers_count == 0 ||
		            (next < options->askers_count && options->askers[next] == i + 1);
		next += asks;
		/* Count nodes that entered although they are not askers: a user may make any node
		 * ask (hand.h). */
		if (asks || asking->exits != 0) {
			range_widen(&result->entries_each, asking->exits);
			result->askers++;
		}
		if (sim->world.phases[i] == PHASE_WAITING && !result->endless)
			note_waiting(sim, i + 1);
		if (asking->starved)
			sim->starved[result->starved_count++] = i + 1;
	}
	_Static_assert(SIM_STARVES == 100, "the sentence below names the number");
	if (result->starved_count != 0 && !sim->stuck)
		sim_violate(sim, "a node starves: the others, of N nodes, enter 100 * N times "
		                 "while it waits");
}

/* When the run is over, every place that is alive must know the leader, and no election may
 * still be going on anywhere. */
static void judge_election(struct sim *sim)
{
	uint32_t alive = 0;
	bool taking_part = false;

	for (uint32_t i = 1; i <= sim->setup->network.graph.nodes; i++) {
		if (sim->dead[i - 1])
			continue;
		alive++;
		taking_part = taking_part || !world_may_request(&sim->world, i);
	}
	if (sim->result->learned != alive)
		sim_violate(sim, "somebody does not know the leader");
	else if (taking_part)
		sim_violate(sim, "somebody still takes part");
}

void sim_end(struct sim *sim)
{
	struct sim_result *result = sim->result;

	if (sim->options.load == LOAD_ELECTION) {
		judge_election(sim);
	} else {
		if (sim->options.load == LOAD_LIGHT && !sim->stuck)
			sim_count_entry(sim);
		count_nodes(sim);
	}
	/* If the run ended during the warm-up, its counts are discarded. */
	result->measured = !sim->warming;
	if (sim->warming)
		sim_begin_count(sim);
	if (sim->options.trace != NULL &&
	    (result->interrupted || result->endless || result->exhausted))
		trace_cut(sim->options.trace);
	result->time = sim->happened;
	result->token_hops = sim->token_hops;
	result->response_p50 = samples_quantile(sim->responses, 50);
	result->response_p99 = samples_quantile(sim->responses, 99);
}
