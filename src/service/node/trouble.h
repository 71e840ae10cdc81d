/*
 * Conditions that end the epoch early, or stop the node.
 */
#ifndef NODE_TROUBLE_H
#define NODE_TROUBLE_H

struct node;

/* Call it when this epoch's numbers or tables are used up: proposes to end the epoch, repeatedly
 * until it has ended. */
void trouble_bump(struct node *node);
/* Like trouble_bump, but for one user, who may be the only one to need a new epoch. Does nothing
 * before the epoch has lasted as long as a lease, because a new epoch interrupts everybody. */
void trouble_bump_for_user(struct node *node);
/* Proposes that the epoch end, and sets the time of the next proposal. */
void trouble_propose(struct node *node);
/* Call it when half of the epoch's fences are used: proposes to raise the limit,
 * repeatedly until it is raised. */
void trouble_extend(struct node *node);
void trouble_propose_extend(struct node *node);
/* Tells operators that something happened that must never happen. The node goes on. */
void trouble_shout(struct node *node, const char *text);
/* Stops the node, because going on could do harm: from now on nothing is granted, sent or
 * answered. */
void trouble_stop(struct node *node, const char *why);

#endif
