#include "trouble.h"

#include "whole.h"

#include <string.h>

void trouble_propose(struct node *node)
{
	node->bump_earliest = node->bump_deadline = node->now + NODE_BUMP_NS;
	outbox_record(&node->outbox, NODE_BUMP)->bump.epoch = node->epoch;
}

/* A table that stays full, because all its locks are in use, must not end epoch after epoch. */
void trouble_bump(struct node *node)
{
	if (node->bump_deadline != NODE_NEVER)
		return;
	node->bump_deadline = node->bump_earliest;
	if (node->bump_deadline <= node->now)
		trouble_propose(node);
}

void trouble_stop(struct node *node, const char *why)
{
	if (node->stopped)
		return;
	node->stopped = true;
	struct span text = outbox_keep(&node->outbox, why, strlen(why) + 1);
	outbox_record(&node->outbox, NODE_STOP)->stop.why = text;
}
