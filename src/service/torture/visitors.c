/*
 * Random clients. Each acts when it is woken, one thing at a time: it opens a session somewhere,
 * asks for a lock or something else, releases a lock, or goes away, perhaps while it waits. A
 * client that holds a lock never waits without a timeout for one that comes earlier in the order of
 * locks, so that clients cannot block each other.
 */
#include "memory.h"
#include "visitor.h"

#include "judge.h"
#include "judge_events.h"
#include "random_run.h"
#include "spite.h"

#include <stdlib.h>
#include <string.h>

static struct node *node_of(const struct run *run, const struct visitor *client)
{
	return run->cluster.places[client->place].node;
}

void visitor_wake(struct run *run, uint32_t number, uint64_t delay)
{
	cluster_push(&run->cluster, &(struct event){
	                                    .time = run->cluster.now + delay,
	                                    .kind = EVENT_CLIENT,
	                                    .node = number,
	                                    .number = ++run->clients[number].wake,
	                            });
}

/* Lets the client act again after it has thought, or has held its locks, for a while. */
static void rest(struct run *run, uint32_t number)
{
	const struct plan *plan = run->plan;
	bool holds = run->clients[number].holds_count != 0;

	visitor_wake(run, number,
	             distribution_draw(holds ? &plan->hold : &plan->think, &run->random));
}

static void note(struct run *run, uint32_t number, enum note_kind kind, uint64_t b, int64_t result,
                 const char *text)
{
	cluster_note(&run->cluster, &(struct note){kind, run->clients[number].place, number, b,
	                                           (uint64_t)result, text, strlen(text)});
}

/* Lets the node do what is due before the client acts, because a reply to this client may be
 * due. */
static void catch_up(struct run *run, const struct visitor *client)
{
	cluster_tick(&run->cluster, client->place);
}

/* --- sessions --- */

void visitor_open(struct run *run, uint32_t number, uint32_t place)
{
	struct visitor *client = &run->clients[number];
	char command[32];
	struct node_client who = {.pid = number + 1, .uid = 1000, .command = command};

	snprintf(command, sizeof(command), "client %u", number);
	client->place = place;
	client->session = node_session_open(node_of(run, client), &who, run->cluster.now);
	note(run, number, NOTE_OPEN, 0, (int64_t)client->session, "");
	if (client->session == 0 && run->plan->limits.sessions == 0)
		run_wrong(run, "client %u gets no session, and there is no limit", number);
	cluster_after(&run->cluster, place);
}

void visitor_forget(struct visitor *client)
{
	while (client->subscriptions_count > 0)
		free(client->subscriptions[--client->subscriptions_count].last);
}

void visitor_orphan(struct run *run, uint32_t number)
{
	struct visitor *client = &run->clients[number];

	judge_closed(run, number);
	client->session = 0;
	client->command = COMMAND_NONE;
	client->holds_count = 0;
	visitor_forget(client);
	if (run->act == ACT_FAULTS)
		rest(run, number);
}

void visitor_close(struct run *run, uint32_t number)
{
	struct visitor *client = &run->clients[number];
	uint64_t session = client->session;

	catch_up(run, client);
	/* Tell the judge first: the call below may already let another client in. */
	visitor_orphan(run, number);
	note(run, number, NOTE_CLOSE, 0, 0, "");
	node_session_close(node_of(run, client), session, run->cluster.now);
	cluster_after(&run->cluster, client->place);
}

/* --- commands --- */

static bool holds_lock(const struct visitor *client, uint32_t lock)
{
	for (uint32_t i = 0; i < client->holds_count; i++) {
		if (client->holds[i].lock == lock)
			return true;
	}
	return false;
}

/* Is this an error with which a node may refuse the command? Any other error is wrong. */
static bool may_refuse(const struct run *run, const struct visitor *client, uint32_t lock,
                       bool was_busy, int error)
{
	const struct node_limits *limits = &run->plan->limits;

	switch (error) {
	case BATON_EBUSY:
		return was_busy;
	case BATON_ENOVIEW:
		return node_self(node_of(run, client)) == 0;
	case BATON_EHELD:
		return holds_lock(client, lock);
	case BATON_EWAITERS:
		return limits->waiters != 0;
	case BATON_ELOCKS:
		return limits->locks != 0;
	case BATON_ELEADERS:
		return limits->leaders != 0;
	case BATON_ESUBSCRIPTIONS:
		return limits->subscriptions != 0;
	default:
		return false;
	}
}

