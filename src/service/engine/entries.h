/*
 * The entries of the voters' log, by which a cluster agrees on its members.
 *
 * 	TICK     renews the leases of the members that asked within a beat (rhythm.h)
 * 	CHANGE   members join, leave and are removed: begins the next epoch
 * 	EXTEND   more fences for this epoch
 * 	BUMP     begins the next epoch with the same members
 * 	FORBID   this name may not be a member, until an ALLOW
 * 	ALLOW    this name may be a member again
 * 	VOTE     this name should vote, or should not
 * 	VERSION  the version of the protocol that all members speak
 * 	INVITE   a node that knows this secret may have a certificate (invitations.h)
 * 	ADMIT    a node has used an invitation
 *
 * As bytes: the kind, then numbers as in core/wire.h. A name is its size and its bytes. Reading
 * allocates nothing: entry_read checks the whole entry, entry_next then returns its parts one by
 * one.
 *
 * FORBID, ALLOW and VOTE are orders of operators. An order has an id, so that it is obeyed once,
 * however often it is proposed (state_obeyed). Logs of older versions have orders without an id.
 */
#ifndef ENGINE_ENTRIES_H
#define ENGINE_ENTRIES_H

#include "wire.h"

enum {
	ENTRY_NAME_MAX = 255,
	ENTRY_ADDRESS_MAX = 255,
	ENTRY_PARTS_MAX = 1 << 13,
	ENTRY_DIGEST_SIZE = 32,
};

enum entry_kind {
	ENTRY_TICK = 1,
	ENTRY_CHANGE,
	ENTRY_EXTEND,
	ENTRY_BUMP,
	ENTRY_FORBID,
	ENTRY_ALLOW,
	ENTRY_VERSION,
	ENTRY_VOTE,
	ENTRY_INVITE,
	ENTRY_ADMIT,
};

/* An operator's wish about the vote of a name. */
enum vote_wish {
	VOTE_FREE,     /* no wish: the voters choose by themselves */
	VOTE_WANTED,   /* the server should vote in preference to others */
	VOTE_UNWANTED, /* another server should vote in place of this one */
};

/* The first two are parts of a TICK, the others of a CHANGE, in this order. */
enum part_kind {
	PART_RENEWAL, /* name, incarnation, number */
	PART_PARDON,  /* name; resets the name's count of removals */
	PART_REMOVAL, /* name, incarnation, renewed */
	PART_LEAVE,   /* name, incarnation */
	PART_JOIN,    /* name, process, number, address */
};

/* Bytes without a terminating 0. */
struct entry_text {
	const char *bytes;
	size_t size;
};

/* A SHA-256 digest. */
struct entry_digest {
	uint8_t bytes[ENTRY_DIGEST_SIZE];
};

struct entry_part {
	enum part_kind kind;
	struct entry_text name;
	uint64_t incarnation; /* the index of the entry by which the member joined */
	uint64_t process;     /* a random number drawn when the process started */
	/* The number of the petition that asked for this part, to be acknowledged. */
	uint64_t number;
	/* REMOVAL: the last renewal that the leader knew of. If there has been another since, the
	 * removal is void. */
	uint64_t renewed;
	struct entry_text address;
};

/* The id of an order: the member's process that gave it, and a number that the process used
 * once. */
struct order_id {
	uint64_t process, number; /* process 0: the order has no id (older versions) */
};

struct log_entry {
	enum entry_kind kind;
	uint64_t epoch; /* CHANGE, EXTEND, BUMP: the entry is void in any other epoch */
	/* EXTEND: the entry is void if the limit of the fences is another. */
	uint64_t limit;
	uint64_t version;       /* VERSION: the version */
	enum vote_wish vote;    /* VOTE: the operator's wish */
	struct entry_text name; /* FORBID, ALLOW, VOTE, ADMIT: the name of the node */
	struct order_id order;  /* FORBID, ALLOW, VOTE: the id of the order */
	/* FORBID, ALLOW, VOTE: the leader that proposed it knew a node of this name. */
	bool known;
	struct entry_digest secret; /* INVITE, ADMIT: the digest of the invitation's secret */
	struct entry_digest ticket; /* ADMIT: the digest of the node's name and its key */
	/* INVITE, ADMIT: when the entry was proposed, by the proposer's wall clock, in seconds
	 * since 1970. */
	uint64_t time;
	uint64_t expiry; /* INVITE: when the invitation expires, in seconds since 1970 */
	struct in parts; /* TICK, CHANGE: the parts that entry_next has not returned yet */
	uint32_t parts_left;
};

static inline bool entry_is_order(const struct log_entry *entry)
{
	return entry->kind == ENTRY_FORBID || entry->kind == ENTRY_ALLOW ||
	       entry->kind == ENTRY_VOTE;
}

/* Reads an entry. Returns false if the bytes are malformed. The bytes must stay valid as long as
 * the entry is used. */
bool entry_read(const uint8_t *bytes, size_t size, struct log_entry *ret_entry);
/* Returns the next part, or false at the end. */
bool entry_next(struct log_entry *entry, struct entry_part *ret_part);

/* The writers clear `out` and write one whole entry into it. Parts of a CHANGE must be in order. */
void entry_write_tick(struct out *out, const struct entry_part *parts, uint32_t parts_count);
void entry_write_change(struct out *out, uint64_t epoch, const struct entry_part *parts,
                        uint32_t parts_count);
void entry_write_extend(struct out *out, uint64_t epoch, uint64_t limit);
void entry_write_bump(struct out *out, uint64_t epoch);
/* Writes a FORBID, ALLOW or VOTE. */
void entry_write_order(struct out *out, const struct log_entry *entry);
void entry_write_version(struct out *out, uint64_t version);
void entry_write_invite(struct out *out, const struct entry_digest *secret, uint64_t time,
                        uint64_t expiry);
void entry_write_admit(struct out *out, const struct entry_digest *secret,
                       const struct entry_digest *ticket, uint64_t time, struct entry_text name);

/* These write and read texts and digests in the form that entries and the engine's messages use. */
void entry_put_digest(struct out *out, const struct entry_digest *digest);
struct entry_digest entry_get_digest(struct in *in);
void entry_put_text(struct out *out, struct entry_text text);
struct entry_text entry_get_text(struct in *in, size_t least, size_t most);
struct entry_text entry_text_of(const char *text);
bool entry_text_is(struct entry_text text, const char *other);

#endif
