/*
 * A tap on the connections between members: it reads the records as they arrive and reports what is
 * wrong with them. Frames must arrive in order, with the same bytes for the same number. No frame
 * may come twice on a connection, or after its receiver has acknowledged it. Nothing may be
 * acknowledged before it has arrived, and nothing may be missing in an epoch that is not over.
 * Posts carry packets only.
 */
#ifndef LINK_TAP_H
#define LINK_TAP_H

#include "buffer.h"
#include "state.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct tap_frame {
	uint64_t hash; /* a hash of the frame's bytes; 0: the frame has not arrived */
	uint64_t epoch;
};

/* The frames that one process has sent to another, on all connections. */
struct tap_pair {
	uint64_t from, to;   /* the numbers of the two processes */
	uint64_t received;   /* the greatest frame number that has arrived */
	uint64_t connection; /* the last connection on which something arrived */
	uint64_t acknowledged;
	struct tap_frame *frames; /* the frames, indexed by their number, from 1 */
	size_t frames_size;
};

/* One direction of a connection. */
struct tap {
	struct buffer bytes;       /* the bytes of an incomplete record that have arrived so far */
	bool heard;                /* a HELLO has arrived: this is a link */
	bool post;                 /* a CALL or a REFUSAL has arrived: this is a post */
	bool ended;                /* posts only: a REFUSAL has arrived */
	struct cluster_id cluster; /* posts only: the cluster in the CALL */
	/* The number of the last frame, or at first the number in the receiver's HELLO. */
	uint64_t last;
};

struct tap_wire {
	struct tap *tap, *other; /* this direction, and the opposite one */
	/* The two processes' frames, in this direction and the opposite one. */
	struct tap_pair *pair, *pair_back;
	bool dialled;        /* the sender has dialled */
	uint64_t connection; /* the number of the connection; later ones have greater numbers */
	uint64_t receiver;   /* the incarnation that reads from this end */
	uint64_t epoch;      /* the sender's epoch; 0: the sender is gone */
};

/* Reads bytes that have arrived. Returns NULL, or what is wrong. */
const char *tap_read(const struct tap_wire *wire, const uint8_t *bytes, size_t size);
void tap_free(struct tap *tap);

/* Sets the two processes that the pair is about, and forgets the pair's earlier processes. Returns
 * false if the two processes are gone. */
bool tap_pair_set(struct tap_pair *pair, uint64_t from, uint64_t to);
void tap_pair_free(struct tap_pair *pair);

#endif
