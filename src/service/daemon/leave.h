/*
 * How the node leaves: clients are told that they lose what they hold and get their time to stop; what
 * they held goes to whoever waits for it; and when the other members have heard of it, the loop ends.
 */
#ifndef DAEMON_LEAVE_H
#define DAEMON_LEAVE_H

#include <stdbool.h>

struct daemon;

/* Begins to leave. Already leaving: nothing happens, because a second SIGTERM must not end the process
 * before the peers have its last messages. */
void daemon_leave(struct daemon *daemon);
/* Are there clients that were told to stop, and have not stopped yet? */
bool clients_are_stopping(const struct daemon *daemon);

#endif
