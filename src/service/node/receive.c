/*
 * Frames that come in: which are for now, which wait, which are over.
 *
 * A frame of a later epoch waits for that epoch's view; messages and touches of this epoch wait until
 * the node is active, and when there is no room for their locks. Waiting is bounded: beyond that
 * the frame is refused and its link is not read on. Reports are never behind messages on a link,
 * because who sends messages of an epoch has passed on all reports of it before; so a link that is
 * not read keeps no report back.
 */
#include "frame.h"
#include "memory.h"

#include <stdlib.h>
#include <string.h>

uint8_t in_byte(struct in *in, uint8_t most)
{
	if (in->bad || in->next == in->end || *in->next > most) {
		in->bad = true;
		return 0;
	}
	return *in->next++;
}

static struct slice in_bytes(struct in *in, uint64_t size)
{
	if (in->bad || (uint64_t)(in->end - in->next) < size) {
		in->bad = true;
		return (struct slice){NULL, 0};
	}
	struct slice slice = {in->next, (uint32_t)size};
	in->next += size;
	return slice;
}

struct slice in_name(struct in *in)
{
	uint8_t size = in_byte(in, NODE_NAME_MAX);

	if (size == 0)
		in->bad = true;
	return in_bytes(in, size);
}

struct slice in_text(struct in *in, uint32_t most)
{
	uint64_t size = in_range(in, 0, most);
	return in_bytes(in, size);
}

int frame_decode(const uint8_t *bytes, size_t size, uint64_t cluster, struct frame *ret_frame)
{
	struct in in = {.next = bytes, .end = bytes + size};
	struct frame frame = {.kind = FRAME_MESSAGE};
	uint64_t of = 0;

	if (size > NODE_FRAME_MAX || in_byte(&in, UINT8_MAX) != FRAME_VERSION)
		return BATON_EMESSAGE;
	frame.kind = (enum frame_kind)in_byte(&in, FRAME_KINDS - 1);
	struct slice id = in_bytes(&in, sizeof(of));
	if (in.bad)
		return BATON_EMESSAGE;
	for (uint32_t i = 0; i < sizeof(of); i++)
		of |= (uint64_t)id.bytes[i] << 8 * i;
	if (of != cluster)
		return BATON_ECLUSTER;
	frame.epoch = in_range(&in, 1, NODE_EPOCH_MAX);
	frame.sender = (uint32_t)in_range(&in, 1, NODE_MEMBERS_MAX);
	frame.incarnation = in_uint(&in);
	if (frame.kind != FRAME_MESSAGE) {
		frame.origin = (uint32_t)in_range(&in, 1, NODE_MEMBERS_MAX);
		frame.destination = (uint32_t)in_range(&in, 0, NODE_MEMBERS_MAX);
		frame.number = in_uint(&in);
	}
	frame.body = in;
	if (in.bad)
		return BATON_EMESSAGE;
	*ret_frame = frame;
	return 0;
}

static bool backlog_has_room(const struct node *node, size_t size)
{
	return node->backlog.bytes == 0 ||
	       (size <= node->limits.backlog_bytes &&
	        node->backlog.bytes <= node->limits.backlog_bytes - size);
}

/* A frame as it came; `replay`: it waited before, so that there is room for it. */
struct arrival {
	const char *from;
	const uint8_t *bytes;
	size_t size;
	bool replay;
};

