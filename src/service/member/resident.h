/*
 * A member of a cluster whose membership changes, without I/O: the lock node, its tenant (tenant.h)
 * and a link to each peer that a view needs. It stands beside the member of a fixed membership
 * (member.h), which the daemon still has.
 *
 *	in:  bytes of lines, bulletins of voters, commands of clients (to resident_node), the time
 *	out: bytes for lines, petitions for all voters, whom to dial, what the node wants
 *
 * A strand is one connection under a link. Links belong to two processes, known by numbers that each
 * draws when it begins: a process that joins again as another incarnation keeps its links, another
 * process of the same name has its own. Of two peers the one whose name comes first dials.
 *
 * Time is the lease clock of the host in nanoseconds and never goes back. Effects are taken after
 * every call until there is none, and before output is written; an effect's pointers are good until the
 * next call. The same calls give the same bytes and effects.
 */
#ifndef MEMBER_RESIDENT_H
#define MEMBER_RESIDENT_H

#include "node.h"
#include "tenant.h"

struct resident_options {
	const char *name, *address;
	uint64_t process; /* drawn by chance; not 0 */
	uint64_t setup;   /* a digest of what must be the same at all members */
	uint64_t lease_ns;
	struct wiring wiring;
	struct node_options node; /* name, incarnation and lease are filled in */
	size_t kept_max;          /* bytes kept for a peer before the epoch must end; 0: 64 MiB */
};

struct resident;
struct strand;

/* NULL, and a sentence that says which option is wrong. */
struct resident *resident_create(const struct resident_options *options, const char **ret_wrong);
/* Lines that are left are gone with it. */
void resident_destroy(struct resident *resident);

struct node *resident_node(const struct resident *resident);
const struct tenant *resident_tenant(const struct resident *resident);
uint64_t resident_deadline(const struct resident *resident);
void resident_tick(struct resident *resident, uint64_t now);
/* What a voter says. */
void resident_bulletin(struct resident *resident, const uint8_t *bytes, size_t size, uint64_t now);
/* Grants nothing more, and leaves the view when nothing is held here. */
void resident_depart(struct resident *resident, uint64_t now);

/* Somebody has connected; or what was dialled stands. */
struct strand *resident_accepted(struct resident *resident, void *user, uint64_t now);
void resident_dialled(struct resident *resident, struct strand *line, uint64_t now);
void resident_input(struct resident *resident, struct strand *line, const uint8_t *bytes,
                    size_t size, uint64_t now);
/* It is closed, or could not be dialled: exactly once for each; then it does not exist any more. */
void resident_closed(struct resident *resident, struct strand *line, uint64_t now);

/* The bytes to write, in one piece, good until the next call; then how many were written. */
size_t strand_output(struct strand *line, const uint8_t **ret_bytes);
void strand_written(struct strand *line, size_t size);
/* Should it be read? Not while the node does not want the next frame. */
bool strand_reads(const struct strand *line);
void *strand_user(const struct strand *line);
void strand_set_user(struct strand *line, void *user);
/* A line that has output, or that is to be read again; NULL: none is left. */
struct strand *resident_changed(struct resident *resident);

enum resident_effect_kind {
	RESIDENT_NODE, /* NODE_REPLY, NODE_EVENT, NODE_LOST, NODE_STOP, NODE_WARN or NODE_SHOUT */
	RESIDENT_PETITION, /* to all voters */
	RESIDENT_DIAL,     /* then resident_dialled or resident_closed */
	RESIDENT_CLOSE,    /* then resident_closed */
	RESIDENT_VIEW,     /* a view has been entered, or has not this process: tenant_view */
};

struct resident_effect {
	enum resident_effect_kind kind;
	struct node_effect node;
	const uint8_t *bytes; /* PETITION */
	size_t size;
	struct strand *line;        /* DIAL, CLOSE */
	const char *name, *address; /* DIAL */
};

bool resident_effect(struct resident *resident, struct resident_effect *ret_effect);

#endif
