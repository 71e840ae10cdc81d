/*
 * A connection with a peer, or with a stranger that has not identified itself yet: its states, its
 * output, and its end. handshake.c reads its input at first, then records.c.
 */
#ifndef MEMBER_CONNECTION_H
#define MEMBER_CONNECTION_H

#include "buffer.h"
#include "peer.h"

#include <sys/queue.h>

enum connection_state {
	CONNECTION_DIALLING, /* the driver tries to connect */
	CONNECTION_HELLO,    /* both sides have not identified themselves yet */
	CONNECTION_UP,       /* the link uses it */
	CONNECTION_ENDING,   /* the last output is being written; input is discarded */
	CONNECTION_CLOSING,  /* the driver was told to close it */
};

struct connection {
	LIST_ENTRY(connection) all;
	STAILQ_ENTRY(connection) changed_entry;
	struct member *member;
	struct peer *peer; /* NULL: it has not identified itself */
	void *user;        /* belongs to the driver */
	char from[48];     /* the address from which it connected; "" if we dialled */
	enum connection_state state;
	bool dialled;         /* this member dialled it */
	bool changed;         /* it is in member->changed */
	uint64_t patience_at; /* when the handshake, or the end, must be over */
	struct buffer hello;  /* the part of the handshake that was received */
	struct buffer output; /* our part of the handshake, or the last words */
};

struct connection *connection_new(struct member *member, enum connection_state state);
void connection_free(struct connection *connection);
/* It has output, or the results of connection_reads and connection_ends have changed. */
void connection_changed(struct connection *connection);
/* Appends bytes to its own output, which goes before the link's. */
void connection_say(struct connection *connection, const uint8_t *bytes, size_t size);
/* The connection no longer belongs to its peer; if we dialled it, we dial again later. */
void connection_part(struct connection *connection);
void connection_close(struct connection *connection);
/* Ends the connection after its last output is written. */
void connection_end(struct connection *connection);
/* Closes it if its handshake, or its end, takes too long. */
void connection_tick(struct connection *connection);
/* Logs a complaint about a stranger. */
void connection_complain_of_stranger(const struct connection *connection, const char *text);
/* Asks the driver for a connection with the peer. */
void peer_dial(struct peer *peer);

#endif
