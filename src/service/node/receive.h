/*
 * Incoming frames: which are handled now, which wait, which are out of date.
 *
 * A frame of a later epoch waits for that epoch's view. Messages and touches of this epoch wait
 * until the node is active, and while there is no room for their locks. The waiting is bounded
 * (backlog.h). On a link, a report of an epoch never follows messages of that epoch: a member
 * passes on all reports before it sends messages. So a link that is not read keeps no report back.
 */
#ifndef NODE_RECEIVE_H
#define NODE_RECEIVE_H

#include <stddef.h>
#include <stdint.h>

struct node;

/* Does the work of node_receive, after the time has been advanced. */
int receive_frame(struct node *node, const char *from, const uint8_t *bytes, size_t size);
/* Tries the waiting frames again, in the order of their arrival. */
void receive_again(struct node *node);

#endif
