/*
 * Records on a connection between two members: length (4 bytes, of what follows), type (1 byte),
 * body. All numbers are little-endian. The handshake and everything after it use them.
 */
#ifndef LINK_RECORD_H
#define LINK_RECORD_H

#include "bytes.h"

#include <stddef.h>
#include <stdint.h>

enum record_type {
	RECORD_ROOM = 0, /* only inside a link's buffer: room where an ACK may be written */
	RECORD_HELLO = 1,
	RECORD_REFUSAL = 2, /* magic, version, text; the same in all versions */
	RECORD_FRAME = 3,   /* number (8 bytes), the frame */
	RECORD_ACK = 4,     /* number (8 bytes) */
	RECORD_CALL = 6,    /* the first record of an engine's connection (call.h) */
	RECORD_PACKET = 7,  /* a packet on an engine's connection: its kind (1 byte) and bytes */
	/* Between a node and a guest (enrolment.h): */
	RECORD_CA = 8,
	RECORD_ENROL = 9,
	RECORD_CERTIFICATE = 10,
	/* a refusal by this node only: another node may accept, or this one later */
	RECORD_ELSEWHERE = 11,
};

enum {
	RECORD_LENGTH_SIZE = 4,
	RECORD_HEAD_SIZE = RECORD_LENGTH_SIZE + 1,
	RECORD_NUMBERED_SIZE = RECORD_HEAD_SIZE + 8, /* the head and a number */
};

/* Writes the head of a record of `size` bytes, head included. */
static inline uint8_t *record_put_head(uint8_t *bytes, enum record_type type, size_t size)
{
	bytes = bytes_put_u32(bytes, (uint32_t)(size - RECORD_LENGTH_SIZE));
	*bytes++ = (uint8_t)type;
	return bytes;
}

static inline size_t record_size(const uint8_t *bytes)
{
	return (size_t)RECORD_LENGTH_SIZE + bytes_get_u32(bytes);
}

static inline enum record_type record_type(const uint8_t *bytes)
{
	return (enum record_type)bytes[RECORD_LENGTH_SIZE];
}

static inline uint64_t record_number(const uint8_t *bytes)
{
	return bytes_get_u64(bytes + RECORD_HEAD_SIZE);
}

/* Reads a whole refusal record: puts the text, with a terminating 0, into `room` of LINK_TEXT_MAX +
 * 1 bytes. Returns 0 or BATON_EMESSAGE. */
int record_refusal_read(const uint8_t *record, size_t size, char *room);

#endif
