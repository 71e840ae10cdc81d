/*
 * The deadlines of sessions: a binary heap, the earliest first, the older session first among
 * equals, so that the order is the same in every run.
 */
#include "grow.h"
#include "internal.h"

static bool before(const struct session *a, const struct session *b)
{
	return a->deadline < b->deadline || (a->deadline == b->deadline && a->id < b->id);
}

static void place(struct node *node, uint32_t i, struct session *session)
{
	node->timers[i] = session;
	session->timer = i;
}

/* From place i, where there is a hole, to where the session belongs. */
static void sift(struct node *node, uint32_t i, struct session *session)
{
	for (; i > 1 && before(session, node->timers[i / 2]); i /= 2)
		place(node, i, node->timers[i / 2]);
	for (uint32_t child = 2 * i; child <= node->timers_count; child = 2 * i) {
		if (child < node->timers_count &&
		    before(node->timers[child + 1], node->timers[child]))
			child++;
		if (!before(node->timers[child], session))
			break;
		place(node, i, node->timers[child]);
		i = child;
	}
	place(node, i, session);
}

void timer_set(struct node *node, struct session *session, uint64_t deadline)
{
	timer_clear(node, session);
	if (deadline == NODE_NEVER)
		return;
	session->deadline = deadline;
	node->timers = grow(node->timers, &node->timers_size, node->timers_count + 2UL,
	                    sizeof(struct session *));
	sift(node, ++node->timers_count, session);
}

void timer_clear(struct node *node, struct session *session)
{
	if (session->timer == 0)
		return;
	struct session *last = node->timers[node->timers_count--];
	if (last != session)
		sift(node, session->timer, last);
	session->timer = 0;
	session->deadline = NODE_NEVER;
}
