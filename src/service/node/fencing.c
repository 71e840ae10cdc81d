/*
 * Decides when the lease has lapsed, and does what follows from that. No fence is chosen here: the
 * fence of a grant comes from `grant` in lock.c and view_fence in view.c.
 */
#include "fencing.h"

#include "hold.h"
#include "step.h"
#include "trouble.h"
#include "whole.h"

/*
 * The lease is over. Every hold is lost for good, and every critical section is left at once,
 * because after the deadline the voters may let others in. That includes a critical section that
 * was kept for further local clients, or entered while nothing could be granted.
 */
static void lapse(struct node *node)
{
	struct live *next;

	lease_end(&node->lease);
	for (struct live *live = TAILQ_FIRST(&node->lives.all); live != NULL; live = next) {
		next = TAILQ_NEXT(live, all);
		if (live->holder != NULL)
			hold_lose(node, live, NODE_LOST_LEASE);
		else if (live->lock->phase == PHASE_INSIDE)
			step_leave(node, live->lock);
	}
}

static void warn(struct node *node)
{
	outbox_record(&node->outbox, NODE_WARN)->warn.left = lease_left(&node->lease, node->now);
	node->lease.warn_at = NODE_NEVER;
}

static void renew(struct node *node)
{
	outbox_record(&node->outbox, NODE_RENEW)->renew.taken = node->now;
	node->lease.renew_at = node->now + lease_interval(&node->lease);
}

/* Proposes that this node leave the cluster. A proposal may be lost, so it is repeated until the
 * node is out of the view. */
static void propose_departure(struct node *node)
{
	struct lease *lease = &node->lease;

	lease->depart_at = NODE_NEVER;
	if (node->view.count == 0)
		return;
	outbox_record(&node->outbox, NODE_DEPART);
	lease->depart_at = node->now + lease_interval(lease);
	/* A renewal tells the voters that this node wants to leave. */
	renew(node);
}

void fencing_advance(struct node *node)
{
	struct lease *lease = &node->lease;

	if (lease->deadline != 0 && lease->deadline <= node->now)
		lapse(node);
	if (lease->warn_at <= node->now)
		warn(node);
	if (lease->renew_at <= node->now)
		renew(node);
	if (lease->depart_at <= node->now)
		propose_departure(node);
	if (lease->extend_at <= node->now)
		trouble_propose_extend(node);
	lease_schedule(lease);
}

void fencing_prolong(struct node *node, uint64_t deadline)
{
	struct lease *lease = &node->lease;

	if (lease_prolong(lease, deadline, node->now) && lease->starved)
		lock_serve_all(node);
}

void fencing_depart(struct node *node)
{
	node->lease.departing = true;
	node->lease.grant_until = 0;
}

void fencing_settle(struct node *node)
{
	if (node->lease.depart_at != NODE_NEVER || node->view.count == 0 ||
	    node->lives.held_count > 0)
		return;
	propose_departure(node);
	lease_schedule(&node->lease);
}
