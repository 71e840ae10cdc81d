/*
 * One lock: the clients that queue for it here, the steps of its algorithm, and who may go in.
 *
 * The algorithm's process is the node. The node asks for as long as clients wait and is let in; it
 * lets the first client in, and leaves when that one does (or when --turns of them have gone), even
 * if more wait: then it asks again, so that a busy host does not starve its neighbours. A client
 * that has gone away while the node's request is under way leaves the node waiting for nobody: let
 * in, it leaves at once.
 */
#include "frame.h"
#include "memory.h"

#include <stdlib.h>
#include <string.h>

const struct site *lock_site(struct node *node, const struct lock *lock)
{
	struct site *site = &node->view.site;

	site->holder = lock->home;
	if (node->view.toward != NULL)
		site->toward = node->view.toward[lock->home - 1];
	return site;
}

/* The effects of the step that the algorithm has just made. */
static void perform(struct node *node, struct lock *lock)
{
	const struct out *out = &node->out;
	const struct effect *last = NULL;

	for (uint32_t i = 0; i < out->effects_count && !node->stopped; i++) {
		const struct effect *effect = &out->effects[i];
		if (effect->kind == EFFECT_ENTER) {
			if (lock->phase != PHASE_WAITING)
				stop(node, "an algorithm let this node in unasked");
			lock->phase = PHASE_INSIDE;
			if (lock->live != NULL)
				lock->live->turns = 0;
			last = NULL;
		} else if (effect->kind != EFFECT_SEND) {
			/* A token made anew is the algorithm's business; it has no timers here. */
			must(effect->kind == EFFECT_REGENERATED);
		} else if (effect->node == node->view.self && node->view.count == 1) {
			must(node->algorithm->circulates);
			struct letter letter = {lock->counter, effect->side, effect->size,
			                        out->bytes + effect->offset};
			road_add(node, lock, &letter);
		} else if (effect->node == 0 || effect->node > node->view.count ||
		           !node->view.members[effect->node - 1].linked) {
			stop(node, "an algorithm sent a message to a node that is no neighbour");
		} else {
			bool same = last != NULL && last->offset == effect->offset &&
			            last->side == effect->side;
			send_message(node, lock, effect, same);
			last = effect;
		}
	}
}

/* Makes the algorithm's state, if there is none. */
static void start(struct node *node, struct lock *lock)
{
	if (lock->phase != PHASE_NONE)
		return;
	const struct site *site = lock_site(node, lock);
	out_clear(&node->out);
	lock->phase = PHASE_IDLE;
	node->algorithm->init(site, lock_state(node, lock), &node->out);
	perform(node, lock);
}

int lock_deliver(struct node *node, struct lock *lock, const struct letter *letter)
{
	const struct site *site = lock_site(node, lock);
	struct message message = {
	        .side = side_opposite(letter->side), .size = letter->size, .body = letter->body};

	out_clear(&node->out);
	int error = node->algorithm->receive(site, lock_state(node, lock), &message, &node->out);
	if (error == 0)
		perform(node, lock);
	return error;
}

static void leave(struct node *node, struct lock *lock)
{
	const struct site *site = lock_site(node, lock);

	out_clear(&node->out);
	lock->phase = PHASE_IDLE;
	node->algorithm->release(site, lock_state(node, lock), &node->out);
	perform(node, lock);
}

static bool is_ready(struct node *node, struct lock *lock)
{
	const struct site *site = lock_site(node, lock);

	return node->algorithm->ready == NULL ||
	       node->algorithm->ready(site, lock_state(node, lock));
}

static void send_touch(struct node *node, const struct lock *lock)
{
	struct slice name = lock_name(node, lock);

	control_begin(node, FRAME_TOUCH, lock->home);
	put_name(node, name.bytes, name.size);
	control_end(node, lock->home);
}

/*
 * Asks for the clients that wait here. Where a token circulates it may be parked at home, or not
 * even have set out: then the home must know that somebody waits.
 */
static void request(struct node *node, struct lock *lock)
{
	bool home = lock->home == node->view.self, made = lock->phase == PHASE_NONE;

	start(node, lock);
	if (made && node->view.starts && !home)
		send_touch(node, lock);
	if (!is_ready(node, lock) || node->stopped)
		return;
	const struct site *site = lock_site(node, lock);
	out_clear(&node->out);
	lock->phase = PHASE_WAITING;
	node->algorithm->request(site, lock_state(node, lock), &node->out);
	perform(node, lock);
	if (!node->algorithm->circulates)
		return;
	road_move(node, lock, false);
	if (lock->phase == PHASE_WAITING && !home && !made && !road_is_fresh(node, lock))
		send_touch(node, lock);
}

