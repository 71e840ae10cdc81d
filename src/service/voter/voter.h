/*
 * A voter: a server of the replicated log (replica.h) and the warden (warden.h) that it feeds. What
 * the log commits, the warden applies; what the warden of a leader wants, the log is asked for. A
 * leader also sees to it that the right servers vote (electorate.h).
 *
 *	in:  letters of other voters, petitions of members and candidates, "write n is durable", the time
 *	out: writes, in order; letters; bulletins for members; what was applied, to be looked at
 *
 * Every entry of the log counts as one of the warden's, those that only concern the log too: an index
 * means the same to both.
 *
 * Time is the lease clock of the host in nanoseconds. No I/O, no clock. Effects are taken after every
 * call until there is none; an effect's pointers are good until the next call.
 */
#ifndef VOTER_VOTER_H
#define VOTER_VOTER_H

#include "electorate.h"
#include "replica.h"
#include "warden.h"

struct voter_options {
	uint64_t id; /* drawn by chance with the disk's first content; not 0 */
	const char *name, *address;
	const struct durable_content *content;
	struct state_settings settings; /* of a cluster that has no snapshot yet */
	struct wiring wiring;
	struct electorate_options electorate;
	uint32_t snapshot_every; /* entries; as many are kept for voters that are a little late */
	uint32_t seed;           /* for the chance in the timeouts */
};

struct voter;

struct voter *voter_create(const struct voter_options *options, uint64_t now);
void voter_destroy(struct voter *voter);

/* False: malformed. A letter to another server than this is dropped: its disk is not this one. */
bool voter_letter(struct voter *voter, const uint8_t *bytes, size_t size, uint64_t now);
bool voter_petition(struct voter *voter, const uint8_t *bytes, size_t size, uint64_t now);
/* An operator's wish: proposed if this voter leads. */
void voter_forbid(struct voter *voter, const char *name, bool forbid, uint64_t now);
/* What a member was told about the voters, for those who ask here. */
void voter_electors(struct voter *voter, const struct electors *electors);
/* The write of this number, the next one that was given out, is durable. */
void voter_written(struct voter *voter, uint64_t number, uint64_t now);
uint64_t voter_deadline(const struct voter *voter);
void voter_tick(struct voter *voter, uint64_t now);

bool voter_leads(const struct voter *voter);
uint64_t voter_id(const struct voter *voter);
uint64_t voter_term(const struct voter *voter);
const struct agreed_state *voter_state(const struct voter *voter);
/* The voters after the last entry that was applied. */
const struct electors *voter_voters(const struct voter *voter);
/* The servers as it knows them now, committed or not (replica_servers). */
size_t voter_servers(const struct voter *voter, uint64_t place, struct replica_server *ret_server);

enum voter_effect_kind {
	VOTER_WRITE,    /* make durable, then call voter_written */
	VOTER_LETTER,   /* to the server `id` */
	VOTER_NOTIFY,   /* a bulletin, to a process */
	VOTER_APPLIED,  /* an entry has been applied */
	VOTER_RESTORED, /* a snapshot has taken the place of the state */
	VOTER_ELECTORS, /* the voters are others now: voter_voters has them */
};

struct voter_effect {
	enum voter_effect_kind kind;
	const struct durable_write *write; /* WRITE */
	uint64_t id;                       /* LETTER */
	uint64_t process;                  /* NOTIFY */
	uint64_t index;                    /* APPLIED, RESTORED */
	const uint8_t *bytes; /* LETTER, NOTIFY; APPLIED: none if it concerns the log only */
	size_t size;
};

/* The oldest effect that has not been taken; false: there is none. */
bool voter_effect(struct voter *voter, struct voter_effect *ret_effect);

#endif
