/*
 * The connections of clients: reads their bytes, serves the commands in order, and writes the
 * replies.
 *
 * While a command waits for its answer, later commands stay in the connection's input. All replies
 * of one turn of the loop go out in one write. Sockets are edge-triggered, and read and written
 * with recv and send.
 */
#ifndef DAEMON_CLIENTS_H
#define DAEMON_CLIENTS_H

#include "client.h"

#define CLIENT_TOO_MANY "-ERR too many clients at this node\r\n"
#define CLIENT_TOO_MANY_OF_USER "-ERR too many clients of this user at this node\r\n"

/* Makes a client for an accepted connection. */
struct client *client_make(struct daemon *daemon, int fd);
/* Opens the client's session. If there is no room for one, the client is told so. */
void client_begin(struct client *client, const struct node_client *who);

/* Begins a turn: clients that had used up their share of the last turn are ready again. While there
 * are such clients (clients.later), the loop must not sleep. */
void clients_turn(struct daemon *daemon);
/* Serves the input of one client that is ready. Returns false if there is none. */
bool clients_serve_ready(struct daemon *daemon);
/* Writes the output of all clients. */
void clients_flush(struct daemon *daemon);
/* Call it from time to time: closes clients that do not read their replies, or that send too
 * much. */
void clients_watch(struct daemon *daemon);

#endif
