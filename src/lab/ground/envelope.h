/*
 * A message in flight, as drivers show it.
 */
#ifndef LAB_ENVELOPE_H
#define LAB_ENVELOPE_H

#include "wire.h"

struct envelope {
	uint64_t number;
	uint64_t time; /* when the message arrives, in millionths; 0 if that is not known */
	uint32_t from, to;
	enum side side; /* the side by which the message left its sender */
	uint32_t size;
	/* The bytes of the message. Of a message that will be lost only the first byte, the
	 * type, is known, and `size` is 1. */
	const uint8_t *body;
	bool lost; /* the message will not arrive */
};

#endif
