/*
 * The handshake: the first record in each direction. Its beginning (length, type, "baton" and the
 * version, 4 bytes) and the whole of a refusal are the same in all versions, so that nodes of
 * different versions can still tell each other that they differ.
 */
#include "baton/error.h"
#include "link.h"
#include "must.h"
#include "record.h"
#include "tame.h"

#include <string.h>

static const char magic[] = {'b', 'a', 't', 'o', 'n'};

enum {
	VERSION_AT = RECORD_HEAD_SIZE + sizeof(magic),
	BODY_AT = VERSION_AT + 4, /* where a refusal's text begins */
	NAME_AT =
	        BODY_AT + 5 * 8 /* a HELLO ends with the two names, each after its size (a byte) */
};

/* Copies a text without control characters, because a stranger's text may be shown in a
 * terminal. */
static void copy_text(char *room, const uint8_t *bytes, size_t size)
{
	memcpy(room, bytes, size);
	room[size] = '\0';
	tame_text(room, size);
}

/* Reads a name into `room`. Returns where the bytes after it begin, or NULL if it is malformed. */
static const uint8_t *read_name(const uint8_t *next, const uint8_t *end, char room[])
{
	if (next == NULL || next == end || *next == 0 || end - next - 1 < *next)
		return NULL;
	size_t size = *next++;
	for (size_t i = 0; i < size; i++) {
		if (tame_is_control((char)next[i]))
			return NULL;
	}
	memcpy(room, next, size);
	room[size] = '\0';
	return next + size;
}

static bool read_hello(const uint8_t *bytes, size_t size, struct link_hello *ret)
{
	const uint8_t *end = bytes + size;
	const uint8_t *number = bytes + BODY_AT;

	if (size < NAME_AT)
		return false;
	ret->cluster = bytes_get_u64(number);
	ret->setup = bytes_get_u64(number + 8);
	ret->process = bytes_get_u64(number + 16);
	ret->peer_process = bytes_get_u64(number + 24);
	ret->received = bytes_get_u64(number + 32);
	const uint8_t *next = read_name(bytes + NAME_AT, end, ret->name);
	return read_name(next, end, ret->peer) == end && ret->process != 0;
}

int record_refusal_read(const uint8_t *record, size_t size, char *room)
{
	if (size < BODY_AT || size > BODY_AT + LINK_TEXT_MAX ||
	    memcmp(record + RECORD_HEAD_SIZE, magic, sizeof(magic)) != 0)
		return BATON_EMESSAGE;
	copy_text(room, record + BODY_AT, size - BODY_AT);
	return 0;
}

/* Are these bytes certainly not a HELLO? Decides as early as possible, because a program that
 * speaks another protocol may never send more. */
static bool is_nonsense(const uint8_t *bytes, size_t size)
{
	if (size < RECORD_HEAD_SIZE)
		return false;
	enum record_type type = record_type(bytes);
	if (type != RECORD_HELLO && type != RECORD_REFUSAL)
		return true;
	size_t seen = size - RECORD_HEAD_SIZE;
	if (seen > sizeof(magic))
		seen = sizeof(magic);
	return memcmp(bytes + RECORD_HEAD_SIZE, magic, seen) != 0;
}

void link_hello_read(const uint8_t *bytes, size_t size, struct link_heard *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->kind = HELLO_NONSENSE;
	if (is_nonsense(bytes, size))
		return;
	ret->kind = HELLO_MORE;
	if (size < BODY_AT)
		return;
	size_t whole = record_size(bytes);
	ret->version = bytes_get_u32(bytes + VERSION_AT);
	if (record_type(bytes) == RECORD_HELLO && ret->version != LINK_VERSION) {
		ret->kind = HELLO_VERSION;
	} else if (whole < BODY_AT || whole > LINK_HELLO_MAX) {
		ret->kind = HELLO_NONSENSE;
	} else if (size < whole) {
		return;
	} else if (record_type(bytes) == RECORD_REFUSAL) {
		bool good = record_refusal_read(bytes, whole, ret->text) == 0;
		ret->kind = good ? HELLO_REFUSED : HELLO_NONSENSE;
	} else {
		bool good = read_hello(bytes, whole, &ret->hello);
		ret->kind = good ? HELLO_WHOLE : HELLO_NONSENSE;
	}
	ret->size = whole;
}

static void write_head(uint8_t *room, enum record_type type, size_t size)
{
	must(size <= LINK_HELLO_MAX);
	uint8_t *next = record_put_head(room, type, size);
	memcpy(next, magic, sizeof(magic));
	bytes_put_u32(next + sizeof(magic), LINK_VERSION);
}

static uint8_t *write_name(uint8_t *next, const char *name)
{
	size_t size = strlen(name);

	must(size > 0 && size <= LINK_NAME_MAX);
	*next++ = (uint8_t)size;
	return mempcpy(next, name, size);
}

size_t link_hello_write(const struct link_hello *hello, uint8_t room[LINK_HELLO_MAX])
{
	uint8_t *next = room + BODY_AT;

	must(hello->process != 0);
	next = bytes_put_u64(next, hello->cluster);
	next = bytes_put_u64(next, hello->setup);
	next = bytes_put_u64(next, hello->process);
	next = bytes_put_u64(next, hello->peer_process);
	next = bytes_put_u64(next, hello->received);
	next = write_name(next, hello->name);
	next = write_name(next, hello->peer);
	write_head(room, RECORD_HELLO, (size_t)(next - room));
	return (size_t)(next - room);
}

size_t link_refusal_write(const char *text, uint8_t room[LINK_HELLO_MAX])
{
	size_t size = strnlen(text, LINK_TEXT_MAX);

	memcpy(room + BODY_AT, text, size);
	write_head(room, RECORD_REFUSAL, BODY_AT + size);
	return BODY_AT + size;
}
