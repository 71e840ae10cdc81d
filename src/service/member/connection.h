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
	void *user;          /* a pointer that the driver may use */
	char from[48];       /* the address of the side that connected to us; "": we dialled */
	struct strand *line; /* the link's line that uses this connection, or NULL */
	struct post *post;   /* the engine's post that uses this connection, or NULL */
	struct visit *visit; /* the guest at the other end, or NULL (door.h) */
	struct buffer first; /* bytes that arrived before the connection's purpose was known */
	struct tls *tls;     /* NULL: there is no TLS, or it has not begun */
	bool tls_answered;   /* the first bytes of the other side were TLS */
	/* The TLS handshake is over: the other side has shown a node's certificate, or is a
	 * guest. */
	bool tls_open;
	bool tls_ended; /* TLS was closed in our direction: nothing more is sent */
	/* While ending: a refusal in plain text, because only one of the two sides uses TLS. */
	struct buffer last;
	bool changed; /* the connection is in member->changed */
	/* The remaining output is written, then the connection is closed; input is discarded. */
	bool ending;
	bool closing; /* the driver was told to close the connection */
	/* When the purpose must be known or, while ending, when the output must be written. */
	uint64_t patience_at;
};

/* Ask the driver to dial a new connection for a post or a line. */
struct connection *connection_of_post(struct post *post);
struct connection *connection_of_line(struct member *member, struct strand *line,
                                      const char *address);
/* Call it when the connection has output, or when the results of connection_reads or
 * connection_ends have changed. */
void connection_changed(struct connection *connection);
/* Tells the driver to close the connection. */
void connection_close(struct connection *connection);
/* Takes bytes of the protocol: decrypted ones or, without TLS, those of the network. */
void connection_input(struct connection *connection, const uint8_t *bytes, size_t size);
/* Call it when a connection that was dialled can be used. */
void connection_opened(struct connection *connection);
/* Returns the bytes to send, before they are encrypted; connection_taken tells how many were
 * taken. */
size_t connection_plain(struct connection *connection, const uint8_t **ret_bytes);
void connection_taken(struct connection *connection, size_t size);
/* Discards input from now on, and closes the connection when its output is written. */
void connection_end(struct connection *connection);
/* Closes connections whose patience_at has come. Returns when the next one is due. */
uint64_t connections_tick(struct member *member);
void connections_free(struct member *member);

#endif
