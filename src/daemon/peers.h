/*
 * What peers.c and handshake.c share: connections between members.
 */
#ifndef DAEMON_PEERS_H
#define DAEMON_PEERS_H

#include "internal.h"

#include "link.h"

enum { REDIAL_MS_FIRST = 20, SAME_LINE_MS = 10000 /* how often the log says the same of a peer */ };

struct connection {
	uv_tcp_t tcp;
	uv_timer_t patience; /* until the handshake is done */
	uv_connect_t connect;
	uv_getaddrinfo_t resolve;
	uv_write_t request;
	struct daemon *daemon;
	struct peer *peer; /* NULL: it has not said who it is */
	struct connection *next, **link;
	struct buffer greeting; /* until the handshake is done */
	char *piece;            /* being written */
	uv_shutdown_t shutdown;
	bool dialled, up, ended, closing, resolving;
	int handles; /* that are not closed yet */
};

struct peer {
	struct daemon *daemon;
	const struct daemon_peer *options;
	struct link *link;
	struct connection *connection; /* the one that is up */
	uv_timer_t redial;
	uint32_t backoff_ms;
	bool stalled; /* the node does not want its next frame yet */
	bool dirty;
	struct peer *dirty_next;
	uint64_t line_hash, line_at; /* what was last complained of */
	char refusal[256];           /* why there is no connection, if one was refused; or "" */
	size_t pending_before;       /* what it had not acknowledged when last looked at */
};

struct peers {
	uv_tcp_t listener;
	bool listening;
	uv_timer_t acknowledge;
	bool acknowledging;
	struct connection *connections;
	struct peer *dirty;
	uint64_t setup;                      /* what must be the same at all */
	uint64_t stranger_hash, stranger_at; /* what was last complained of, and when */
	char *missing;
	struct peer peers[];
};

static inline struct peer *peer_of(struct daemon *daemon, uint32_t index)
{
	return &daemon->peers->peers[index];
}

/* --- peers.c --- */

/* A complaint about a peer, in the log; the same one again only now and then. */
void peer_complain(struct peer *peer, const char *text);
void peer_complain_of_refusal(struct peer *peer, const char *why);
/* All that the engine knows, on a new connection. */
void peer_tell(struct peer *peer);
/* The connection is the peer's from now on; these bytes have come behind the handshake. */
void peer_connected(struct connection *connection, const uint8_t *bytes, size_t size);
void connection_close(struct connection *connection);
/* The same, but what was said last is heard: what the other side still sends is taken and thrown away
 * until it ends, too. */
void connection_end(struct connection *connection);
/* One of its handles is closed, or the look-up of its host has ended: freed with the last. */
void connection_closed(uv_handle_t *handle);
void connection_need(uv_handle_t *handle, size_t suggested, uv_buf_t *ret_buf);
void connection_read(uv_stream_t *stream, ssize_t size, const uv_buf_t *buf);

/* --- handshake.c --- */

void peer_dial(struct peer *peer);
void connection_accept(uv_stream_t *listener, int status);
/* Something has come, and the handshake is not done. */
void connection_greet(struct connection *connection);

#endif
