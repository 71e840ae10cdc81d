/*
 * The judge of events: they must be in order, none twice and none invented. While nothing is wrong,
 * every subscriber must be told everything that happens.
 */
#include "judge_events.h"

#include "random_run.h"

#include "grow.h"

#include <stdlib.h>
#include <string.h>

/* Orders the events of one fence: granted, perhaps leader, then released or lost. */
static uint64_t rank_of(uint64_t fence, enum node_event_kind kind)
{
	return fence * 4 + (kind == EVENT_GRANTED ? 0 : kind == EVENT_LEADER ? 1 : 2);
}

void judge_subscribed(struct run *run, uint32_t number, uint64_t count)
{
	struct visitor *client = &run->clients[number];

	if (count != client->subscriptions_count)
		run_wrong(run, "client %u has %u subscriptions, but the answer is %llu", number,
		          client->subscriptions_count, (unsigned long long)count);
	/* The subscriptions that waited for this acknowledgement are active now. */
	for (uint32_t i = 0; i < client->subscriptions_count; i++) {
		if (client->subscriptions[i].since == NODE_NEVER)
			client->subscriptions[i].since = client->asked;
	}
}

static bool is_for(const struct visitor_subscription *subscription, const char *lock)
{
	return subscription->pattern ? judge_matches(subscription->text, lock)
	                             : strcmp(subscription->text, lock) == 0;
}

/* --- events that clients get --- */

static struct visitor_subscription *find_subscription(struct visitor *client,
                                                      const struct node_effect *effect)
{
	bool pattern = effect->event.pattern.bytes != NULL;
	struct node_bytes text = pattern ? effect->event.pattern : effect->event.name;

	for (uint32_t i = 0; i < client->subscriptions_count; i++) {
		struct visitor_subscription *subscription = &client->subscriptions[i];
		if (subscription->pattern == pattern && strlen(subscription->text) == text.size &&
		    memcmp(subscription->text, text.bytes, text.size) == 0)
			return subscription;
	}
	return NULL;
}

/* Notes what the event says: a client was let in at that place with that fence. check_rumours
 * checks it later, because the judge may learn of the grant only a moment after the event. The
 * judge never learns of the grant of an ELECT that is not answered. */
static void check_grant(struct run *run, uint32_t lock, const struct node_effect *effect)
{
	struct judge *judge = &run->judge;
	uint32_t place = 0;

	while (place < run->plan->places_count &&
	       !judge_is_name_of(run, place, effect->event.member))
		place++;
	judge->rumours = grow(judge->rumours, &judge->rumours_size, judge->rumours_count + 1,
	                      sizeof(*judge->rumours));
	judge->rumours[judge->rumours_count++] = (struct rumour){
	        lock,
	        effect->event.fence,
	        place,
	        effect->event.kind,
	};
}

/* Notes that the subscriber has been told this event. The judge no longer waits for it. */
static void meet(struct run *run, uint32_t number, const struct visitor_subscription *subscription,
                 uint32_t lock, uint64_t rank)
{
	struct judge *judge = &run->judge;

	for (size_t i = 0; i < judge->expectations_count; i++) {
		const struct expectation *wanted = &judge->expectations[i];
		if (wanted->client != number || wanted->pattern != subscription->pattern ||
		    wanted->text != subscription->text || wanted->lock != lock ||
		    wanted->rank != rank)
			continue;
		judge->expectations[i] = judge->expectations[--judge->expectations_count];
		return;
	}
}

void judge_event(struct run *run, uint32_t number, const struct node_effect *effect)
{
	struct visitor *client = &run->clients[number];
	struct visitor_subscription *subscription = find_subscription(client, effect);
	int32_t lock = judge_find_lock(run, effect->event.name);
	enum node_event_kind kind = effect->event.kind;

	if (subscription == NULL || lock == NOBODY ||
	    !is_for(subscription, run->locks[lock].name)) {
		run_wrong(run, "client %u receives an event that it has not subscribed to", number);
		return;
	}
	uint64_t rank = rank_of(effect->event.fence, kind);
	if (rank <= subscription->last[lock])
		run_wrong(run, "client %u receives events of %s out of order, or twice", number,
		          run->locks[lock].name);
	subscription->last[lock] = rank;
	meet(run, number, subscription, (uint32_t)lock, rank);
	/* Events that were held back in the old epoch are delivered when the new one begins. */
	if ((kind == EVENT_GRANTED || kind == EVENT_LEADER) &&
	    judge_fence_epoch(effect->event.fence) < run->cluster.places[client->place].epoch)
		run_wrong(run, "client %u is told of a grant of %s in an epoch that is over",
		          number, run->locks[lock].name);
	if (kind == EVENT_LEADER &&
	    judge_find_campaign(run, (uint32_t)lock, effect->event.member, effect->event.value,
	                        effect->event.fence) == NULL)
		run_wrong(run, "client %u is told of a leader of %s that never existed", number,
		          run->locks[lock].name);
	check_grant(run, (uint32_t)lock, effect);
}

