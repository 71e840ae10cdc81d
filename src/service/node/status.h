/*
 * STATUS: every member tells what its clients hold and wait for, row by row; status_merge.h puts
 * the rows together by lock.
 *
 * A member tells all its rows in one step, so that they are how things were at one moment. That is
 * quick: a row is only copied. Sorting and printing take long; they are the asker's work and can be
 * done in small pieces.
 */
#ifndef NODE_STATUS_H
#define NODE_STATUS_H

#include "frame.h"
#include "session.h"

/* The answer to STATUS, from what has been told so far. */
void status_reply(struct node *node, struct session *session);

/* Handlers of frames: 0 or BATON_EMESSAGE, and then nothing has happened. */
int on_ask_status(struct node *node, const struct frame *frame);
int on_tell_status(struct node *node, const struct frame *frame);

#endif
