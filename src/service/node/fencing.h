/*
 * What follows from the lease (lease.h): renewals, the warning, the lapse, and leaving the cluster.
 */
#ifndef NODE_FENCING_H
#define NODE_FENCING_H

#include <stdint.h>

struct node;

/* Does everything that is due by now. A lapse comes first. */
void fencing_advance(struct node *node);
/* The voters have acknowledged a renewal: the lease now lasts until `deadline`. */
void fencing_prolong(struct node *node, uint64_t deadline);
/* This incarnation is leaving and grants nothing more. */
void fencing_depart(struct node *node);
/* Call it after every call of a node that is leaving: proposes to leave once the last hold has
 * ended. */
void fencing_settle(struct node *node);

#endif
