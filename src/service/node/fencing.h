/*
 * The consequences of the lease (lease.h): renewals, the warning, the lapse, and leaving the
 * cluster.
 */
#ifndef NODE_FENCING_H
#define NODE_FENCING_H

#include <stdint.h>

struct node;

/* Does everything that is due by now. A lapse comes first. */
void fencing_advance(struct node *node);
/* The voters have acknowledged a renewal, so that the lease lasts until then. */
void fencing_prolong(struct node *node, uint64_t deadline);
/* This incarnation leaves: it grants nothing more. */
void fencing_depart(struct node *node);
/* After every call of a node that leaves: has its last hold ended? */
void fencing_settle(struct node *node);

#endif
