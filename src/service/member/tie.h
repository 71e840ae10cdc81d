/*
 * A resident's ties: a link to another process, with the line that carries it, if one stands.
 */
#ifndef MEMBER_TIE_H
#define MEMBER_TIE_H

#include "buffer.h"
#include "link.h"
#include "resident.h"

#include <sys/queue.h>

enum strand_state {
	STRAND_DIALLING,
	STRAND_HELLO,   /* until both have said who they are */
	STRAND_UP,      /* the link's bytes */
	STRAND_CLOSING, /* the driver has been told to close it */
};

struct strand {
	LIST_ENTRY(strand) all;
	STAILQ_ENTRY(strand) changes;
	struct resident *resident;
	struct tie *tie; /* NULL: it has not said who it is */
	void *user;
	enum strand_state state;
	bool dialled, changed;
	uint64_t patience_at;        /* when the handshake must be over */
	struct buffer hello, output; /* of the handshake */
};

struct tie {
	LIST_ENTRY(tie) all;
	char name[ENTRY_NAME_MAX + 1];
	char address[ENTRY_ADDRESS_MAX + 1];
	uint64_t process;
	struct link *link;
	struct strand *line;    /* the one that is up */
	struct strand *dialled; /* the one that is tried */
	bool wanted;            /* a view needs it */
	bool stalled;           /* the node does not want its next frame yet */
	bool congested;         /* much waits for it: the node sends it no events */
	uint64_t redial_at;     /* NODE_NEVER: it is connected, tried, or dials us */
	uint64_t backoff_ns;
	uint64_t used; /* when a line of it was last up, for the oldest to go first */
};

/* Of all ties of a resident; resident.c has the rest. */
struct ties {
	LIST_HEAD(, tie) list;
	uint32_t count;
	LIST_HEAD(, strand) lines;
	STAILQ_HEAD(, strand) changed;
};

/* What ties need of the resident that they belong to. */
struct ties *resident_ties(struct resident *resident);
uint64_t resident_now(const struct resident *resident);
void resident_dial(struct resident *resident, struct strand *line);
void resident_close(struct resident *resident, struct strand *line);
/* The line is gone: the driver need not dial or close it any more. */
void resident_forget_line(struct resident *resident, const struct strand *line);
/* Something of the ties is due then. */
void resident_due(struct resident *resident, uint64_t at);
void resident_stands(struct resident *resident, const struct tie *tie, bool stands);
/* A frame for the node; false: it does not want it yet. */
bool resident_frame(struct resident *resident, struct tie *tie, const uint8_t *bytes, size_t size);
size_t resident_hello(const struct resident *resident, const struct tie *tie, uint8_t *room);
/* NULL, or what is wrong with somebody's HELLO. */
const char *resident_judge(const struct resident *resident, const struct link_hello *hello);
size_t resident_kept_max(const struct resident *resident);

void ties_init(struct ties *ties);
void ties_free(struct resident *resident);
struct tie *ties_find(struct ties *ties, uint64_t process);
/* The peers that are needed now. */
void ties_want(struct resident *resident, const struct tenant_peer *peers, uint32_t peers_count);
/* 0, or BATON_ELINK: too much waits, and the epoch must end. */
int tie_send(struct tie *tie, uint64_t epoch, const uint8_t *bytes, size_t size);
void ties_forget(struct ties *ties, uint64_t epoch);
/* Frames that the node refused are offered again. */
void ties_read_again(struct resident *resident);
void ties_acknowledge(struct resident *resident);
/* Does what is due; when the next thing is. */
uint64_t ties_tick(struct resident *resident);

#endif
