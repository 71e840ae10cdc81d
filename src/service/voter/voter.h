/*
 * A voter: a server of the replicated log (replica.h) together with a warden (warden.h). The warden
 * applies the entries that the log commits. While this voter leads, entries that the warden
 * proposes go to the log. A leader also makes sure that the right servers vote (electorate.h).
 *
 * 	in:  letters of other voters, petitions of members and candidates, "write n is durable",
 * 	     the time
 * 	out: writes, in order; letters; bulletins for members; what was applied, for an observer
 *
 * The warden gets every entry, even those that only concern the log, so that an index means the
 * same to both.
 *
 * Time is the lease clock of the host in nanoseconds. No I/O, no clock. The caller takes effects
 * after every call until there are none; an effect's pointers are valid until the next call.
 */
#ifndef VOTER_VOTER_H
#define VOTER_VOTER_H

#include "electorate.h"
#include "replica.h"
#include "warden.h"

struct voter_options {
	uint64_t id; /* a random number, drawn when the disk was created; not 0 */
	const char *name, *address;
	const struct durable_content *content;
	struct state_settings settings; /* the settings of a cluster that has no snapshot yet */
	struct wiring wiring;
	struct electorate_options electorate;
	/* After how many entries a snapshot is taken. The same number of entries is kept, for
	 * voters that lag a little. */
	uint32_t snapshot_every;
	uint32_t seed; /* the seed of the random part of timeouts */
};

struct voter;

struct voter *voter_create(const struct voter_options *options, uint64_t now);
void voter_destroy(struct voter *voter);

/* Takes a letter. Returns false if it is malformed. A letter to another server id is dropped: it
 * was meant for another disk. */
bool voter_letter(struct voter *voter, const uint8_t *bytes, size_t size, uint64_t now);
bool voter_petition(struct voter *voter, const uint8_t *bytes, size_t size, uint64_t now);
/* Hands the lead to another voter, because this process is going to end. Returns false if no voter
 * can take it now, or if this one does not lead. */
bool voter_hand_over(struct voter *voter, uint64_t now);
/* Takes an entry that a member asks for (warden_request). */
enum refusal voter_request(struct voter *voter, const struct log_entry *entry, uint64_t now);
/* Call it when the write with this number is durable, for each write in order. */
void voter_written(struct voter *voter, uint64_t number, uint64_t now);
uint64_t voter_deadline(const struct voter *voter);
void voter_tick(struct voter *voter, uint64_t now);

bool voter_leads(const struct voter *voter);
uint64_t voter_id(const struct voter *voter);
uint64_t voter_term(const struct voter *voter);
const struct agreed_state *voter_state(const struct voter *voter);
/* Returns the voters as they were after the last entry that was applied. */
const struct electors *voter_voters(const struct voter *voter);
/* Lists the servers that this one knows of now, whether committed or not (replica_servers). */
size_t voter_servers(const struct voter *voter, uint64_t place, struct replica_server *ret_server);

enum voter_effect_kind {
	VOTER_WRITE,    /* make the write durable, then call voter_written */
	VOTER_LETTER,   /* send a letter to the server `id` */
	VOTER_NOTIFY,   /* send a bulletin to a process */
	VOTER_APPLIED,  /* an entry was applied */
	VOTER_RESTORED, /* a snapshot has replaced the state */
	VOTER_ELECTORS, /* the voters have changed: see voter_voters */
	VOTER_LEADS,    /* this voter leads now, or no longer does: see voter_leads */
	VOTER_PROPOSED, /* this leader has asked the log for an entry */
};

struct voter_effect {
	enum voter_effect_kind kind;
	const struct durable_write *write; /* WRITE: what to write */
	uint64_t id;                       /* LETTER: the id of the server that the letter is for */
	uint64_t process;                  /* NOTIFY: the process that the bulletin is for */
	/* APPLIED: the index of the entry; RESTORED: the index of the snapshot. */
	uint64_t index;
	/* LETTER, NOTIFY, PROPOSED: the bytes to send or to propose. APPLIED: the entry; none if it
	 * concerns the log only. */
	const uint8_t *bytes;
	size_t size;
};

/* Returns the oldest effect that was not taken, or false if there is none. */
bool voter_effect(struct voter *voter, struct voter_effect *ret_effect);

#endif
