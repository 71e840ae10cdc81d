#include "link_tap.h"

#include "call.h"
#include "frame.h"
#include "grow.h"
#include "link.h"
#include "record.h"

#include <xxhash.h>

void tap_free(struct tap *tap)
{
	buffer_free(&tap->bytes);
}

void tap_pair_free(struct tap_pair *pair)
{
	free(pair->frames);
	*pair = (struct tap_pair){0};
}

bool tap_pair_set(struct tap_pair *pair, uint64_t from, uint64_t to)
{
	if (from < pair->from || to < pair->to)
		return false;
	if (from != pair->from || to != pair->to) {
		tap_pair_free(pair);
		pair->from = from;
		pair->to = to;
	}
	return true;
}

static const char *read_hello(const struct tap_wire *wire, const struct link_hello *hello)
{
	const struct tap_pair *back = wire->pair_back;
	uint64_t received = hello->peer_process == wire->receiver ? hello->received : 0;

	/* A HELLO that addresses another process will be refused. */
	if (hello->peer_process != 0 && hello->peer_process != wire->receiver)
		return NULL;
	if (received > back->received)
		return "a HELLO says that frames have come that have not";
	/* The bytes of a connection that was given up may arrive after those of the next one. */
	if (received < back->acknowledged && wire->connection >= wire->pair->connection)
		return "a HELLO says less than what was acknowledged before";
	wire->other->last = received;
	return NULL;
}

static bool has_gap(const struct tap_wire *wire, uint64_t number, uint64_t epoch)
{
	const struct tap *tap = wire->tap;

	return number > tap->last + 1 && tap->last > 0 && tap->last <= wire->pair->frames_size &&
	       wire->pair->frames[tap->last - 1].epoch == epoch && epoch == wire->epoch;
}

/* Returns the epoch of a frame of any cluster; 0: it is malformed. */
static uint64_t epoch_of(const uint8_t *bytes, size_t size)
{
	uint64_t cluster = 0;
	struct frame frame;

	for (uint32_t i = 0; i < sizeof(cluster) && i + 2 < size; i++)
		cluster |= (uint64_t)bytes[i + 2] << 8 * i;
	return frame_decode(bytes, size, cluster, &frame) == 0 ? frame.epoch : 0;
}

static const char *read_frame(const struct tap_wire *wire, const uint8_t *record, size_t size)
{
	struct tap_pair *pair = wire->pair;
	uint64_t number = record_number(record);
	const uint8_t *bytes = record + RECORD_NUMBERED_SIZE;
	size_t bytes_size = size - RECORD_NUMBERED_SIZE, before = pair->frames_size;
	struct tap_frame frame = {XXH3_64bits(bytes, bytes_size) | 1, epoch_of(bytes, bytes_size)};

	if (number <= wire->tap->last)
		return "a frame comes again, or too late";
	if (has_gap(wire, number, frame.epoch))
		return "a frame is missing";
	wire->tap->last = number;
	pair->frames = grow(pair->frames, &pair->frames_size, number, sizeof(*pair->frames));
	for (size_t i = before; i < pair->frames_size; i++)
		pair->frames[i] = (struct tap_frame){0};
	if (pair->frames[number - 1].hash != 0 && pair->frames[number - 1].hash != frame.hash)
		return "a frame comes again with other bytes";
	pair->frames[number - 1] = frame;
	if (number > pair->received)
		pair->received = number;
	return NULL;
}

static const char *read_record(const struct tap_wire *wire, const uint8_t *record, size_t size)
{
	struct tap_pair *back = wire->pair_back;

	switch (record_type(record)) {
	case RECORD_FRAME:
		return read_frame(wire, record, size);
	case RECORD_ACK:
		if (record_number(record) > back->received)
			return "a frame is acknowledged that has not come";
		if (record_number(record) > back->acknowledged)
			back->acknowledged = record_number(record);
		return NULL;
	case RECORD_HELLO:
	case RECORD_ROOM:
	case RECORD_REFUSAL:
	case RECORD_CALL:
	case RECORD_PACKET:
	case RECORD_CA:
	case RECORD_ENROL:
	case RECORD_CERTIFICATE:
	case RECORD_ELSEWHERE:
	default:
		return "a record comes that is never sent";
	}
}

static bool is_cluster(struct cluster_id id)
{
	return id.high != 0 || id.low != 0;
}

static void read_call(struct tap *tap, const uint8_t *record)
{
	char text[LINK_TEXT_MAX + 1];
	struct call call;
	size_t size;

	if (call_read(record, record_size(record), &call, &size, text) != CALL_WHOLE)
		return;
	tap->cluster = call.charter.cluster;
	charter_free(&call.charter);
}

/* Reads a record of a post. A CALL or a REFUSAL comes first; then packets, and perhaps a REFUSAL,
 * which is the last record. */
static const char *read_post(const struct tap_wire *wire, const uint8_t *record)
{
	struct tap *tap = wire->tap;
	enum record_type type = record_type(record);
	bool first = !tap->post && !tap->heard, ended = tap->ended;

	tap->post = true;
	tap->ended = type == RECORD_REFUSAL;
	if (ended)
		return "something follows a refusal";
	if (type == RECORD_CALL)
		read_call(tap, record);
	/* The side that dialled sends packets before it knows who is there. */
	if (type != RECORD_REFUSAL && !wire->dialled && is_cluster(tap->cluster) &&
	    is_cluster(wire->other->cluster) && !cluster_is(tap->cluster, wire->other->cluster))
		return "a node of another cluster is talked to";
	if (type == RECORD_CALL ? first
	                        : type == RECORD_REFUSAL || (type == RECORD_PACKET && !first))
		return NULL;
	return "a record comes that a post never carries";
}

/* Checks the next record and returns its size, or 0 if it has not arrived completely. Sets
 * *ret_wrong if something is wrong with the record. */
static size_t read_next(const struct tap_wire *wire, const char **ret_wrong)
{
	struct tap *tap = wire->tap;
	const uint8_t *bytes = (const uint8_t *)buffer_front(&tap->bytes);
	size_t have = buffer_size(&tap->bytes);

	if (have < RECORD_HEAD_SIZE || have < record_size(bytes))
		return 0;
	if (tap->post || record_type(bytes) == RECORD_CALL ||
	    record_type(bytes) == RECORD_REFUSAL) {
		*ret_wrong = read_post(wire, bytes);
		return record_size(bytes);
	}
	if (tap->heard) {
		*ret_wrong = read_record(wire, bytes, record_size(bytes));
		return record_size(bytes);
	}
	struct link_heard heard;
	link_hello_read(bytes, have, &heard);
	tap->heard = true;
	if (heard.kind == HELLO_WHOLE)
		*ret_wrong = read_hello(wire, &heard.hello);
	else
		*ret_wrong = "a connection does not begin with a HELLO or a CALL";
	return record_size(bytes);
}

const char *tap_read(const struct tap_wire *wire, const uint8_t *bytes, size_t size)
{
	const char *wrong = NULL;
	size_t taken;

	if (wire->connection > wire->pair->connection)
		wire->pair->connection = wire->connection;
	buffer_append(&wire->tap->bytes, bytes, size);
	while (wrong == NULL && (taken = read_next(wire, &wrong)) > 0)
		buffer_take(&wire->tap->bytes, taken);
	return wrong;
}
