#include "receive.h"

#include "ask.h"
#include "control.h"
#include "event.h"
#include "leader.h"
#include "name.h"
#include "recovery.h"
#include "status.h"
#include "status_order.h"
#include "trouble.h"
#include "whole.h"

#include <stdlib.h>
#include <string.h>

/* An incoming frame. `replay`: the frame was taken out of the backlog, which still has room for
 * it. */
struct arrival {
	const char *from;
	const uint8_t *bytes;
	size_t size;
	bool replay;
};

/* Keeps the frame for later. Returns 0 or BATON_EAGAIN. */
static int keep(struct node *node, const struct arrival *arrival, const struct frame *frame)
{
	int error = backlog_add(&node->backlog, arrival->from, arrival->bytes, arrival->size,
	                        frame->epoch > node->epoch, arrival->replay);

	if (error == 0 && frame->epoch == node->epoch)
		node->view.members[frame->sender - 1].backlog++;
	return error;
}

/* One message of a frame of messages. */
struct framed {
	struct slice name;
	struct letter letter;
};

static bool next_framed(struct in *in, struct framed *ret_framed)
{
	ret_framed->letter.side = (enum side)in_byte(in, SIDE_RIGHT);
	ret_framed->name = in_name(in);
	ret_framed->letter.counter = in_range(in, 0, NODE_FENCE_MAX);
	struct slice message = in_text(in, NODE_FRAME_MAX);
	ret_framed->letter.body = message.bytes;
	ret_framed->letter.size = message.size;
	if (message.size == 0)
		in->bad = true;
	return !in->bad;
}

/* Returns the number of messages, or 0 if any of them is malformed. */
static uint32_t count_messages(const struct frame *frame)
{
	struct in in = frame->body;
	struct framed framed;
	uint32_t count = 0;

	do {
		if (!next_framed(&in, &framed))
			return 0;
		count++;
	} while (in.next < in.end);
	return count;
}

/* May `count` new locks be added for messages of another member? If the table is full and most of
 * its locks are in use, they may: a new epoch would not make room for them. */
static bool admits(const struct node *node, uint32_t count)
{
	return table_has_room(node, count) || !table_is_stale(node);
}

/* Is there room for the locks that are not known yet and for the messages that must wait? */
static bool has_room(const struct node *node, const struct frame *frame)
{
	struct in in = frame->body;
	struct framed framed;
	uint32_t locks = 0;
	size_t bytes = 0;

	while (in.next < in.end && next_framed(&in, &framed)) {
		const struct lock *lock = table_find(node, framed.name);
		if (lock == NULL)
			locks++;
		else if (lock->live != NULL && lock->live->closed_by != 0)
			bytes += sizeof(struct parcel) + framed.letter.size;
	}
	return admits(node, locks) && (bytes == 0 || backlog_has_room(&node->backlog, bytes));
}

static int take_message(struct node *node, const struct framed *framed)
{
	struct lock *lock = table_get(node, framed->name);
	struct live *live = lock->live;

	node->figures.received++;
	if (framed->letter.size > 0 && framed->letter.body[0] < NODE_TYPES_MAX)
		node->figures.received_by_type[framed->letter.body[0]]++;
	if (live == NULL || live->closed_by == 0)
		return lock_message(node, lock, &framed->letter);
	lock_postpone(node, live, &framed->letter);
	return 0;
}

static int take_messages(struct node *node, const struct arrival *arrival,
                         const struct frame *frame)
{
	uint32_t count = count_messages(frame);
	struct in in = frame->body;
	struct framed framed;
	int error = 0;

	if (count == 0)
		return BATON_EMESSAGE;
	if (!node->view.active || node->view.members[frame->sender - 1].backlog != 0)
		return keep(node, arrival, frame);
	/* Usually there is room and no lock is closed; then nothing has to be checked. */
	if ((!table_has_room(node, count) || node->view.closed_count != 0) &&
	    !has_room(node, frame)) {
		trouble_bump(node);
		return keep(node, arrival, frame);
	}
	while (in.next < in.end && next_framed(&in, &framed)) {
		int refused = take_message(node, &framed);
		if (refused != 0)
			error = refused;
	}
	return error;
}

static const struct {
	int (*handle)(struct node *node, const struct frame *frame);
	bool to_all;
} kinds[FRAME_KINDS] = {
        [FRAME_PROBE] = {on_probe, true},
        [FRAME_PUBLISH] = {on_publish, true},
        [FRAME_ENDED] = {on_ended, true},
        [FRAME_REPORT] = {on_report, true},
        [FRAME_RETURN] = {on_return, true},
        [FRAME_ASK_LEADER] = {on_ask_leader, true},
        [FRAME_TELL_LEADER] = {on_tell_leader, false},
        [FRAME_ASK_STATUS] = {on_ask_status, true},
        [FRAME_TELL_STATUS] = {on_tell_status, false},
        [FRAME_BREAK] = {on_break, true},
        [FRAME_INTEREST] = {on_interest, true},
        [FRAME_EVENT] = {on_event, false},
        [FRAME_DROPPED] = {on_dropped, false},
        [FRAME_ANSWER] = {on_answer, false},
        [FRAME_ASK_STATES] = {on_ask_states, true},
        [FRAME_TELL_STATES] = {on_tell_states, false},
};

