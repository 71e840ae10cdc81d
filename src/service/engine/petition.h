/*
 * What members and voters say to each other, as bytes. Every message can be lost, come late, come
 * twice or overtake another: members say everything again every sixth of the lease, and voters
 * answer with what the member does not know yet.
 */
#ifndef ENGINE_PETITION_H
#define ENGINE_PETITION_H

#include "state.h"

enum petition_kind {
	PETITION_RENEW = 1, /* a member's, or a candidate's, who wants to be one */
	PETITION_EXTEND,    /* epoch, limit: half of the fences of this epoch are used */
	PETITION_BUMP,      /* epoch: it has to end */
};

/* A list of processes, read one by one. */
struct process_list {
	struct in in;
	uint32_t left;
};

struct petition {
	enum petition_kind kind;
	uint64_t process;
	uint64_t epoch, limit; /* that it knows; of the other kinds: those that are meant */
	/* RENEW only: */
	struct entry_text name, address;
	uint64_t incarnation;           /* 0: a candidate */
	uint64_t number;                /* of this petition, for the acknowledgement */
	uint64_t acknowledged;          /* the greatest number it was acknowledged */
	uint64_t lease_ns;              /* that it believes in */
	uint64_t prospect;              /* of the last bulletin */
	bool active;                    /* it serves in that epoch */
	bool leaving;                   /* it holds nothing, grants nothing, and wants to go */
	struct process_list lacks;      /* peers that it should have a link to, and has none */
	struct process_list unreported; /* members of the epoch whose REPORT has not come */
};

bool petition_read(const uint8_t *bytes, size_t size, struct petition *ret_petition);
bool process_next(struct process_list *list, uint64_t *ret_process);
/* The two lists of the petition are not looked at. */
void petition_write(struct out *out, const struct petition *petition, const uint64_t *lacks,
                    uint32_t lacks_count, const uint64_t *unreported, uint32_t unreported_count);

enum bulletin_kind {
	BULLETIN_ACK = 1, /* a renewal has been committed and was accepted */
	BULLETIN_VIEW,
};

/* Somebody who may be a member of the next view: those of this one should have links to it. */
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
	uint64_t incarnation, number; /* ACK */
	/* VIEW: */
	uint64_t lease_ns;
	uint64_t epoch, base, limit;
	struct bulletin_list seats;
	bool leads;        /* the leader says it: the rest counts */
	uint64_t prospect; /* a digest of epoch and prospects, to be repeated in petitions */
	struct bulletin_list prospects;
};

bool bulletin_read(const uint8_t *bytes, size_t size, struct bulletin *ret_bulletin);
/* The next member of the view; its `renewed` is not told. */
bool bulletin_next_seat(struct bulletin_list *list, struct seat *ret_seat);
bool bulletin_next_prospect(struct bulletin_list *list, struct prospect *ret_prospect);
void bulletin_write_ack(struct out *out, uint64_t incarnation, uint64_t number);
void bulletin_write_view(struct out *out, const struct agreed_state *state, bool leads,
                         uint64_t prospect, const struct prospect *prospects,
                         uint32_t prospects_count);

#endif
