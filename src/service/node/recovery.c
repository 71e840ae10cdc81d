#include "recovery.h"

#include "ask.h"
#include "control.h"
#include "event.h"
#include "hold.h"
#include "leader.h"
#include "name.h"
#include "trouble.h"
#include "wait.h"
#include "whole.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	REPORT_SIZE = 1 << 15,
	RETURNS_MAX = 1024, /* how many RETURNs of one member are kept before its REPORT arrives */
};

static void free_pending(struct node *node, struct live *live)
{
	struct parcel *parcel;

	while ((parcel = live_take_parcel(live)) != NULL) {
		node->backlog.bytes -= parcel_bytes(parcel);
		free(parcel);
	}
}

/* Forgets everything of the old epoch except waiting clients and holds. */
static void throw_away(struct node *node)
{
	struct live *next;

	if (node->missed_deadline != NODE_NEVER)
		event_deliver_dropped(node);
	for (struct live *live = TAILQ_FIRST(&node->lives.all); live != NULL; live = next) {
		next = TAILQ_NEXT(live, all);
		free_pending(node, live);
		live_forget_probes(live);
		live->closed_by = 0;
		live->touched = false;
		live->turns = 0;
		live->carried = live->holder != NULL;
		if (live->holder == NULL && TAILQ_EMPTY(&live->queue))
			live_drop(&node->lives, live);
	}
	roads_clear(&node->roads);
	node->bump_deadline = node->lease.extend_at = NODE_NEVER;
	node->epoch_since = node->now;
	lease_schedule(&node->lease);
	publications_clear(&node->publications);
	interests_clear_remote(&node->interests);
	streams_flush(node);
}

static void close_lock(struct node *node, struct live *live, uint32_t member, uint64_t fence)
{
	node->view.closed_count += live->closed_by == 0;
	live->closed_by = member;
	live->closed_fence = fence;
}

/* Without a view no lock can be handed on, and clients of other members may be let in. So every
 * hold is lost. */
static void lose_holds(struct node *node)
{
	struct live *next;

	for (struct live *live = TAILQ_FIRST(&node->lives.all); live != NULL; live = next) {
		next = TAILQ_NEXT(live, all);
		if (live->holder != NULL)
			hold_lose(node, live, NODE_LOST_VIEW);
	}
}

static void report(struct node *node)
{
	const struct live *live = TAILQ_FIRST(&node->lives.all);

	do {
		control_begin(node, FRAME_REPORT, 0);
		size_t last = node->outbox.bytes_count;
		control_byte(node, true);
		for (; live != NULL && control_size(node) < REPORT_SIZE;
		     live = TAILQ_NEXT(live, all)) {
			if (live->holder == NULL)
				continue;
			control_name(node, lock_name(node, live->lock));
			control_uint(node, live->fence);
		}
		node->outbox.bytes[last] = live == NULL;
		control_end(node, 0);
	} while (live != NULL);
}

/* Answers clients that want to know whether the lock is busy. A closed lock is busy; for an open
 * one all members are asked. */
static void settle_impatient(struct node *node, struct live *live)
{
	struct session *next;

	for (struct session *session = TAILQ_FIRST(&live->queue); session != NULL; session = next) {
		next = TAILQ_NEXT(session, queue);
		if (session->patience != NODE_NOWAIT && !session->asks_last)
			continue;
		if (live->closed_by == 0) {
			wait_probe(node, session);
			continue;
		}
		wait_withdraw(node, session);
		session_refuse(node, session);
	}
}

static void activate_if_reported(struct node *node)
{
	struct live *next;

	if (node->view.reported_count < node->view.count || node->stopped)
		return;
	node->view.active = true;
	node->backlog.again = true;
	for (struct live *live = TAILQ_FIRST(&node->lives.all); live != NULL; live = next) {
		next = TAILQ_NEXT(live, all);
		if (live->closed_by == 0)
			lock_settle(node, live->lock);
		settle_impatient(node, live);
	}
}

static void begin(struct node *node)
{
	struct view *view = &node->view;
	struct live *live;

	TAILQ_FOREACH (live, &node->lives.all, all) {
		if (live->holder != NULL)
			close_lock(node, live, view->self, live->fence);
	}
	/* Send interests and leaders before the report: a member that has all reports may grant,
	 * and must then know whom to tell and who leads. */
	event_send_interests(node);
	TAILQ_FOREACH (live, &node->lives.all, all) {
		if (live->holder != NULL && live->value != NULL)
			leader_publish(node, live, 0);
	}
	report(node);
	ask_again(node);
	view->members[view->self - 1].reported = true;
	view->reported_count = 1;
	activate_if_reported(node);
}