/* A command as the journal shows it, and the node's answer to it. */
struct order {
	enum note_kind note;
	uint32_t lock;
	uint64_t b;
	const char *text;
	int result;
};

/* Notes a command and the node's answer. If the node has refused it, the command in `before` is
 * still pending. */
static void ordered(struct run *run, uint32_t number, const struct order *order,
                    const struct visitor *before)
{
	struct visitor *client = &run->clients[number];
	bool was_busy = before->command != COMMAND_NONE;

	note(run, number, order->note, order->b, order->result, order->text);
	if (order->result == 0 && was_busy)
		run_wrong(run, "client %u has two commands under way", number);
	if (order->result < 0) {
		if (!may_refuse(run, client, order->lock, was_busy, order->result))
			run_wrong(run, "client %u is refused with %d, for no reason", number,
			          order->result);
		*client = *before;
	} else {
		judge_asked(run, number);
	}
	cluster_after(&run->cluster, client->place);
	if (client->session == 0 || was_busy)
		return;
	if (client->command == COMMAND_NONE) {
		if (order->result < 0)
			rest(run, number);
	} else if (run->act == ACT_FAULTS && run_chance(run, 15)) {
		rest(run, number);
	}
}

/* Prepares the client for a new command; `ret_before` is for `ordered`. */
static struct visitor *prepare(struct run *run, uint32_t number, enum command_kind command,
                               uint32_t lock, struct visitor *ret_before)
{
	struct visitor *client = &run->clients[number];

	catch_up(run, client);
	*ret_before = *client;
	client->command = command;
	client->lock = lock;
	client->asked = run->cluster.now;
	client->timeout = 0;
	client->campaign = NOBODY;
	client->lost = false;
	client->epoch = node_epoch(node_of(run, client));
	return client;
}

void visitor_lock(struct run *run, uint32_t number, uint32_t lock, enum node_patience patience,
                  uint64_t timeout)
{
	static const enum note_kind notes[] = {NOTE_LOCK, NOTE_LOCK_TIMEOUT, NOTE_LOCK_NOWAIT};
	const struct lock_record *record = &run->locks[lock];
	struct visitor before, *client = prepare(run, number, COMMAND_LOCK, lock, &before);

	client->patience = patience;
	client->timeout = timeout;
	int result = node_lock(node_of(run, client), client->session, record->name,
	                       record->name_size, patience, timeout, run->cluster.now);
	ordered(run, number,
	        &(struct order){notes[patience], lock, run->cluster.now + timeout, record->name,
	                        result},
	        &before);
}

static void visitor_elect(struct run *run, uint32_t number, uint32_t lock)
{
	const struct lock_record *record = &run->locks[lock];
	struct visitor before, *client = prepare(run, number, COMMAND_ELECT, lock, &before);
	char value[NODE_VALUE_MAX + 1];

	client->patience = NODE_WAIT;
	client->campaign = (int32_t)run->judge.campaigns_count;
	faults_campaign(run, client->place);
	/* The value is the campaign's number, sometimes padded to the longest value allowed. */
	snprintf(value, sizeof(value), "%0*d", run_chance(run, 5) ? NODE_VALUE_MAX : 1,
	         (int)client->campaign);
	int result =
	        node_elect(node_of(run, client), client->session, record->name, record->name_size,
	                   value, strlen(value), NODE_WAIT, 0, run->cluster.now);
	ordered(run, number,
	        &(struct order){NOTE_ELECT, lock, (uint64_t)client->campaign, record->name, result},
	        &before);
}

void visitor_ask_leader(struct run *run, uint32_t number, uint32_t lock)
{
	const struct lock_record *record = &run->locks[lock];
	struct visitor before, *client = prepare(run, number, COMMAND_LEADER, lock, &before);
	int result = node_leader(node_of(run, client), client->session, record->name,
	                         record->name_size, run->cluster.now);

	ordered(run, number, &(struct order){NOTE_LEADER, lock, 0, record->name, result}, &before);
}

/* Breaks a hold with one of several fences: that of a holder, an old one, or the next one, which
 * may belong to a leader that is not announced yet. */
