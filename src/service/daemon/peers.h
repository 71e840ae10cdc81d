/*
 * The sockets of connections to other members. The member (member.h) decides what is sent, whom to
 * dial, and which connection to close.
 */
#ifndef DAEMON_PEERS_H
#define DAEMON_PEERS_H

#include "member.h"

struct daemon;

/* The most connections that a node has with peers, and with strangers that connect to its port for
 * peers. Half of them are for connections that the node accepts. */
enum {
	PEERS_SOCKETS_MAX = 512,
	/* A peer needs fewer connections to this node than this. If there is no room for another
	 * connection, the peer with the most connections loses one, if it has more than this. */
	PEERS_NAMESAKES_MAX = 8,
};

/* Begins to listen for peers. Returns 0, or -1 after logging the reason. */
int peers_open(struct daemon *daemon);
/* Writes what can be written, and closes all connections. */
void peers_close(struct daemon *daemon);
/* Carry out MEMBER_DIAL and MEMBER_CLOSE. */
void peers_dial(struct daemon *daemon, struct connection *connection, const char *address);
void peers_close_connection(struct connection *connection);
/* Writes the output of all connections. */
void peers_flush(struct daemon *daemon);
/* Call it when some time has passed: there may be room again for peers that could not be
 * accepted. */
void peers_resume(struct daemon *daemon);
/* Frees the closed sockets. Call it at the end of a turn, when no event can refer to them any
 * more. */
void peers_forget_closed(struct daemon *daemon);

#endif
