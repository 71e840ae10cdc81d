/*
 * The effects of a replica that wait to be taken: a queue that owns what its effects point to.
 */
#ifndef CONSENSUS_EFFECTS_H
#define CONSENSUS_EFFECTS_H

#include "replica.h"

/* A struct of zeros is an empty queue. */
struct effects {
	struct replica_effect *queue;
	size_t start, end, size;
	struct replica_effect taken; /* the effect that was returned last */
};

/* Copies the effect and everything that it points to. */
void effects_add(struct effects *effects, const struct replica_effect *effect);
bool effects_take(struct effects *effects, struct replica_effect *ret_effect);
/* Moves all effects to the end of another queue. */
void effects_move(struct effects *from, struct effects *to);
void effects_free(struct effects *effects);

#endif
