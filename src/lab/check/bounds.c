/*
 * The second pass of a search finds the extremes over all runs: the most and the fewest messages
 * and the longest bypass. It visits the states in topological order (Kahn's algorithm). If there is
 * no such order, there are runs without end.
 */
#include "search.h"

#include <string.h>

static void prepare_order(struct search *search, uint32_t member)
{
	const struct lane *lane = &search->states.lanes[member];
	struct lane_cursor cursor = {0}, end = lane_end(lane);
	uint32_t state;

	while (lane_next(&search->states, lane, &cursor, &end, &state)) {
		struct state_record *record = states_record(&search->states, state);
		record->most = 0;
		record->fewest = UINT32_MAX;
		memset(record->bytes, 0, search->states.extra);
	}
	search->workers[member].done = 0;
	search->workers[member].messages_max = 0;
	search->workers[member].messages_min = UINT32_MAX;
	search->workers[member].bypass_max = 0;
}

static void give_ready(struct worker *from, struct worker *to, size_t count)
{
	for (; count > 0; count--)
		worker_put_ready(to, from->ready[--from->ready_count]);
}

/* Shares the ready states among the threads. If there are few, the first thread gets all.
 * Returns false if there is none. */
static bool share_ready(struct search *search)
{
	struct worker *workers = search->workers, *end = workers + search->team.count;
	struct worker *poor = workers;
	size_t count = 0;

	for (struct worker *worker = workers; worker < end; worker++)
		count += worker->ready_count;
	search->together = search->team.count > 1 && count >= TOGETHER_LEAST;
	for (struct worker *worker = workers + 1; worker < end && !search->together; worker++)
		give_ready(worker, workers, worker->ready_count);
	size_t fair = search->together ? count / search->team.count : count;
	for (struct worker *rich = workers; rich < end; rich++) {
		while (rich->ready_count > fair) {
			while (poor < end && poor->ready_count >= fair)
				poor++;
			if (poor == end)
				return true;
			size_t more = rich->ready_count - fair, room = fair - poor->ready_count;
			give_ready(rich, poor, more < room ? more : room);
		}
	}
	return count > 0;
}

/* Makes the second pass. Returns false if a limit was reached. */
static bool order(struct search *search)
{
	search->ordering = true;
	for (uint32_t i = 0; i < search->team.count; i++)
		prepare_order(search, i);
	states_record(&search->states, search->start)->fewest = 0;
	worker_put_ready(&search->workers[0], search->start);
	while (share_ready(search)) {
		search_progress(search, "numbers of messages");
		search->limit = search_limit(search, 0);
		if (search->limit != NULL)
			return false;
		search_order_some(search);
	}
	return true;
}

bool search_bounds(struct search *search, struct run_bounds *ret_bounds)
{
	uint64_t done = 0;

	*ret_bounds = (struct run_bounds){.messages_min = UINT64_MAX};
	/* A step back to the first state closes a cycle. */
	if (!search->graded && states_record(&search->states, search->start)->edges_in > 0)
		return true;
	if (!search->graded && !order(search))
		return false;
	for (uint32_t i = 0; i < search->team.count; i++) {
		const struct worker *worker = &search->workers[i];
		done += worker->done;
		if (worker->messages_max > ret_bounds->messages_max)
			ret_bounds->messages_max = worker->messages_max;
		if (worker->messages_min < ret_bounds->messages_min)
			ret_bounds->messages_min = worker->messages_min;
		if (worker->bypass_max > ret_bounds->bypass_max)
			ret_bounds->bypass_max = worker->bypass_max;
	}
	ret_bounds->bounded = search->graded || done == states_count(&search->states);
	return true;
}
