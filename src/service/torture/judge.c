/*
 * The judge of locks. It sees the clients' requests and the answers to them, and knows which views
 * were decided. It asks the nodes only what any observer could ask.
 */
#include "judge.h"

#include "judge_answers.h"
#include "judge_events.h"
#include "random_run.h"

#include "frames.h"
#include "grow.h"
#include "memory.h"

#include <stdlib.h>
#include <string.h>

/* --- calm --- */

/* Does a message wait because a table is full? If so, the epoch should end within about a
 * second. */
static bool is_full(const struct run *run)
{
	struct node_figures figures;

	for (uint32_t i = 0; run->plan->limits.locks != 0 && i < run->plan->places_count; i++) {
		if (!place_lives(run, i))
			continue;
		node_figures(run->cluster.places[i].node, &figures);
		if (figures.backlog_bytes != 0)
			return true;
	}
	return false;
}

/* Is there a member that does not know the last view yet, or never will? */
static bool is_unsettled(const struct run *run)
{
	const struct cluster_view *view = cluster_latest(&run->cluster);
	uint32_t fixed = run->plan->fixed;

	if (view == NULL || run->cluster.links_refused != 0 || is_full(run) ||
	    (fixed != 0 && view->members_count != fixed))
		return true;
	for (uint32_t i = 0; i < view->members_count; i++) {
		const struct cluster_place *place = &run->cluster.places[view->places[i]];
		if (place->node == NULL || place->incarnation != view->incarnations[i] ||
		    (view->told >> view->places[i] & 1) == 0)
			return true;
	}
	return false;
}

/* --- records --- */

void judge_init(struct run *run)
{
	const struct algorithm *algorithm = run->plan->algorithm;

	run->judge.unsettled = true;
	for (size_t i = 0; i < algorithm->messages_count; i++)
		run->judge.tokens_max += algorithm->messages[i].token;
	run->locks = calloc(run->plan->locks_count, sizeof(*run->locks));
	memory_must(run->locks != NULL);
	for (uint32_t i = 0; i < run->plan->locks_count; i++) {
		struct lock_record *lock = &run->locks[i];
		lock->name_size = (uint32_t)snprintf(lock->name, sizeof(lock->name), "lock-%u", i);
		/* Some names are long, up to the limit. */
		uint32_t longer = i % 8 == 3 ? 80 : i % 8 == 6 ? NODE_NAME_MAX : 0;
		for (; lock->name_size < longer; lock->name_size++)
			lock->name[lock->name_size] = 'x';
		lock->inside = NOBODY;
	}
}

void judge_free(struct run *run)
{
	for (uint32_t i = 0; i < run->plan->locks_count; i++)
		free(run->locks[i].grants);
	free(run->locks);
	free(run->judge.campaigns);
	free(run->judge.rumours);
	free(run->judge.broken);
	free(run->judge.expectations);
	free(run->judge.disturbances);
}

static bool is_firm(const struct visitor *client)
{
	return client->command == COMMAND_ELECT ||
	       (client->command == COMMAND_LOCK && client->patience != NODE_NOWAIT);
}

static void cease(const struct run *run, struct lock_record *lock)
{
	lock->interested--;
	lock->interested_end = run->cluster.now;
}

/* Notes that the client's LOCK or ELECT no longer waits. */
static void stop_waiting(struct run *run, const struct visitor *client)
{
	if (is_firm(client))
		cease(run, &run->locks[client->lock]);
}

/* Notes that the client is no longer inside. */
static void drop_hold(struct run *run, struct visitor *client, uint32_t k)
{
	struct visitor_hold hold = client->holds[k];
	struct lock_record *lock = &run->locks[hold.lock];

	judge_grant(run, hold.lock, hold.fence)->ended = run->cluster.now;
	judge_happened(run, hold.lock, hold.fence, EVENT_RELEASED);
	lock->inside = NOBODY;
	cease(run, lock);
	judge_campaign_ended(run, hold.campaign);
	client->holds[k] = client->holds[--client->holds_count];
}

/* --- acts of clients --- */

