/*
 * One end of a link: see link.h.
 *
 * `out` has the records in one piece, in the form in which they are sent. Frames stay in it until
 * they are acknowledged, other records until they are written. Before each batch of records there
 * is room for an ACK. It is filled or skipped when the batch is written, because only then is it
 * known what there is to acknowledge.
 */
#include "link.h"

#include "baton/error.h"
#include "buffer.h"
#include "grow.h"
#include "memory.h"
#include "record.h"

#include <inttypes.h>
#include <stdio.h>

enum {
	/* An ACK is sent alone after this many bytes or frames. */
	ACK_BYTES = 1 << 16,
	ACK_FRAMES = 256,
	/* A buffer larger than this is freed when it is empty. */
	ROOM_MAX = 1 << 20,
	RECORD_MAX = RECORD_NUMBERED_SIZE + LINK_FRAME_MAX,
	DOUBLED_MAX = 8, /* kept_max may grow to this many times its first value; a power of 2 */
};

/* An era: the frames from number `first` up to the next era belong to this epoch. */
struct era {
	uint64_t epoch, first;
};

struct link {
	size_t kept_max;     /* the most bytes of `out`; doubled after an epoch that needs more */
	size_t kept_ceiling; /* the largest value of kept_max */
	bool attached;

	struct buffer out;
	size_t written; /* how many bytes of `out` were sent on this connection */
	/* The record at `written` is the room for an ACK, and no byte of it or of its batch was
	 * sent yet. */
	bool room;
	uint64_t number;       /* the number of the last frame that was given to the link */
	uint64_t acknowledged; /* the greatest number that the peer has acknowledged */
	uint64_t forgotten;    /* the frames up to this number are no longer needed */
	uint64_t full_epoch;   /* the epoch of a frame that found no room; 0: none */
	struct era *eras;
	size_t eras_count, eras_size;

	const uint8_t *given; /* the rest of link_input's bytes */
	size_t given_size;
	/* copied bytes that come before `given`: the beginning of a record, or more */
	struct buffer held;
	size_t offered; /* the size of the record whose frame may be taken; 0: there is none */
	uint64_t offered_number; /* the number of the frame that may be taken */
	uint64_t received;       /* the number of the last frame that was taken */
	bool ack_due;            /* the peer may not know `received` yet */
	uint32_t ack_frames;     /* how many frames were taken since the last ACK */
	size_t ack_bytes;        /* how many bytes were taken since the last ACK */
	bool broken;
	char text[LINK_TEXT_MAX + 1];
};

struct link *link_create(size_t kept_max)
{
	struct link *link = calloc(1, sizeof(*link));

	memory_must(link != NULL);
	link->kept_max = kept_max;
	link->kept_ceiling = kept_max <= SIZE_MAX / DOUBLED_MAX ? kept_max * DOUBLED_MAX : kept_max;
	return link;
}

void link_destroy(struct link *link)
{
	if (link == NULL)
		return;
	buffer_free(&link->out);
	buffer_free(&link->held);
	free(link->eras);
	free(link);
}

/* --- records that are kept --- */

static uint8_t *out_at(const struct link *link, size_t offset)
{
	return (uint8_t *)link->out.bytes + link->out.start + offset;
}

/* Drops the first `size` bytes, which are whole records that are no longer needed. */
static void drop_front(struct link *link, size_t size)
{
	buffer_take(&link->out, size);
	link->written -= size;
	if (link->out.room > ROOM_MAX && buffer_size(&link->out) == 0)
		buffer_free(&link->out);
}

/* Drops records from the front that were written and, if they are frames, acknowledged. */
static void drop_done(struct link *link)
{
	size_t done = 0;

	while (done < link->written) {
		const uint8_t *record = out_at(link, done);
		if (record_type(record) == RECORD_FRAME &&
		    record_number(record) > link->acknowledged)
			break;
		if (done + record_size(record) > link->written)
			break;
		done += record_size(record);
	}
	if (done > 0)
		drop_front(link, done);
}

/* Drops all frames that are no longer needed. Of the other records it drops those that were
 * written; with `all_others` it drops them all. A record that is half written must stay. */
