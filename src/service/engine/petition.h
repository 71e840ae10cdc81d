/*
 * The messages between members and voters, and how they are encoded. A member sends petitions, a
 * voter bulletins. Any message may be lost, delayed, duplicated or reordered. That does no harm,
 * because members repeat everything at every renewal (rhythm.h), and voters answer with what the
 * member does not know yet.
 */
#ifndef ENGINE_PETITION_H
#define ENGINE_PETITION_H

#include "electors.h"
#include "state.h"

enum petition_kind {
	PETITION_RENEW = 1, /* from a member, or from a candidate that wants to join */
	PETITION_EXTEND,    /* half of this epoch's fences are used */
	PETITION_BUMP,      /* this epoch has to end */
};

/* A list of processes that is read one by one. */
struct process_list {
	struct in in;
	uint32_t left;
};

struct petition {
	enum petition_kind kind;
	uint64_t process;
	/* RENEW: the newest epoch and limit that the sender knows; EXTEND, BUMP: the epoch that it
	 * wants to extend or end, and its limit. */
	uint64_t epoch, limit;
	/* The fields below are for RENEW only. */
	struct entry_text name, address;
	uint64_t incarnation; /* the sender's incarnation; 0: it is a candidate */
	uint64_t number;      /* the number of this petition, which the acknowledgement repeats */
	/* The greatest number of the sender's petitions for which it has an acknowledgement. */
	uint64_t acknowledged;
	uint64_t lease_ns; /* the lease that the sender was configured with */
	uint64_t prospect; /* the digest of prospects in the last bulletin that the sender read */
	uint64_t electors; /* the index of the newest list of voters that the sender knows */
	uint64_t server;   /* the id of the sender's data directory; 0: it has none */
	bool witness;      /* the sender is a witness: it may vote, and never becomes a member */
	/* the lowest and the highest version that the sender speaks */
	uint64_t version_least, version;
	bool active;               /* the sender serves in `epoch` */
	bool leaving;              /* the sender holds nothing, grants nothing and wants to leave */
	bool removed;              /* the sender knows that an operator has removed its name */
	struct process_list lacks; /* peers to which the sender needs a link and has none */
	/* Members whose REPORT of this epoch the sender has not received. */
	struct process_list unreported;
};

bool petition_read(const uint8_t *bytes, size_t size, struct petition *ret_petition);
bool process_next(struct process_list *list, uint64_t *ret_process);
/* Writes a petition. The arrays replace the two lists in `petition`, which are ignored. */
void petition_write(struct out *out, const struct petition *petition, const uint64_t *lacks,
                    uint32_t lacks_count, const uint64_t *unreported, uint32_t unreported_count);

enum bulletin_kind {
	BULLETIN_ACK = 1, /* a renewal was committed and accepted */
	BULLETIN_VIEW,
	BULLETIN_ELECTORS, /* the list of voters */
};

/* A process that may be in the next view. Members of the present view should have links to it. */
struct prospect {
	struct entry_text name, address;
	uint64_t process;
};

struct bulletin_list {
	struct in in;
	uint32_t left;
};

struct bulletin {
	enum bulletin_kind kind;
	uint64_t incarnation, number; /* ACK: the member, and the number of its petition */
	/* The fields from here to `prospects` are for VIEW. */
	uint64_t lease_ns;
	uint64_t index; /* the index of the last log entry that the sender has applied */
	/* an operator has removed the receiver's name and has not invited it since */
	bool removed;
	uint64_t epoch, base, limit;
	struct bulletin_list seats;
	bool leads; /* the sender is the leader; the next two fields are valid only then */
	/* A digest of the epoch and the prospects; members repeat it in their petitions. */
	uint64_t prospect;
	struct bulletin_list prospects;
	struct in electors; /* ELECTORS: the list, for electors_read */
};

bool bulletin_read(const uint8_t *bytes, size_t size, struct bulletin *ret_bulletin);
/* Returns the next member of the view, or false at the end. `renewed` of the seat is not set. */
bool bulletin_next_seat(struct bulletin_list *list, struct seat *ret_seat);
bool bulletin_next_prospect(struct bulletin_list *list, struct prospect *ret_prospect);
void bulletin_write_ack(struct out *out, uint64_t incarnation, uint64_t number);
/* Writes a VIEW. `name` is the receiver's. */
void bulletin_write_view(struct out *out, const struct agreed_state *state, const char *name,
                         bool leads, uint64_t prospect, const struct prospect *prospects,
                         uint32_t prospects_count);
void bulletin_write_electors(struct out *out, const struct electors *electors);

#endif