void judge_asked(struct run *run, uint32_t number)
{
	struct visitor *client = &run->clients[number];
	struct judge *judge = &run->judge;

	client->order = ++judge->asks;
	if (client->command == COMMAND_BREAK) {
		judge->broken = grow(judge->broken, &judge->broken_size, judge->broken_count + 1,
		                     sizeof(*judge->broken));
		judge->broken[judge->broken_count++] = (struct broken){client->lock, client->fence};
	}
	if (client->command == COMMAND_ELECT) {
		judge->campaigns = grow(judge->campaigns, &judge->campaigns_size,
		                        judge->campaigns_count + 1, sizeof(*judge->campaigns));
		judge->campaigns[judge->campaigns_count++] = (struct campaign){
		        .client = number,
		        .place = client->place,
		        .lock = client->lock,
		        .asked = client->asked,
		        .answered = NODE_NEVER,
		        .ended = NODE_NEVER,
		};
	}
	if (is_firm(client))
		run->locks[client->lock].interested++;
}

void judge_unlock(struct run *run, uint32_t number, uint32_t hold, int result)
{
	struct visitor *client = &run->clients[number];

	if (result != 1)
		run_wrong(run, "client %u is inside %s, and UNLOCK says %d", number,
		          run->locks[client->holds[hold].lock].name, result);
	drop_hold(run, client, hold);
}

void judge_closed(struct run *run, uint32_t number)
{
	struct visitor *client = &run->clients[number];

	while (client->holds_count > 0)
		drop_hold(run, client, client->holds_count - 1);
	if (client->command == COMMAND_LOCK || client->command == COMMAND_ELECT)
		stop_waiting(run, client);
	if (client->command == COMMAND_ELECT)
		judge_campaign_ended(run, client->campaign);
}

/* --- grants --- */

/* Checks that all members of the epoch know of it when a grant is made in it. Otherwise a client
 * with a grant of an older epoch may still be inside. */
static void check_epoch(struct run *run, uint32_t number, uint64_t fence)
{
	const struct visitor *client = &run->clients[number];
	uint64_t epoch = judge_fence_epoch(fence);
	uint64_t now = node_epoch(run->cluster.places[client->place].node);
	const struct cluster_view *view = cluster_view_of(&run->cluster, client->place, epoch);
	uint32_t members = 0;

	if (view == NULL || epoch > now || (client->command == COMMAND_LOCK && epoch != now)) {
		run_wrong(run, "client %u gets a fence of epoch %llu in epoch %llu", number,
		          (unsigned long long)epoch, (unsigned long long)now);
		return;
	}
	if ((fence & NODE_COUNTER_MAX) <= run->plan->floor)
		run_wrong(run, "client %u is let in with a number from below the floor", number);
	for (uint32_t i = 0; i < view->members_count; i++)
		members |= 1U << view->places[i];
	if (view->told != members)
		run_wrong(run,
		          "client %u gets a fence of epoch %llu, of which not all members know",
		          number, (unsigned long long)epoch);
}

/* Returns since when the place must have been asking for this client: when the client asked, or
 * when the place's last turn was over, whichever is later. */
static uint64_t asked_since(const struct run *run, const struct visitor *client)
{
	const struct lock_record *lock = &run->locks[client->lock];
	size_t i = lock->grants_count;

	while (i > 0 && lock->grants[i - 1].place != client->place)
		i--;
	if (i > 0 && lock->grants[i - 1].ended > client->asked)
		return lock->grants[i - 1].ended;
	return client->asked;
}

/* Has a client at another place waited so long that all members know of it? */
static bool is_awaited_elsewhere(const struct run *run, uint32_t lock, uint32_t place,
                                 uint64_t before)
{
	uint64_t round =
	        run->plan->places_count * (run->plan->delay_max + run->plan->tick_late_max);

	for (uint32_t i = 0; i < run->clients_count; i++) {
		const struct visitor *client = &run->clients[i];
		if (client->session != 0 && is_firm(client) && client->lock == lock &&
		    client->place != place && asked_since(run, client) + 3 * round < before &&
		    judge_calm_since(run, client->asked))
			return true;
	}
	return false;
}

/* Checks that a host whose clients enter one after the other does not starve its neighbours. */
static void check_turns(struct run *run, uint32_t number, uint32_t lock)
{
	struct lock_record *record = &run->locks[lock];
	uint32_t place = run->clients[number].place;
	size_t count = record->grants_count;

	if (count < 2 || record->grants[count - 2].place != place ||
	    !is_awaited_elsewhere(run, lock, place, record->grants[count - 2].time)) {
		record->row = 1;
		return;
	}
	if (++record->row > run->plan->turns + 1)
		run_wrong(run, "%u clients of %s in a row are let into %s while others wait",
		          record->row, run->cluster.places[place].name, record->name);
}