static int handle(struct node *node, const struct frame *frame)
{
	int error = kinds[frame->kind].handle(node, frame);

	ask_settle(node);
	return error;
}

/*
 * A TOUCH creates the lock here, as a message would. It may arrive before messages that its sender
 * sent earlier. That does no harm: whichever arrives first creates the lock, and a token that
 * arrives after the TOUCH finds the count of idle rounds at 0 and goes round once more.
 */
static int take_touch(struct node *node, const struct arrival *arrival, const struct frame *frame)
{
	struct in in = frame->body;
	struct slice name = in_name(&in);

	if (!in_end(&in))
		return BATON_EMESSAGE;
	if (view_home(&node->view, name_hash(name.bytes, name.size)) != node->view.self)
		return BATON_EMESSAGE;
	if (!node->view.active)
		return keep(node, arrival, frame);
	if (table_find(node, name) == NULL && !admits(node, 1)) {
		trouble_bump(node);
		return keep(node, arrival, frame);
	}
	node->figures.control_received++;
	lock_touch(node, table_get(node, name));
	return 0;
}

/* A flood is a frame for all members. It is passed on before it is handled, so that a report is
 * sent before the messages that it makes possible. A malformed flood is neither passed on, because
 * the receivers would cut this node off, nor counted as seen. */
static int take_flood(struct node *node, struct frame *frame)
{
	struct view_member *origin = &node->view.members[frame->origin - 1];
	uint64_t seen = origin->flood_seen;

	if (frame->number <= seen)
		return 0;
	if (!node->view.complete) {
		frame->trial = true;
		int error = kinds[frame->kind].handle(node, frame);
		frame->trial = false;
		if (error != 0)
			return error;
		control_relay(node, frame);
	}
	origin->flood_seen = frame->number;
	node->figures.control_received++;
	int error = handle(node, frame);
	if (error != 0)
		origin->flood_seen = seen;
	return error;
}

static int take_control(struct node *node, const struct arrival *arrival, struct frame *frame)
{
	const struct view *view = &node->view;

	if (frame->origin > view->count || frame->destination > view->count ||
	    kinds[frame->kind].to_all != (frame->destination == 0))
		return BATON_EMESSAGE;
	if (view->complete && (frame->origin != frame->sender ||
	                       (frame->destination != 0 && frame->destination != view->self)))
		return BATON_EMESSAGE;
	if (frame->origin == view->self)
		return 0; /* the flood came back around a ring of links */
	if (frame->destination == 0)
		return take_flood(node, frame);
	if (frame->destination != view->self) {
		control_relay(node, frame);
		return 0;
	}
	if (frame->kind == FRAME_TOUCH)
		return take_touch(node, arrival, frame);
	node->figures.control_received++;
	return handle(node, frame);
}

static int take_arrival(struct node *node, const struct arrival *arrival)
{
	struct frame frame;
	int error = frame_decode(arrival->bytes, arrival->size, node->cluster, &frame);

	if (error != 0)
		return error;
	if (frame.epoch > node->epoch)
		return keep(node, arrival, &frame);
	if (frame.epoch < node->epoch || node->view.count == 0)
		return 0;
	if (frame.sender > node->view.count)
		return BATON_ESENDER;
	const struct view_member *member = &node->view.members[frame.sender - 1];
	if (!member->linked || member->incarnation != frame.incarnation ||
	    strcmp(member->name, arrival->from) != 0)
		return BATON_ESENDER;
	return frame.kind == FRAME_MESSAGE ? take_messages(node, arrival, &frame)
	                                   : take_control(node, arrival, &frame);
}

int receive_frame(struct node *node, const char *from, const uint8_t *bytes, size_t size)
{
	struct arrival arrival = {.from = from, .bytes = bytes, .size = size};

	return take_arrival(node, &arrival);
}

void receive_again(struct node *node)
{
	struct backlog *backlog = &node->backlog;
	struct waiting_frames frames;

	backlog_take_all(backlog, &frames);
	for (uint32_t i = 0; i < node->view.count; i++)
		node->view.members[i].backlog = 0;
	while (!STAILQ_EMPTY(&frames)) {
		struct waiting_frame *waiting = STAILQ_FIRST(&frames);
		struct arrival arrival = {
		        .from = (const char *)waiting->bytes + waiting->size,
		        .bytes = waiting->bytes,
		        .size = waiting->size,
		        .replay = true,
		};
		STAILQ_REMOVE_HEAD(&frames, frames);
		backlog_taken(backlog, waiting);
		if (take_arrival(node, &arrival) != 0)
			node->figures.malformed++;
		free(waiting);
	}
}
