/*
 * The state of a member. Its parts have headers of their own: connection.h, post.h, meeting.h.
 */
#ifndef MEMBER_STATE_H
#define MEMBER_STATE_H

#include "connection.h"
#include "inquiry.h"
#include "member.h"
#include "outbuffer.h"
#include "outcome.h"
#include "post.h"
#include "resident.h"
#include "shadow.h"
#include "voter.h"

enum {
	COMPLAINTS_MAX = 64, /* how many different lines about others are logged in a second */
	VOTERS_LOST_MAX = 16,
};

struct member {
	uint64_t process;
	struct identity identity;  /* the content of the data directory, written or to be written */
	struct charter charter;    /* the charter of the cluster that the member belongs to */
	struct electors addresses; /* addresses of the cluster to try */
	struct electorate_options electorate;
	const struct credentials *credentials; /* the keys for TLS; NULL: there is no TLS */
	uint64_t (*draw)(void *context);
	uint64_t (*real_s)(void *context);
	void *context;

	struct meeting *meeting; /* finds or founds a cluster; NULL: the member belongs to one */
	/* A node that serves nobody, until the member belongs to a cluster. */
	struct node *antechamber;
	struct resident *resident;
	/* The voter; NULL: the member never votes, or belongs to no cluster yet. */
	struct voter *voter;
	bool voter_busy;    /* the voter may have effects that were not taken yet */
	uint64_t voter_at;  /* when voter_tick is due; NODE_NEVER without a voter */
	bool votes;         /* the member has a disk for a voter */
	struct shadow disk; /* the voter's part of the disk, until there is a voter */
	bool leads;         /* the last log line about the lead says that this voter leads */
	/* The voter that leads, as far as this member knows; "": none. */
	char leader[ENTRY_NAME_MAX + 1];
	/* The lease of the cluster; 0: the member belongs to none. */
	uint64_t lease_ns;
	bool leaving;

	uint64_t now;       /* the greatest time that was passed in */
	uint64_t timers_at; /* no timer of the member itself is due before this time */
	struct out out;
	uint8_t *decrypted; /* room for what one read of a TLS connection gives; NULL without TLS */
	LIST_HEAD(, connection) connections;
	STAILQ_HEAD(, connection) changed; /* connections that member_changed has yet to return */
	struct posts posts;
	struct inquiries inquiries;
	uint64_t inquiries_count; /* how many inquiries have begun */
	uint32_t visits_count;    /* how many guests are there (door.h) */
	/* How many guests the voters were asked about since `asked_since`. */
	uint32_t asked_count;
	uint64_t asked_since;
	struct {
		uint64_t hash, at;
	} complaints
	        [COMPLAINTS_MAX]; /* what was logged lately, so that it is not logged too often */
	uint64_t offences; /* how often members have sent something that no correct member sends */
	/* Voters whose connection has ended, and when it ended. */
	struct {
		uint64_t server, at;
		bool witness;
	} lost[VOTERS_LOST_MAX];
	char refusal[LINK_TEXT_MAX + ENTRY_NAME_MAX + 64]; /* the last refusal; "": none */
	char *text; /* what member_missing or member_silent_voters returned last */
	struct outcomes outcomes;
	struct outcome *taken; /* the effect that was taken last: its pointers are still in use */
};

/* Notes that a timer of the member itself is set to that time. */
static inline void member_due(struct member *member, uint64_t at)
{
	if (at < member->timers_at)
		member->timers_at = at;
}

void member_advance(struct member *member, uint64_t now);
/* Notes that the connection with the sender of this CALL has ended. */
void member_lost(struct member *member, const struct call *call);
/* Logs a line about the node of this name (or NULL) at an address. Equal lines are logged only now
 * and then. */
void member_complain(struct member *member, const char *name, const char *address,
                     const char *text);
/* Logs and counts that a member has sent something that no correct member sends. */
void member_offended(struct member *member, const char *name, const char *address,
                     const char *text);
/* Notes that a node refuses to talk to this one. */
void member_refused(struct member *member, const char *who, const char *text);
/* Notes that TLS with a node has failed, and why. */
void member_distrusts(struct member *member, const char *who, const char *text);
/* Handles the CALL of a node of another cluster. */
void member_met_stranger(struct member *member, const struct call *call);
/* Call it when a post is up. */
void member_met(struct member *member, struct post *post);
/* Sends a packet to all voters except this member's own. */
void member_ask_voters(struct member *member, enum packet_kind kind, const uint8_t *bytes,
                       size_t size);
/* Handles a packet of the engine. Returns false if it is malformed. */
bool member_packet(struct member *member, struct post *post, enum packet_kind kind,
                   const uint8_t *bytes, size_t size);

#endif
