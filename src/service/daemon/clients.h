/*
 * The connections of clients: reads their bytes, serves the commands in order, and writes the
 * replies.
 *
 * While a command waits for its answer, later commands stay in the connection's input. All replies
 * of one turn of the loop go out in one write; events are written in turns (events.h). Sockets are
 * edge-triggered, and read and written with recv and send.
 *
 * An event of a client's socket only puts the client into the queue of its user. When the loop has
 * served peers and other descriptors, users take turns (users.h), and so do the clients of one
 * user. Two limits of time keep all this fair: one client is served for CLIENT_TURN_US, and then
 * waits for its next turn; all clients together are served for CLIENTS_TURNS_US, and then peers and
 * timers come first.
 */
#ifndef DAEMON_CLIENTS_H
#define DAEMON_CLIENTS_H

#include "client.h"

#define CLIENT_TOO_MANY "-ERR too many clients at this node\r\n"
#define CLIENT_TOO_MANY_OF_USER "-ERR too many clients of this user at this node\r\n"

/* Makes a client for an accepted connection. */
struct client *client_make(struct daemon *daemon, int fd);
/* Notes who the client is, and admits it. A client with TLS is admitted later, when it has shown
 * who it is. */
void client_begin(struct client *client, const struct node_client *who);
/* Opens the client's session. Returns false if there is no room for one; the client is then told
 * so, and its connection ends. */
bool client_admit(struct client *client);

/* Serves clients that wait for their turn, until none waits or the time for clients in this turn of
 * the loop is over. While clients wait (users_are_waiting), the loop must not sleep. */
void clients_turn(struct daemon *daemon);
/* Serves the client that is next. Returns false if none waits, or if the time is over. */
bool clients_serve_next(struct daemon *daemon);
/* Writes the output of all clients. */
void clients_flush(struct daemon *daemon);
/* Call it from time to time: closes clients that do not read their replies, or that send too
 * much. */
void clients_watch(struct daemon *daemon);

#endif
