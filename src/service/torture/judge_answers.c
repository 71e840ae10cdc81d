/*
 * The judge of answers to LEADER, BREAK and STATUS. An answer must be true and, after a time
 * without faults, complete.
 */
#include "judge_answers.h"

#include "random_run.h"
#include "spite.h"

#include "grow.h"

#include <stdlib.h>
#include <string.h>

/* Does every member answer a question of that time? Yes, if nothing has been wrong since, and if
 * answers arrive before a member counts as silent. */
static bool all_answer_since(const struct run *run, uint64_t asked)
{
	return judge_calm_since(run, asked) &&
	       2 * judge_flood(run) + run->plan->tick_late_max < NODE_SILENCE_NS;
}

void judge_elected(struct run *run, uint32_t number, uint64_t fence)
{
	const struct visitor *client = &run->clients[number];
	struct campaign *campaign = &run->judge.campaigns[client->campaign];

	campaign->answered = run->cluster.now;
	campaign->fence = fence;
	campaign->epoch = node_epoch(run->cluster.places[client->place].node);
	faults_spite(run, client->place, client->lock);
}

void judge_campaign_ended(struct run *run, int32_t campaign)
{
	if (campaign == NOBODY)
		return;
	struct campaign *ended = &run->judge.campaigns[campaign];
	ended->ended = run->cluster.now;
	if (ended->answered != NODE_NEVER)
		faults_spite(run, ended->place, ended->lock);
}

/* Returns the campaign that has led ever since the client asked, and that all members know as the
 * leader; NULL: there is none. */
static const struct campaign *must_be_told(const struct run *run, const struct visitor *client)
{
	int32_t inside = run->locks[client->lock].inside;

	if (inside == NOBODY)
		return NULL;
	for (uint32_t i = 0; i < run->clients[inside].holds_count; i++) {
		const struct visitor_hold *hold = &run->clients[inside].holds[i];
		if (hold->lock != client->lock || hold->campaign == NOBODY)
			continue;
		const struct campaign *campaign = &run->judge.campaigns[hold->campaign];
		uint64_t epoch = node_epoch(run->cluster.places[client->place].node);
		bool same_epoch = campaign->epoch == client->epoch && client->epoch == epoch;
		if (campaign->answered < client->asked &&
		    (same_epoch || all_answer_since(run, client->asked)))
			return campaign;
	}
	return NULL;
}

void judge_leader(struct run *run, uint32_t number, const struct node_effect *effect)
{
	const struct visitor *client = &run->clients[number];
	const struct campaign *right = must_be_told(run, client), *told = NULL;
	const char *name = run->locks[client->lock].name;

	if (effect->reply.kind == REPLY_LEADER) {
		told = judge_find_campaign(run, client->lock, effect->reply.member,
		                           effect->reply.value, effect->reply.number);
		if (told == NULL) {
			run_wrong(run, "client %u is told a leader of %s that there never was",
			          number, name);
			return;
		}
	}
	if (right != NULL && told != right)
		run_wrong(run, "client %u leads %s, but client %u is told otherwise", right->client,
		          name, number);
	/* All members must have heard that this leader's hold has ended, even if the leader's own
	 * node is silent now. */
	if (told != NULL && told->ended != NODE_NEVER &&
	    told->ended + judge_flood(run) < client->asked &&
	    judge_calm_between(run, told->ended, told->ended + judge_flood(run)))
		run_wrong(run,
		          "client %u stopped leading %s long ago, but client %u is told that it "
		          "leads",
		          told->client, name, number);
	/* If every member answers, so does the leader's own node. The hold had ended before the
	 * question, so that node must have answered that its client does not lead. */
	if (told != NULL && told->ended < client->asked && all_answer_since(run, client->asked))
		run_wrong(run, "client %u no longer leads %s, but client %u is told that it does",
		          told->client, name, number);
}

/* --- BREAK --- */

void judge_break(struct run *run, uint32_t number, const struct node_effect *effect)
{
	const struct visitor *client = &run->clients[number];
	const struct grant *grant = judge_grant(run, client->lock, client->fence);
	const char *name = run->locks[client->lock].name;
	bool inside = grant != NULL && grant->ended == NODE_NEVER;
	bool done = effect->reply.kind == REPLY_NUMBER && effect->reply.number == 1;

	if (effect->reply.kind == REPLY_NUMBER && effect->reply.number > 1)
		run_wrong(run, "client %u asked to break %s, and the answer is neither 0 nor 1",
		          number, name);
	if (done && inside)
		run_wrong(run, "client %u has broken %s, but its holder was not told", number,
		          name);
	if (!done && inside && grant->time < client->asked && all_answer_since(run, client->asked))
		run_wrong(run, "client %u has broken %s, but its holder still has it", number,
		          name);
}

