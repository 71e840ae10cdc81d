/*
 * Conditions that end the epoch before its time, or the node.
 */
#ifndef NODE_TROUBLE_H
#define NODE_TROUBLE_H

struct node;

/* This epoch has come to an end of its numbers or tables: proposes that it end, until it does. */
void trouble_bump(struct node *node);
/* The time to propose it (again) has come. */
void trouble_propose(struct node *node);
/* More than half of the epoch's fences are used up: proposes to raise the limit, until it is. */
void trouble_extend(struct node *node);
void trouble_propose_extend(struct node *node);
/* Something happened that must never happen, but the node goes on: operators are told. */
void trouble_shout(struct node *node, const char *text);
/* Going on could do harm: nothing is granted, sent or answered any more. */
void trouble_stop(struct node *node, const char *why);

#endif
