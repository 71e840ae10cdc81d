/*
 * From one view to the next: what is thrown away, what is carried over, and when the node serves
 * again.
 *
 * Within an epoch the members are fixed and nothing is lost; a new epoch begins on a clean table. A
 * node that learns of it stops at once, tells all members which locks its clients are inside, and
 * serves when it knows that of all members. A lock that somebody is inside is closed: nobody asks
 * for it until the member that reported it returns it. So no token can be made for a lock that a
 * client holds by an older one.
 */
#ifndef NODE_RECOVERY_H
#define NODE_RECOVERY_H

#include "frame.h"
#include "view.h"

/* The next view begins; it is the node's from now on. Without this node in it, the node has no view
 * and loses what its clients hold. 0, or BATON_EVIEW: the algorithm cannot run in it. */
int recovery_begin(struct node *node, struct view *next);

/* Handlers of frames: 0 or BATON_EMESSAGE, and then nothing has happened. */
int on_report(struct node *node, const struct frame *frame);
int on_return(struct node *node, const struct frame *frame);

#endif
