/*
 * The nodes of a network with their states, and one step at a time: whoever drives an algorithm
 * (simulator, replay, checker) does it through these few functions, and then acts upon the effects
 * in `out`.
 */
#ifndef LAB_WORLD_H
#define LAB_WORLD_H

#include "network.h"
#include "outbuffer.h"

/* What a node is about. LEAVING: it has left, but is not ready to ask again. */
enum world_phase { PHASE_IDLE, PHASE_WAITING, PHASE_INSIDE, PHASE_LEAVING };

struct world {
	const struct network *network;
	const struct algorithm *algorithm;
	uint8_t *states;
	size_t *offsets; /* of node i: offsets[i-1]; NULL if all are alike */
	size_t stride;
	uint8_t *phases; /* of node i: phases[i-1] */
	uint32_t waiting_count, inside_count;
	struct out out;     /* the effects of the last step */
	const char *broken; /* what no step may do, but one did; stays until it is looked at and set
	                       to NULL */
};

/* Allocates; the states are not yet initialised: world_start. The network must stay. */
void world_init(struct world *world, const struct network *network);
void world_free(struct world *world);

/* Every state as at the beginning of time. Then call world_start for each node, for what it sends.
 */
void world_reset(struct world *world);
void world_start(struct world *world, uint32_t node);

bool world_may_request(const struct world *world, uint32_t node);
void world_request(struct world *world, uint32_t node);
void world_release(struct world *world, uint32_t node);
/* Under the side by which it left the sender; what the receiver sees is the other one. */
void world_deliver(struct world *world, uint32_t node, enum side sent_side, const uint8_t *body,
                   uint32_t size);
void world_expire(struct world *world, uint32_t node, uint32_t timer);

static inline void *world_state(const struct world *world, uint32_t node)
{
	size_t offset =
	        world->offsets != NULL ? world->offsets[node - 1] : (node - 1) * world->stride;
	return world->states + offset;
}

size_t world_state_size(const struct world *world, uint32_t node);

/* A node's variables as a JSON object, to be freed; and what a message is, as REQUEST(2,2). */
char *world_describe(const struct world *world, uint32_t node);
char *world_show(const struct world *world, const uint8_t *body, uint32_t size);

const char *phase_name(enum world_phase phase);

#endif
