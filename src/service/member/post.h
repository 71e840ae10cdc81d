/*
 * Posts: the connections of the engine. They carry packets: petitions, bulletins, letters between
 * voters, and what founders tell each other. A packet arrives whole or not at all. It may be lost,
 * so the sender repeats what matters.
 *
 * A post is dialled when it is needed, and dialled again after a while if that fails. A post of an
 * accepted connection lives as long as the connection. Both kinds carry packets both ways.
 */
#ifndef MEMBER_POST_H
#define MEMBER_POST_H

#include "buffer.h"
#include "call.h"

#include <sys/queue.h>

struct member;
struct connection;

enum packet_kind {
	PACKET_PETITION = 1,
	PACKET_BULLETIN,
	PACKET_LETTER,
	PACKET_BIRTH,
	PACKET_QUESTION = 6, /* an inquiry (inquiry.h) */
	PACKET_ANSWER,
};

enum post_state {
	POST_WAITING,  /* the post has no connection, and waits to be dialled */
	POST_DIALLING, /* the driver tries to connect */
	POST_CALLING,  /* the connection is up, but not both sides have identified themselves */
	POST_UP,
	POST_ENDING, /* the last output is being written; input is discarded */
};

struct post {
	LIST_ENTRY(post) all;
	struct member *member;
	struct connection *connection; /* the connection; NULL if WAITING */
	enum post_state state;
	bool dialled;                        /* this side dialled; false: it accepted */
	char address[ENTRY_ADDRESS_MAX + 1]; /* where to dial */
	/* The name of the node that should be there; "": any. */
	char wanted[ENTRY_NAME_MAX + 1];
	struct call call; /* UP: the other side's CALL, which says who it is */
	struct buffer input, output;
	uint64_t redial_at; /* WAITING: the earliest time to dial again */
	uint64_t backoff_ns;
	uint64_t patience_at; /* when DIALLING, CALLING or ENDING must be over */
	/* When the post last got a packet, or was last needed to send something. */
	uint64_t used_at;
};

LIST_HEAD(posts, post);

/* Makes a post of an accepted connection. Its first record should be a CALL; post_input checks
 * that. */
struct post *post_accepted(struct member *member, struct connection *connection);
void post_dialled(struct post *post);
void post_input(struct post *post, const uint8_t *bytes, size_t size);
/* Call it when the post's connection is closed. It may free the post. */
void post_closed(struct post *post, const char *why);

/* Sends a packet to the node of this name ("": any) at an address. */
void post_to_address(struct member *member, const char *address, const char *name,
                     enum packet_kind kind, const uint8_t *bytes, size_t size);
/* Connects to the node of this name at an address, unless a connection to it is up. */
void post_need(struct member *member, const char *address, const char *name);
/* Sends a packet to the process of a data directory. Dials the address if no connection to it is
 * up. */
void post_to_server(struct member *member, uint64_t server, const char *address, const char *name,
                    enum packet_kind kind, const uint8_t *bytes, size_t size);
/* Sends a packet to a process. Without a connection to that process, the packet is lost. */
void post_to_process(struct member *member, uint64_t process, enum packet_kind kind,
                     const uint8_t *bytes, size_t size);

/* Ends all connections, so that they begin again with a new CALL. */
void posts_restart(struct member *member);
/* Does what is due. Returns when the next thing is due. */
uint64_t posts_tick(struct member *member);
void posts_free(struct member *member);

#endif
