/*
 * A connection with a peer, or with somebody who has not said yet who it is: its states, its output,
 * and its end. What comes in is read by handshake.c at first, then by records.c.
 */
#ifndef MEMBER_CONNECTION_H
#define MEMBER_CONNECTION_H

#include "buffer.h"
#include "peer.h"

#include <sys/queue.h>

enum connection_state {
	CONNECTION_DIALLING, /* the driver tries to connect */
	CONNECTION_HELLO,    /* until both have said who they are */
	CONNECTION_UP,       /* the link has it */
	CONNECTION_ENDING,   /* the last words are written; what comes in is thrown away */
	CONNECTION_CLOSING,  /* the driver has been told to close it */
};

struct connection {
	LIST_ENTRY(connection) all;
	STAILQ_ENTRY(connection) changed_entry;
	struct member *member;
	struct peer *peer; /* NULL: it has not said who it is */
	void *user;        /* the driver's */
	char from[48];     /* the address of whoever connected; "" if we dialled */
	enum connection_state state;
	bool dialled;         /* by this member */
	bool changed;         /* it is among member->changed */
	uint64_t patience_at; /* when the handshake, or the end, must be over */
	struct buffer hello;  /* what has come of the handshake */
	struct buffer output; /* our side of the handshake, or the last words */
};

struct connection *connection_new(struct member *member, enum connection_state state);
void connection_free(struct connection *connection);
/* It has output, or its answers to connection_reads and connection_ends have changed. */
void connection_changed(struct connection *connection);
/* Puts bytes into its own output, in front of the link's. */
void connection_say(struct connection *connection, const uint8_t *bytes, size_t size);
/* It is not its peer's connection any more; if we dialled it, we dial again later. */
void connection_part(struct connection *connection);
void connection_close(struct connection *connection);
/* The same, but what was said last is still written. */
void connection_end(struct connection *connection);
/* Closes it if its handshake, or its end, takes too long. */
void connection_tick(struct connection *connection);
/* A complaint about somebody who is not known to be a peer. */
void connection_complain_of_stranger(const struct connection *connection, const char *text);
/* Asks the driver for a connection with the peer. */
void peer_dial(struct peer *peer);

#endif