/* 0, or BATON_EAGAIN. */
static int keep(struct node *node, const struct arrival *arrival, const struct frame *frame)
{
	size_t from_size = strlen(arrival->from);
	struct waiting_frame *waiting;
	size_t needed = sizeof(*waiting) + arrival->size + from_size + 1;

	if (!arrival->replay && !backlog_has_room(node, needed)) {
		node->backlog.refused = true;
		node->backlog.refused_at = node->backlog.bytes;
		return BATON_EAGAIN;
	}
	waiting = malloc(needed);
	memory_must(waiting != NULL);
	*waiting = (struct waiting_frame){.size = (uint32_t)arrival->size, .bytes_all = needed};
	memcpy(waiting->bytes, arrival->bytes, arrival->size);
	memcpy(waiting->bytes + arrival->size, arrival->from, from_size + 1);
	*node->backlog.end = waiting;
	node->backlog.end = &waiting->next;
	node->backlog.bytes += needed;
	if (frame->epoch == node->epoch)
		node->view.members[frame->sender - 1].backlog++;
	return 0;
}

/* One message of a frame of them. */
struct item {
	struct slice name;
	struct letter letter;
};

static bool next_item(struct in *in, struct item *ret_item)
{
	ret_item->letter.side = (enum side)in_byte(in, SIDE_RIGHT);
	ret_item->name = in_name(in);
	ret_item->letter.counter = in_range(in, 0, NODE_COUNTER_MAX);
	struct slice message = in_text(in, NODE_FRAME_MAX);
	ret_item->letter.body = message.bytes;
	ret_item->letter.size = message.size;
	if (message.size == 0)
		in->bad = true;
	return !in->bad;
}

/* How many messages there are, 0 if anything is wrong with any of them. */
static uint32_t count_items(const struct frame *frame)
{
	struct in in = frame->body;
	struct item item;
	uint32_t count = 0;

	do {
		if (!next_item(&in, &item))
			return 0;
		count++;
	} while (in.next < in.end);
	return count;
}

/* Is there room for the locks that are not known yet and for the messages that must wait? */
static bool has_room(const struct node *node, const struct frame *frame)
{
	struct in in = frame->body;
	struct item item;
	uint32_t locks = 0;
	size_t bytes = 0;

	while (in.next < in.end && next_item(&in, &item)) {
		const struct lock *lock = lock_find(node, item.name.bytes, item.name.size,
		                                    name_hash(item.name.bytes, item.name.size));
		if (lock == NULL)
			locks++;
		else if (lock->live != NULL && lock->live->closed_by != 0)
			bytes += sizeof(struct parcel) + item.letter.size;
	}
	return table_has_room(node, locks) && (bytes == 0 || backlog_has_room(node, bytes));
}

static int take_item(struct node *node, const struct item *item)
{
	struct lock *lock = lock_get(node, item->name.bytes, item->name.size,
	                             name_hash(item->name.bytes, item->name.size));
	struct live *live = lock->live;

	node->figures.received++;
	if (live == NULL || live->closed_by == 0)
		return lock_message(node, lock, &item->letter);
	struct parcel *parcel = parcel_make(&item->letter);
	*live->end = parcel;
	live->end = &parcel->next;
	node->backlog.bytes += sizeof(*parcel) + parcel->size;
	return 0;
}

