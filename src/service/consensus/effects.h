/*
 * Effects of a replica that wait to be taken: a queue that owns what they point to.
 */
#ifndef CONSENSUS_EFFECTS_H
#define CONSENSUS_EFFECTS_H

#include "replica.h"

/* All zero is an empty one. */
struct effects {
	struct replica_effect *queue;
	size_t start, end, size;
	struct replica_effect taken; /* the last that was given out */
};

/* Everything is copied. */
void effects_add(struct effects *effects, const struct replica_effect *effect);
bool effects_take(struct effects *effects, struct replica_effect *ret_effect);
/* Moves all to the end of another. */
void effects_move(struct effects *from, struct effects *to);
void effects_free(struct effects *effects);

#endif