static void visitor_break(struct run *run, uint32_t number, uint32_t lock)
{
	const struct lock_record *record = &run->locks[lock];
	struct visitor before, *client = prepare(run, number, COMMAND_BREAK, lock, &before);
	uint64_t fence = 1;

	if (record->grants_count != 0)
		fence = record->grants[record->grants_count - 1].fence + run_chance(run, 20);
	client->fence = fence;
	int result = node_break(node_of(run, client), client->session, record->name,
	                        record->name_size, fence, run->cluster.now);
	ordered(run, number, &(struct order){NOTE_BREAK, lock, fence, record->name, result},
	        &before);
}

static const char *const patterns[] = {"*", "lock-?", "lock-1*", "*[135]"};

static const char *draw_pattern(struct run *run)
{
	return patterns[run_draw(run, sizeof(patterns) / sizeof(*patterns))];
}

static void visitor_status(struct run *run, uint32_t number)
{
	struct visitor before, *client = prepare(run, number, COMMAND_STATUS, 0, &before);

	client->pattern = run_chance(run, 60) ? NULL : draw_pattern(run);
	int result = node_status(node_of(run, client), client->session, client->pattern,
	                         client->pattern != NULL ? strlen(client->pattern) : 0,
	                         (struct node_bytes){NULL, 0}, 0, run->cluster.now);
	ordered(run, number,
	        &(struct order){NOTE_STATUS, 0, 0, client->pattern != NULL ? client->pattern : "",
	                        result},
	        &before);
}

static struct visitor_subscription draw_subscription(struct run *run)
{
	bool pattern = run_chance(run, 40);
	uint32_t lock = run_draw(run, run->plan->locks_count);

	return (struct visitor_subscription){
	        .pattern = pattern,
	        .text = pattern ? draw_pattern(run) : run->locks[lock].name,
	};
}

void visitor_subscribe(struct run *run, uint32_t number, const struct visitor_subscription *wanted)
{
	struct visitor before, *client = prepare(run, number, COMMAND_SUBSCRIBE, 0, &before);
	int result = node_subscribe(node_of(run, client), client->session, wanted->pattern,
	                            wanted->text, strlen(wanted->text), run->cluster.now);

	if (result == 0) {
		struct visitor_subscription *added =
		        &client->subscriptions[client->subscriptions_count++];
		*added = *wanted;
		added->since = NODE_NEVER;
		added->last = calloc(run->plan->locks_count, sizeof(*added->last));
		memory_must(added->last != NULL);
	}
	ordered(run, number, &(struct order){NOTE_SUBSCRIBE, 0, 0, wanted->text, result}, &before);
}

/* Subscribes to something that the client has not subscribed to yet. */
static void subscribe_to_something(struct run *run, uint32_t number)
{
	const struct visitor *client = &run->clients[number];
	struct visitor_subscription wanted = draw_subscription(run);
	bool known = client->subscriptions_count == SUBSCRIPTIONS_MAX;

	for (uint32_t i = 0; i < client->subscriptions_count; i++)
		known = known || strcmp(client->subscriptions[i].text, wanted.text) == 0;
	if (known)
		rest(run, number);
	else
		visitor_subscribe(run, number, &wanted);
}

/* Ends one subscription, or those of all patterns, or those of all names. */
static void visitor_unsubscribe(struct run *run, uint32_t number)
{
	struct visitor *client = &run->clients[number];
	bool all = run_chance(run, 20), pattern = run_chance(run, 50);
	const char *text = NULL;
	uint32_t kept = 0;

	catch_up(run, client);
	if (client->subscriptions_count != 0 && !all) {
		const struct visitor_subscription *one =
		        &client->subscriptions[run_draw(run, client->subscriptions_count)];
		pattern = one->pattern;
		text = one->text;
	}
	for (uint32_t i = 0; i < client->subscriptions_count; i++) {
		struct visitor_subscription *subscription = &client->subscriptions[i];
		if (subscription->pattern == pattern &&
		    (text == NULL || subscription->text == text))
			free(subscription->last);
		else
			client->subscriptions[kept++] = *subscription;
	}
	client->subscriptions_count = kept;
	int left = node_unsubscribe(node_of(run, client), client->session, pattern, text,
	                            text != NULL ? strlen(text) : 0, run->cluster.now);
	note(run, number, NOTE_UNSUBSCRIBE, 0, left, text != NULL ? text : "");
	if (left != (int)kept)
		run_wrong(run, "client %u has %u subscriptions left, and is told %d", number, kept,
		          left);
	cluster_after(&run->cluster, client->place);
	rest(run, number);
}

