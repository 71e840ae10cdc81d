/*
 * The end of a hold: a client that was inside a lock is not any more.
 */
#ifndef NODE_HOLD_H
#define NODE_HOLD_H

#include "live.h"
#include "node.h"

/* The client has given it back, or is gone. */
void hold_release(struct node *node, struct live *live);
/* The client loses it, and is told so, and why. */
void hold_lose(struct node *node, struct live *live, const char *why);
/* The same, but a client that lingers stays inside until it has stopped. */
void hold_break(struct node *node, struct live *live, const char *why);

#endif