/* --- STATUS --- */

static const struct node_status_lock *find_status(const struct node_status *status,
                                                  const struct lock_record *lock)
{
	for (uint32_t i = 0; i < status->locks_count; i++) {
		if (status->locks[i].name.size == lock->name_size &&
		    memcmp(status->locks[i].name.bytes, lock->name, lock->name_size) == 0)
			return &status->locks[i];
	}
	return NULL;
}

static bool has_waiter(const struct node_status_lock *lock, uint32_t pid)
{
	for (uint32_t i = 0; i < lock->waiters_count; i++) {
		if (lock->waiters[i].pid == pid)
			return true;
	}
	return false;
}

/* Every client that was inside or waited the whole time must be listed. */
static void check_complete(struct run *run, uint64_t asked, const char *pattern,
                           const struct node_status *status)
{
	for (uint32_t i = 0; i < run->plan->locks_count; i++) {
		const struct lock_record *lock = &run->locks[i];
		const struct node_status_lock *told = find_status(status, lock);
		if (lock->inside == NOBODY || lock->grants[lock->grants_count - 1].time >= asked ||
		    !judge_matches(pattern, lock->name))
			continue;
		if (told == NULL || told->holder == NULL ||
		    told->holder->pid != (uint32_t)lock->inside + 1 ||
		    told->fence != lock->grants[lock->grants_count - 1].fence)
			run_wrong(run, "a status does not show that client %d is inside %s",
			          (int)lock->inside, lock->name);
	}
	for (uint32_t i = 0; i < run->clients_count; i++) {
		const struct visitor *client = &run->clients[i];
		if (client->session == 0 || client->command != COMMAND_LOCK ||
		    client->asked >= asked ||
		    !judge_matches(pattern, run->locks[client->lock].name) ||
		    cluster_member(&run->cluster, cluster_latest(&run->cluster), client->place) ==
		            0)
			continue;
		const struct node_status_lock *told =
		        find_status(status, &run->locks[client->lock]);
		if (told == NULL || !has_waiter(told, i + 1))
			run_wrong(run, "a status does not show that client %u waits for %s", i,
			          run->locks[client->lock].name);
	}
}

/* Every holder that is listed must have held the lock at some time after the question. */
static void check_true(struct run *run, uint64_t asked, const char *pattern,
                       const struct node_status *status)
{
	for (uint32_t i = 0; i < status->locks_count; i++) {
		const struct node_status_lock *told = &status->locks[i];
		int32_t lock = judge_find_lock(run, told->name);
		if (lock == NOBODY) {
			run_wrong(run, "a status shows a lock that nobody ever wanted");
			return;
		}
		if (!judge_matches(pattern, run->locks[lock].name))
			run_wrong(run, "a status shows %s, which was not asked for",
			          run->locks[lock].name);
		const struct grant *grant = judge_grant(run, (uint32_t)lock, told->fence);
		if (told->holder != NULL && grant != NULL && grant->ended < asked)
			run_wrong(run, "a status shows a holder of %s that is long gone",
			          run->locks[lock].name);
	}
}

void judge_status(struct run *run, uint32_t number, const struct node_effect *effect)
{
	const struct visitor *client = &run->clients[number];
	const struct node_status *status = effect->reply.status;
	const struct cluster_view *view = cluster_latest(&run->cluster);

	check_true(run, client->asked, client->pattern, status);
	if (!all_answer_since(run, client->asked) ||
	    cluster_member(&run->cluster, view, client->place) == 0)
		return;
	if (status->epoch != view->epoch || status->members_count != view->members_count)
		run_wrong(run, "a status is of epoch %llu, which is over",
		          (unsigned long long)status->epoch);
	for (uint32_t i = 0; i < status->members_count; i++) {
		if (status->members[i].silent || !status->members[i].active)
			run_wrong(run, "a status says that %s is silent or does not serve",
			          status->members[i].name);
	}
	check_complete(run, client->asked, client->pattern, status);
}
