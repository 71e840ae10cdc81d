/*
 * STATUS: every member reports what its clients hold and wait for, row by row; status_merge.h
 * merges the rows by lock.
 *
 * A member writes all its rows in one step, so that they show one moment. That is quick, because
 * writing a row is a copy. Sorting and printing take longer; only the member that asked does them,
 * in small steps.
 */
#ifndef NODE_STATUS_H
#define NODE_STATUS_H

#include "frame.h"
#include "session.h"

/* Answers STATUS with what members have reported so far. */
void status_reply(struct node *node, struct session *session);

/* Handlers of frames. They return 0; or BATON_EMESSAGE, and then they have changed nothing. */
int on_ask_status(struct node *node, const struct frame *frame);
int on_tell_status(struct node *node, const struct frame *frame);

#endif
