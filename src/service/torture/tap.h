/*
 * A tap on the connections between members: reads the records as they come, and says what is wrong
 * with them. Frames must come in order, none twice on a connection nor after their receiver has said
 * that it has them, always the same bytes for one number; nothing may be acknowledged before it has
 * come; and nothing may be missing within an epoch that is not over.
 */
#ifndef TORTURE_TAP_H
#define TORTURE_TAP_H

#include "buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct tap_frame {
	uint64_t hash; /* of its bytes; 0: it has not come */
	uint64_t epoch;
};

/* What one process has sent another, on all connections. */
struct tap_pair {
	uint64_t from, to;   /* numbers of the processes */
	uint64_t received;   /* the greatest number that has come */
	uint64_t connection; /* the last one that something came on */
	uint64_t acknowledged;
	struct tap_frame *frames; /* by their numbers, from 1 on */
	size_t frames_size;
};

/* One direction of a connection. */
struct tap {
	struct buffer bytes; /* of a record that has not come whole */
	bool heard;
	uint64_t last; /* the number of the last frame, or what its receiver's HELLO said */
};

struct tap_wire {
	struct tap *tap, *other;           /* this direction, and the opposite one */
	struct tap_pair *pair, *pair_back; /* of these processes, in both directions */
	uint64_t connection;               /* its number: later ones have greater ones */
	uint64_t receiver;                 /* the incarnation that reads this */
	uint64_t epoch;                    /* that the sender is in; 0: it is gone */
	void *context;
	/* A frame, for the journal. */
	void (*frame)(void *context, uint64_t number, const uint8_t *bytes, size_t size);
};

/* Bytes that have come. NULL, or what is wrong. */
const char *tap_read(const struct tap_wire *wire, const uint8_t *bytes, size_t size);
void tap_free(struct tap *tap);

/* The pair is now one of these processes; what it was before is forgotten. False: they are gone. */
bool tap_pair_set(struct tap_pair *pair, uint64_t from, uint64_t to);
void tap_pair_free(struct tap_pair *pair);

#endif
