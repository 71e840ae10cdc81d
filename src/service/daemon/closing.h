/*
 * The end of a client's connection, and what becomes of its locks then.
 */
#ifndef DAEMON_CLOSING_H
#define DAEMON_CLOSING_H

#include "client.h"

/* Closes the client. Its locks go to others, at once or when its time to stop is over. Its memory
 * stays until the turn is over. */
void client_close(struct client *client);
/* The turn is over, so no event of it can be for a closed client any more: frees them. Returns true
 * if there were any. */
bool clients_forget_closed(struct daemon *daemon);

#endif