static void sift(struct link *link, bool all_others)
{
	size_t size = buffer_size(&link->out), kept = 0, written = 0;

	for (size_t at = 0, end; at < size; at = end) {
		const uint8_t *record = out_at(link, at);
		end = at + record_size(record);
		bool is_written = end <= link->written;
		bool is_half = !is_written && at < link->written;
		bool is_wanted = record_type(record) == RECORD_FRAME
		                         ? record_number(record) > link->forgotten
		                         : !is_written && !all_others;
		if (!is_wanted && !is_half)
			continue;
		written += is_written ? end - at : is_half ? link->written - at : 0;
		memmove(out_at(link, kept), record, end - at);
		kept += end - at;
	}
	link->out.end = link->out.start + kept;
	link->written = written;
	/* The room for an ACK is of no use without a batch after it. */
	if (link->room && kept == written + RECORD_NUMBERED_SIZE &&
	    record_type(out_at(link, written)) == RECORD_ROOM) {
		link->out.end -= RECORD_NUMBERED_SIZE;
		link->room = false;
	}
	drop_front(link, 0);
}

static void acknowledge(struct link *link, uint64_t number)
{
	if (number > link->acknowledged)
		link->acknowledged = number;
	size_t over = 0;
	while (over + 1 < link->eras_count && link->eras[over + 1].first <= link->acknowledged + 1)
		over++;
	if (over > 0) {
		link->eras_count -= over;
		memmove(link->eras, link->eras + over, link->eras_count * sizeof(*link->eras));
	}
	drop_done(link);
}

/* --- connections --- */

int link_attach(struct link *link, uint64_t peer_received)
{
	must(!link->attached);
	if (peer_received > link->number)
		return BATON_EMESSAGE;
	link->attached = true;
	link->written = buffer_size(&link->out);
	acknowledge(link, peer_received);
	link->written = 0;
	/* Our HELLO may have been written before the last frame was taken; then the peer sends that
	 * frame again, and needs an ACK. */
	if (link->received > 0) {
		size_t all = buffer_size(&link->out);
		buffer_need(&link->out, RECORD_NUMBERED_SIZE);
		memmove(out_at(link, RECORD_NUMBERED_SIZE), out_at(link, 0), all);
		link->out.end += RECORD_NUMBERED_SIZE;
		record_put_head(out_at(link, 0), RECORD_ROOM, RECORD_NUMBERED_SIZE);
		link->room = link->ack_due = true;
	}
	return 0;
}

void link_detach(struct link *link)
{
	if (!link->attached)
		return;
	link->attached = false;
	link->written = 0;
	link->room = false;
	sift(link, true);
	link->given_size = 0;
	buffer_take(&link->held, buffer_size(&link->held));
	link->offered = 0;
	link->broken = false;
}

bool link_attached(const struct link *link)
{
	return link->attached;
}

uint64_t link_received(const struct link *link)
{
	return link->received;
}

/* --- output --- */

/* Makes room for a record of that size at the end. */
static uint8_t *append_record(struct link *link, enum record_type type, size_t size)
{
	uint8_t *record = (uint8_t *)buffer_need(&link->out, size);

	link->out.end += size;
	return record_put_head(record, type, size);
}

/* Begins a batch for what is appended next, unless nothing of the last batch is written yet. */
static void begin_batch(struct link *link)
{
	if (!link->attached || link->written < buffer_size(&link->out))
		return;
	append_record(link, RECORD_ROOM, RECORD_NUMBERED_SIZE);
	link->room = true;
}

/* A frame of this epoch found no room. The next epoch gets twice the room: it begins with the same
 * questions and requests, and if these alone need more than kept_max, no epoch would ever serve. */
static void become_full(struct link *link, uint64_t epoch)
{
	link->full_epoch = epoch;
	if (link->kept_max < link->kept_ceiling)
		link->kept_max *= 2;
}

