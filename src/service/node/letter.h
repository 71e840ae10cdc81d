/*
 * A message of the algorithm that has arrived.
 */
#ifndef NODE_LETTER_H
#define NODE_LETTER_H

#include "wire.h"

#include <stdint.h>

struct letter {
	uint64_t counter; /* the counter of the sender's lock */
	enum side side;   /* the side on which the message left its sender */
	uint32_t size;
	const uint8_t *body;
};

#endif
