/*
 * The connections of clients: bytes in, commands out of them in order, replies back.
 *
 * While a command waits for its answer the next ones stay in the connection's input. Replies of one
 * turn of the loop go out in one write. Sockets are edge-triggered, and read and written by recv and
 * send.
 */
#ifndef DAEMON_CLIENTS_H
#define DAEMON_CLIENTS_H

#include "client.h"

#define CLIENT_TOO_MANY "-ERR too many clients at this node\r\n"

/* Of a connection that was accepted. */
struct client *client_make(struct daemon *daemon, int fd);
/* Opens its session, if there is room; else it is told that there is none. */
void client_begin(struct client *client, const struct node_client *who);

/* A turn begins: clients that had their share of the last one are ready again. The loop must not sleep
 * while there are any (clients.later). */
void clients_turn(struct daemon *daemon);
/* Serves what one client has sent whose last command was answered; false: there was none. */
bool clients_serve_ready(struct daemon *daemon);
/* Writes what was said to clients. */
void clients_flush(struct daemon *daemon);
/* Now and then: closes clients that do not take their replies, or send too much. */
void clients_watch(struct daemon *daemon);

#endif
