/*
 * How the node leaves. Clients are told that they lose what they hold, and get their time to stop;
 * their locks go to whoever waits for them. When the other members have heard of it, the loop ends.
 */
#ifndef DAEMON_LEAVE_H
#define DAEMON_LEAVE_H

#include <stdbool.h>

struct daemon;

/* Begins to leave. Already leaving: nothing happens, because a second SIGTERM must not kill us
 * before the peers have our last messages. */
void daemon_leave(struct daemon *daemon);
/* True if there are clients that were told to stop and have not stopped yet. */
bool clients_are_stopping(const struct daemon *daemon);

#endif
