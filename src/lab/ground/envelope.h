/*
 * A message in flight, as drivers show it.
 */
#ifndef LAB_ENVELOPE_H
#define LAB_ENVELOPE_H

#include "wire.h"

struct envelope {
	uint64_t number;
	uint64_t time; /* when it arrives, in millionths; 0 if nobody knows */
	uint32_t from, to;
	enum side side; /* by which it left */
	uint32_t size;
	const uint8_t *body; /* of one that is to be lost only its type, and size is 1 */
	bool lost;           /* it will not arrive */
};

#endif
