/*
 * The change from one view to the next: what is discarded, what is carried over, and when the node
 * serves again.
 *
 * Within an epoch the members are fixed and nothing is lost; a new epoch begins without any state
 * of the algorithm. A node that learns of a new epoch stops serving at once and reports to all
 * members which locks its clients are inside. It serves again when it has the reports of all
 * members. A reported lock is closed: nobody asks for it until the member that reported it returns
 * it. So no new token can be made for a lock that a client still holds from an older epoch.
 */
#ifndef NODE_RECOVERY_H
#define NODE_RECOVERY_H

#include "frame.h"
#include "view.h"

/* Begins the next view and takes ownership of it. If the view does not include this node, the node
 * then has no view, and its clients lose what they hold. Returns 0, or BATON_EVIEW if the algorithm
 * cannot run in it. */
int recovery_begin(struct node *node, struct view *next);

/* Handlers of frames. They return 0; or BATON_EMESSAGE, and then they have changed nothing. */
int on_report(struct node *node, const struct frame *frame);
int on_return(struct node *node, const struct frame *frame);

#endif
