/*
 * A link with a peer that sends anything. It must not crash. Whatever the peer sends, the output to
 * it is well formed, and the frames in it are ours, in order, each once on a connection.
 *
 * The input is a little program: each step is one of the owner's calls, a record with a good head
 * and the bytes that follow as its body, or raw bytes.
 */
#include "baton/error.h"
#include "buffer.h"
#include "bytes.h"
#include "link.h"
#include "must.h"
#include "record.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct target {
	struct link *link;
	struct buffer out; /* output on this connection that was not checked yet */
	uint64_t epoch;
	uint64_t sent,
	        read; /* the numbers of frames that were sent, and of frames that were read */
	uint64_t taken;
	bool refuses, broken;
	const uint8_t *data;
	size_t size;
};

static uint8_t next_byte(struct target *target)
{
	if (target->size == 0)
		return 0;
	target->size--;
	return *target->data++;
}

/* Takes a number of the bytes that follow, in memory of their own. */
static uint8_t *next_bytes(struct target *target, size_t before, size_t *size)
{
	if (*size > target->size)
		*size = target->size;
	uint8_t *bytes = malloc(before + *size + 1);
	must(bytes != NULL);
	memcpy(bytes + before, target->data, *size);
	target->data += *size;
	target->size -= *size;
	return bytes;
}

static void connect_again(struct target *target, uint8_t received)
{
	link_detach(target->link);
	buffer_take(&target->out, buffer_size(&target->out));
	target->broken = target->refuses = false;
	target->read = 0;
	int error = link_attach(target->link, received);
	must(error == (received > target->sent ? BATON_EMESSAGE : 0));
	if (error != 0)
		must(link_attach(target->link, 0) == 0);
}

/* A frame is its number, followed by bytes derived from it. */
static void send_frame(struct target *target, uint8_t size)
{
	uint8_t frame[8 + 255];

	memset(frame, (int)(target->sent + 1), sizeof(frame));
	bytes_put_u64(frame, target->sent + 1);
	target->sent += link_send(target->link, target->epoch, frame, 8U + size) == 0;
}

static void check_record(struct target *target, const uint8_t *record, size_t size)
{
	const uint8_t *frame = record + RECORD_NUMBERED_SIZE;

	switch (record_type(record)) {
	case RECORD_FRAME:
		must(size >= RECORD_NUMBERED_SIZE + 8 &&
		     record_number(record) == bytes_get_u64(frame));
		must(record_number(record) > target->read);
		must(record_number(record) <= target->sent);
		must(size == RECORD_NUMBERED_SIZE + 8 ||
		     record[size - 1] == (uint8_t)record_number(record));
		target->read = record_number(record);
		break;
	case RECORD_ACK:
		must(size == RECORD_NUMBERED_SIZE && record_number(record) <= target->taken);
		break;
	case RECORD_ROOM:
	case RECORD_HELLO:
	case RECORD_REFUSAL:
	case RECORD_CALL:
	case RECORD_PACKET:
	case RECORD_CA:
	case RECORD_ENROL:
	case RECORD_CERTIFICATE:
	case RECORD_ELSEWHERE:
		must(false);
	}
}

static void check_output(struct target *target, size_t most)
{
	const uint8_t *bytes;
	size_t size = link_output(target->link, &bytes);

	must((size == 0) == (bytes == NULL));
	size = size < most ? size : most;
	buffer_append(&target->out, bytes, size);
	link_written(target->link, size);
	while (buffer_size(&target->out) >= RECORD_HEAD_SIZE) {
		const uint8_t *record = (const uint8_t *)buffer_front(&target->out);
		size = record_size(record);
		must(size >= RECORD_HEAD_SIZE && size <= RECORD_HEAD_SIZE + 1000);
		if (size > buffer_size(&target->out))
			break;
		check_record(target, record, size);
		buffer_take(&target->out, size);
	}
}

static void give(struct target *target, uint8_t *bytes, size_t size)
{
	const uint8_t *record;
	size_t record_size;

	if (!target->broken && !target->refuses) {
		link_input(target->link, bytes, size);
		for (;;) {
			enum link_record kind = link_next(target->link, &record, &record_size);
			if (kind == LINK_NOTHING)
				break;
			must(record_size > 0 && record_size <= LINK_FRAME_MAX);
			target->broken = kind == LINK_BROKEN;
			if (target->broken) {
				must(strlen((const char *)record) == record_size);
				break;
			}
			target->refuses = record_size % 7 == 6;
			if (target->refuses)
				break;
			link_take(target->link);
			must(link_received(target->link) > target->taken);
			target->taken = link_received(target->link);
		}
		if (target->refuses)
			link_keep(target->link);
	}
	memset(bytes, 0xee, size);
	free(bytes);
}

static void give_record(struct target *target, uint8_t type)
{
	size_t size = next_byte(target);
	uint64_t number = next_byte(target);
	bool numbered = type == RECORD_FRAME || type == RECORD_ACK;
	size_t head = numbered ? RECORD_NUMBERED_SIZE : RECORD_HEAD_SIZE;

	if (type == RECORD_ACK)
		size = 0;
	uint8_t *bytes = next_bytes(target, head, &size);
	record_put_head(bytes, (enum record_type)type, head + size);
	if (numbered)
		bytes_put_u64(bytes + RECORD_HEAD_SIZE, number);
	give(target, bytes, head + size);
}

static void accept_refused(struct target *target)
{
	if (!target->refuses)
		return;
	target->refuses = false;
	const uint8_t *record;
	size_t size;
	must(link_next(target->link, &record, &size) == LINK_FRAME);
	must(size % 7 == 6);
	link_take(target->link);
	must(link_received(target->link) > target->taken);
	target->taken = link_received(target->link);
}

static void step(struct target *target)
{
	uint8_t what = next_byte(target), which = next_byte(target);
	size_t size = which;

	switch (what % 12) {
	case 0:
	case 1:
		send_frame(target, which);
		break;
	case 2:
		check_output(target, which);
		break;
	case 3:
		check_output(target, SIZE_MAX);
		break;
	case 4:
	case 5:
		target->epoch += which % 2;
		if (which < 128)
			link_forget(target->link, target->epoch);
		break;
	case 6:
		must(!link_wants_ack(target->link) || target->taken > 0);
		link_ack(target->link);
		break;
	case 7:
		accept_refused(target);
		break;
	case 8:
		connect_again(target, which);
		break;
	case 9:
	case 10:
		give_record(target, which % 8);
		break;
	case 11:
		give(target, next_bytes(target, 0, &size), size);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct target target = {.data = data, .size = size, .epoch = 1};

	target.link = link_create(2000);
	connect_again(&target, 0);
	while (target.size > 0)
		step(&target);
	link_destroy(target.link);
	buffer_free(&target.out);
	return 0;
}
