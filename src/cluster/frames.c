#include "frames.h"

#include "frame.h"

#include <inttypes.h>

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
        [FRAME_ANSWER] = "ANSWER",
};

static void write_slice(FILE *file, struct slice slice)
{
	fwrite(slice.bytes, 1, slice.size, file);
}

static void write_messages(FILE *file, const struct algorithm *algorithm, struct in in)
{
	while (!in.bad && in.next < in.end) {
		in_byte(&in, SIDE_RIGHT);
		struct slice name = in_name(&in);
		uint64_t counter = in_uint(&in);
		struct slice message = in_text(&in, NODE_FRAME_MAX);
		if (in.bad || message.size == 0)
			break;
		fputc(' ', file);
		write_slice(file, name);
		fprintf(file, "@%" PRIu64 " %s", counter,
		        message.bytes[0] < algorithm->messages_count
		                ? algorithm->messages[message.bytes[0]].name
		                : "?");
	}
}

void frames_write(FILE *file, const struct algorithm *algorithm, const uint8_t *bytes, size_t size)
{
	uint64_t cluster = 0;
	struct frame frame;

	for (uint32_t i = 0; i < sizeof(cluster) && i + 2 < size; i++)
		cluster |= (uint64_t)bytes[i + 2] << 8 * i;
	if (frame_decode(bytes, size, cluster, &frame) != 0) {
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