/* Here the lease will have its say. Inside without being allowed to grant: nobody is let in. */
static bool may_grant(const struct node *node)
{
	return node->view.active && !node->stopped;
}

static struct session *dequeue(struct live *live, struct session *session)
{
	if (session->queue_previous != NULL)
		session->queue_previous->queue_next = session->queue_next;
	else
		live->first = session->queue_next;
	if (session->queue_next != NULL)
		session->queue_next->queue_previous = session->queue_previous;
	else
		live->last = session->queue_previous;
	session->queue_previous = session->queue_next = NULL;
	session->waits = NULL;
	live->waiters_count--;
	live->firm_count -= session->patience != NODE_NOWAIT;
	return session;
}

static void enqueue(struct live *live, struct session *session)
{
	session->waits = live;
	session->queue_previous = live->last;
	if (live->last != NULL)
		live->last->queue_next = session;
	else
		live->first = session;
	live->last = session;
	live->waiters_count++;
	live->firm_count += session->patience != NODE_NOWAIT;
}

/* Another is inside: who said NOWAIT need not wait any longer. */
static void refuse_impatient(struct node *node, struct live *live)
{
	struct session *next;

	for (struct session *session = live->first; session != NULL; session = next) {
		next = session->queue_next;
		if (session->patience != NODE_NOWAIT)
			continue;
		dequeue(live, session);
		session_reply(node, session, REPLY_NIL, 0);
	}
}

static void grant(struct node *node, struct lock *lock)
{
	struct live *live = lock->live;
	struct session *session = dequeue(live, live->first);

	live->holder = session;
	live->fence = view_fence(node, ++lock->counter);
	live->since = node->now;
	live->carried = false;
	live->turns++;
	live->hold_previous = NULL;
	live->hold_next = session->holds;
	if (session->holds != NULL)
		session->holds->hold_previous = live;
	session->holds = live;
	node->figures.grants++;
	probes_answer(node, live);
	event_tell(node, lock, EVENT_GRANTED, live->fence, (struct slice){NULL, 0});
	if (session->command != COMMAND_ELECT) {
		session_reply(node, session, REPLY_FENCE, live->fence);
		return;
	}
	live->value = session->value;
	live->value_size = session->value_size;
	session->value = NULL;
	timer_clear(node, session);
	event_tell(node, lock, EVENT_LEADER, live->fence,
	           (struct slice){live->value, live->value_size});
	session->question.fence = live->fence;
	ask(node, session);
}

/* What no client and no message needs any more is forgotten; a state only if it can be made again
 * as it is. */
static void forget(struct node *node, struct lock *lock)
{
	struct live *live = lock->live;

	if (live != NULL) {
		if (live->holder != NULL || live->first != NULL || live->closed_by != 0)
			return;
		live_drop(node, live);
	}
	if (lock->phase == PHASE_NONE) {
		lock_drop(node, lock);
		return;
	}
	if (lock->counter != 0 || lock->phase != PHASE_IDLE || node->view.starts)
		return;
	const struct site *site = lock_site(node, lock);
	void *initial = calloc(1, node->view.state_size);
	memory_must(initial != NULL);
	out_clear(&node->out);
	node->algorithm->init(site, initial, &node->out);
	bool same = memcmp(initial, lock_state(node, lock), node->view.state_size) == 0;
	free(initial);
	if (same)
		lock_drop(node, lock);
}

void lock_settle(struct node *node, struct lock *lock)
{
	while (!node->stopped) {
		struct live *live = lock->live;
		bool waited_for = live != NULL && live->first != NULL;
		if (live != NULL && live->holder != NULL)
			break;
		if (lock->phase == PHASE_INSIDE && waited_for) {
			if (!may_grant(node))
				break;
			if (node->floor + lock->counter >= NODE_COUNTER_MAX) {
				bump(node);
				break;
			}
			grant(node, lock);
			refuse_impatient(node, live);
			break;
		}
		if (lock->phase == PHASE_INSIDE) {
			leave(node, lock);
			continue;
		}
		if (lock->phase == PHASE_WAITING || !waited_for || !node->view.active ||
		    live->closed_by != 0)
			break;
		request(node, lock);
		if (lock->phase != PHASE_INSIDE)
			break;
	}
	forget(node, lock);
}

struct parcel *parcel_make(const struct letter *letter)
{
	struct parcel *parcel = malloc(sizeof(*parcel) + letter->size);

	memory_must(parcel != NULL);
	*parcel = (struct parcel){
	        .counter = letter->counter, .size = letter->size, .side = (uint8_t)letter->side};
	memcpy(parcel->body, letter->body, letter->size);
	return parcel;
}

