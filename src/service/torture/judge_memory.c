#include "judge_memory.h"

#include "grow.h"
#include "random_run.h"

#include <fnmatch.h>
#include <string.h>

void judge_disturb(struct judge *judge, uint64_t from, uint64_t until)
{
	struct disturbance *last = judge->disturbances_count != 0
	                                   ? &judge->disturbances[judge->disturbances_count - 1]
	                                   : NULL;

	if (last != NULL && from <= last->until) {
		if (until > last->until)
			last->until = until;
		return;
	}
	judge->disturbances = grow(judge->disturbances, &judge->disturbances_size,
	                           judge->disturbances_count + 1, sizeof(*judge->disturbances));
	judge->disturbances[judge->disturbances_count++] = (struct disturbance){from, until};
}

void judge_disturbed(struct run *run, uint64_t until)
{
	judge_disturb(&run->judge, run->cluster.now, until);
}

uint64_t judge_flood(const struct run *run)
{
	bool complete = run->plan->algorithm->links == GRAPH_COMPLETE;
	uint64_t hops = complete || run->plan->places_count == 1 ? 1 : run->plan->places_count - 1;

	return hops * run->plan->delay_max;
}

/* Was nothing wrong between these times? A fault counts for some time after its end, because
 * members still need to exchange what they hold and to ask again. */
bool judge_calm_between(const struct run *run, uint64_t from, uint64_t until)
{
	const struct judge *judge = &run->judge;
	uint64_t settling = 2 * judge_flood(run) + run->plan->tick_late_max;
	size_t i = judge->disturbances_count;

	while (i > 0 && judge->disturbances[i - 1].from > until)
		i--;
	return i == 0 || judge->disturbances[i - 1].until + settling < from;
}

bool judge_calm_since(const struct run *run, uint64_t time)
{
	return !run->judge.unsettled && judge_calm_between(run, time, NODE_NEVER);
}

int32_t judge_find_lock(const struct run *run, struct node_bytes name)
{
	for (uint32_t i = 0; i < run->plan->locks_count; i++) {
		if (run->locks[i].name_size == name.size &&
		    memcmp(run->locks[i].name, name.bytes, name.size) == 0)
			return (int32_t)i;
	}
	return NOBODY;
}

struct grant *judge_grant(const struct run *run, uint32_t lock, uint64_t fence)
{
	const struct lock_record *record = &run->locks[lock];

	for (size_t i = record->grants_count; i > 0 && record->grants[i - 1].fence >= fence; i--) {
		if (record->grants[i - 1].fence == fence)
			return &record->grants[i - 1];
	}
	return NULL;
}

bool judge_is_name_of(const struct run *run, uint32_t place, struct node_bytes name)
{
	const char *right = run->cluster.places[place].name;

	return name.size == strlen(right) && memcmp(name.bytes, right, name.size) == 0;
}

const struct campaign *judge_find_campaign(const struct run *run, uint32_t lock,
                                           struct node_bytes member, struct node_bytes value,
                                           uint64_t fence)
{
	uint64_t number = 0;

	for (size_t i = 0; i < value.size && number < UINT32_MAX; i++)
		number = number * 10 + (uint64_t)(value.bytes[i] - '0');
	if (value.size == 0 || number >= run->judge.campaigns_count)
		return NULL;
	const struct campaign *campaign = &run->judge.campaigns[number];
	if (campaign->lock != lock || !judge_is_name_of(run, campaign->place, member) ||
	    (campaign->fence != 0 && campaign->fence != fence))
		return NULL;
	return campaign;
}

bool judge_matches(const char *pattern, const char *name)
{
	return pattern == NULL || fnmatch(pattern, name, 0) == 0;
}
