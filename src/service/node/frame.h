/*
 * The frames between nodes, without the length that the link writes before each.
 *
 * 	version (2), kind: a byte each; cluster: 8 bytes, the least significant first
 * 	epoch, sender, the sender's incarnation: numbers as in wire.h
 *
 * The sender is the link's peer, given as its number in the view of that epoch. A frame of messages
 * continues with one or more of:
 *
 * 	side (a byte), name, counter, size, the algorithm's message
 *
 * All other kinds are control frames. Where not all members are linked, they travel over several
 * links. They continue with:
 *
 * 	origin, destination (0: all), number, and the fields of the kind
 *
 * A frame with a destination takes a shortest path. A frame for all goes to every neighbour; a
 * member that sees it for the first time passes it on to all its other neighbours. In each epoch,
 * an origin numbers its frames for all 1, 2, 3, …. Links keep order, so these numbers reach a
 * member in order, and it needs to remember only the last. A name is its length (a byte, not 0) and
 * its bytes; a text is its length (a number) and its bytes.
 */
#ifndef NODE_FRAME_H
#define NODE_FRAME_H

#include "slice.h"
#include "wire.h"

enum {
	FRAME_VERSION = 2,
	/* The most bytes before the fields of a control frame. A member that passes the frame on
	 * replaces the sender's number and incarnation by its own, which may be longer. */
	FRAME_HEAD_MAX = 2 + 8 + 6 * 10,
};

enum frame_kind {
	FRAME_MESSAGE,
	FRAME_TOUCH,       /* name; to the lock's home: a client of the origin waits */
	FRAME_PROBE,       /* question, name; to all: is anybody inside, or waiting? */
	FRAME_PUBLISH,     /* question (0: none), name, fence, value; to all: the origin leads */
	FRAME_ENDED,       /* name, fence; to all: the origin has ceased to lead */
	FRAME_REPORT,      /* last (a byte), then name, fence for each hold; to all */
	FRAME_RETURN,      /* name; to all: the hold that the origin reported has ended */
	FRAME_ASK_LEADER,  /* question, name; to all */
	FRAME_TELL_LEADER, /* question, fence (0: none), member, value */
	/* Question, count, pattern (a text, empty: all), then patterns (names): only locks that
	 * match one of these may be reported; to all. */
	FRAME_ASK_STATUS,
	FRAME_TELL_STATUS, /* question, last (a byte), then what status_merge.h says */
	FRAME_BREAK,       /* question, name, fence, why (a text); to all */
	FRAME_INTEREST,    /* question (0: none), add (a byte), pattern (a byte), name; to all */
	FRAME_EVENT,       /* kind (a byte), name, fence, value */
	FRAME_DROPPED, /* count: how many events were not sent, because the link was congested */
	/* Question, number: answers PUBLISH and INTEREST (0), BREAK (1: done) and PROBE (1:
	 * busy). */
	FRAME_ANSWER,
	FRAME_ASK_STATES,  /* question, then names; to all */
	FRAME_TELL_STATES, /* question, then for each name what status_order.h says */
	FRAME_KINDS
};

struct frame {
	enum frame_kind kind;
	uint64_t epoch;
	uint32_t sender; /* the number of the link's peer, in the view of that epoch */
	uint64_t incarnation;
	uint32_t origin; /* control frames only: the member that made the frame */
	/* Control frames only: the member that the frame is for; 0: all members. */
	uint32_t destination;
	uint64_t number; /* the number of a frame for all members, counted by the origin */
	struct in body;  /* the fields that frames of this kind have */
	/* The handler shall only check the frame and change nothing. */
	bool trial;
};

/* Reads only the head of a frame; the handler of the frame's kind reads the body. Returns 0,
 * BATON_EMESSAGE or BATON_ECLUSTER. */
int frame_decode(const uint8_t *bytes, size_t size, uint64_t cluster, struct frame *ret_frame);

/* Reading beyond the end, or a value greater than `most`, makes `in` bad. */
uint8_t in_byte(struct in *in, uint8_t most);
struct slice in_name(struct in *in);
struct slice in_text(struct in *in, uint32_t most);

#endif