static int take_message(struct node *node, struct lock *lock, const struct letter *letter)
{
	uint64_t counter = lock->counter;

	start(node, lock);
	if (letter->counter > lock->counter)
		lock->counter = letter->counter;
	if (!node->algorithm->circulates) {
		int error = lock_deliver(node, lock, letter);
		if (error != 0)
			lock->counter = counter; /* nothing has happened */
		return error;
	}
	road_add(node, lock, letter);
	road_move(node, lock, false);
	return 0;
}

int lock_message(struct node *node, struct lock *lock, const struct letter *letter)
{
	int error = take_message(node, lock, letter);

	lock_settle(node, lock);
	return error;
}

void lock_touch(struct node *node, struct lock *lock)
{
	if (lock->live != NULL && lock->live->closed_by != 0) {
		lock->live->touched = true;
		return;
	}
	if (lock->phase == PHASE_NONE)
		start(node, lock);
	else if (node->algorithm->circulates)
		road_touch(node, lock);
	lock_settle(node, lock);
}

/* The messages that waited come first: they were sent when the sender saw it open. */
void lock_open(struct node *node, struct live *live)
{
	struct lock *lock = live->lock;
	struct parcel *parcel = live->pending;
	bool touched = live->touched;

	live->pending = NULL;
	live->end = &live->pending;
	node->view.closed_count -= live->closed_by != 0;
	live->closed_by = 0;
	live->touched = false;
	if (touched)
		start(node, lock);
	while (parcel != NULL) {
		struct parcel *next = parcel->next;
		struct letter letter = parcel_letter(parcel);
		node->backlog.bytes -= sizeof(*parcel) + parcel->size;
		if (take_message(node, lock, &letter) != 0)
			node->figures.malformed++;
		free(parcel);
		parcel = next;
	}
	lock_settle(node, lock);
}

void live_withdraw(struct node *node, struct session *session)
{
	struct live *live = session->waits;

	dequeue(live, session);
	lock_settle(node, live->lock);
}

static void unlink_hold(struct live *live)
{
	if (live->hold_previous != NULL)
		live->hold_previous->hold_next = live->hold_next;
	else
		live->holder->holds = live->hold_next;
	if (live->hold_next != NULL)
		live->hold_next->hold_previous = live->hold_previous;
	live->holder = NULL;
}

/* `why`: EVENT_LOST. */
static void tell_end(struct node *node, struct live *live, enum node_event_kind how,
                     const char *why)
{
	struct slice reason = {(const uint8_t *)why, (uint32_t)strlen(why)};

	event_tell(node, live->lock, how, live->fence, reason);
	if (live->value != NULL)
		leader_ended(node, live);
}

static void end_hold(struct node *node, struct live *live, enum node_event_kind how,
                     const char *why)
{
	struct lock *lock = live->lock;

	if (node->stopped) { /* nothing is told any more */
		unlink_hold(live);
		return;
	}
	if (!live->lost)
		tell_end(node, live, how, why);
	live->lost = false;
	unlink_hold(live);
	if (live->carried) {
		send_return(node, live);
		lock_open(node, live);
		return;
	}
	if (lock->phase == PHASE_INSIDE && live->turns >= node->turns)
		leave(node, lock);
	lock_settle(node, lock);
}

void live_release(struct node *node, struct live *live)
{
	end_hold(node, live, EVENT_RELEASED, "");
}

static void tell_lost(struct node *node, struct live *live, const char *why)
{
	struct session *session = live->holder;
	struct slice name = lock_name(node, live->lock);

	struct span span = outbox_keep(&node->outbox, name.bytes, name.size);
	struct span reason = outbox_keep(&node->outbox, why, strlen(why));
	struct record *record = outbox_record(&node->outbox, NODE_LOST);
	record->session = session->id;
	record->number = live->fence;
	record->a = span;
	record->b = reason;
	/* Elected, and not yet told so: what it was granted last. */
	if (session->command == COMMAND_ELECT && session->waits == NULL && session->holds == live)
		session_fail(node, session, BATON_ELOST);
}

void live_lose(struct node *node, struct live *live, const char *why)
{
	if (!live->lost)
		tell_lost(node, live, why);
	end_hold(node, live, EVENT_LOST, why);
}

void live_break(struct node *node, struct live *live, const char *why)
{
	if (!live->holder->lingers) {
		live_lose(node, live, why);
		return;
	}
	tell_lost(node, live, why);
	tell_end(node, live, EVENT_LOST, why);
	live->lost = true;
}

/*
 * Nobody can tell from its silence whether a lock is busy or whoever has its token is gone. So before
 * a client is told that it was not free in time, the members are asked, unless it is known here.
 */
