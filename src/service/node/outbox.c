/*
 * Effects that wait to be taken, and the making of frames.
 *
 * Records refer to bytes by their place, because the bytes move when there are more; node_effect
 * turns places into pointers. A frame to many is written once and referred to by many records.
 */
#include "frame.h"
#include "grow.h"

#include <string.h>

/* A frame of messages is not made longer than this by further ones. */
enum { BATCH_MAX = 1 << 15 };

void outbox_free(struct outbox *outbox)
{
	for (size_t i = outbox->taken; i < outbox->records_count; i++)
		status_free(outbox->records[i].status);
	outbox->taken = outbox->records_count;
	outbox_clear_taken(outbox);
	free(outbox->records);
	free(outbox->bytes);
}

void outbox_clear_taken(struct outbox *outbox)
{
	if (outbox->taken < outbox->records_count)
		return;
	for (size_t i = 0; i < outbox->records_count; i++) {
		if (outbox->records[i].status != NULL)
			status_free(outbox->records[i].status);
	}
	outbox->records_count = outbox->taken = 0;
	outbox->bytes_count = 0;
}

static uint8_t *make_room(struct outbox *outbox, size_t size)
{
	outbox->bytes = grow(outbox->bytes, &outbox->bytes_size, outbox->bytes_count + size,
	                     sizeof(uint8_t));
	must(outbox->bytes_size <= UINT32_MAX);
	return outbox->bytes + outbox->bytes_count;
}

struct span outbox_keep(struct outbox *outbox, const void *bytes, size_t size)
{
	struct span span = {.offset = (uint32_t)outbox->bytes_count, .size = (uint32_t)size};

	if (size == 0)
		return span;
	memcpy(make_room(outbox, size), bytes, size);
	outbox->bytes_count += size;
	return span;
}

struct record *outbox_record(struct outbox *outbox, enum node_effect_kind kind)
{
	outbox->records = grow(outbox->records, &outbox->records_size, outbox->records_count + 1,
	                       sizeof(*outbox->records));
	struct record *record = &outbox->records[outbox->records_count++];
	*record = (struct record){.kind = kind};
	return record;
}

void put_byte(struct node *node, uint8_t byte)
{
	*make_room(&node->outbox, 1) = byte;
	node->outbox.bytes_count++;
}

void put_uint(struct node *node, uint64_t value)
{
	uint8_t *bytes = make_room(&node->outbox, 10);
	size_t count = 0;

	while (value >= 0x80) {
		bytes[count++] = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	bytes[count++] = (uint8_t)value;
	node->outbox.bytes_count += count;
}

static void put_bytes(struct node *node, const void *bytes, size_t size)
{
	outbox_keep(&node->outbox, bytes, size);
}

void put_name(struct node *node, const void *name, size_t size)
{
	put_byte(node, (uint8_t)size);
	put_bytes(node, name, size);
}

void put_text(struct node *node, const void *text, size_t size)
{
	put_uint(node, size);
	put_bytes(node, text, size);
}

static void frame_begin(struct node *node, enum frame_kind kind)
{
	node->outbox.frame = node->outbox.bytes_count;
	put_byte(node, FRAME_VERSION);
	put_byte(node, (uint8_t)kind);
	for (unsigned shift = 0; shift < 64; shift += 8)
		put_byte(node, (uint8_t)(node->cluster >> shift));
	put_uint(node, node->epoch);
	put_uint(node, node->view.self);
	put_uint(node, node->incarnation);
}

/* The frame begun last goes to a neighbour. */
static struct record *frame_send(struct node *node, uint32_t to)
{
	struct outbox *outbox = &node->outbox;
	size_t size = outbox->bytes_count - outbox->frame;

	must(size <= NODE_FRAME_MAX && to != node->view.self);
	struct record *record = outbox_record(outbox, NODE_SEND);
	record->to = to;
	record->session = node->epoch;
	record->a = (struct span){(uint32_t)outbox->frame, (uint32_t)size};
	return record;
}

static void put_message(struct node *node, const struct lock *lock, const struct effect *effect)
{
	struct slice name = lock_name(node, lock);

	put_byte(node, (uint8_t)effect->side);
	put_name(node, name.bytes, name.size);
	put_uint(node, lock->counter);
	put_text(node, node->out.bytes + effect->offset, effect->size);
}

/* Messages to one neighbour in a row share a frame: the tokens of one hop do. */
static bool append_message(struct node *node, const struct lock *lock, const struct effect *effect)
{
	struct outbox *outbox = &node->outbox;

	if (outbox->records_count == outbox->taken)
		return false;
	const struct record *last = &outbox->records[outbox->records_count - 1];
	if (last->kind != NODE_SEND || !last->appendable || last->to != effect->node ||
	    last->session != node->epoch || last->a.size >= BATCH_MAX ||
	    last->a.offset + (size_t)last->a.size != outbox->bytes_count)
		return false;
	put_message(node, lock, effect);
	struct record *record = &outbox->records[outbox->records_count - 1];
	record->a.size = (uint32_t)outbox->bytes_count - record->a.offset;
	return true;
}

void send_message(struct node *node, const struct lock *lock, const struct effect *effect,
                  bool same)
{
	struct outbox *outbox = &node->outbox;
	uint8_t type = node->out.bytes[effect->offset];

	node->figures.sent++;
	node->figures.sent_by_type[type]++;
	if (same && outbox->single) {
		outbox->records[outbox->records_count - 1].appendable = false;
		frame_send(node, effect->node);
	} else if (append_message(node, lock, effect)) {
		outbox->single = false;
	} else {
		frame_begin(node, FRAME_MESSAGE);
		put_message(node, lock, effect);
		frame_send(node, effect->node)->appendable = true;
		outbox->single = true;
	}
}

void control_begin(struct node *node, uint8_t kind, uint32_t destination)
{
	frame_begin(node, (enum frame_kind)kind);
	put_uint(node, node->view.self);
	put_uint(node, destination);
	put_uint(node, destination == 0 ? ++node->view.flood_number : 0);
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
		frame_send(node, i);
	}
}

