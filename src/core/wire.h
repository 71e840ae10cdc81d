/*
 * Effects, and messages as bytes.
 *
 * A message is its type (one byte) and then numbers, each in as few bytes as it needs: seven bits a
 * byte, the least significant first, the top bit set on all bytes but the last (LEB128). Each
 * number has exactly one encoding: the decoder refuses several bytes of which the last is 0. Signed
 * numbers are zigzag-coded (0, -1, 1, -2, … become 0, 1, 2, 3, …). A list is its length and then
 * its elements.
 *
 * A step writes its effects into the driver's `struct out`:
 *
 * 	out_message(out, REQUEST);      a message begins,
 * 	out_uint(out, site->self);      is filled,
 * 	out_send(out, NEXT);            and sent, to one node or to several
 */
#ifndef CORE_WIRE_H
#define CORE_WIRE_H

#include "must.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The two sides of a node of a ring. A message to the right goes along the ring's direction, one
 * to the left against it. */
enum side { SIDE_NONE, SIDE_LEFT, SIDE_RIGHT };

/* Returns the side on which a message arrives if it left its sender by `side`. */
static inline enum side side_opposite(enum side side)
{
	return side == SIDE_NONE ? SIDE_NONE : side == SIDE_LEFT ? SIDE_RIGHT : SIDE_LEFT;
}

enum effect_kind {
	EFFECT_SEND,    /* a message is sent */
	EFFECT_ENTER,   /* the node enters: it is inside from now on */
	EFFECT_ELECTED, /* the node has learned who leads */
	/* This step has replaced a lost token. The step's EFFECT_SENDs come after this effect. */
	EFFECT_REGENERATED,
	EFFECT_ARM, /* a timer starts; if it is armed already, it starts again */
	EFFECT_DISARM,
};

struct effect {
	enum effect_kind kind;
	union {
		struct {
			uint32_t to;
			/* The side of the sender by which the message leaves. */
			enum side side;
			uint32_t offset, size; /* where the message is in out->bytes */
		} send;
		struct {
			uint32_t identifier; /* the leader's identifier */
		} elected;
		struct {
			uint32_t number;
			/* EFFECT_ARM: the timer's duration, as a multiple of the longest message
			 * delay. */
			uint32_t delays;
		} timer;
	};
};

/*
 * The driver's buffer for the effects of one step. `grow` is called when there is no room left. It
 * makes room for one effect and `bytes` more bytes; if it cannot, it does not return.
 */
struct out {
	struct effect *effects;
	uint32_t effects_count, effects_size;
	uint8_t *bytes;
	uint32_t bytes_count, bytes_size;
	uint32_t message; /* where the message that was begun last starts in `bytes` */
	void (*grow)(struct out *out, uint32_t bytes);
};

static inline void out_clear(struct out *out)
{
	out->effects_count = 0;
	out->bytes_count = 0;
}

/* Every step calls these functions, so they are here to be inlined. */
static inline void out_need(struct out *out, uint32_t bytes)
{
	if (out->bytes_size - out->bytes_count < bytes)
		out->grow(out, bytes);
}

static inline struct effect *out_effect(struct out *out, enum effect_kind kind)
{
	if (out->effects_count == out->effects_size)
		out->grow(out, 0);
	struct effect *effect = &out->effects[out->effects_count++];
	*effect = (struct effect){.kind = kind};
	return effect;
}

static inline void out_message(struct out *out, uint8_t type)
{
	out_need(out, 1);
	out->message = out->bytes_count;
	out->bytes[out->bytes_count++] = type;
}

static inline void out_uint(struct out *out, uint64_t value)
{
	out_need(out, 10);
	while (value >= 0x80) {
		out->bytes[out->bytes_count++] = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	out->bytes[out->bytes_count++] = (uint8_t)value;
}

void out_int(struct out *out, int64_t value);

/* Sends the message that was begun last to a node. */
static inline void out_send(struct out *out, uint32_t to)
{
	struct effect *effect = out_effect(out, EFFECT_SEND);
	effect->send.to = to;
	effect->send.offset = out->message;
	effect->send.size = out->bytes_count - out->message;
}

/* Sends the message that was begun last to the neighbour on one side of a ring. */
struct site;
void out_send_side(struct out *out, const struct site *site, enum side side);

static inline void out_enter(struct out *out)
{
	out_effect(out, EFFECT_ENTER);
}

void out_elected(struct out *out, uint32_t identifier);
void out_regenerated(struct out *out);
void out_arm(struct out *out, uint32_t timer, uint32_t delays);
void out_disarm(struct out *out, uint32_t timer);

/* Decodes a message. After the first error every call returns 0, and in_end returns false. */
struct in {
	const uint8_t *next, *end;
	bool bad;
};

struct message {
	/* The side on which the message arrived; SIDE_LEFT: from the left neighbour of a ring. */
	enum side side;
	uint32_t size;
	const uint8_t *body;
};

/* Starts to decode a message, after its type. */
static inline struct in in_message(const struct message *message)
{
	must(message->size >= 1);
	return (struct in){.next = message->body + 1, .end = message->body + message->size};
}

static inline uint64_t in_uint(struct in *in)
{
	uint64_t value = 0;
	for (unsigned shift = 0; !in->bad && in->next < in->end; shift += 7) {
		uint8_t byte = *in->next++;
		bool too_large = shift == 63 && byte > 1;
		bool overlong = shift > 0 && byte == 0;
		if (too_large || overlong)
			break;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return value;
	}
	in->bad = true;
	return 0;
}

int64_t in_int(struct in *in);
/* Reads a number. A number below `least` or above `most` is an error. */
static inline uint64_t in_range(struct in *in, uint64_t least, uint64_t most)
{
	uint64_t value = in_uint(in);
	if (value < least || value > most)
		in->bad = true;
	return in->bad ? 0 : value;
}

/* Are the next `count` numbers all different? Numbers above `most` are ignored. The position does
 * not move. */
bool in_distinct(const struct in *in, uint32_t count, uint32_t most);
/* Were all numbers well-formed, and is nothing left to read? */
static inline bool in_end(const struct in *in)
{
	return !in->bad && in->next == in->end;
}

#endif
