#include "frames.h"

#include "frame.h"
#include "node.h"

#include <inttypes.h>
#include <string.h>

static const char *const kinds[FRAME_KINDS] = {
        [FRAME_MESSAGE] = "message",
        [FRAME_TOUCH] = "TOUCH",
        [FRAME_PROBE] = "PROBE",
        [FRAME_PUBLISH] = "PUBLISH",
        [FRAME_ENDED] = "ENDED",
        [FRAME_REPORT] = "REPORT",
        [FRAME_RETURN] = "RETURN",
        [FRAME_ASK_LEADER] = "ASK_LEADER",
        [FRAME_TELL_LEADER] = "TELL_LEADER",
        [FRAME_ASK_STATUS] = "ASK_STATUS",
        [FRAME_TELL_STATUS] = "TELL_STATUS",
        [FRAME_BREAK] = "BREAK",
        [FRAME_INTEREST] = "INTEREST",
        [FRAME_EVENT] = "EVENT",
        [FRAME_DROPPED] = "DROPPED",
        [FRAME_ANSWER] = "ANSWER",
        [FRAME_ASK_STATES] = "ASK_STATES",
        [FRAME_TELL_STATES] = "TELL_STATES",
};

static void write_slice(FILE *file, struct slice slice)
{
	fwrite(slice.bytes, 1, slice.size, file);
}

/* One message of a frame that carries messages. */
struct item {
	struct slice name;
	uint64_t counter;
	/* The type of the message; NULL: the algorithm has no such message. */
	const struct message_type *type;
};

static bool next_item(const struct algorithm *algorithm, struct in *in, struct item *ret_item)
{
	if (in->next == in->end)
		return false;
	in_byte(in, SIDE_RIGHT);
	ret_item->name = in_name(in);
	ret_item->counter = in_uint(in);
	struct slice message = in_text(in, NODE_FRAME_MAX);
	if (in->bad || message.size == 0)
		return false;
	ret_item->type = message.bytes[0] < algorithm->messages_count
	                         ? &algorithm->messages[message.bytes[0]]
	                         : NULL;
	return true;
}

static void write_messages(FILE *file, const struct algorithm *algorithm, struct in in)
{
	struct item item;

	while (next_item(algorithm, &in, &item)) {
		fputc(' ', file);
		write_slice(file, item.name);
		fprintf(file, "@%" PRIu64 " %s", item.counter,
		        item.type != NULL ? item.type->name : "?");
	}
}

/* Decodes a frame of any cluster. */
static int decode(const uint8_t *bytes, size_t size, struct frame *ret_frame)
{
	uint64_t cluster = 0;

	for (uint32_t i = 0; i < sizeof(cluster) && i + 2 < size; i++)
		cluster |= (uint64_t)bytes[i + 2] << 8 * i;
	return frame_decode(bytes, size, cluster, ret_frame);
}

uint32_t frames_tokens(const struct algorithm *algorithm, const uint8_t *bytes, size_t size,
                       const char *lock, size_t lock_size, uint64_t *ret_epoch)
{
	uint32_t count = 0;
	struct frame frame;
	struct item item;

	if (decode(bytes, size, &frame) != 0 || frame.kind != FRAME_MESSAGE)
		return 0;
	while (next_item(algorithm, &frame.body, &item)) {
		if (item.type != NULL && item.type->token && item.name.size == lock_size &&
		    memcmp(item.name.bytes, lock, lock_size) == 0)
			count++;
	}
	*ret_epoch = frame.epoch;
	return count;
}

void frames_write(FILE *file, const struct algorithm *algorithm, const uint8_t *bytes, size_t size)
{
	struct frame frame;

	if (decode(bytes, size, &frame) != 0) {
		fputs("no frame", file);
		return;
	}
	fprintf(file, "epoch %" PRIu64 " ", frame.epoch);
	if (frame.kind == FRAME_MESSAGE) {
		write_messages(file, algorithm, frame.body);
		return;
	}
	fprintf(file, "%s of %u to %u, number %" PRIu64, kinds[frame.kind], frame.origin,
	        frame.destination, frame.number);
	struct in in = frame.body;
	if (frame.kind == FRAME_PROBE || frame.kind == FRAME_PUBLISH ||
	    frame.kind == FRAME_ASK_LEADER || frame.kind == FRAME_BREAK)
		in_uint(&in);
	else if (frame.kind == FRAME_EVENT)
		in_byte(&in, UINT8_MAX);
	else if (frame.kind != FRAME_TOUCH && frame.kind != FRAME_ENDED &&
	         frame.kind != FRAME_RETURN)
		return;
	fputs(": ", file);
	write_slice(file, in_name(&in));
}
