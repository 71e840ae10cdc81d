#include "control.h"

#include "whole.h"

/* No message is appended to a frame that is longer than this. */
enum { BATCH_MAX = 1 << 15 };

static void begin_frame(struct node *node, enum frame_kind kind)
{
	struct outbox *outbox = &node->outbox;

	outbox->frame = outbox->bytes_count;
	outbox_put_byte(outbox, FRAME_VERSION);
	outbox_put_byte(outbox, (uint8_t)kind);
	for (unsigned shift = 0; shift < 64; shift += 8)
		outbox_put_byte(outbox, (uint8_t)(node->cluster >> shift));
	outbox_put_uint(outbox, node->epoch);
	outbox_put_uint(outbox, node->view.self);
	outbox_put_uint(outbox, node->incarnation);
}

/* Sends the frame that was begun last to a neighbour. */
static struct record *send_frame(struct node *node, uint32_t to)
{
	struct outbox *outbox = &node->outbox;
	size_t size = outbox->bytes_count - outbox->frame;

	must(size <= NODE_FRAME_MAX && to != node->view.self);
	struct record *record = outbox_record(outbox, NODE_SEND);
	record->send.to = to;
	record->send.epoch = node->epoch;
	record->send.frame = (struct span){(uint32_t)outbox->frame, (uint32_t)size};
	return record;
}

static void put_message(struct node *node, const struct lock *lock, const struct effect *effect)
{
	struct outbox *outbox = &node->outbox;
	struct slice name = lock_name(node, lock);

	outbox_put_byte(outbox, (uint8_t)effect->send.side);
	outbox_put_name(outbox, name.bytes, name.size);
	outbox_put_uint(outbox, lock->counter);
	outbox_put_text(outbox, node->out.bytes + effect->send.offset, effect->send.size);
}

/* Adds the message to the last frame, if that frame goes to the same neighbour and the driver has
 * not taken it yet. That way, all tokens that move on at the same time share a frame. */
static bool append_message(struct node *node, const struct lock *lock, const struct effect *effect)
{
	struct outbox *outbox = &node->outbox;

	if (outbox->records_count == outbox->taken)
		return false;
	struct record *last = &outbox->records[outbox->records_count - 1];
	if (last->kind != NODE_SEND || !last->send.appendable || last->send.to != effect->send.to ||
	    last->send.epoch != node->epoch || last->send.frame.size >= BATCH_MAX ||
	    last->send.frame.offset + (size_t)last->send.frame.size != outbox->bytes_count)
		return false;
	put_message(node, lock, effect);
	last->send.frame.size = (uint32_t)outbox->bytes_count - last->send.frame.offset;
	return true;
}

void message_send(struct node *node, const struct lock *lock, const struct effect *effect,
                  bool same)
{
	struct outbox *outbox = &node->outbox;
	uint8_t type = node->out.bytes[effect->send.offset];

	node->figures.sent++;
	node->figures.sent_by_type[type]++;
	if (same && outbox->single) {
		outbox->records[outbox->records_count - 1].send.appendable = false;
		send_frame(node, effect->send.to);
	} else if (append_message(node, lock, effect)) {
		outbox->single = false;
	} else {
		begin_frame(node, FRAME_MESSAGE);
		put_message(node, lock, effect);
		send_frame(node, effect->send.to)->send.appendable = true;
		outbox->single = true;
	}
}

/* --- control --- */

void control_begin(struct node *node, enum frame_kind kind, uint32_t destination)
{
	struct outbox *outbox = &node->outbox;

	begin_frame(node, kind);
	outbox_put_uint(outbox, node->view.self);
	outbox_put_uint(outbox, destination);
	outbox_put_uint(outbox, destination == 0 ? ++node->view.flood_number : 0);
}

void control_byte(struct node *node, uint8_t byte)
{
	outbox_put_byte(&node->outbox, byte);
}

void control_uint(struct node *node, uint64_t value)
{
	outbox_put_uint(&node->outbox, value);
}

void control_name(struct node *node, struct slice name)
{
	outbox_put_name(&node->outbox, name.bytes, name.size);
}

void control_text(struct node *node, struct slice text)
{
	outbox_put_text(&node->outbox, text.bytes, text.size);
}

void control_bytes(struct node *node, const uint8_t *bytes, size_t size)
{
	outbox_keep(&node->outbox, bytes, size);
}

size_t control_size(const struct node *node)
{
	return node->outbox.bytes_count - node->outbox.frame;
}

static void send_to_neighbours(struct node *node, uint32_t except)
{
	for (uint32_t i = 1; i <= node->view.count; i++) {
		if (!node->view.members[i - 1].linked || i == except)
			continue;
		node->figures.control_sent++;
		send_frame(node, i);
	}
}

static void send_toward(struct node *node, uint32_t destination)
{
	node->figures.control_sent++;
	send_frame(node, node->view.members[destination - 1].route);
}

void control_end(struct node *node, uint32_t destination)
{
	if (destination == 0)
		send_to_neighbours(node, 0);
	else
		send_toward(node, destination);
}

bool control_may_carry_event(struct node *node, uint32_t destination)
{
	struct view_member *member = &node->view.members[destination - 1];

	if (!node->view.members[member->route - 1].congested)
		return true;
	member->events_dropped++;
	return false;
}

void control_relay(struct node *node, const struct frame *frame)
{
	struct outbox *outbox = &node->outbox;

	if (frame->kind == FRAME_EVENT && !control_may_carry_event(node, frame->destination))
		return;
	begin_frame(node, frame->kind);
	outbox_put_uint(outbox, frame->origin);
	outbox_put_uint(outbox, frame->destination);
	outbox_put_uint(outbox, frame->number);
	outbox_keep(outbox, frame->body.next, (size_t)(frame->body.end - frame->body.next));
	if (frame->destination == 0)
		send_to_neighbours(node, frame->sender);
	else
		send_toward(node, frame->destination);
}

void control_answer(struct node *node, uint64_t question, uint32_t to, bool yes)
{
	if (question == 0)
		return;
	control_begin(node, FRAME_ANSWER, to);
	control_uint(node, question);
	control_uint(node, yes);
	control_end(node, to);
}
