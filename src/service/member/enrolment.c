#include "enrolment.h"

#include "wire.h"

#include <stdio.h>
#include <string.h>

static const char magic[] = {'b', 'a', 't', 'o', 'n'};
enum { VERSION_AT = RECORD_HEAD_SIZE + sizeof(magic), BODY_AT = VERSION_AT + 4 };

static void get_text(struct in *in, size_t least, size_t most, char *room)
{
	struct entry_text text = entry_get_text(in, least, most);

	if (in->bad)
		return;
	memcpy(room, text.bytes, text.size);
	room[text.size] = '\0';
}

static void get_bytes(struct in *in, size_t most, struct enrolment *enrolment)
{
	size_t size = (size_t)in_range(in, 1, most);

	if (in->bad || (size_t)(in->end - in->next) < size) {
		in->bad = true;
		return;
	}
	enrolment->bytes = in->next;
	enrolment->size = size;
	in->next += size;
}

static bool read_body(struct in in, struct enrolment *enrolment)
{
	struct entry_digest secret;

	switch (enrolment->type) {
	case RECORD_CA:
	case RECORD_CERTIFICATE:
		get_bytes(&in, CERTIFICATE_SIZE_MAX, enrolment);
		break;
	case RECORD_ENROL:
		secret = entry_get_digest(&in); /* a secret is as long as a digest */
		memcpy(enrolment->secret, secret.bytes, sizeof(enrolment->secret));
		get_text(&in, 1, ENTRY_NAME_MAX, enrolment->name);
		get_text(&in, 0, ENTRY_NAME_MAX, enrolment->host);
		get_bytes(&in, CERTIFICATE_KEY_MAX, enrolment);
		break;
	case RECORD_REFUSAL:
	case RECORD_ELSEWHERE:
	case RECORD_ROOM:
	case RECORD_HELLO:
	case RECORD_FRAME:
	case RECORD_ACK:
	case RECORD_CALL:
	case RECORD_PACKET:
		return false;
	}
	return in_end(&in);
}

static bool is_text(enum record_type type)
{
	return type == RECORD_REFUSAL || type == RECORD_ELSEWHERE;
}

enum enrolment_kind enrolment_read(const uint8_t *bytes, size_t size,
                                   struct enrolment *ret_enrolment, size_t *ret_size)
{
	struct enrolment enrolment = {0};

	if (size < RECORD_HEAD_SIZE)
		return ENROLMENT_MORE;
	size_t whole = record_size(bytes);
	enrolment.type = record_type(bytes);
	if ((!is_text(enrolment.type) &&
	     (enrolment.type < RECORD_CA || enrolment.type > RECORD_CERTIFICATE)) ||
	    whole < BODY_AT || whole > ENROLMENT_SIZE_MAX)
		return ENROLMENT_NONSENSE;
	if (size < BODY_AT)
		return ENROLMENT_MORE;
	if (memcmp(bytes + RECORD_HEAD_SIZE, magic, sizeof(magic)) != 0)
		return ENROLMENT_NONSENSE;
	if (!is_text(enrolment.type) && bytes_get_u32(bytes + VERSION_AT) != LINK_VERSION)
		return ENROLMENT_VERSION;
	if (size < whole)
		return ENROLMENT_MORE;
	if (is_text(enrolment.type)
	            ? record_refusal_read(bytes, whole, enrolment.text) != 0
	            : !read_body((struct in){.next = bytes + BODY_AT, .end = bytes + whole},
	                         &enrolment))
		return ENROLMENT_NONSENSE;
	*ret_enrolment = enrolment;
	*ret_size = whole;
	return ENROLMENT_WHOLE;
}

static void put_bytes(struct out *out, const void *bytes, size_t size)
{
	out_need(out, (uint32_t)size);
	memcpy(out->bytes + out->bytes_count, bytes, size);
	out->bytes_count += (uint32_t)size;
}

void enrolment_write(struct out *out, const struct enrolment *enrolment)
{
	uint32_t start = out->bytes_count;

	out_need(out, BODY_AT);
	out->bytes_count += BODY_AT;
	if (is_text(enrolment->type)) {
		size_t size = strlen(enrolment->text);
		put_bytes(out, enrolment->text, size < LINK_TEXT_MAX ? size : LINK_TEXT_MAX);
	} else {
		if (enrolment->type == RECORD_ENROL) {
			put_bytes(out, enrolment->secret, sizeof(enrolment->secret));
			entry_put_text(out, entry_text_of(enrolment->name));
			entry_put_text(out, entry_text_of(enrolment->host));
		}
		out_uint(out, enrolment->size);
		put_bytes(out, enrolment->bytes, enrolment->size);
	}
	uint8_t *next =
	        record_put_head(out->bytes + start, enrolment->type, out->bytes_count - start);
	memcpy(next, magic, sizeof(magic));
	bytes_put_u32(next + sizeof(magic), LINK_VERSION);
}
