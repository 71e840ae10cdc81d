/*
 * The sockets of connections with other members. The member (member.h) decides what goes through
 * them, and which to dial or close.
 */
#ifndef DAEMON_PEERS_H
#define DAEMON_PEERS_H

#include "member.h"

struct daemon;

/* Returns 0, or -1 after logging the reason. */
int peers_open(struct daemon *daemon);
/* Tells the others that this node has left, and closes all connections. */
void peers_close(struct daemon *daemon);
/* Carries out what the member wants: dial a peer, or close a connection. */
void peers_dial(struct daemon *daemon, struct connection *connection, uint32_t peer);
void peers_close_connection(struct connection *connection);
/* Writes the output of all connections. */
void peers_flush(struct daemon *daemon);
/* Some time has passed: there may be room again for peers that could not be accepted. */
void peers_resume(struct daemon *daemon);
/* The turn is over: no event of it can be for a closed socket any more. Frees them. */
void peers_forget_closed(struct daemon *daemon);

#endif
