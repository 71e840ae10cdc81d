/*
 * One lock: the clients that queue for it here, the steps of its algorithm, and who may enter.
 *
 * To the algorithm, the whole node is one process. The node requests the critical section while any
 * of its clients wait. Once let in, it lets its first client in. It leaves when that client has
 * left (or when --turns clients have), even if more wait, and then asks again; so a busy node does
 * not starve the others. If all its clients stop waiting while the request is pending, the request
 * still stands: the node leaves as soon as it is let in.
 */
#include "lock.h"

#include "control.h"
#include "event.h"
#include "leader.h"
#include "memory.h"
#include "step.h"
#include "trouble.h"
#include "wait.h"
#include "whole.h"

#include <stdlib.h>
#include <string.h>

/* Are there fences left in this epoch? Asks for more when half of them are used. */
static bool has_fence(struct node *node, const struct lock *lock)
{
	uint64_t size = node->limit - node->base;

	if (lock->counter < size / 2)
		return true;
	if (node->extends)
		trouble_extend(node);
	if (lock->counter < size)
		return true;
	if (!node->extends)
		trouble_bump(node);
	return false;
}

/* Without a lease that lasts long enough, the node does not ask for the lock and lets nobody in. */
static bool may_serve(struct node *node, const struct live *live)
{
	if (!node->view.active || node->stopped)
		return false;
	if (lease_may_grant(&node->lease, node->now) &&
	    lease_may_grant_grace(&node->lease, node->now, TAILQ_FIRST(&live->queue)->grace))
		return true;
	node->lease.starved = true;
	return false;
}

/* The lock is busy now: answers the members that have asked with PROBE. */
static void answer_probes(struct node *node, struct live *live)
{
	const struct probe *probe;

	SLIST_FOREACH (probe, &live->probes, probes)
		control_answer(node, probe->question, probe->origin, true);
	live_forget_probes(live);
}

/* Answers the clients that said NOWAIT, because another client is inside. */
static void refuse_impatient(struct node *node, struct live *live)
{
	struct session *next;

	for (struct session *session = TAILQ_FIRST(&live->queue); session != NULL; session = next) {
		next = TAILQ_NEXT(session, queue);
		if (session->patience != NODE_NOWAIT)
			continue;
		wait_drop_value(node, session);
		live_dequeue(&node->lives, live, session);
		session_refuse(node, session);
	}
}

static void grant(struct node *node, struct lock *lock)
{
	struct live *live = lock->live;
	struct session *session = TAILQ_FIRST(&live->queue);

	/* Only the first client after the node was let in had to wait for the token. */
	enum node_origin origin = live->came && live->turns == 0 ? TOKEN_CAME : TOKEN_HERE;

	live_dequeue(&node->lives, live, session);
	live_add_hold(&node->lives, live, session);
	live->fence = view_fence(node, ++lock->counter);
	live->since = node->now;
	live->carried = false;
	live->turns++;
	node->figures.grants++;
	histogram_add(&node->figures.acquire[origin], node->now - session->since);
	if (!SLIST_EMPTY(&live->probes))
		answer_probes(node, live);
	event_tell(node, lock, EVENT_GRANTED, live->fence, (struct slice){NULL, 0});
	if (session->command != COMMAND_ELECT) {
		session_reply(node, session, REPLY_FENCE, live->fence);
		return;
	}
	live->value = session->value;
	live->value_size = session->value_size;
	session->value = NULL;
	timer_clear(&node->sessions.timers, &session->timer);
	event_tell(node, lock, EVENT_LEADER, live->fence,
	           (struct slice){live->value, live->value_size});
	session->question.fence = live->fence;
	leader_announce(node, session);
}

/* Frees the parts of the lock that are no longer needed. The algorithm's state may be freed only if
 * `init` would make the same state again. */
static void forget(struct node *node, struct lock *lock)
{
	struct live *live = lock->live;
	struct node_user *maker = NULL;

	if (live != NULL) {
		if (live->holder != NULL || !TAILQ_EMPTY(&live->queue) || live->closed_by != 0)
			return;
		maker = live->maker;
		live_drop(&node->lives, live);
	}
	if (lock->phase == PHASE_NONE) {
		table_drop(node, lock, maker);
		return;
	}
	if (lock->counter != 0 || lock->phase != PHASE_IDLE || node->view.starts)
		return;
	const struct site *site = step_site(node, lock);
	void *initial = calloc(1, node->view.state_size);
	memory_must(initial != NULL);
	out_clear(&node->out);
	node->algorithm->init(site, initial, &node->out);
	bool same = memcmp(initial, step_state(node, lock), node->view.state_size) == 0;
	free(initial);
	if (same)
		table_drop(node, lock, maker);
}

