/*
 * The end of a node that leaves. Clients are told that they lose their locks and get their time to
 * stop; then the locks go to other clients that wait for them. When the node is out of the view,
 * the loop ends. Without a majority of the voters the loop ends after one lease; by then the others
 * may give away the locks of this node's clients.
 *
 * A client that cannot stop (CLIENT STAY) is waited for, too, but for one lease at most.
 */
#ifndef DAEMON_LEAVE_H
#define DAEMON_LEAVE_H

#include <stdbool.h>
#include <stdint.h>

struct daemon;

/* Begins to leave. Does nothing if the node is already leaving: a second SIGTERM must not kill us
 * before the peers have our last messages. */
void daemon_leave(struct daemon *daemon);
/*
 * Grants nothing more, and leaves when no client here holds anything, or after finish_ms
 * (UINT64_MAX: no limit). Waiting clients are told that this node grants nothing any more. Returns
 * how many locks are held here.
 */
uint64_t daemon_drain(struct daemon *daemon, uint64_t finish_ms);
/* Call it when an operator has removed this node, or has invited it again. A removed node takes the
 * locks from its clients, as when it leaves, and grants nothing. But the process keeps running: it
 * may vote until another voter takes its place, and it joins again when it is invited. */
void daemon_removed(struct daemon *daemon, bool removed);
/* The node leaves: are there clients that were told to stop, and are waited for? */
bool clients_are_stopping(const struct daemon *daemon);

#endif
