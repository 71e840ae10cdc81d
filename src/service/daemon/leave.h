/*
 * How the node leaves. Clients are told that they lose what they hold, and get their time to stop;
 * their locks go to whoever waits for them. When the node is out of the view, the loop ends;
 * without a majority of the voters it ends after one lease, after which the others may give the
 * locks of its clients away.
 */
#ifndef DAEMON_LEAVE_H
#define DAEMON_LEAVE_H

#include <stdbool.h>
#include <stdint.h>

struct daemon;

/* Begins to leave. Already leaving: nothing happens, because a second SIGTERM must not kill us
 * before the peers have our last messages. */
void daemon_leave(struct daemon *daemon);
/*
 * Grants nothing more, and leaves when nobody here holds anything, or after that time (UINT64_MAX:
 * no limit). Clients that wait here are told that the node serves nobody. Returns how many locks
 * are held here.
 */
uint64_t daemon_drain(struct daemon *daemon, uint64_t finish_ms);
/* An operator has removed this node, or invited it. If it was removed, its holders are told as when
 * it leaves, and nothing is granted here; but the process goes on: it may vote until another takes
 * its place, and it comes back when it is invited. */
void daemon_removed(struct daemon *daemon, bool removed);
/* Are there clients that were told to stop and have not stopped yet? */
bool clients_are_stopping(const struct daemon *daemon);

#endif