static bool is_true(const struct run *run, const struct rumour *rumour)
{
	const struct grant *grant = judge_grant(run, rumour->lock, rumour->fence);
	bool over = rumour->kind == EVENT_RELEASED || rumour->kind == EVENT_LOST;

	if (grant != NULL)
		return grant->place == rumour->place && (!over || grant->ended != NODE_NEVER);
	for (size_t i = 0; i < run->judge.campaigns_count; i++) {
		const struct campaign *campaign = &run->judge.campaigns[i];
		if (campaign->lock == rumour->lock && campaign->place == rumour->place &&
		    campaign->fence == 0 && (!over || campaign->ended != NODE_NEVER))
			return true;
	}
	return false;
}

static void check_rumours(struct run *run)
{
	struct judge *judge = &run->judge;

	for (size_t i = 0; i < judge->rumours_count; i++) {
		if (!is_true(run, &judge->rumours[i]))
			run_wrong(run, "an event of %s says something that has not happened",
			          run->locks[judge->rumours[i].lock].name);
	}
	judge->rumours_count = 0;
}

/* --- events that clients must get --- */

/*
 * Must this subscription get the event? Not if it has the event already, as may happen to a
 * subscriber at the same node. Nor must it get the end of a hold from an older epoch if it was not
 * told of the beginning of that hold: where not all members are linked, the end may arrive after
 * the next grant.
 */
static bool must_tell(const struct run *run, const struct visitor_subscription *subscription,
                      uint32_t lock, uint64_t rank)
{
	uint64_t epoch = cluster_latest(&run->cluster)->epoch, fence = rank / 4;

	return subscription->since != NODE_NEVER &&
	       subscription->since + judge_flood(run) < run->cluster.now &&
	       subscription->last[lock] < rank && is_for(subscription, run->locks[lock].name) &&
	       (run->plan->algorithm->links == GRAPH_COMPLETE ||
	        judge_fence_epoch(fence) == epoch || subscription->last[lock] >= fence * 4);
}

/* Notes that all subscribers must be told of this event. Notes nothing if messages may take so long
 * that they count as lost. */
void judge_happened(struct run *run, uint32_t lock, uint64_t fence, enum node_event_kind kind)
{
	struct judge *judge = &run->judge;
	uint64_t rank = rank_of(fence, kind);

	if (2 * judge_flood(run) + run->plan->tick_late_max >= NODE_SILENCE_NS)
		return;
	for (uint32_t i = 0; i < run->clients_count; i++) {
		const struct visitor *client = &run->clients[i];
		if (client->session == 0 ||
		    cluster_member(&run->cluster, cluster_latest(&run->cluster), client->place) ==
		            0)
			continue;
		for (uint32_t k = 0; k < client->subscriptions_count; k++) {
			const struct visitor_subscription *subscription = &client->subscriptions[k];
			if (!must_tell(run, subscription, lock, rank))
				continue;
			judge->expectations =
			        grow(judge->expectations, &judge->expectations_size,
			             judge->expectations_count + 1, sizeof(*judge->expectations));
			judge->expectations[judge->expectations_count++] = (struct expectation){
			        .client = i,
			        .session = client->session,
			        .pattern = subscription->pattern,
			        .text = subscription->text,
			        .lock = lock,
			        .rank = rank,
			        .time = run->cluster.now,
			};
		}
	}
}

/* Is the client still subscribed? */
static bool is_wanted(const struct run *run, const struct expectation *wanted)
{
	const struct visitor *client = &run->clients[wanted->client];

	if (client->session != wanted->session)
		return false;
	for (uint32_t i = 0; i < client->subscriptions_count; i++) {
		const struct visitor_subscription *subscription = &client->subscriptions[i];
		if (subscription->pattern == wanted->pattern &&
		    subscription->text == wanted->text && subscription->since < wanted->time)
			return true;
	}
	return false;
}

/* Checks that all expected events were delivered. It allows much time, because a node may hold an
 * event back until an older one arrives. */
static void check_expectations(struct run *run, bool quiet)
{
	struct judge *judge = &run->judge;
	uint64_t patience = judge_flood(run) + 2 * (NODE_SILENCE_NS + run->plan->tick_late_max);
	size_t kept = 0;

	for (size_t i = 0; i < judge->expectations_count; i++) {
		const struct expectation *wanted = &judge->expectations[i];
		if (!quiet && wanted->time + patience >= run->cluster.now) {
			judge->expectations[kept++] = *wanted;
			continue;
		}
		if (judge_calm_between(run, wanted->time, wanted->time + patience) &&
		    is_wanted(run, wanted))
			run_wrong(run, "client %u is not told what happened to %s at %llu ns",
			          wanted->client, run->locks[wanted->lock].name,
			          (unsigned long long)wanted->time);
	}
	judge->expectations_count = kept;
}

void judge_events(struct run *run, bool quiet)
{
	check_rumours(run);
	check_expectations(run, quiet);
}
