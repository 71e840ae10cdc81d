#include "frame.h"

#include "baton/error.h"
#include "bytes.h"
#include "node.h"

#include <stdio.h>

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

static const char *kind_name(const uint8_t *bytes, size_t size)
{
	static const char *const names[FRAME_KINDS] = {
	        [FRAME_MESSAGE] = "MESSAGE",
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

	return size < 2 || bytes[1] >= FRAME_KINDS ? "?" : names[bytes[1]];
}

void node_frame_describe(const uint8_t *bytes, size_t size, int error, char *ret_text,
                         size_t text_size)
{
	const char *kind = kind_name(bytes, size);

	if (error == BATON_ECLUSTER)
		snprintf(ret_text, text_size, "it sends a frame of another cluster (%s)", kind);
	else if (error == BATON_ESENDER)
		snprintf(ret_text, text_size, "it sends a frame in another member's name (%s)",
		         kind);
	else
		snprintf(ret_text, text_size, "it sends a malformed or impossible frame (%s)",
		         kind);
}

int frame_decode(const uint8_t *bytes, size_t size, uint64_t cluster, struct frame *ret_frame)
{
	struct in in = {.next = bytes, .end = bytes + size};
	struct frame frame = {.kind = FRAME_MESSAGE};

	if (size > NODE_FRAME_MAX || in_byte(&in, UINT8_MAX) != FRAME_VERSION)
		return BATON_EMESSAGE;
	frame.kind = (enum frame_kind)in_byte(&in, FRAME_KINDS - 1);
	struct slice id = in_bytes(&in, sizeof(cluster));
	if (in.bad)
		return BATON_EMESSAGE;
	if (bytes_get_u64(id.bytes) != cluster)
		return BATON_ECLUSTER;
	frame.epoch = in_range(&in, 1, UINT64_MAX);
	frame.sender = (uint32_t)in_range(&in, 1, NODE_MEMBERS_MAX);
	frame.incarnation = in_uint(&in);
	if (frame.kind != FRAME_MESSAGE) {
		frame.origin = (uint32_t)in_range(&in, 1, NODE_MEMBERS_MAX);
		frame.destination = (uint32_t)in_range(&in, 0, NODE_MEMBERS_MAX);
		frame.number = in_uint(&in);
	}
	frame.body = in;
	if (in.bad || (frame.kind != FRAME_MESSAGE && size > NODE_FRAME_MAX - FRAME_HEAD_MAX))
		return BATON_EMESSAGE;
	*ret_frame = frame;
	return 0;
}