int recovery_begin(struct node *node, struct view *next)
{
	struct view old = node->view;
	bool suits = next->self != 0 && view_connect(node, next);

	/* Leaving a view ends the lease that came with it. */
	if (next->self == 0 && old.count != 0)
		lease_end(&node->lease);

	scans_forget(&node->scans);
	throw_away(node);
	if (next->self == 0) {
		view_free(next);
		*next = (struct view){0};
	}
	node->view = *next;
	node->figures.views += next->self != 0;
	/* The view was copied to another place, so its site must point to the parameters there. */
	node->view.site.parameters = node->view.network.parameters;
	table_renew(node);
	view_free(&old);
	node->backlog.again = true;
	/* Frames that were refused for lack of room may belong to this view: read all links
	 * again. */
	node->backlog.refused_at = SIZE_MAX;
	if (next->self == 0)
		lose_holds(node);
	if (suits)
		begin(node);
	else
		ask_again(node);
	return suits || next->self == 0 ? 0 : BATON_EVIEW;
}

/* --- reports and returns --- */

static void shout(struct node *node, struct slice name, const struct live *live, uint32_t member,
                  uint64_t fence)
{
	char text[3 * NODE_NAME_MAX + 128];

	snprintf(text, sizeof(text),
	         "'%.*s' is held twice: at %s with fence %" PRIu64
	         ", and at %s with fence %" PRIu64,
	         (int)name.size, (const char *)name.bytes,
	         node->view.members[live->closed_by - 1].name, live->closed_fence,
	         node->view.members[member - 1].name, fence);
	trouble_shout(node, text);
}

/*
 * Two members have a client inside one lock. No correct sequence of events leads to this, so one of
 * the members is faulty; that must not end the cluster. The hold with the greater fence stays,
 * because a resource that has seen this fence refuses the smaller one. The other client is told by
 * its own node, which receives this report as all members do.
 */
static void settle_conflict(struct node *node, struct live *live, struct slice name,
                            uint32_t member, uint64_t fence)
{
	shout(node, name, live, member, fence);
	/* If the fences are equal, the member with the smaller number keeps the lock. */
	if (fence < live->closed_fence || (fence == live->closed_fence && member > live->closed_by))
		return;
	if (live->holder != NULL) {
		hold_lose(node, live, NODE_LOST_CONFLICT);
		/* This node may have forgotten the lock in between. */
		live = live_get(&node->lives, table_get(node, name));
	}
	close_lock(node, live, member, fence);
}

static void close_reported(struct node *node, uint32_t member, struct slice name, uint64_t fence)
{
	struct early_return *early = view_find_return(&node->view, member, name);

	if (early != NULL) {
		view_drop_return(&node->view, early);
		return;
	}
	struct lock *lock = table_get(node, name);
	struct live *live = live_get(&node->lives, lock);
	if (live->closed_by == 0)
		close_lock(node, live, member, fence);
	else if (live->closed_by != member)
		settle_conflict(node, live, name, member, fence);
}

int on_report(struct node *node, const struct frame *frame)
{
	struct in in = frame->body;
	struct view_member *member = &node->view.members[frame->origin - 1];
	bool last = in_byte(&in, true);
	struct in holds = in;

	uint32_t count = 0;
	for (; !in.bad && in.next < in.end; count++) {
		in_name(&in);
		in_range(&in, 1, NODE_FENCE_MAX);
	}
	if (in.bad || member->reported || count > node->limits.locks - member->holds)
		return BATON_EMESSAGE;
	if (frame->trial)
		return 0;
	member->holds += count;
	while (holds.next < holds.end && !node->stopped) {
		struct slice name = in_name(&holds);
		close_reported(node, frame->origin, name, in_uint(&holds));
	}
	if (!last)
		return 0;
	member->reported = true;
	node->view.reported_count++;
	activate_if_reported(node);
	return 0;
}

int on_return(struct node *node, const struct frame *frame)
{
	struct in in = frame->body;
	struct slice name = in_name(&in);
	struct view_member *member = &node->view.members[frame->origin - 1];

	if (!in_end(&in))
		return BATON_EMESSAGE;
	if (frame->trial)
		return 0;
	const struct lock *lock = table_find(node, name);
	if (lock != NULL && lock->live != NULL && lock->live->closed_by == frame->origin) {
		lock_open(node, lock->live);
		stream_opened(node, name);
	} else if (!member->reported &&
	           view_find_return(&node->view, frame->origin, name) == NULL) {
		if (member->returns == RETURNS_MAX)
			return BATON_EMESSAGE;
		member->returns++;
		view_add_return(&node->view, frame->origin, name);
	}
	return 0;
}
