#include "wait.h"

#include "control.h"
#include "name.h"
#include "trouble.h"
#include "whole.h"

#include <stdlib.h>

void wait_drop_value(struct node *node, struct session *session)
{
	if (session->value == NULL)
		return;
	free(session->value);
	session->value = NULL;
	session_count_leader(&node->sessions, session, -1);
}

void wait_withdraw(struct node *node, struct session *session)
{
	struct live *live = session->waits;

	wait_drop_value(node, session);
	live_dequeue(&node->lives, live, session);
	lock_settle(node, live->lock);
}

void wait_probe(struct node *node, struct session *session)
{
	if (!node->view.active || node->view.count == 1)
		return;
	session_ask(node, session);
	control_begin(node, FRAME_PROBE, 0);
	control_uint(node, session->question.number);
	control_name(node, lock_name(node, session->waits->lock));
	control_end(node, 0);
}

/*
 * If the token does not come, the lock may be busy, or the node with the token may be gone. So
 * before a client is told that the lock was busy, all members are asked, unless this node knows the
 * answer.
 */
void wait_expire(struct node *node, struct session *session)
{
	struct live *live = session->waits;
	bool others_wait = live->firm_count > (session->patience != NODE_NOWAIT);

	if (node->view.count == 0) {
		wait_withdraw(node, session);
		session_fail(node, session, BATON_ENOVIEW);
	} else if (live->holder != NULL || live->closed_by != 0 || others_wait) {
		wait_withdraw(node, session);
		session_refuse(node, session);
	} else if (session->patience == NODE_NOWAIT || session->asks_last) {
		node->figures.refused_silent++;
		wait_withdraw(node, session);
		session_fail_silent(node, session);
	} else {
		session->asks_last = true;
		timer_set(&node->sessions.timers, &session->timer, node->now + NODE_SILENCE_NS);
		wait_probe(node, session);
	}
}

/* The session's command begins to wait, or is granted at once. */
static void enter_queue(struct node *node, struct session *session, struct lock *lock,
                        enum command command, enum node_patience patience, uint64_t timeout_ns)
{
	uint64_t wait = patience == NODE_NOWAIT    ? NODE_NOWAIT_NS
	                : patience == NODE_TIMEOUT ? timeout_ns
	                                           : NODE_NEVER;

	session->command = command;
	session->patience = patience;
	session->asks_last = false;
	session->since = node->now;
	live_enqueue(&node->lives, live_get(&node->lives, lock), session);
	lock_settle(node, lock);
	if (session->waits == NULL)
		return;
	timer_set(&node->sessions.timers, &session->timer,
	          wait < NODE_NEVER - node->now ? node->now + wait : NODE_NEVER);
	if (patience == NODE_NOWAIT)
		wait_probe(node, session);
}

/* Does this node know that the lock is not free? */
static bool is_taken(const struct live *live)
{
	return live != NULL &&
	       (live->holder != NULL || live->firm_count != 0 || live->closed_by != 0);
}

int wait_begin(struct node *node, struct session *session, struct slice name, enum command command,
               enum node_patience patience, uint64_t timeout_ns)
{
	if (node->view.count == 0)
		return BATON_ENOVIEW;
	struct lock *lock = table_find(node, name);
	const struct live *live = lock != NULL ? lock->live : NULL;
	if (live != NULL && live->holder == session)
		return BATON_EHELD;
	if (live != NULL && live->waiters_count >= node->limits.waiters)
		return BATON_EWAITERS;
	if (session->user != NULL && session->user->locks >= node->limits.user_locks)
		return BATON_EUSERLOCKS;
	if (lock == NULL && !table_has_room_for(node, session->user)) {
		if (table_is_stale(node))
			trouble_bump_for_user(node);
		return BATON_EUSERNAMES;
	}
	if (lock == NULL && !table_has_room(node, 1)) {
		if (table_is_stale(node))
			trouble_bump(node);
		return BATON_ELOCKS;
	}
	if (patience == NODE_NOWAIT && is_taken(live)) {
		session->patience = patience;
		session_refuse(node, session);
		return 0;
	}
	if (lock == NULL) {
		lock = table_add(node, name);
		table_count_name(node, live_get(&node->lives, lock), session->user);
	}
	enter_queue(node, session, lock, command, patience, timeout_ns);
	return 0;
}
