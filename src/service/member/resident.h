/*
 * A member of a cluster whose membership changes, without I/O: the lock node, its tenant (tenant.h)
 * and a link to each peer that a view needs.
 *
 * 	in:  bytes of lines, bulletins of voters, commands of clients (to resident_node), the time
 * 	out: bytes for lines, petitions for all voters, whom to dial, what the node wants
 *
 * A line (struct strand) is one connection that a link uses. A link belongs to two processes, which
 * are known by the random numbers that they drew when they started. So a process that joins again
 * as another incarnation keeps its links, and a new process with the same name gets new ones. Of
 * two peers, the one whose name comes first dials.
 *
 * Time is the lease clock of the host in nanoseconds and never goes back. The driver takes effects
 * after every call until there is none, before it writes output; an effect's pointers are valid
 * until the next call. The same calls give the same bytes and effects.
 */
#ifndef MEMBER_RESIDENT_H
#define MEMBER_RESIDENT_H

#include "node.h"
#include "tenant.h"

struct resident_options {
	const char *name, *address;
	uint64_t process; /* the random number of this process; not 0 */
	uint64_t setup;   /* a digest of what must be the same at all members */
	uint64_t lease_ns;
	struct wiring wiring;
	uint64_t server; /* the id of the node's data directory; 0: the node has none */
	bool witness;    /* the node may vote, and is never in a view */
	/* The last known voters, or addresses to try; copied. */
	const struct electors *voters;
	/* The options of the node; name, incarnation and lease need not be set. */
	struct node_options node;
	/* How many bytes may wait for a peer before the epoch must end; 0: 64 MiB. */
	size_t kept_max;
};

struct resident;
struct strand;

/* Makes a resident. On failure returns NULL and a sentence that says which option is wrong. */
struct resident *resident_create(const struct resident_options *options, const char **ret_wrong);
/* Frees a resident, and the lines that remain. */
void resident_destroy(struct resident *resident);

struct node *resident_node(const struct resident *resident);
const struct tenant *resident_tenant(const struct resident *resident);
/* Tells how many bytes were exchanged with that process; 0 and 0 if there is no link to it. */
void resident_traffic(const struct resident *resident, uint64_t process, uint64_t *ret_sent,
                      uint64_t *ret_received);
uint64_t resident_deadline(const struct resident *resident);
void resident_tick(struct resident *resident, uint64_t now);
/* Takes a bulletin of a voter. Returns false if it is malformed; then nothing has changed. */
bool resident_bulletin(struct resident *resident, const uint8_t *bytes, size_t size, uint64_t now);
/* From now on the node grants nothing, and it leaves the view when no client here holds
 * anything. */
void resident_depart(struct resident *resident, uint64_t now);

/* Call resident_accepted when a connection was accepted, resident_dialled when a dialled line is
 * open. */
struct strand *resident_accepted(struct resident *resident, void *user, uint64_t now);
void resident_dialled(struct resident *resident, struct strand *line, uint64_t now);
void resident_input(struct resident *resident, struct strand *line, const uint8_t *bytes,
                    size_t size, uint64_t now);
/* Call it exactly once for each line, when it is closed or could not be dialled. It frees the
 * line. */
void resident_closed(struct resident *resident, struct strand *line, uint64_t now);

/* strand_output sets *ret_bytes to the bytes to write, in one piece, and returns how many there
 * are. They are valid until the next call. strand_written tells how many of them were written. */
size_t strand_output(struct strand *line, const uint8_t **ret_bytes);
void strand_written(struct strand *line, size_t size);
/* Should the line be read? Not while the node has no room for the next frame. */
bool strand_reads(const struct strand *line);
void *strand_user(const struct strand *line);
void strand_set_user(struct strand *line, void *user);
/* Sets the name in the other side's certificate; NULL: there is none. The text is not copied. */
void strand_certify(struct strand *line, const char *name);
/* Returns the name of the node at the other side; NULL: not known yet. */
const char *strand_peer(const struct strand *line);
/* Was the line closed because the other side's certificate has another name? */
bool strand_misnamed(const struct strand *line);
/* Returns a line that has output, or that is to be read again, or NULL if none is left. */
struct strand *resident_changed(struct resident *resident);

enum resident_effect_kind {
	RESIDENT_NODE, /* NODE_REPLY, NODE_EVENT, NODE_LOST, NODE_STOP, NODE_WARN or NODE_SHOUT */
	RESIDENT_PETITION, /* send a petition to all voters (tenant_electors) */
	RESIDENT_ELECTORS, /* tenant_electors has changed and is worth keeping for the next start */
	RESIDENT_DIAL,     /* dial a line, then call resident_dialled or resident_closed */
	RESIDENT_CLOSE,    /* close a line, then call resident_closed */
	/* The node has entered a view, or a view began without this process: see tenant_view. */
	RESIDENT_VIEW,
	/* An operator has removed this node's name, or invited it: see tenant_removed. A removed
	 * node grants nothing more and leaves the view when no client here holds anything: evict
	 * the clients. */
	RESIDENT_REMOVED,
	/* A peer has sent something that no correct member sends; its line is being closed. */
	RESIDENT_OFFENCE,
};

struct resident_effect {
	enum resident_effect_kind kind;
	struct node_effect node;
	bool wide;            /* PETITION: send it to every address that is known */
	const uint8_t *bytes; /* PETITION: its bytes */
	size_t size;
	struct strand *line;        /* DIAL, CLOSE: the line */
	const char *name, *address; /* DIAL: the peer's name and address; OFFENCE: its name */
	const char *text;           /* OFFENCE: a sentence that says what the peer did */
};

bool resident_effect(struct resident *resident, struct resident_effect *ret_effect);

#endif
