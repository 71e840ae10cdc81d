/*
 * Conditions that end the epoch early, or stop the node.
 */
#ifndef NODE_TROUBLE_H
#define NODE_TROUBLE_H

struct node;

/* This epoch's numbers or tables are used up: proposes again and again that it end, until it
 * does. */
void trouble_bump(struct node *node);
/* It is time to propose that the epoch end (again). */
void trouble_propose(struct node *node);
/* More than half of the epoch's fences are used: proposes again and again to raise the limit, until
 * it is raised. */
void trouble_extend(struct node *node);
void trouble_propose_extend(struct node *node);
/* Something happened that must never happen, but the node goes on: operators are told. */
void trouble_shout(struct node *node, const char *text);
/* Going on could do harm: from now on nothing is granted, sent or answered. */
void trouble_stop(struct node *node, const char *why);

#endif