/* Checks that the clients of one node enter in the order in which they asked. */
static void check_order(struct run *run, uint32_t number)
{
	const struct visitor *client = &run->clients[number];

	for (uint32_t i = 0; i < run->clients_count; i++) {
		const struct visitor *other = &run->clients[i];
		if (other->session != 0 && other->place == client->place &&
		    (other->command == COMMAND_LOCK || other->command == COMMAND_ELECT) &&
		    other->lock == client->lock && other->asked < client->asked)
			run_wrong(run, "client %u is let into %s before client %u, who came first",
			          number, run->locks[client->lock].name, i);
	}
}

static void granted(struct run *run, uint32_t number, uint64_t fence)
{
	struct visitor *client = &run->clients[number];
	struct lock_record *lock = &run->locks[client->lock];

	if (lock->inside != NOBODY)
		run_wrong(run, "clients %d and %u are inside %s at once", (int)lock->inside, number,
		          lock->name);
	if (lock->grants_count != 0 && fence <= lock->grants[lock->grants_count - 1].fence)
		run_wrong(run, "a fence of %s is not greater than the one before", lock->name);
	check_epoch(run, number, fence);
	check_order(run, number);
	if (!is_firm(client))
		lock->interested++;
	lock->inside = (int32_t)number;
	lock->grants = grow(lock->grants, &lock->grants_size, lock->grants_count + 1,
	                    sizeof(*lock->grants));
	lock->grants[lock->grants_count++] = (struct grant){
	        .fence = fence,
	        .place = client->place,
	        .time = run->cluster.now,
	        .ended = NODE_NEVER,
	        .order = client->order,
	};
	/* An ELECT is answered some time after its grant, so only a LOCK is reported as granted
	 * now. */
	if (client->command == COMMAND_LOCK)
		judge_happened(run, client->lock, fence, EVENT_GRANTED);
	must(client->holds_count < HOLDS_MAX);
	client->holds[client->holds_count++] = (struct visitor_hold){
	        client->lock, fence, client->asked, is_firm(client), client->campaign};
	run->result->grants++;
	check_turns(run, number, client->lock);
}

/* --- clients that are not let in --- */

/* Has another client held or wanted the lock from before this client asked until now? */
static bool is_taken_since(const struct run *run, const struct visitor *client)
{
	for (uint32_t i = 0; i < run->clients_count; i++) {
		const struct visitor *other = &run->clients[i];
		if (other->session == 0 || other == client ||
		    cluster_member(&run->cluster, cluster_latest(&run->cluster), other->place) == 0)
			continue;
		if (is_firm(other) && other->lock == client->lock && other->asked < client->asked)
			return true;
		for (uint32_t k = 0; k < other->holds_count; k++) {
			if (other->holds[k].lock == client->lock && other->holds[k].firm &&
			    other->holds[k].asked < client->asked)
				return true;
		}
	}
	return false;
}

/*
 * Should the client have been told some time ago that the lock is taken? Yes, if the client inside
 * asked first and its node has received this client's question. That node answers when it lets a
 * client in, even a client that said NOWAIT.
 */
static bool is_overdue(const struct run *run, const struct visitor *client,
                       const struct grant *inside)
{
	uint64_t flood = judge_flood(run), known = client->asked + flood;

	if (inside->time > known)
		known = inside->time;
	return inside->order < client->order && inside->ended > known &&
	       known + flood + run->plan->tick_late_max < run->cluster.now;
}

/* Checks an answer that the lock is busy. If the lock was taken the whole time but the answer came
 * late, a BUSY was not delivered. */
static void check_busy(struct run *run, uint32_t number)
{
	const struct visitor *client = &run->clients[number];
	const struct lock_record *lock = &run->locks[client->lock];
	uint64_t both_ways = 2 * judge_flood(run) + run->plan->tick_late_max;
	bool taken = client->asked + both_ways < run->cluster.now && is_taken_since(run, client);

	for (size_t i = lock->grants_count; i > 0 && lock->grants[i - 1].ended > client->asked; i--)
		taken = taken || is_overdue(run, client, &lock->grants[i - 1]);
	if (taken && judge_calm_since(run, client->asked))
		run_wrong(run, "client %u said NOWAIT, %s was taken, and nobody told it", number,
		          run->locks[client->lock].name);
}

