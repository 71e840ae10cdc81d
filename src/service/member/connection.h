/*
 * A connection, as the driver sees it. Its first record tells what it is for: a link between two
 * members (tie.h), or packets of the engine (post.h).
 */
#ifndef MEMBER_CONNECTION_H
#define MEMBER_CONNECTION_H

#include "buffer.h"
#include "member.h"
#include "post.h"
#include "resident.h"
#include "tls.h"

struct connection {
	LIST_ENTRY(connection) all;
	STAILQ_ENTRY(connection) changed_entry;
	struct member *member;
	void *user;          /* belongs to the driver */
	char from[48];       /* the address from which it connected; "" if we dialled */
	struct strand *line; /* it is a link's */
	struct post *post;   /* it is the engine's */
	struct buffer first; /* the bytes before it was known what it is for */
	struct tls *tls;     /* NULL: there is no TLS, or it has not begun */
	bool tls_answered;   /* the other side speaks TLS */
	bool tls_open;       /* the handshake is over, and it is a node */
	bool tls_ended;      /* the other side was told that nothing follows */
	struct buffer
	        last; /* ending: a refusal for one that does not speak TLS as this node does */
	bool changed; /* it is in member->changed */
	bool ending;  /* its output is written, then it is closed; input is discarded */
	bool closing; /* the driver was told to close it */
	uint64_t patience_at; /* when it must be known what it is for, or the end must have come */
};

/* Ask the driver for a connection. */
struct connection *connection_of_post(struct post *post);
struct connection *connection_of_line(struct member *member, struct strand *line,
                                      const char *address);
/* Call it when the connection has output, or when the results of connection_reads or
 * connection_ends have changed. */
void connection_changed(struct connection *connection);
/* Tells the driver to close it. */
void connection_close(struct connection *connection);
/* Takes bytes of the protocol: of the network, or decrypted. */
void connection_input(struct connection *connection, const uint8_t *bytes, size_t size);
/* The connection that was dialled can be used. */
void connection_opened(struct connection *connection);
/* Returns the bytes to send, before they are encrypted; connection_taken tells how many were taken. */
size_t connection_plain(struct connection *connection, const uint8_t **ret_bytes);
void connection_taken(struct connection *connection, size_t size);
/* Discards input from now on, and closes it when its output is written. */
void connection_end(struct connection *connection);
/* Closes connections that say nothing. Returns when the next one is due. */
uint64_t connections_tick(struct member *member);
void connections_free(struct member *member);

#endif
