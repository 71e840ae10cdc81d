#include "trouble.h"

#include "whole.h"

#include <string.h>

void trouble_propose(struct node *node)
{
	node->bump_earliest = node->bump_deadline = node->now + NODE_BUMP_NS;
	outbox_record(&node->outbox, NODE_BUMP)->bump.epoch = node->epoch;
}

/* Proposes nothing before bump_earliest. Otherwise a small table would end one epoch after
 * another. */
void trouble_bump(struct node *node)
{
	if (node->bump_deadline != NODE_NEVER)
		return;
	node->bump_deadline = node->bump_earliest;
	if (node->bump_deadline <= node->now)
		trouble_propose(node);
}

void trouble_bump_for_user(struct node *node)
{
	if (node->now - node->epoch_since >= node->lease.ttl)
		trouble_bump(node);
}

void trouble_propose_extend(struct node *node)
{
	struct record *record = outbox_record(&node->outbox, NODE_EXTEND);

	node->lease.extend_at = node->now + lease_interval(&node->lease);
	lease_schedule(&node->lease);
	record->extend.epoch = node->epoch;
	record->extend.limit = node->limit;
}

void trouble_extend(struct node *node)
{
	if (node->lease.extend_at == NODE_NEVER)
		trouble_propose_extend(node);
}

void trouble_shout(struct node *node, const char *text)
{
	struct span kept = outbox_keep(&node->outbox, text, strlen(text) + 1);

	outbox_record(&node->outbox, NODE_SHOUT)->shout.text = kept;
}

void trouble_stop(struct node *node, const char *why)
{
	if (node->stopped)
		return;
	node->stopped = true;
	lease_end(&node->lease); /* clients that read the lease word must stop too */
	struct span text = outbox_keep(&node->outbox, why, strlen(why) + 1);
	outbox_record(&node->outbox, NODE_STOP)->stop.why = text;
}
