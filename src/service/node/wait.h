/*
 * Clients that wait for a lock: how that begins, and how it ends when they are not let in.
 */
#ifndef NODE_WAIT_H
#define NODE_WAIT_H

#include "session.h"
#include "slice.h"

/* The session's LOCK or ELECT: it waits, or is granted or refused at once. 0, or an error: nothing
 * has happened. */
int wait_begin(struct node *node, struct session *session, struct slice name, enum command command,
               enum node_patience patience, uint64_t timeout_ns);
/* It does not wait any longer; nothing is told. */
void wait_withdraw(struct node *node, struct session *session);
/* Its time is over. */
void wait_expire(struct node *node, struct session *session);
/* All other members are asked whether the lock that it waits for is busy. */
void wait_probe(struct node *node, struct session *session);

#endif