void visitor_unlock(struct run *run, uint32_t number, uint32_t hold)
{
	struct visitor *client = &run->clients[number];
	const struct lock_record *record = &run->locks[client->holds[hold].lock];
	uint64_t fence = run_chance(run, 50) ? client->holds[hold].fence : 0;
	int result = node_unlock(node_of(run, client), client->session, record->name,
	                         record->name_size, fence, run->cluster.now);

	note(run, number, NOTE_UNLOCK, 0, result, record->name);
	judge_unlock(run, number, hold, result);
	cluster_after(&run->cluster, client->place);
}

/* Releases a lock that the client does not hold, or not with that fence. The node must refuse. */
static void unlock_wrongly(struct run *run, uint32_t number)
{
	struct visitor *client = &run->clients[number];
	uint32_t lock = run_draw(run, run->plan->locks_count);
	const struct lock_record *record = &run->locks[lock];
	uint64_t fence = holds_lock(client, lock) ? 1 : 0;
	int result = node_unlock(node_of(run, client), client->session, record->name,
	                         record->name_size, fence, run->cluster.now);

	note(run, number, NOTE_UNLOCK, 0, result, record->name);
	if (result != 0)
		run_wrong(run, "client %u gives back what it does not hold: %d", number, result);
	cluster_after(&run->cluster, client->place);
	rest(run, number);
}

/* --- acts of a client --- */

static uint32_t draw_lock(struct run *run)
{
	if (run_chance(run, run->plan->one_lock_percent))
		return 0;
	return run_draw(run, run->plan->locks_count);
}

static void want_lock(struct run *run, uint32_t number)
{
	const struct visitor *client = &run->clients[number];
	uint32_t lock = draw_lock(run), kind = run_draw(run, 100);
	bool may_wait = true;
	struct distribution patience = {DISTRIBUTION_EXPONENTIAL,
	                                run->plan->hold.a * 4 + run->plan->delay.a, 0};

	for (uint32_t i = 0; i < client->holds_count; i++)
		may_wait = may_wait && client->holds[i].lock < lock;
	if (kind < 12 && run->plan->others_percent != 0 && may_wait)
		visitor_elect(run, number, lock);
	else if (kind < 65 && may_wait)
		visitor_lock(run, number, lock, NODE_WAIT, 0);
	else if (kind < 66 && may_wait)
		visitor_lock(run, number, lock, NODE_TIMEOUT, NODE_NEVER);
	else if (kind < 82)
		visitor_lock(run, number, lock, NODE_TIMEOUT,
		             distribution_draw(&patience, &run->random));
	else
		visitor_lock(run, number, lock, NODE_NOWAIT, 0);
}

static void want_something(struct run *run, uint32_t number)
{
	uint32_t kind = run_draw(run, 100);

	if (kind < 25)
		visitor_ask_leader(run, number, draw_lock(run));
	else if (kind < 35)
		visitor_status(run, number);
	else if (kind < 50)
		subscribe_to_something(run, number);
	else if (kind < 55)
		visitor_unsubscribe(run, number);
	else if (kind < 75)
		visitor_break(run, number, draw_lock(run));
	else if (kind < 90)
		unlock_wrongly(run, number);
	else
		visitor_close(run, number);
}

static void connect(struct run *run, uint32_t number)
{
	uint32_t place = run_draw(run, run->plan->places_count);

	if (number * 100 < run->plan->one_place_percent * run->plan->clients_count)
		place = 0;
	if (place_lives(run, place))
		visitor_open(run, number, place);
	rest(run, number);
}

static void begin_something(struct run *run, uint32_t number)
{
	const struct visitor *client = &run->clients[number];

	if (run_chance(run, run->plan->others_percent))
		want_something(run, number);
	else if (client->holds_count != 0 &&
	         (client->holds_count == HOLDS_MAX || run_chance(run, 75))) {
		visitor_unlock(run, number, run_draw(run, client->holds_count));
		rest(run, number);
	} else
		want_lock(run, number);
}