/* Is one second ample time for any algorithm to let a client in, even if all nodes ask? Not if the
 * epoch may run out of numbers. */
static bool is_second_enough(const struct run *run)
{
	const struct plan *plan = run->plan;
	uint64_t hops = 6 * (uint64_t)plan->places_count * plan->places_count;

	return plan->floor == 0 &&
	       hops * (plan->delay_max + plan->idle_hop + plan->tick_late_max) < NODE_NOWAIT_NS;
}

static void check_nowait(struct run *run, uint32_t number, const struct node_effect *effect)
{
	const struct visitor *client = &run->clients[number];
	const struct lock_record *lock = &run->locks[client->lock];
	uint64_t waited = run->cluster.now - client->asked;
	uint64_t settling = 2 * judge_flood(run) + run->plan->tick_late_max;

	if (waited > NODE_NOWAIT_NS + run->plan->tick_late_max)
		run_wrong(run, "client %u said NOWAIT and waited for more than a second", number);
	check_busy(run, number);
	if (!judge_calm_since(run, client->asked) || lock->interested != 0 ||
	    lock->interested_end + settling >= client->asked)
		return;
	if (effect->reply.kind == REPLY_NIL)
		run_wrong(run, "client %u said NOWAIT and is told that %s is taken, but it is free",
		          number, lock->name);
	else if (is_second_enough(run))
		run_wrong(run, "client %u said NOWAIT, %s is free, and nobody is let in", number,
		          lock->name);
}

/* Checks the members that an answer names as silent. While nothing is wrong, every member answers,
 * if answers can arrive in time. */
static void check_silent(struct run *run, uint32_t number, const struct node_effect *effect)
{
	const struct visitor *client = &run->clients[number];
	uint64_t both_ways = 2 * judge_flood(run) + run->plan->tick_late_max;
	uint64_t patience = client->patience == NODE_NOWAIT ? NODE_NOWAIT_NS : NODE_SILENCE_NS;

	if (effect->reply.kind == REPLY_ERROR && effect->reply.silent.size != 0 &&
	    both_ways < patience && judge_calm_since(run, client->asked))
		run_wrong(run, "client %u is told that %.*s did not answer, and all is calm",
		          number, (int)effect->reply.silent.size, effect->reply.silent.bytes);
}

static void refused(struct run *run, uint32_t number, const struct node_effect *effect)
{
	const struct visitor *client = &run->clients[number];
	uint64_t waited = run->cluster.now - client->asked;

	if (client->patience == NODE_NOWAIT)
		check_nowait(run, number, effect);
	else if (client->patience == NODE_WAIT || client->timeout == NODE_NEVER)
		run_wrong(run, "client %u set no time limit, and is told nil", number);
	else if (waited < client->timeout ||
	         waited > client->timeout + NODE_SILENCE_NS + 2 * run->plan->tick_late_max)
		run_wrong(run, "client %u asked to wait for at most %llu ns, and waited %llu",
		          number, (unsigned long long)client->timeout, (unsigned long long)waited);
	check_silent(run, number, effect);
	stop_waiting(run, client);
}

/* May the client lose the lock? Only by BREAK, or because its node is out of the view. */
static bool may_lose(const struct run *run, const struct visitor *client, uint32_t lock,
                     uint64_t fence)
{
	const struct judge *judge = &run->judge;

	if (node_self(run->cluster.places[client->place].node) == 0)
		return true;
	for (size_t i = 0; i < judge->broken_count; i++) {
		if (judge->broken[i].lock == lock && judge->broken[i].fence == fence)
			return true;
	}
	return false;
}

static uint32_t find_hold(const struct visitor *client, int32_t lock, uint64_t fence)
{
	uint32_t i = 0;

	while (i < client->holds_count &&
	       ((int32_t)client->holds[i].lock != lock || client->holds[i].fence != fence))
		i++;
	return i;
}

void judge_lost(struct run *run, uint32_t number, const struct node_effect *effect)
{
	struct visitor *client = &run->clients[number];
	int32_t lock = judge_find_lock(run, effect->lost.name);
	uint32_t hold = find_hold(client, lock, effect->lost.fence);

	if (hold == client->holds_count &&
	    (client->command != COMMAND_ELECT || (int32_t)client->lock != lock || client->lost)) {
		run_wrong(run, "client %u loses what it does not have", number);
		return;
	}
	if (!may_lose(run, client, (uint32_t)lock, effect->lost.fence))
		run_wrong(run, "client %u loses %s for no reason", number, run->locks[lock].name);
	if (hold < client->holds_count) {
		drop_hold(run, client, hold);
		return;
	}
	client->lost = true;
	judge_campaign_ended(run, client->campaign);
}

