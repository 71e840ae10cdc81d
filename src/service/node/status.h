/*
 * STATUS: every member reports what its clients hold and wait for, row by row; status_merge.h
 * merges the rows by lock.
 *
 * A member looks at its locks in slices (scan.h), and writes all rows of a lock in one step, so that
 * they show one moment. Sorting and printing take longer; only the member that asked does them, in
 * small steps.
 */
#ifndef NODE_STATUS_H
#define NODE_STATUS_H

#include "frame.h"
#include "session.h"

/* Goes on with the searches for answers to STATUS; call it in node_tick. */
void status_look(struct node *node);
/* Answers STATUS with what members have reported so far, when this node's own locks were looked
 * at. */
void status_reply(struct node *node, struct session *session);

/* Handlers of frames. They return 0; or BATON_EMESSAGE, and then they have changed nothing. */
int on_ask_status(struct node *node, const struct frame *frame);
int on_tell_status(struct node *node, const struct frame *frame);

#endif
