/*
 * The nodes of a network with their states. A driver of an algorithm (simulator, replay, checker)
 * makes one step at a time with these functions, and then performs the effects in `out`.
 */
#ifndef LAB_WORLD_H
#define LAB_WORLD_H

#include "network.h"
#include "outbuffer.h"

/* PHASE_LEAVING: the node has left the critical section but is not ready to ask again. */
enum world_phase { PHASE_IDLE, PHASE_WAITING, PHASE_INSIDE, PHASE_LEAVING };

struct world {
	const struct network *network;
	const struct algorithm *algorithm;
	uint8_t *states; /* the states of all nodes, one after the other */
	/* [node - 1]: where a node's state begins; NULL if all have the same size. */
	size_t *offsets;
	size_t stride;   /* bytes from one state to the next, if all have the same size */
	uint8_t *phases; /* [node - 1]: an enum world_phase */
	uint32_t waiting_count, inside_count;
	struct out out; /* the effects of the last step */
	/* the rule of the contract that a step broke, or NULL; the driver resets it */
	const char *broken;
	bool refused; /* the last step was a message that the algorithm refused */
	/* A copy of the network with other links (world_rewire), or NULL. */
	struct network *own;
};

/* Allocates the memory. world_reset and world_start initialise the states later. The network
 * must outlive the world. */
void world_init(struct world *world, const struct network *network);
void world_free(struct world *world);

/* Clears all states. The caller then calls world_start for each node and performs its effects. */
void world_reset(struct world *world);
void world_start(struct world *world, uint32_t node);

/* Makes the node crash: it neither waits nor is inside any more. Its state stays as it was. */
void world_crash(struct world *world, uint32_t node);
/* Lets the node begin again as at the start: it has forgotten everything. */
void world_restart(struct world *world, uint32_t node);

/* Makes or removes the link between two nodes. Only their sets of neighbours change. */
void world_rewire(struct world *world, uint32_t a, uint32_t b, bool linked);
/* Makes the step in which the node learns of a new neighbour. */
void world_linked(struct world *world, uint32_t node, uint32_t neighbour);

bool world_may_request(const struct world *world, uint32_t node);
void world_request(struct world *world, uint32_t node);
void world_release(struct world *world, uint32_t node);
/* Delivers a message. `sent_side` is the side by which it left its sender. */
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

/* Return a node's variables as a JSON object, and a message as text such as REQUEST(2,2). The
 * caller frees them. */
char *world_describe(const struct world *world, uint32_t node);
char *world_show(const struct world *world, const uint8_t *body, uint32_t size);

const char *phase_name(enum world_phase phase);

#endif
