/*
 * What a member knows about another one: its link, its connection, and what was logged about it.
 */
#ifndef MEMBER_PEER_H
#define MEMBER_PEER_H

#include "link.h"
#include "member.h"

struct peer {
	struct member *member;
	char *name, *address;
	struct link *link;             /* NULL: the topology needs none */
	struct connection *connection; /* the connection that is up, or NULL */
	uint64_t redial_at;  /* when to dial again; NODE_NEVER: it is connected, or it dials us */
	uint64_t backoff_ms; /* how long to wait before the next redial */
	bool stalled;        /* the node has refused its next frame for now */
	bool congested;      /* so much is unacknowledged that the node sends it no events */
	uint64_t line_hash, line_at; /* the last complaint about it, and when it was logged */
	char refusal[256]; /* why it refused a connection, or ""; cleared when one is up */
	/* How many bytes were unacknowledged when member_watch last looked. */
	size_t pending_before;
};

/* Logs a complaint about a peer; an equal one again at most every ten seconds. */
void peer_complain(struct peer *peer, const char *text);
/* The peer has ended a connection and told why. */
void peer_complain_of_refusal(struct peer *peer, const char *why);

#endif
