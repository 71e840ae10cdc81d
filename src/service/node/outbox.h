/*
 * Effects that wait to be taken, and the bytes that they refer to: frames, names, values.
 */
#ifndef NODE_OUTBOX_H
#define NODE_OUTBOX_H

#include "node.h"

struct status;

/* A part of the outbox's bytes. */
struct span {
	uint32_t offset, size;
};

/* An effect as in node.h, but with spans instead of pointers: the bytes move when the outbox
 * grows. */
struct record {
	enum node_effect_kind kind;
	union {
		struct {
			uint32_t to;
			/* This is a frame of messages, and no other record refers to it. So more
			 * messages may be added to it. */
			bool appendable;
			uint64_t epoch;
			struct span frame;
		} send;
		struct {
			uint64_t session;
			enum node_reply_kind kind;
			int error;
			uint64_t number;
			struct span member, value, silent;
			uint64_t lapses, left;
			struct status *status;
		} reply;
		struct {
			uint64_t session;
			enum node_event_kind kind;
			bool named; /* the session has subscribed to the name, not to a pattern */
			uint64_t fence;
			struct span name, member, value, pattern;
		} event;
		struct {
			uint64_t session;
			uint64_t fence;
			struct span name, why;
		} lost;
		struct {
			uint64_t epoch;
		} bump;
		struct {
			struct span why;
		} stop;
		struct {
			struct span text;
		} shout;
		struct {
			uint64_t taken;
		} renew;
		struct {
			uint64_t epoch, limit;
		} extend;
		struct {
			uint64_t left;
		} warn;
	};
};

struct outbox {
	struct record *records;
	size_t records_count, records_size;
	size_t taken;        /* how many of the records the driver has taken */
	size_t status_count; /* how many records own a status */
	uint8_t *bytes;
	size_t bytes_count, bytes_size;
	size_t frame; /* where the last frame starts */
	bool single;  /* the last frame has only one message, the one sent last */
};

void outbox_free(struct outbox *outbox);
/* Frees the space, if everything in the outbox was taken. */
void outbox_clear_taken(struct outbox *outbox);
/* Appends the record of an effect. The pointer is valid until the next record is appended. */
struct record *outbox_record(struct outbox *outbox, enum node_effect_kind kind);
struct span outbox_keep(struct outbox *outbox, const void *bytes, size_t size);
/* Puts the status into the record of a reply. The record owns it from now on. */
void outbox_own_status(struct outbox *outbox, struct record *record, struct status *status);
bool outbox_take(struct outbox *outbox, struct node_effect *ret_effect);

/* Append a byte, a number as in wire.h, a name or a text. A name is written as its size, in one
 * byte, and its bytes; a text as its size, as a number, and its bytes. */
void outbox_put_byte(struct outbox *outbox, uint8_t byte);
void outbox_put_uint(struct outbox *outbox, uint64_t value);
void outbox_put_name(struct outbox *outbox, const void *name, size_t size);
void outbox_put_text(struct outbox *outbox, const void *text, size_t size);

#endif
