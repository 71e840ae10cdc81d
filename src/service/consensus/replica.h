/*
 * One server of the replicated log: libraft's core and its guards. No I/O, no clock: messages, the
 * time and notices of what is durable go in; writes, messages and committed entries come out.
 *
 * 	in:  letters of other servers, proposals, the time, "write n is durable"
 * 	out: writes, in order; letters; entries as they are committed, each once and in order
 *
 * The caller does the writes one after the other and tells when each is durable (replica_written).
 * Until then the replica keeps back what depends on the write: a letter comes out only when the
 * term and the vote that it promises are durable. Letters may be lost, duplicated, delayed and
 * reordered.
 *
 * Time is in milliseconds of a clock that never goes back.
 */
#ifndef CONSENSUS_REPLICA_H
#define CONSENSUS_REPLICA_H

#include "durable.h"

enum replica_role { REPLICA_STANDBY, REPLICA_VOTER, REPLICA_SPARE, REPLICA_NONE };

struct replica_options {
	/* The server's id: not 0, and never the id of another server, even of one that lost its
	 * disk. */
	uint64_t id;
	const char *address; /* the address that other servers see; must stay valid */
	/* The content of the disk. For a new server it is all zero, but log_start is 1. */
	const struct durable_content *content;
	uint32_t election_ms, heartbeat_ms;
	uint32_t seed; /* the seed of the random part of timeouts */
	/* Can the application restore its state as of the entry `index` from these bytes? If not,
	 * the snapshot is refused. NULL: it always can. */
	bool (*can_restore)(void *context, uint64_t index, const uint8_t *bytes, size_t size);
	void *context;
};

struct replica;

/* Makes a replica. The content is copied. It must come from a replica's writes, or have only the
 * entry of replica_first_entry. */
struct replica *replica_create(const struct replica_options *options, uint64_t now);
void replica_destroy(struct replica *replica);

struct replica_server {
	uint64_t id;
	const char *address;
	enum replica_role role;
};
/*
 * Makes the first entry of a log, which names the servers that begin with it. All of them must have
 * the same first entry, as entry 1 of term 1; servers that join later begin without it. Returns
 * false if an id or an address occurs twice. The caller frees the bytes with free().
 */
bool replica_first_entry(const struct replica_server *servers, size_t servers_count,
                         struct durable_entry *ret_entry);

/* Takes a letter. Returns 0, or BATON_EMESSAGE if it is malformed, or if no correct server can have
 * sent it; then nothing has changed. */
int replica_receive(struct replica *replica, uint64_t from, const uint8_t *bytes, size_t size,
                    uint64_t now);
/* Call it when the write with this number is durable, for each write in order. */
void replica_written(struct replica *replica, uint64_t number, uint64_t now);
uint64_t replica_deadline(const struct replica *replica);
void replica_tick(struct replica *replica, uint64_t now);

/* Proposes an entry. Returns false if this server does not lead. True does not mean that the entry
 * will be committed. */
bool replica_propose(struct replica *replica, const uint8_t *bytes, size_t size, uint64_t now);

/*
 * Gives a server a role; REPLICA_NONE removes it. A server must catch up before it becomes a voter.
 * Returns true if the change was submitted. Returns false if the change is not possible now (this
 * server does not lead, another change is pending, a server is catching up, the lead must be handed
 * over first …) or never (a removal that leaves one voter, an address that occurs twice). A caller
 * that still wants the change asks again later.
 */
bool replica_change(struct replica *replica, const struct replica_server *server, uint64_t now);
/* Hands the lead to a voter that has all entries. Returns false if that is not possible now, or if
 * there is no such voter. */
bool replica_transfer(struct replica *replica, uint64_t id, uint64_t now);

/*
 * Stores a snapshot: the application's state as of the entry `index`, which the application must
 * have applied. It replaces the entries up to `index`, but the last `keep` of them stay for servers
 * that lag a little. Returns false if that is not possible now.
 */
bool replica_snapshot(struct replica *replica, uint64_t index, const uint8_t *bytes, size_t size,
                      uint32_t keep);

bool replica_leads(const struct replica *replica);
uint64_t replica_leader(const struct replica *replica); /* 0: the leader is not known */
uint64_t replica_term(const struct replica *replica);
/* Returns how many servers this one knows now, committed or not, and writes the one at `place`, if
 * there is one. It is valid until the next call that takes a time. */
size_t replica_servers(const struct replica *replica, uint64_t place,
                       struct replica_server *ret_server);

/*
 * Returns the servers as of the entry `index`, which must have been applied or restored, in the
 * encoding of voters.h, and the index of the entry that set them. Returns false if there are none
 * yet. Valid until the next call that takes a time.
 */
bool replica_voters(const struct replica *replica, uint64_t index, const uint8_t **ret_bytes,
                    size_t *ret_size, uint64_t *ret_index);
/* Does the server with this id have all entries that this leader has? */
bool replica_caught_up(const struct replica *replica, uint64_t id);
/* Did a letter of the server with this id arrive within an election timeout? Always true for this
 * server itself. */
bool replica_heard(const struct replica *replica, uint64_t id, uint64_t now);

enum replica_effect_kind {
	REPLICA_WRITE,   /* make the write durable, then call replica_written */
	REPLICA_SEND,    /* send a letter to a server */
	REPLICA_APPLY,   /* apply an entry, which is committed */
	REPLICA_RESTORE, /* replace the application's state by the one in a snapshot */
};

struct replica_effect {
	enum replica_effect_kind kind;
	const struct durable_write *write; /* WRITE: what to write */
	uint64_t to;                       /* SEND: the id of the server */
	/* APPLY: the index of the entry; RESTORE: the index of the snapshot. */
	uint64_t index;
	/* APPLY: the type of the entry; only commands concern the application. */
	uint32_t type;
	/* SEND, APPLY, RESTORE: the bytes of the letter, the entry or the snapshot. */
	const uint8_t *bytes;
	size_t size;
};

/* Returns the oldest effect that was not taken, or false if there is none. Valid until the next
 * call. */
bool replica_effect(struct replica *replica, struct replica_effect *ret_effect);

#endif
