/*
 * What member.c and connection.c share: a member with its peers and their connections.
 */
#ifndef MEMBER_INTERNAL_H
#define MEMBER_INTERNAL_H

#include "member.h"

#include "buffer.h"
#include "link.h"

#include <sys/queue.h>

enum connection_state {
	CONNECTION_DIALLING, /* the driver tries to connect */
	CONNECTION_HELLO,    /* until both have said who they are */
	CONNECTION_UP,       /* the link's */
	CONNECTION_ENDING,   /* what is left to say is written; what comes is thrown away */
	CONNECTION_CLOSING,  /* the driver has been told to close it */
};

struct connection {
	LIST_ENTRY(connection) all;
	STAILQ_ENTRY(connection) changed_entry;
	struct member *member;
	struct peer *peer; /* NULL: it has not said who it is */
	void *user;
	char from[48]; /* the address of who connected; "" if we did */
	enum connection_state state;
	bool dialled, changed;
	uint64_t patience_at; /* when the handshake, or the end, must be over */
	struct buffer hello;  /* what has come of the handshake */
	struct buffer output; /* of the handshake, or the last words */
};

struct peer {
	struct member *member;
	char *name, *address;
	struct link *link;             /* NULL: the topology wants none */
	struct connection *connection; /* the one that is up */
	uint64_t redial_at;            /* NODE_NEVER: it is connected, or dials us */
	uint64_t backoff_ms;
	bool stalled;                /* the node does not want its next frame yet */
	bool congested;              /* much waits for it: the node sends it no events */
	uint64_t line_hash, line_at; /* the last complaint about it, and when it was logged */
	char refusal[256];           /* why there is no connection, if one was refused; or "" */
	size_t pending_before;       /* what it had not acknowledged when last looked at */
};

/* An effect of the member's own that waits to be taken. */
struct outcome {
	STAILQ_ENTRY(outcome) entry;
	struct member_effect effect;
	char text[];
};

struct member {
	char *cluster;
	uint64_t cluster_hash;
	uint64_t setup; /* a digest of what must be the same at all members */
	uint32_t self, peers_count;
	struct peer *peers;
	uint64_t incarnation;
	struct node *node;
	struct engine *engine;
	uint64_t now;
	uint64_t quiet_until;
	uint64_t timers_at; /* no timer of the member's own is due before this */
	uint64_t acknowledge_at;
	bool leaving;
	uint64_t stranger_hash, stranger_at; /* the last complaint about a stranger */
	char *missing;
	LIST_HEAD(, connection) connections;
	STAILQ_HEAD(, connection) changed;
	STAILQ_HEAD(, outcome) outcomes;
	struct outcome *taken; /* its pointers are still in use */
};

#define MS UINT64_C(1000000)
enum { REDIAL_MS_FIRST = 20 };

/* --- member.c --- */

__attribute__((format(printf, 3, 4))) void
member_log(struct member *member, enum member_level level, const char *format, ...);
struct outcome *member_outcome(struct member *member, enum member_effect_kind kind,
                               size_t text_size);
/* A timer of the member's own is set for then. */
void member_due(struct member *member, uint64_t at);
/* Enters the engine's view, if it has a new one. */
void member_enter(struct member *member);
/* Tells all peers what the engine knows, if that has changed. */
void member_spread(struct member *member);

/* --- connection.c --- */

void connection_changed(struct connection *connection);
void connection_close(struct connection *connection);
/* The same, but what was said last is heard. */
void connection_end(struct connection *connection);
void connection_free(struct connection *connection);
void connection_tick(struct connection *connection);
void peer_dial(struct peer *peer);
/* A complaint about a peer; the same one again only now and then. */
void peer_complain(struct peer *peer, const char *text);
/* All that the engine knows. */
void peer_tell(struct peer *peer);
/* A frame of the node's. */
void peer_send(struct peer *peer, uint64_t epoch, const uint8_t *bytes, size_t size);
/* Frames that the node refused are offered again. */
void peer_read_again(struct peer *peer);

#endif
