/*
 * The sockets of connections to other members. The member (member.h) decides what is sent, whom to
 * dial, and which connection to close.
 */
#ifndef DAEMON_PEERS_H
#define DAEMON_PEERS_H

#include "member.h"

struct daemon;

/* How many connections with peers, and with strangers at their port, a node has at most. Half of
 * them are for connections that the node accepts. */
enum {
	PEERS_SOCKETS_MAX = 512,
	/* A node needs fewer connections than this. If there is no room for another connection, a
	 * node that has more loses one first. */
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
/* Call it when some time has passed: there may be room again for peers that could not be accepted.
 * */
void peers_resume(struct daemon *daemon);
/* Frees the closed sockets. Call it at the end of a turn, when no event can refer to them any
 * more. */
void peers_forget_closed(struct daemon *daemon);

#endif
