/*
 * Incoming frames. They are handled now, kept for later, or discarded because their epoch is over.
 *
 * A frame of a later epoch waits for that epoch's view. Messages and touches of this epoch wait
 * until the node is active and has room for their locks. The memory of waiting frames is bounded
 * (backlog.h), so a link may go unread. That never delays a report: a member passes on all reports
 * of an epoch before it sends any message of that epoch.
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
