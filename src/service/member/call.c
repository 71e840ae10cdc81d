#include "call.h"

#include "record.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char magic[] = {'b', 'a', 't', 'o', 'n'};
enum { VERSION_AT = RECORD_HEAD_SIZE + sizeof(magic), BODY_AT = VERSION_AT + 4 };

static void get_text(struct in *in, size_t least, char *room)
{
	struct entry_text text = entry_get_text(in, least, ENTRY_NAME_MAX);

	if (in->bad)
		return;
	memcpy(room, text.bytes, text.size);
	room[text.size] = '\0';
}

static bool read_body(const uint8_t *bytes, size_t size, struct call *ret_call)
{
	struct in in = {.next = bytes, .end = bytes + size};
	struct call call = {0};

	charter_read(&in, &call.charter);
	call.process = in_range(&in, 1, UINT64_MAX);
	call.server = in_uint(&in);
	call.witness = in_range(&in, 0, 1) == 1;
	get_text(&in, 1, call.name);
	get_text(&in, 0, call.address);
	get_text(&in, 0, call.peer);
	if (!in_end(&in)) {
		charter_free(&call.charter);
		return false;
	}
	*ret_call = call;
	return true;
}

enum call_kind call_read(const uint8_t *bytes, size_t size, struct call *ret_call, size_t *ret_size,
                         char ret_text[LINK_TEXT_MAX + 1])
{
	if (size < RECORD_HEAD_SIZE)
		return CALL_MORE;
	size_t whole = record_size(bytes);
	enum record_type type = record_type(bytes);
	if ((type != RECORD_CALL && type != RECORD_HELLO && type != RECORD_REFUSAL) ||
	    whole < BODY_AT || whole > CALL_SIZE_MAX)
		return CALL_NONSENSE;
	if (size < BODY_AT)
		return CALL_MORE;
	if (memcmp(bytes + RECORD_HEAD_SIZE, magic, sizeof(magic)) != 0)
		return CALL_NONSENSE;
	uint32_t version = bytes_get_u32(bytes + VERSION_AT);
	if (type != RECORD_REFUSAL && version != LINK_VERSION) {
		snprintf(ret_text, LINK_TEXT_MAX + 1,
		         "it speaks version %" PRIu32
		         " of the protocol between nodes, and this node speaks version %d",
		         version, LINK_VERSION);
		return CALL_VERSION;
	}
	if (type == RECORD_HELLO)
		return CALL_LINK;
	if (size < whole)
		return CALL_MORE;
	*ret_size = whole;
	if (type == RECORD_REFUSAL)
		return record_refusal_read(bytes, whole, ret_text) == 0 ? CALL_REFUSED
		                                                        : CALL_NONSENSE;
	return read_body(bytes + BODY_AT, whole - BODY_AT, ret_call) ? CALL_WHOLE : CALL_NONSENSE;
}

void call_write(struct out *out, const struct call *call)
{
	uint32_t start = out->bytes_count;

	out_need(out, BODY_AT);
	out->bytes_count += BODY_AT;
	charter_write(out, &call->charter);
	out_uint(out, call->process);
	out_uint(out, call->server);
	out_uint(out, call->witness);
	entry_put_text(out, entry_text_of(call->name));
	entry_put_text(out, entry_text_of(call->address));
	entry_put_text(out, entry_text_of(call->peer));
	uint8_t *next = record_put_head(out->bytes + start, RECORD_CALL, out->bytes_count - start);
	memcpy(next, magic, sizeof(magic));
	bytes_put_u32(next + sizeof(magic), LINK_VERSION);
}
