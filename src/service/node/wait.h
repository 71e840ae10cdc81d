/*
 * Clients that wait for a lock: how the wait begins, and how it ends when they are not let in.
 */
#ifndef NODE_WAIT_H
#define NODE_WAIT_H

#include "session.h"
#include "slice.h"

/* Handles the session's LOCK or ELECT: it waits, or is granted or refused at once. Returns 0, or an
 * error; then nothing has happened. */
int wait_begin(struct node *node, struct session *session, struct slice name, enum command command,
               enum node_patience patience, uint64_t timeout_ns);
/* If the command is an ELECT that waits, drops the value that it would have published. */
void wait_drop_value(struct node *node, struct session *session);
/* Ends the session's wait without a reply. */
void wait_withdraw(struct node *node, struct session *session);
/* Call it when the session's timeout is over. */
void wait_expire(struct node *node, struct session *session);
/* Asks all other members whether the lock that the session waits for is busy. */
void wait_probe(struct node *node, struct session *session);

#endif
