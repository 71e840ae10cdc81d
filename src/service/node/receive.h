/*
 * Frames that come in: which are for now, which wait, which are over.
 *
 * A frame of a later epoch waits for that epoch's view; messages and touches of this epoch wait
 * until the node is active, and when there is no room for their locks. Waiting is bounded
 * (backlog.h). Reports never come after messages on a link, because a member that sends messages of
 * an epoch has passed on all reports of it before; so a link that is not read keeps no report back.
 */
#ifndef NODE_RECEIVE_H
#define NODE_RECEIVE_H

#include <stddef.h>
#include <stdint.h>

struct node;

/* node_receive, without its time. */
int receive_frame(struct node *node, const char *from, const uint8_t *bytes, size_t size);
/* Frames that waited, again, in the order of their arrival. */
void receive_again(struct node *node);

#endif
