/*
 * The sockets of connections with other members. What goes through them, and which to dial or close,
 * is the member's business (member.h).
 */
#ifndef DAEMON_PEERS_H
#define DAEMON_PEERS_H

#include "member.h"

struct daemon;

/* 0, or -1 and the reason is in the log. */
int peers_open(struct daemon *daemon);
/* Tells the others that this node has left, and closes all. */
void peers_close(struct daemon *daemon);
/* What the member wants: to be connected with a peer, or a connection closed. */
void peers_dial(struct daemon *daemon, struct connection *connection, uint32_t peer);
void peers_close_connection(struct connection *connection);
/* Writes what connections have to say. */
void peers_flush(struct daemon *daemon);
/* Some time has passed: there may be room again for peers that could not be accepted. */
void peers_resume(struct daemon *daemon);
/* The turn is over: no event of it can be for a closed socket any more. */
void peers_forget_closed(struct daemon *daemon);

#endif