void live_expire(struct node *node, struct session *session)
{
	struct live *live = session->waits;
	bool others_wait = live->firm_count > (session->patience != NODE_NOWAIT);

	if (node->view.count == 0) {
		live_withdraw(node, session);
		session_fail(node, session, BATON_ENOVIEW);
	} else if (live->holder != NULL || live->closed_by != 0 || others_wait) {
		live_withdraw(node, session);
		session_reply(node, session, REPLY_NIL, 0);
	} else if (session->patience == NODE_NOWAIT || session->asks_last) {
		ask_give_up(node, session);
	} else {
		session->asks_last = true;
		timer_set(node, session, node->now + NODE_SILENCE_NS);
		ask_probe(node, session);
	}
}

/* The command of a session that begins to wait, or is granted at once. */
static void begin_wait(struct node *node, struct session *session, struct lock *lock,
                       enum command command, enum node_patience patience, uint64_t timeout_ns)
{
	uint64_t wait = patience == NODE_NOWAIT    ? NODE_NOWAIT_NS
	                : patience == NODE_TIMEOUT ? timeout_ns
	                                           : NODE_NEVER;

	session->command = command;
	session->patience = patience;
	session->asks_last = false;
	session->since = node->now;
	enqueue(lock_live(node, lock), session);
	lock_settle(node, lock);
	if (session->waits == NULL)
		return;
	timer_set(node, session, wait < NODE_NEVER - node->now ? node->now + wait : NODE_NEVER);
	if (patience == NODE_NOWAIT)
		ask_probe(node, session);
}

/* Is it known here that the lock is not free? */
static bool is_taken(const struct live *live)
{
	return live != NULL &&
	       (live->holder != NULL || live->firm_count != 0 || live->closed_by != 0);
}

static int acquire(struct node *node, struct session *session, struct slice name,
                   enum command command, enum node_patience patience, uint64_t timeout_ns)
{
	if (node->view.count == 0)
		return BATON_ENOVIEW;
	uint64_t hash = name_hash(name.bytes, name.size);
	struct lock *lock = lock_find(node, name.bytes, name.size, hash);
	const struct live *live = lock != NULL ? lock->live : NULL;
	if (live != NULL && live->holder == session)
		return BATON_EHELD;
	if (live != NULL && live->waiters_count >= node->limits.waiters)
		return BATON_EWAITERS;
	if (lock == NULL && !table_has_room(node, 1)) {
		bump(node);
		return BATON_ELOCKS;
	}
	if (patience == NODE_NOWAIT && is_taken(live)) {
		session_reply(node, session, REPLY_NIL, 0);
		return 0;
	}
	if (lock == NULL)
		lock = lock_make(node, name.bytes, name.size, hash);
	begin_wait(node, session, lock, command, patience, timeout_ns);
	return 0;
}

int node_lock(struct node *node, uint64_t session_id, const char *name, size_t name_size,
              enum node_patience patience, uint64_t timeout_ns, uint64_t now)
{
	int error;
	struct session *session =
	        command_begin_named(node, session_id, name, name_size, now, &error);
	if (session == NULL)
		return error;
	error = acquire(node, session, (struct slice){(const uint8_t *)name, (uint32_t)name_size},
	                COMMAND_LOCK, patience, timeout_ns);
	finish(node);
	return error;
}

int node_elect(struct node *node, uint64_t session_id, const char *name, size_t name_size,
               const void *value, size_t value_size, uint64_t now)
{
	int error;
	struct session *session =
	        command_begin_named(node, session_id, name, name_size, now, &error);
	if (session == NULL)
		return error;
	if (value_size > NODE_VALUE_MAX)
		return BATON_EVALUE;
	if (node->leaders_count >= node->limits.leaders)
		return BATON_ELEADERS;
	/* One byte more, so that an empty value is no NULL. */
	session->value = malloc(value_size + 1);
	memory_must(session->value != NULL);
	if (value_size != 0)
		memcpy(session->value, value, value_size);
	session->value_size = (uint32_t)value_size;
	node->leaders_count++;
	error = acquire(node, session, (struct slice){(const uint8_t *)name, (uint32_t)name_size},
	                COMMAND_ELECT, NODE_WAIT, 0);
	if (error != 0) {
		free(session->value);
		session->value = NULL;
		node->leaders_count--;
	}
	finish(node);
	return error;
}

int node_unlock(struct node *node, uint64_t session_id, const char *name, size_t name_size,
                uint64_t fence, uint64_t now)
{
	int error;
	struct session *session =
	        command_begin_named(node, session_id, name, name_size, now, &error);
	if (session == NULL)
		return error;
	const struct lock *lock =
	        lock_find(node, name, (uint32_t)name_size, name_hash(name, name_size));
	struct live *live = lock != NULL ? lock->live : NULL;
	if (live == NULL || live->holder != session || (fence != 0 && fence != live->fence))
		return 0;
	bool lost = live->lost;
	live_release(node, live);
	finish(node);
	return lost ? 0 : 1;
}