static int take_messages(struct node *node, const struct arrival *arrival,
                         const struct frame *frame)
{
	uint32_t count = count_items(frame);
	struct in in = frame->body;
	struct item item;
	int error = 0;

	if (count == 0)
		return BATON_EMESSAGE;
	if (!node->view.active || node->view.members[frame->sender - 1].backlog != 0)
		return keep(node, arrival, frame);
	/* Nearly always there is room, and nothing is closed. */
	if ((!table_has_room(node, count) || node->view.closed_count != 0) &&
	    !has_room(node, frame)) {
		bump(node);
		return keep(node, arrival, frame);
	}
	while (in.next < in.end && next_item(&in, &item)) {
		int refused = take_item(node, &item);
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
};

/*
 * A touch makes a lock, as a message does. It need not keep its place among the sender's messages: to
 * the algorithm the home's part of a lock begins with whichever comes first, and a token that the
 * touch has overtaken finds the count at 0 and goes round once more.
 */
static int take_touch(struct node *node, const struct arrival *arrival, const struct frame *frame)
{
	struct in in = frame->body;
	struct slice name = in_name(&in);

	if (!in_end(&in))
		return BATON_EMESSAGE;
	uint64_t hash = name_hash(name.bytes, name.size);
	if (name_home(&node->view, hash) != node->view.self)
		return BATON_EMESSAGE;
	if (!node->view.active)
		return keep(node, arrival, frame);
	if (lock_find(node, name.bytes, name.size, hash) == NULL && !table_has_room(node, 1)) {
		bump(node);
		return keep(node, arrival, frame);
	}
	node->figures.control_received++;
	lock_touch(node, lock_get(node, name.bytes, name.size, hash));
	return 0;
}

/* What is for all is passed on before it is acted upon: a report goes before the messages that it
 * makes possible. Malformed, it does not count as seen. */
static int take_flood(struct node *node, const struct frame *frame)
{
	struct member *origin = &node->view.members[frame->origin - 1];
	uint64_t seen = origin->flood_seen;

	if (frame->number <= seen)
		return 0;
	if (!node->view.complete)
		control_relay(node, frame);
	origin->flood_seen = frame->number;
	node->figures.control_received++;
	int error = kinds[frame->kind].handle(node, frame);
	if (error != 0)
		origin->flood_seen = seen;
	return error;
}

static int take_control(struct node *node, const struct arrival *arrival, const struct frame *frame)
{
	const struct view *view = &node->view;

	if (frame->origin > view->count || frame->destination > view->count ||
	    kinds[frame->kind].to_all != (frame->destination == 0))
		return BATON_EMESSAGE;
	if (view->complete && (frame->origin != frame->sender ||
	                       (frame->destination != 0 && frame->destination != view->self)))
		return BATON_EMESSAGE;
	if (frame->origin == view->self)
		return 0; /* around a ring of links and back */
	if (frame->destination == 0)
		return take_flood(node, frame);
	if (frame->destination != view->self) {
		control_relay(node, frame);
		return 0;
	}
	if (frame->kind == FRAME_TOUCH)
		return take_touch(node, arrival, frame);
	node->figures.control_received++;
	return kinds[frame->kind].handle(node, frame);
}

static int take_frame(struct node *node, const struct arrival *arrival)
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
	const struct member *member = &node->view.members[frame.sender - 1];
	if (!member->linked || member->incarnation != frame.incarnation ||
	    strcmp(member->name, arrival->from) != 0)
		return BATON_ESENDER;
	return frame.kind == FRAME_MESSAGE ? take_messages(node, arrival, &frame)
	                                   : take_control(node, arrival, &frame);
}

int node_receive(struct node *node, const char *from, const uint8_t *bytes, size_t size,
                 uint64_t now)
{
	struct arrival arrival = {.from = from, .bytes = bytes, .size = size};

	advance(node, now);
	if (node->stopped)
		return BATON_ESTOPPED;
	int error = take_frame(node, &arrival);
	finish(node);
	return error;
}

void backlog_replay(struct node *node)
{
	struct backlog *backlog = &node->backlog;
	struct waiting_frame *waiting = backlog->first;

	backlog->first = NULL;
	backlog->end = &backlog->first;
	for (uint32_t i = 0; i < node->view.count; i++)
		node->view.members[i].backlog = 0;
	while (waiting != NULL) {
		struct waiting_frame *next = waiting->next;
		struct arrival arrival = {
		        .from = (const char *)waiting->bytes + waiting->size,
		        .bytes = waiting->bytes,
		        .size = waiting->size,
		        .replay = true,
		};
		backlog->bytes -= waiting->bytes_all;
		if (take_frame(node, &arrival) != 0)
			node->figures.malformed++;
		free(waiting);
		waiting = next;
	}
}

void backlog_free(struct backlog *backlog)
{
	while (backlog->first != NULL) {
		struct waiting_frame *next = backlog->first->next;
		free(backlog->first);
		backlog->first = next;
	}
}
