/*
 * The end of a client's connection, and what becomes of its locks then.
 */
#ifndef DAEMON_CLOSING_H
#define DAEMON_CLOSING_H

#include "client.h"

/* Its locks go to others, at once or when it has had its time to stop. Its memory stays until the turn
 * is over. */
void client_close(struct client *client);
/* The turn is over: no event of it can be for a closed client any more. True: there were some. */
bool clients_forget_closed(struct daemon *daemon);

#endif