/* Acts for a client that has waited long enough. It goes away, or gives a second command, which the
 * node must refuse while the first one waits. But the node may even grant the second, if it finds
 * in the same call that the timeout of the first is over. So a client that can hold no further lock
 * goes away. */
static void lose_patience(struct run *run, uint32_t number)
{
	if (run->clients[number].holds_count == HOLDS_MAX || run_chance(run, 70))
		visitor_close(run, number);
	else
		want_lock(run, number);
}

void visitor_on_event(struct run *run, const struct event *event)
{
	struct visitor *client = &run->clients[event->node];

	if (client->wake != event->number)
		return;
	if (run->act != ACT_FAULTS) {
		if (client->session != 0 && client->command == COMMAND_NONE &&
		    client->holds_count != 0) {
			visitor_unlock(run, event->node, client->holds_count - 1);
			rest(run, event->node);
		}
		return;
	}
	run->actions++;
	if (client->session == 0)
		connect(run, event->node);
	else if (client->command != COMMAND_NONE)
		lose_patience(run, event->node);
	else
		begin_something(run, event->node);
}

/* --- replies and events --- */

static uint32_t find_client(const struct run *run, uint32_t place, uint64_t session)
{
	uint32_t i = 0;

	while (i < run->clients_count &&
	       (run->clients[i].place != place || run->clients[i].session != session))
		i++;
	return i;
}

static void note_reply(struct run *run, uint32_t number, const struct node_effect *effect)
{
	static const enum note_kind notes[] = {
	        [REPLY_NIL] = NOTE_REPLY_NIL,       [REPLY_FENCE] = NOTE_REPLY_FENCE,
	        [REPLY_NUMBER] = NOTE_REPLY_NUMBER, [REPLY_LEADER] = NOTE_REPLY_LEADER,
	        [REPLY_STATUS] = NOTE_REPLY_STATUS, [REPLY_ERROR] = NOTE_REPLY_ERROR,
	};
	struct note note = {
	        .kind = notes[effect->reply.kind],
	        .place = run->clients[number].place,
	        .a = number,
	        .c = effect->reply.number,
	};

	if (effect->reply.kind == REPLY_ERROR)
		note.c = (uint64_t)(int64_t)effect->reply.error;
	if (effect->reply.kind == REPLY_LEADER) {
		note.bytes = effect->reply.value.bytes;
		note.size = effect->reply.value.size;
	}
	if (effect->reply.kind == REPLY_STATUS) {
		while (node_status_step(effect->reply.status))
			;
		note.b = effect->reply.status->members_count;
		note.c = effect->reply.status->locks_count;
	}
	cluster_note(&run->cluster, &note);
}

static void on_reply(struct run *run, uint32_t number, const struct node_effect *effect)
{
	struct visitor *client = &run->clients[number];

	note_reply(run, number, effect);
	if (client->command == COMMAND_NONE) {
		run_wrong(run, "client %u is answered, and has not asked", number);
		return;
	}
	judge_reply(run, number, effect);
	client->command = COMMAND_NONE;
	rest(run, number);
}

void visitor_effect(struct run *run, uint32_t place, const struct node_effect *effect)
{
	uint64_t session = effect->kind == NODE_REPLY   ? effect->reply.session
	                   : effect->kind == NODE_EVENT ? effect->event.session
	                                                : effect->lost.session;
	uint32_t number = find_client(run, place, session);

	if (number == run->clients_count || session == 0) {
		run_wrong(run, "a session that does not exist is told something");
	} else if (effect->kind == NODE_REPLY) {
		on_reply(run, number, effect);
	} else if (effect->kind == NODE_EVENT) {
		cluster_note(&run->cluster,
		             &(struct note){NOTE_EVENT, place, number, effect->event.kind,
		                            effect->event.fence, effect->event.name.bytes,
		                            effect->event.name.size});
		judge_event(run, number, effect);
	} else {
		cluster_note(&run->cluster,
		             &(struct note){NOTE_LOST, place, number, 0, effect->lost.fence,
		                            effect->lost.name.bytes, effect->lost.name.size});
		judge_lost(run, number, effect);
	}
}