int link_send(struct link *link, uint64_t epoch, const uint8_t *bytes, size_t size)
{
	must(epoch > 0 && size > 0 && size <= LINK_FRAME_MAX);
	size_t record_size = RECORD_NUMBERED_SIZE + size;
	if (link->full_epoch != epoch && buffer_size(&link->out) + record_size > link->kept_max)
		become_full(link, epoch);
	if (link->full_epoch == epoch)
		return BATON_ELINK;
	link->number++;
	if (link->eras_count == 0 || link->eras[link->eras_count - 1].epoch != epoch) {
		must(link->eras_count == 0 || link->eras[link->eras_count - 1].epoch < epoch);
		link->eras = grow(link->eras, &link->eras_size, link->eras_count + 1,
		                  sizeof(*link->eras));
		link->eras[link->eras_count++] = (struct era){epoch, link->number};
	}
	begin_batch(link);
	uint8_t *next = append_record(link, RECORD_FRAME, record_size);
	next = bytes_put_u64(next, link->number);
	memcpy(next, bytes, size);
	return 0;
}

void link_forget(struct link *link, uint64_t epoch)
{
	size_t over = 0;

	while (over < link->eras_count && link->eras[over].epoch < epoch)
		over++;
	if (over == 0)
		return;
	link->forgotten = over < link->eras_count ? link->eras[over].first - 1 : link->number;
	link->eras_count -= over;
	memmove(link->eras, link->eras + over, link->eras_count * sizeof(*link->eras));
	sift(link, false);
}

static void fill_ack(struct link *link, uint8_t *body)
{
	bytes_put_u64(body, link->received);
	link->ack_due = false;
	link->ack_frames = 0;
	link->ack_bytes = 0;
}

size_t link_output(struct link *link, const uint8_t **ret_bytes)
{
	must(link->attached);
	size_t from = link->written;
	if (link->room) {
		uint8_t *room = out_at(link, from);
		if (link->ack_due)
			fill_ack(link, record_put_head(room, RECORD_ACK, RECORD_NUMBERED_SIZE));
		if (record_type(room) == RECORD_ROOM)
			from += RECORD_NUMBERED_SIZE;
	}
	size_t size = buffer_size(&link->out) - from;
	*ret_bytes = size > 0 ? out_at(link, from) : NULL;
	return size;
}

void link_written(struct link *link, size_t size)
{
	must(link->attached);
	if (size == 0)
		return;
	if (link->room && record_type(out_at(link, link->written)) == RECORD_ROOM)
		link->written += RECORD_NUMBERED_SIZE;
	link->room = false;
	link->written += size;
	must(link->written <= buffer_size(&link->out));
	drop_done(link);
}

bool link_wants_ack(const struct link *link)
{
	return link->attached && (link->ack_bytes >= ACK_BYTES || link->ack_frames >= ACK_FRAMES);
}

void link_ack(struct link *link)
{
	/* If there is room for an ACK before the batch, the ACK is sent there, with the batch. */
	if (!link->attached || !link->ack_due || link->room)
		return;
	fill_ack(link, append_record(link, RECORD_ACK, RECORD_NUMBERED_SIZE));
}

size_t link_pending(const struct link *link)
{
	return buffer_size(&link->out);
}

void link_each_kept(const struct link *link, uint64_t after,
                    void (*see)(void *context, const uint8_t *bytes, size_t size), void *context)
{
	size_t all = buffer_size(&link->out);

	for (size_t at = 0; at < all; at += record_size(out_at(link, at))) {
		const uint8_t *record = out_at(link, at);
		if (record_type(record) == RECORD_FRAME && record_number(record) > after)
			see(context, record + RECORD_NUMBERED_SIZE,
			    record_size(record) - RECORD_NUMBERED_SIZE);
	}
}

/* --- input --- */

static void hold(struct link *link, size_t size)
{
	buffer_append(&link->held, link->given, size);
	link->given += size;
	link->given_size -= size;
}

void link_input(struct link *link, const uint8_t *bytes, size_t size)
{
	must(link->attached && !link->broken && link->given_size == 0);
	if (link->held.room > ROOM_MAX && buffer_size(&link->held) == 0)
		buffer_free(&link->held);
	link->given = bytes;
	link->given_size = size;
}

void link_keep(struct link *link)
{
	hold(link, link->given_size);
}

static void break_off(struct link *link)
{
	link->broken = true;
	link->given_size = 0;
	buffer_take(&link->held, buffer_size(&link->held));
}

