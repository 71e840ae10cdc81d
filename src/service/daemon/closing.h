/*
 * Ends a client's connection, and decides what becomes of its locks.
 */
#ifndef DAEMON_CLOSING_H
#define DAEMON_CLOSING_H

#include "client.h"

/* Closes the client. Its locks go to others, at once or when its time to stop is over. Its memory
 * stays until the turn is over. */
void client_close(struct client *client);
/* Call it when the thread of strays.h has closed a socket: from now on, the connection no longer
 * counts for its user. `user` may be NULL, `context` is the daemon. */
void client_closed_late(void *context, void *user);
/* Frees the closed clients. Call it at the end of a turn, when no event can refer to them any more.
 * Returns true if there were any. */
bool clients_forget_closed(struct daemon *daemon);
/* The client sends nothing more, but may still read replies. Returns true if the client must stay
 * until its command is answered. The wait for a lock has no end that is known, and a client that
 * sends nothing more could not give the lock back: it does not stay for that. */
bool client_awaits_last(struct client *client);

#endif