static void send_toward(struct node *node, uint32_t destination)
{
	node->figures.control_sent++;
	frame_send(node, node->view.members[destination - 1].route);
}

void control_end(struct node *node, uint32_t destination)
{
	if (destination == 0)
		send_to_neighbours(node, 0);
	else
		send_toward(node, destination);
}

void control_relay(struct node *node, const struct frame *frame)
{
	if (frame->kind == FRAME_EVENT && !event_may_go(node, frame->destination))
		return;
	frame_begin(node, frame->kind);
	put_uint(node, frame->origin);
	put_uint(node, frame->destination);
	put_uint(node, frame->number);
	put_bytes(node, frame->body.next, (size_t)(frame->body.end - frame->body.next));
	if (frame->destination == 0)
		send_to_neighbours(node, frame->sender);
	else
		send_toward(node, frame->destination);
}

static struct node_bytes bytes_of(const struct outbox *outbox, struct span span)
{
	/* Before anything was kept there are no bytes to point into. */
	const char *bytes =
	        outbox->bytes != NULL ? (const char *)outbox->bytes + span.offset : NULL;
	return (struct node_bytes){bytes, span.size};
}

static void fill_event(const struct outbox *outbox, const struct record *record,
                       struct node_effect *effect)
{
	effect->event.session = record->session;
	effect->event.kind = record->event;
	effect->event.fence = record->number;
	effect->event.name = bytes_of(outbox, record->a);
	effect->event.member = bytes_of(outbox, record->b);
	effect->event.value = bytes_of(outbox, record->c);
	effect->event.pattern =
	        record->named ? (struct node_bytes){NULL, 0} : bytes_of(outbox, record->d);
}

static void fill_reply(const struct outbox *outbox, const struct record *record,
                       struct node_effect *effect)
{
	effect->reply.session = record->session;
	effect->reply.kind = record->reply;
	effect->reply.number = record->number;
	effect->reply.error = record->error;
	effect->reply.member = bytes_of(outbox, record->a);
	effect->reply.value = bytes_of(outbox, record->b);
	effect->reply.silent = bytes_of(outbox, record->c);
	effect->reply.status = record->status != NULL ? status_view(record->status) : NULL;
}

bool node_effect(struct node *node, struct node_effect *ret_effect)
{
	struct outbox *outbox = &node->outbox;

	if (outbox->taken == outbox->records_count)
		return false;
	const struct record *record = &outbox->records[outbox->taken++];
	ret_effect->kind = record->kind;
	switch (record->kind) {
	case NODE_SEND:
		ret_effect->send.to = record->to;
		ret_effect->send.epoch = record->session;
		ret_effect->send.bytes = outbox->bytes + record->a.offset;
		ret_effect->send.size = record->a.size;
		break;
	case NODE_REPLY:
		fill_reply(outbox, record, ret_effect);
		break;
	case NODE_EVENT:
		fill_event(outbox, record, ret_effect);
		break;
	case NODE_LOST:
		ret_effect->lost.session = record->session;
		ret_effect->lost.name = bytes_of(outbox, record->a);
		ret_effect->lost.fence = record->number;
		ret_effect->lost.why = bytes_of(outbox, record->b);
		break;
	case NODE_BUMP:
		ret_effect->bump.epoch = record->session;
		break;
	case NODE_STOP:
		ret_effect->stop.why = bytes_of(outbox, record->a).bytes;
		break;
	case NODE_READ:
		break;
	}
	return true;
}
