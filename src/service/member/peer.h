/*
 * What a member knows of another one: its link, its connection, and what the log has said of it.
 */
#ifndef MEMBER_PEER_H
#define MEMBER_PEER_H

#include "link.h"
#include "member.h"

struct peer {
	struct member *member;
	char *name, *address;
	struct link *link;             /* NULL: the topology wants none */
	struct connection *connection; /* the one that is up, or NULL */
	uint64_t redial_at;            /* NODE_NEVER: it is connected, or it dials us */
	uint64_t backoff_ms;           /* how long the next redial waits */
	bool stalled;                  /* the node has refused its next frame for now */
	bool congested; /* so much is unacknowledged that the node sends it no events */
	uint64_t line_hash, line_at; /* the last complaint about it, and when it was logged */
	char refusal[256];     /* why it refused a connection, or ""; cleared when one is up */
	size_t pending_before; /* bytes that were unacknowledged when member_watch last looked */
};

/* A complaint about a peer; the same one again at most every ten seconds. */
void peer_complain(struct peer *peer, const char *text);
/* The peer has ended a connection and said why. */
void peer_complain_of_refusal(struct peer *peer, const char *why);

#endif
