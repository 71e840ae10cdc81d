#include "hold.h"

#include "control.h"
#include "event.h"
#include "leader.h"
#include "step.h"
#include "whole.h"

#include <string.h>

/* Tells subscribers that the hold has ended; `why` is for EVENT_LOST. */
static void tell_end(struct node *node, struct live *live, enum node_event_kind how,
                     const char *why)
{
	struct slice reason = {(const uint8_t *)why, (uint32_t)strlen(why)};

	event_tell(node, live->lock, how, live->fence, reason);
	if (live->value != NULL)
		leader_ended(node, live);
}

static void send_return(struct node *node, const struct live *live)
{
	control_begin(node, FRAME_RETURN, 0);
	control_name(node, lock_name(node, live->lock));
	control_end(node, 0);
}

static void end_hold(struct node *node, struct live *live, enum node_event_kind how,
                     const char *why)
{
	struct lock *lock = live->lock;

	if (node->stopped) { /* a stopped node sends nothing */
		live_end_hold(&node->lives, live);
		return;
	}
	if (!live->lost)
		tell_end(node, live, how, why);
	live->lost = false;
	live_end_hold(&node->lives, live);
	histogram_add(&node->figures.hold, node->now - live->since);
	if (live->carried) {
		send_return(node, live);
		lock_open(node, live);
		return;
	}
	/* A node that may not grant leaves the critical section, even if --turns would let more of
	 * its clients in. */
	if (lock->phase == PHASE_INSIDE &&
	    (live->turns >= node->turns || !lease_may_grant(&node->lease, node->now)))
		step_leave(node, lock);
	lock_settle(node, lock);
}

void hold_release(struct node *node, struct live *live)
{
	end_hold(node, live, EVENT_RELEASED, "");
}

static const char *const losses[LOSSES_COUNT] = {
        [LOSS_BROKEN] = NODE_LOST_BROKEN,         [LOSS_LEAVING] = NODE_LOST_LEAVING,
        [LOSS_CONNECTION] = NODE_LOST_CONNECTION, [LOSS_VIEW] = NODE_LOST_VIEW,
        [LOSS_LEASE] = NODE_LOST_LEASE,           [LOSS_CONFLICT] = NODE_LOST_CONFLICT,
};

const char *node_loss_text(enum node_loss loss)
{
	return losses[loss];
}

static void count_loss(struct node *node, const char *why)
{
	for (unsigned i = 0; i < LOSSES_COUNT; i++)
		node->figures.losses[i] += strncmp(why, losses[i], strlen(losses[i])) == 0;
}

static void tell_lost(struct node *node, struct live *live, const char *why)
{
	struct session *session = live->holder;
	struct slice name = lock_name(node, live->lock);

	count_loss(node, why);
	struct span span = outbox_keep(&node->outbox, name.bytes, name.size);
	struct span reason = outbox_keep(&node->outbox, why, strlen(why));
	struct record *record = outbox_record(&node->outbox, NODE_LOST);
	record->lost.session = session->id;
	record->lost.fence = live->fence;
	record->lost.name = span;
	record->lost.why = reason;
	/* The hold belongs to an ELECT that has not been answered yet. */
	if (session->command == COMMAND_ELECT && session->waits == NULL &&
	    LIST_FIRST(&session->holds) == live)
		session_fail(node, session, BATON_ELOST);
}

void hold_lose(struct node *node, struct live *live, const char *why)
{
	if (!live->lost)
		tell_lost(node, live, why);
	end_hold(node, live, EVENT_LOST, why);
}

void hold_break(struct node *node, struct live *live, const char *why)
{
	if (!live->holder->lingers) {
		hold_lose(node, live, why);
		return;
	}
	tell_lost(node, live, why);
	tell_end(node, live, EVENT_LOST, why);
	live->lost = true;
	LIST_REMOVE(live, held);
	LIST_INSERT_HEAD(&live->holder->lost, live, held);
}
