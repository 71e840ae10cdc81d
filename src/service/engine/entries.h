/*
 * The entries of the voters' log: what a cluster with a changing membership agrees upon.
 *
 *	TICK     members whose leases are renewed, gathered for a twelfth of the lease
 *	CHANGE   who joins, leaves and is removed: the next epoch
 *	EXTEND   more fences for this epoch
 *	BUMP     the next epoch with the same members
 *	FORBID   a name that may not be a member any more, until an INVITE
 *	INVITE   … may again
 *	VERSION  of the protocol that all speak
 *
 * As bytes: the kind, then numbers as in core/wire.h; a name is its size and its bytes. Reading
 * allocates nothing: entry_read checks all of it, entry_next then gives its parts one by one.
 */
#ifndef ENGINE_ENTRIES_H
#define ENGINE_ENTRIES_H

#include "wire.h"

enum { ENTRY_NAME_MAX = 255, ENTRY_ADDRESS_MAX = 255, ENTRY_PARTS_MAX = 1 << 13 };

enum entry_kind {
	ENTRY_TICK = 1,
	ENTRY_CHANGE,
	ENTRY_EXTEND,
	ENTRY_BUMP,
	ENTRY_FORBID,
	ENTRY_INVITE,
	ENTRY_VERSION,
};

/* Parts of a TICK are the first two, of a CHANGE the others, in this order. */
enum part_kind {
	PART_RENEWAL, /* name, incarnation, number */
	PART_PARDON,  /* name: how often it was removed is forgotten */
	PART_REMOVAL, /* name, incarnation, renewed */
	PART_LEAVE,   /* name, incarnation */
	PART_JOIN,    /* name, process, number, address */
};

/* Bytes that end with no 0. */
struct entry_text {
	const char *bytes;
	size_t size;
};

struct entry_part {
	enum part_kind kind;
	struct entry_text name;
	uint64_t incarnation; /* the index of the entry by which it joined */
	uint64_t process;     /* drawn by chance when the process began */
	uint64_t number;      /* of the message that asked for this, for the acknowledgement */
	uint64_t renewed;     /* a removal is void unless this entry is the last renewal */
	struct entry_text address;
};

struct log_entry {
	enum entry_kind kind;
	uint64_t epoch;         /* CHANGE, EXTEND, BUMP: void unless it is still this one */
	uint64_t limit;         /* EXTEND: void unless it is still this one */
	uint64_t version;       /* VERSION */
	struct entry_text name; /* FORBID, INVITE */
	struct in parts;        /* TICK, CHANGE: those that entry_next has not given yet */
	uint32_t parts_left;
};

/* False: malformed. The bytes must stay as long as the entry. */
bool entry_read(const uint8_t *bytes, size_t size, struct log_entry *ret_entry);
/* The next part; false: there is none. */
bool entry_next(struct log_entry *entry, struct entry_part *ret_part);

/* Writers put a whole entry into `out`, which is cleared before. Parts of a CHANGE must be in order. */
void entry_write_tick(struct out *out, const struct entry_part *parts, uint32_t parts_count);
void entry_write_change(struct out *out, uint64_t epoch, const struct entry_part *parts,
                        uint32_t parts_count);
void entry_write_extend(struct out *out, uint64_t epoch, uint64_t limit);
void entry_write_bump(struct out *out, uint64_t epoch);
void entry_write_forbid(struct out *out, struct entry_text name);
void entry_write_invite(struct out *out, struct entry_text name);
void entry_write_version(struct out *out, uint64_t version);

/* Texts inside messages of the engine, too. */
void entry_put_text(struct out *out, struct entry_text text);
struct entry_text entry_get_text(struct in *in, size_t least, size_t most);
struct entry_text entry_text_of(const char *text);
bool entry_text_is(struct entry_text text, const char *other);

#endif
