/*
 * The end of a hold: a client that was inside a lock no longer is.
 */
#ifndef NODE_HOLD_H
#define NODE_HOLD_H

#include "live.h"
#include "node.h"

/* Ends the hold, because the client has released the lock or is gone. */
void hold_release(struct node *node, struct live *live);
/* Ends the hold, because the client loses the lock. The client is told why. */
void hold_lose(struct node *node, struct live *live, const char *why);
/* Like hold_lose, but a client that lingers counts as inside until it has stopped. */
void hold_break(struct node *node, struct live *live, const char *why);

#endif