void lock_settle(struct node *node, struct lock *lock)
{
	while (!node->stopped) {
		struct live *live = lock->live;
		/* A node that is leaving the cluster lets nobody in, so it must not keep the
		 * token. */
		bool waited_for =
		        live != NULL && !TAILQ_EMPTY(&live->queue) && !node->lease.departing;
		if (live != NULL && live->holder != NULL)
			break;
		if (lock->phase == PHASE_INSIDE && waited_for) {
			if (!may_serve(node, live) || !has_fence(node, lock))
				break;
			grant(node, lock);
			refuse_impatient(node, live);
			break;
		}
		if (lock->phase == PHASE_INSIDE) {
			step_leave(node, lock);
			continue;
		}
		if (lock->phase == PHASE_WAITING || !waited_for || live->closed_by != 0 ||
		    !may_serve(node, live))
			break;
		step_request(node, lock);
		if (lock->phase != PHASE_INSIDE)
			break;
		live->came = false;
	}
	forget(node, lock);
}

static int take_message(struct node *node, struct lock *lock, const struct letter *letter)
{
	uint64_t counter = lock->counter;

	step_start(node, lock);
	if (letter->counter > lock->counter)
		lock->counter = letter->counter;
	if (!node->algorithm->circulates) {
		int error = step_deliver(node, lock, letter);
		if (error != 0)
			lock->counter = counter; /* the message was refused: undo */
		return error;
	}
	if (letter->body[0] >= node->algorithm->messages_count || road_is_full(lock)) {
		lock->counter = counter;
		return BATON_EMESSAGE;
	}
	road_add(node, lock, letter);
	step_move_if_waiting(node, lock);
	return 0;
}

int lock_message(struct node *node, struct lock *lock, const struct letter *letter)
{
	int error = take_message(node, lock, letter);

	lock_settle(node, lock);
	return error;
}

/* Lets tokens that are parked here go round once more, past every node that may be waiting. */
static void unpark(struct node *node, struct lock *lock)
{
	road_unpark(node, lock);
	step_move(node, lock, road_count(node, lock));
}

void lock_touch(struct node *node, struct lock *lock)
{
	if (lock->live != NULL && lock->live->closed_by != 0) {
		lock->live->touched = true;
		return;
	}
	if (lock->phase == PHASE_NONE)
		step_start(node, lock);
	else if (node->algorithm->circulates)
		unpark(node, lock);
	lock_settle(node, lock);
}

/* The waiting messages are handled before this node asks for the lock, because their senders saw
 * the lock open, and asked for it, before this node did. */
void lock_open(struct node *node, struct live *live)
{
	struct lock *lock = live->lock;
	struct parcel *parcel;
	bool touched = live->touched;

	node->view.closed_count -= live->closed_by != 0;
	live->closed_by = 0;
	live->touched = false;
	if (touched)
		step_start(node, lock);
	while ((parcel = live_take_parcel(live)) != NULL) {
		struct letter letter = parcel_letter(parcel);
		node->backlog.bytes -= parcel_bytes(parcel);
		if (take_message(node, lock, &letter) != 0)
			node->figures.malformed++;
		free(parcel);
	}
	lock_settle(node, lock);
}

void lock_postpone(struct node *node, struct live *live, const struct letter *letter)
{
	node->backlog.bytes += live_add_parcel(live, letter);
}

void lock_hop(struct node *node)
{
	struct roads *roads = &node->roads;
	size_t count = roads->due_count;

	roads->hop_deadline = NODE_NEVER;
	for (size_t i = 0; i < count; i++) {
		struct lock *lock = roads->due[i];
		step_move(node, lock, road_due(node, lock));
		lock_settle(node, lock);
	}
	roads->due_count -= count;
	if (roads->due_count != 0)
		memmove(roads->due, roads->due + count, roads->due_count * sizeof(struct lock *));
}

void lock_serve_all(struct node *node)
{
	struct live *next;

	node->lease.starved = false;
	for (struct live *live = TAILQ_FIRST(&node->lives.all); live != NULL; live = next) {
		next = TAILQ_NEXT(live, all);
		lock_settle(node, live->lock);
	}
}
