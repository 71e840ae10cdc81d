/*
 * Acts on the lease (lease.h): renews it, warns, ends all holds when it lapses, and leaves the
 * cluster.
 */
#ifndef NODE_FENCING_H
#define NODE_FENCING_H

#include <stdint.h>

struct node;

/* Does everything that is due by now. A lapse comes first. */
void fencing_advance(struct node *node);
/* The voters have acknowledged a renewal: the lease now lasts until `deadline`. */
void fencing_prolong(struct node *node, uint64_t deadline);
/* Makes this incarnation leave: it grants nothing more. */
void fencing_depart(struct node *node);
/* Call it at the end of every call to a node that is leaving. Proposes LEAVE once the last hold has
 * ended. */
void fencing_settle(struct node *node);

#endif