/* Returns the next whole record. If it is not complete yet, keeps the first part of it and returns
 * NULL. */
static const uint8_t *next_record(struct link *link)
{
	for (;;) {
		bool is_held = buffer_size(&link->held) > 0;
		size_t have = is_held ? buffer_size(&link->held) : link->given_size;
		const uint8_t *bytes =
		        is_held ? (const uint8_t *)buffer_front(&link->held) : link->given;
		size_t need = RECORD_LENGTH_SIZE;
		if (have >= RECORD_LENGTH_SIZE) {
			need = record_size(bytes);
			if (need < RECORD_HEAD_SIZE || need > RECORD_MAX) {
				snprintf(link->text, sizeof(link->text),
				         "a record of %zu bytes: 1 to %d may follow the length",
				         need - RECORD_LENGTH_SIZE,
				         RECORD_MAX - RECORD_LENGTH_SIZE);
				break_off(link);
				return NULL;
			}
			if (have >= need)
				return bytes;
		}
		if (link->given_size == 0)
			return NULL;
		size_t more = is_held ? need - have : have;
		hold(link, more < link->given_size ? more : link->given_size);
	}
}

static void consume(struct link *link, size_t size)
{
	if (buffer_size(&link->held) > 0) {
		buffer_take(&link->held, size);
	} else {
		link->given += size;
		link->given_size -= size;
	}
}

/* Checks that the record is well formed, and that an ACK is for something that was sent. If not,
 * writes a sentence that says so. */
static bool check_record(struct link *link, const uint8_t *record, size_t size)
{
	enum record_type type = record_type(record);

	switch (type) {
	case RECORD_FRAME:
		if (size > RECORD_NUMBERED_SIZE && size <= RECORD_NUMBERED_SIZE + LINK_FRAME_MAX &&
		    record_number(record) != 0)
			return true;
		break;
	case RECORD_ACK:
		if (size != RECORD_NUMBERED_SIZE)
			break;
		if (record_number(record) <= link->number)
			return true;
		snprintf(link->text, sizeof(link->text),
		         "an acknowledgement of frame %" PRIu64 ": the last one sent is %" PRIu64,
		         record_number(record), link->number);
		return false;
	case RECORD_ROOM:
	case RECORD_HELLO:
	case RECORD_REFUSAL:
	case RECORD_CALL:
	case RECORD_PACKET:
	case RECORD_CA:
	case RECORD_ENROL:
	case RECORD_CERTIFICATE:
	case RECORD_ELSEWHERE:
	default:
		snprintf(link->text, sizeof(link->text),
		         "a record of type %d in the middle of a link", type);
		return false;
	}
	snprintf(link->text, sizeof(link->text), "a malformed record of type %d and %zu bytes",
	         type, size);
	return false;
}

enum link_record link_next(struct link *link, const uint8_t **ret_bytes, size_t *ret_size)
{
	const uint8_t *record;

	link->offered = 0;
	while (!link->broken && (record = next_record(link)) != NULL) {
		size_t size = record_size(record);
		if (!check_record(link, record, size)) {
			break_off(link);
			break;
		}
		if (record_type(record) == RECORD_FRAME && record_number(record) > link->received) {
			link->offered = size;
			link->offered_number = record_number(record);
			*ret_bytes = record + RECORD_NUMBERED_SIZE;
			*ret_size = size - RECORD_NUMBERED_SIZE;
			return LINK_FRAME;
		}
		consume(link, size);
		/* Any other record here is a frame that was already received on an earlier
		 * connection. */
		if (record_type(record) == RECORD_ACK)
			acknowledge(link, record_number(record));
	}
	if (!link->broken)
		return LINK_NOTHING;
	*ret_bytes = (const uint8_t *)link->text;
	*ret_size = strlen(link->text);
	return LINK_BROKEN;
}

void link_take(struct link *link)
{
	must(link->offered > 0);
	consume(link, link->offered);
	link->received = link->offered_number;
	link->ack_due = true;
	link->ack_frames++;
	link->ack_bytes += link->offered;
	link->offered = 0;
}