void judge_told(struct run *run, uint32_t place)
{
	judge_disturbed(run, run->cluster.now);
	if (!run->cluster.places[place].out)
		return;
	for (uint32_t i = 0; i < run->clients_count; i++) {
		if (run->clients[i].place == place && run->clients[i].session != 0 &&
		    run->clients[i].holds_count != 0)
			run_wrong(run, "%s is out of the view, and client %u is still inside",
			          run->cluster.places[place].name, i);
	}
}

/* --- replies --- */

static void judge_acquired(struct run *run, uint32_t number, const struct node_effect *effect)
{
	const struct visitor *client = &run->clients[number];
	int error = effect->reply.kind == REPLY_ERROR ? effect->reply.error : 0;
	bool no_view = error == BATON_ENOVIEW && client->patience != NODE_WAIT &&
	               !judge_calm_since(run, client->asked);
	bool taken_away = error == BATON_ELOST && client->command == COMMAND_ELECT && client->lost;

	if (effect->reply.kind == REPLY_FENCE) {
		if (client->command == COMMAND_LOCK && client->patience == NODE_NOWAIT)
			check_busy(run, number);
		granted(run, number, effect->reply.number);
		if (client->command == COMMAND_ELECT)
			judge_elected(run, number, effect->reply.number);
	} else if (effect->reply.kind == REPLY_NIL || error == BATON_ESILENT) {
		refused(run, number, effect);
	} else if (no_view || taken_away) {
		stop_waiting(run, client);
	} else {
		run_wrong(run, "client %u asked for a lock and is answered otherwise", number);
	}
}

void judge_reply(struct run *run, uint32_t number, const struct node_effect *effect)
{
	enum node_reply_kind kind = effect->reply.kind;
	bool no_view = kind == REPLY_ERROR && effect->reply.error == BATON_ENOVIEW &&
	               node_self(run->cluster.places[run->clients[number].place].node) == 0;

	switch (run->clients[number].command) {
	case COMMAND_LOCK:
	case COMMAND_ELECT:
		judge_acquired(run, number, effect);
		return;
	case COMMAND_LEADER:
		if (kind == REPLY_LEADER || kind == REPLY_NIL) {
			judge_leader(run, number, effect);
			return;
		}
		break;
	case COMMAND_BREAK:
		no_view = no_view || (kind == REPLY_ERROR && effect->reply.error == BATON_ESILENT);
		if (kind == REPLY_NUMBER || no_view) {
			judge_break(run, number, effect);
			return;
		}
		break;
	case COMMAND_STATUS:
		if (kind == REPLY_STATUS) {
			judge_status(run, number, effect);
			return;
		}
		break;
	case COMMAND_SUBSCRIBE:
		if (kind == REPLY_NUMBER) {
			judge_subscribed(run, number, effect->reply.number);
			return;
		}
		break;
	case COMMAND_NONE:
		break;
	}
	if (!no_view)
		run_wrong(run, "client %u gets an answer of another kind than it asked for",
		          number);
}

/* --- after every event, and at the end --- */

/* The epochs of all tokens of a lock. */
struct tokens {
	const struct run *run;
	const struct lock_record *lock;
	uint64_t epochs[64];
	uint32_t count;
};

static void add_token(struct tokens *tokens, uint64_t epoch)
{
	if (tokens->count < sizeof(tokens->epochs) / sizeof(*tokens->epochs))
		tokens->epochs[tokens->count++] = epoch;
}

static void add_flying(void *context, const uint8_t *bytes, size_t size)
{
	struct tokens *tokens = context;
	uint64_t epoch;
	uint32_t count = frames_tokens(tokens->run->plan->algorithm, bytes, size,
	                               tokens->lock->name, tokens->lock->name_size, &epoch);

	while (count-- > 0)
		add_token(tokens, epoch);
}

/* Counts the tokens that are at a place and those in flight. When all is quiet, all tokens must be
 * at the same place. */
