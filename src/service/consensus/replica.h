/*
 * One server of the replicated log: libraft's core behind its guards. No I/O, no clock: messages, the time
 * and what is durable go in; writes, messages and committed entries come out.
 *
 *	in:  letters of other servers, proposals, the time, "write n is durable"
 *	out: writes, in order; letters; entries as they are committed, each once and in order
 *
 * The caller does the writes one after the other and tells when each is durable (replica_written). Everything
 * that depends on it waits inside: a letter is given out only when the term and the vote that it
 * promises are durable. Letters may be lost, duplicated, late and out of order.
 *
 * Time is in milliseconds of a clock that never goes back.
 */
#ifndef CONSENSUS_REPLICA_H
#define CONSENSUS_REPLICA_H

#include "durable.h"

enum replica_role { REPLICA_STANDBY, REPLICA_VOTER, REPLICA_SPARE, REPLICA_NONE };

struct replica_options {
	uint64_t id; /* not 0; never that of another server, nor of one that lost its disk */
	const char *address; /* for others; must stay */
	const struct durable_content
	        *content; /* what the disk has; all zero but log_start 1: a new one */
	uint32_t election_ms, heartbeat_ms;
	uint32_t seed; /* for the chance in the timeouts */
};

struct replica;

/* The content is copied. It must be what writes of a replica made, or replica_first_content. */
struct replica *replica_create(const struct replica_options *options, uint64_t now);
void replica_destroy(struct replica *replica);

struct replica_server {
	uint64_t id;
	const char *address;
	enum replica_role role;
};
/*
 * The first entry of a log: the servers it begins with. All of them must have the same, as entry 1 of term 1,
 * and the others none. False: an id or an address is there twice. The bytes must be freed by free().
 */
bool replica_first_entry(const struct replica_server *servers, size_t servers_count,
                         struct durable_entry *ret_entry);

/* 0; BATON_EMESSAGE: malformed, nothing has changed. */
int replica_receive(struct replica *replica, uint64_t from, const uint8_t *bytes, size_t size,
                    uint64_t now);
/* The write of this number, the next one that was given out, is durable. */
void replica_written(struct replica *replica, uint64_t number, uint64_t now);
uint64_t replica_deadline(const struct replica *replica);
void replica_tick(struct replica *replica, uint64_t now);

/* False: this server does not lead. True promises nothing: only what is committed counts. */
bool replica_propose(struct replica *replica, const uint8_t *bytes, size_t size, uint64_t now);

/*
 * Gives a server a role, REPLICA_NONE removes it. A server that becomes a voter first catches up. True: it was
 * submitted. False: not now (this server does not lead, another change is under way, a server catches up,
 * the lead must be handed over first, …) or never (the last two voters, an address twice); a caller that
 * still wants it asks again later.
 */
bool replica_change(struct replica *replica, const struct replica_server *server, uint64_t now);
/* Hands the lead to a voter that has everything. False: not now, or there is no such voter. */
bool replica_transfer(struct replica *replica, uint64_t id, uint64_t now);

/*
 * The application's state after the entry `index`, which it was given, takes the place of the entries up to
 * there; the last `keep` of them stay for servers that are a little behind. False: not now.
 */
bool replica_snapshot(struct replica *replica, uint64_t index, const uint8_t *bytes, size_t size,
                      uint32_t keep);

bool replica_leads(const struct replica *replica);
uint64_t replica_leader(const struct replica *replica); /* 0: not known */
uint64_t replica_term(const struct replica *replica);
/* The servers as this one knows them now, committed or not; good until the next call that takes a time. */
size_t replica_servers(const struct replica *replica, uint64_t place,
                       struct replica_server *ret_server);

enum replica_effect_kind {
	REPLICA_WRITE,   /* make durable, then call replica_written */
	REPLICA_SEND,    /* a letter to a server */
	REPLICA_APPLY,   /* this entry is committed */
	REPLICA_RESTORE, /* the application's state becomes that of this snapshot */
};

struct replica_effect {
	enum replica_effect_kind kind;
	const struct durable_write *write; /* WRITE */
	uint64_t to;                       /* SEND */
	uint64_t index;                    /* APPLY: of the entry; RESTORE: of the snapshot */
	uint32_t type;                     /* APPLY: only commands concern the application */
	const uint8_t *bytes;              /* SEND, APPLY, RESTORE */
	size_t size;
};

/* The oldest effect that has not been taken; false: there is none. Good until the next call. */
bool replica_effect(struct replica *replica, struct replica_effect *ret_effect);

#endif
