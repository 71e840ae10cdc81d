/*
 * A resident's ties. A tie is a link to another process, with the line that carries it, if one is
 * open.
 */
#ifndef MEMBER_TIE_H
#define MEMBER_TIE_H

#include "buffer.h"
#include "link.h"
#include "resident.h"

#include <sys/queue.h>

enum strand_state {
	STRAND_DIALLING,
	/* the handshake is not over: one side or both have not identified themselves */
	STRAND_HELLO,
	STRAND_UP,      /* the line carries the link's bytes */
	STRAND_CLOSING, /* the driver was told to close the line */
};

struct strand {
	LIST_ENTRY(strand) all;
	STAILQ_ENTRY(strand) changes;
	struct resident *resident;
	/* The tie to the node on the other side; NULL: that node has not identified itself. */
	struct tie *tie;
	void *user;
	enum strand_state state;
	bool dialled, changed;
	const char *certified; /* the name in the other side's certificate; NULL: there is no TLS */
	/* The line was closed because the name in the HELLO is not the one in the certificate. */
	bool misnamed;
	uint64_t patience_at;        /* when the handshake must be over */
	struct buffer hello, output; /* the handshake's bytes, in and out */
};

struct tie {
	LIST_ENTRY(tie) all;
	char name[ENTRY_NAME_MAX + 1];
	char address[ENTRY_ADDRESS_MAX + 1];
	uint64_t process;
	struct link *link;
	struct strand *line;    /* the tie's line that is up, or NULL */
	struct strand *dialled; /* the line that is being dialled, or NULL */
	bool wanted;            /* a view needs this tie */
	bool stalled;           /* the node has no room for the peer's next frame yet */
	bool congested;         /* many bytes wait for the peer, so the node sends it no events */
	/* When to dial again; NODE_NEVER: no view needs the tie, or the peer is connected, is being
	 * dialled, or dials us. */
	uint64_t redial_at;
	uint64_t backoff_ns;
	/* Bytes of all lines of this tie, handshakes included. */
	uint64_t sent_bytes, received_bytes;
	/* Until this time the peer is shunned: it has sent something that no correct member sends,
	 * and its lines are refused. */
	uint64_t shunned_until;
	/* When a line of this tie was last up, so that the oldest tie can be dropped first. */
	uint64_t used;
};

/* All ties of a resident. */
struct ties {
	LIST_HEAD(, tie) list;
	uint32_t count;
	LIST_HEAD(, strand) lines;
	STAILQ_HEAD(, strand) changed;
};

/* Functions of the resident, for the ties that belong to it. */
struct ties *resident_ties(struct resident *resident);
uint64_t resident_now(const struct resident *resident);
void resident_dial(struct resident *resident, struct strand *line);
void resident_close(struct resident *resident, struct strand *line);
/* Call it when the line is gone: drops the effects that tell the driver to dial or close it. */
void resident_forget_line(struct resident *resident, const struct strand *line);
/* Notes that ties_tick must be called at this time. */
void resident_due(struct resident *resident, uint64_t at);
void resident_stands(struct resident *resident, const struct tie *tie, bool stands);
/* Offers a frame to the node. Returns 0, BATON_EAGAIN if the node has no room for it yet, or
 * another error if no correct member can have sent it. */
int resident_frame(struct resident *resident, const struct tie *tie, const uint8_t *bytes,
                   size_t size);
/* Tells the driver that the peer has sent something that no correct member sends. */
void resident_offended(struct resident *resident, const char *name, const char *text);
/* Call it when the peer may have acknowledged frames that waited for it. */
void resident_drained(struct resident *resident, struct tie *tie);
size_t resident_hello(const struct resident *resident, const struct tie *tie, uint8_t *room);
/* Returns NULL, or why the HELLO is refused. */
const char *resident_judge(const struct resident *resident, const struct link_hello *hello);
size_t resident_kept_max(const struct resident *resident);

void ties_init(struct ties *ties);
void ties_free(struct resident *resident);
struct tie *ties_find(const struct ties *ties, uint64_t process);
/* Sets the peers that are needed now. */
void ties_want(struct resident *resident, const struct tenant_peer *peers, uint32_t peers_count);
/* Sends a frame. Returns 0, or BATON_ELINK if too much waits; then the epoch must end. */
int tie_send(struct tie *tie, uint64_t epoch, const uint8_t *bytes, size_t size);
void ties_forget(struct ties *ties, uint64_t epoch);
/* Offers those frames again for which the node had no room. */
void ties_read_again(struct resident *resident);
void ties_acknowledge(struct resident *resident);
/* Does what is due. Returns when the next thing is due. */
uint64_t ties_tick(struct resident *resident);

#endif
