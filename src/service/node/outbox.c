#include "outbox.h"

#include "grow.h"
#include "status_merge.h"

#include <string.h>

static void free_statuses(struct outbox *outbox)
{
	for (size_t i = 0; outbox->status_count > 0; i++) {
		const struct record *record = &outbox->records[i];
		if (record->kind != NODE_REPLY || record->reply.status == NULL)
			continue;
		status_free(record->reply.status);
		outbox->status_count--;
	}
}

void outbox_free(struct outbox *outbox)
{
	free_statuses(outbox);
	free(outbox->records);
	free(outbox->bytes);
}

void outbox_clear_taken(struct outbox *outbox)
{
	if (outbox->taken < outbox->records_count)
		return;
	free_statuses(outbox);
	outbox->records_count = outbox->taken = 0;
	outbox->bytes_count = 0;
}

struct record *outbox_record(struct outbox *outbox, enum node_effect_kind kind)
{
	outbox->records = grow(outbox->records, &outbox->records_size, outbox->records_count + 1,
	                       sizeof(*outbox->records));
	struct record *record = &outbox->records[outbox->records_count++];
	*record = (struct record){.kind = kind};
	return record;
}

void outbox_own_status(struct outbox *outbox, struct record *record, struct status *status)
{
	record->reply.status = status;
	outbox->status_count++;
}

/* --- bytes --- */

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

void outbox_put_byte(struct outbox *outbox, uint8_t byte)
{
	*make_room(outbox, 1) = byte;
	outbox->bytes_count++;
}

void outbox_put_uint(struct outbox *outbox, uint64_t value)
{
	uint8_t *bytes = make_room(outbox, 10);
	size_t count = 0;

	while (value >= 0x80) {
		bytes[count++] = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	bytes[count++] = (uint8_t)value;
	outbox->bytes_count += count;
}

void outbox_put_name(struct outbox *outbox, const void *name, size_t size)
{
	outbox_put_byte(outbox, (uint8_t)size);
	outbox_keep(outbox, name, size);
}

void outbox_put_text(struct outbox *outbox, const void *text, size_t size)
{
	outbox_put_uint(outbox, size);
	outbox_keep(outbox, text, size);
}

/* --- taking --- */

static struct node_bytes bytes_of(const struct outbox *outbox, struct span span)
{
	/* Until the first byte is kept there is no buffer to point into. */
	const char *bytes =
	        outbox->bytes != NULL ? (const char *)outbox->bytes + span.offset : NULL;
	return (struct node_bytes){bytes, span.size};
}

static void fill_event(const struct outbox *outbox, const struct record *record,
                       struct node_effect *effect)
{
	effect->event.session = record->event.session;
	effect->event.kind = record->event.kind;
	effect->event.fence = record->event.fence;
	effect->event.name = bytes_of(outbox, record->event.name);
	effect->event.member = bytes_of(outbox, record->event.member);
	effect->event.value = bytes_of(outbox, record->event.value);
	effect->event.pattern = record->event.named ? (struct node_bytes){NULL, 0}
	                                            : bytes_of(outbox, record->event.pattern);
}

static void fill_reply(const struct outbox *outbox, const struct record *record,
                       struct node_effect *effect)
{
	effect->reply.session = record->reply.session;
	effect->reply.kind = record->reply.kind;
	effect->reply.number = record->reply.number;
	effect->reply.error = record->reply.error;
	effect->reply.lapses = record->reply.lapses;
	effect->reply.left_ns = record->reply.left;
	effect->reply.member = bytes_of(outbox, record->reply.member);
	effect->reply.value = bytes_of(outbox, record->reply.value);
	effect->reply.silent = bytes_of(outbox, record->reply.silent);
	effect->reply.status =
	        record->reply.status != NULL ? status_view(record->reply.status) : NULL;
}

bool outbox_take(struct outbox *outbox, struct node_effect *ret_effect)
{
	if (outbox->taken == outbox->records_count)
		return false;
	const struct record *record = &outbox->records[outbox->taken++];
	ret_effect->kind = record->kind;
	switch (record->kind) {
	case NODE_SEND:
		ret_effect->send.to = record->send.to;
		ret_effect->send.epoch = record->send.epoch;
		ret_effect->send.bytes = outbox->bytes + record->send.frame.offset;
		ret_effect->send.size = record->send.frame.size;
		break;
	case NODE_REPLY:
		fill_reply(outbox, record, ret_effect);
		break;
	case NODE_EVENT:
		fill_event(outbox, record, ret_effect);
		break;
	case NODE_LOST:
		ret_effect->lost.session = record->lost.session;
		ret_effect->lost.name = bytes_of(outbox, record->lost.name);
		ret_effect->lost.fence = record->lost.fence;
		ret_effect->lost.why = bytes_of(outbox, record->lost.why);
		break;
	case NODE_BUMP:
		ret_effect->bump.epoch = record->bump.epoch;
		break;
	case NODE_STOP:
		ret_effect->stop.why = bytes_of(outbox, record->stop.why).bytes;
		break;
	case NODE_SHOUT:
		ret_effect->shout.text = bytes_of(outbox, record->shout.text).bytes;
		break;
	case NODE_RENEW:
		ret_effect->renew.taken = record->renew.taken;
		break;
	case NODE_EXTEND:
		ret_effect->extend.epoch = record->extend.epoch;
		ret_effect->extend.limit = record->extend.limit;
		break;
	case NODE_WARN:
		ret_effect->warn.left_ns = record->warn.left;
		break;
	case NODE_DEPART:
	case NODE_READ:
		break;
	}
	return true;
}