static void check_tokens(struct run *run, uint32_t lock, bool exactly_one)
{
	struct tokens tokens = {.run = run, .lock = &run->locks[lock]};

	for (uint32_t i = 0; i < run->plan->places_count; i++) {
		struct node *node = run->cluster.places[i].node;
		if (node != NULL && node_self(node) != 0 &&
		    node_has_token(node, tokens.lock->name, tokens.lock->name_size))
			add_token(&tokens, node_epoch(node));
	}
	if (exactly_one && tokens.count != 1)
		run_wrong(run, "all is quiet, and %s has tokens at %u members", tokens.lock->name,
		          tokens.count);
	cluster_each_frame(&run->cluster, add_flying, &tokens);
	for (uint32_t i = 0; i < tokens.count; i++) {
		uint32_t same = 0;
		for (uint32_t k = 0; k < tokens.count; k++)
			same += tokens.epochs[k] == tokens.epochs[i];
		if (same > run->judge.tokens_max)
			run_wrong(run, "%u tokens of %s in epoch %llu", same, tokens.lock->name,
			          (unsigned long long)tokens.epochs[i]);
	}
}

void judge_after_event(struct run *run)
{
	enum { LOCKS_EACH_TIME = 2 };
	struct judge *judge = &run->judge;

	if (judge->unsettled)
		judge_disturb(judge, judge->looked, run->cluster.now);
	judge->unsettled = is_unsettled(run);
	judge->looked = run->cluster.now;
	judge_events(run, false);
	if (!run->plan->algorithm->has_token)
		return;
	for (uint32_t i = 0; i < LOCKS_EACH_TIME && i < run->plan->locks_count; i++) {
		check_tokens(run, judge->next_token, false);
		judge->next_token = (judge->next_token + 1) % run->plan->locks_count;
	}
}

void judge_served(struct run *run)
{
	static const char *const names[] = {"nothing", "LOCK",   "ELECT",    "LEADER",
	                                    "BREAK",   "STATUS", "SUBSCRIBE"};

	for (uint32_t i = 0; i < run->clients_count; i++) {
		const struct visitor *client = &run->clients[i];
		if (client->session != 0 && client->command != COMMAND_NONE)
			run_wrong(run, "all is quiet, and client %u of %s still waits: %s %s", i,
			          run->cluster.places[client->place].name, names[client->command],
			          run->locks[client->lock].name);
	}
}

void judge_quiet(struct run *run)
{
	const struct cluster_view *view = cluster_latest(&run->cluster);

	judge_events(run, true);
	if (run->cluster.frames_flying != 0)
		run_wrong(run, "nothing happens any more, and %llu frames are under way",
		          (unsigned long long)run->cluster.frames_flying);
	for (uint32_t i = 0; i < run->plan->places_count; i++) {
		struct node *node = run->cluster.places[i].node;
		struct node_figures figures;
		if (node == NULL)
			continue;
		if (node_waiting_for(node) != NULL)
			run_wrong(run, "all is quiet, and %s waits for %s",
			          run->cluster.places[i].name, node_waiting_for(node));
		node_figures(node, &figures);
		if (figures.backlog_bytes != 0 || figures.malformed != 0)
			run_wrong(run, "all is quiet, and %s keeps %llu bytes; %llu were malformed",
			          run->cluster.places[i].name,
			          (unsigned long long)figures.backlog_bytes,
			          (unsigned long long)figures.malformed);
	}
	for (uint32_t i = 0; i < run->plan->locks_count; i++) {
		const struct lock_record *lock = &run->locks[i];
		bool granted_now = lock->grants_count != 0 &&
		                   lock->grants[lock->grants_count - 1].fence >
		                           ((view->epoch << NODE_COUNTER_BITS) | run->plan->floor);
		if (run->plan->algorithm->has_token)
			check_tokens(run, i, granted_now);
	}
}

void judge_empty(struct run *run)
{
	for (uint32_t i = 0; i < run->plan->places_count; i++) {
		const struct node *node = run->cluster.places[i].node;
		struct node_figures figures;
		if (node == NULL)
			continue;
		node_figures(node, &figures);
		if (figures.locks != 0 || figures.lock_bytes != 0 || figures.backlog_bytes != 0)
			run_wrong(run,
			          "nobody wants anything in a new epoch, and %s knows %llu locks",
			          run->cluster.places[i].name, (unsigned long long)figures.locks);
		if (run->plan->places_count == 1 && figures.sent + figures.control_sent != 0)
			run_wrong(run, "a node that is alone has sent something");
	}
}
