/*
 * Decides who should vote: which change the leader of the voters makes next, one at a time.
 *
 *	There is 1 voter; 3 as soon as three can vote; 5 as soon as seven can.
 *	A lost voter is replaced by the candidate that has stood longest, once it has caught up.
 *	Five voters may shrink to three; three never shrink.
 *
 * An operator may wish that a name votes, or does not. The first takes the place of a voter that
 * nobody wished for; the second stays until another can take its place.
 *
 * Members and witnesses with a data directory can vote after they have stood for some time.
 * Newcomers first catch up as standbys, before anything else changes.
 *
 * After that, the order matters if another server fails for good at the same moment. A voter whose
 * disk is lost is removed before its successor is promoted: with three voters the remaining two
 * must agree either way, and they still can if the successor is gone too. A voter that is only
 * silent may come back, and a forbidden one is still there: these are removed after the promotion.
 * Of three voters and the successor any one may then be lost, and the rest are a majority as soon
 * as all others are back. When voters become fewer, those that are not there go first, and one that
 * is there goes only if the others could then lose one more and still agree.
 *
 * A decision here can be wrong, for instance about who is dead. That costs only availability,
 * because the log makes every change safe.
 */
#ifndef ENGINE_ELECTORATE_H
#define ENGINE_ELECTORATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct electorate_options {
	uint64_t grow_ns;    /* how long a newcomer must have been there before it counts */
	uint64_t replace_ns; /* after what time without a message a voter counts as lost */
};

/* A process with a data directory that was heard from lately. */
struct standing {
	uint64_t server;
	const char *name, *address;
	bool witness; /* the node votes but serves no locks */
	/* The node may vote: it is a witness, or a member that does not leave, and it is neither
	 * forbidden nor demoted. */
	bool eligible;
	bool wanted; /* an operator wishes that the node votes */
	uint64_t since;
};

/* A server of the log. */
struct electorate_server {
	uint64_t id;
	const char *name;
	bool votes; /* the server votes; false: it is a standby */
	bool leads;
	/* The server is forbidden, or an operator wishes that another votes instead. */
	bool unwanted;
	bool wanted;    /* an operator wishes that the server votes */
	bool caught_up; /* the server has everything that the leader has */
	/* The leader's log has heard from the server a moment ago, or it is the leader. */
	bool heard;
};

struct electorate_memory;

struct electorate_memory *electorate_create(const struct electorate_options *options);
void electorate_destroy(struct electorate_memory *electorate);
/* Call it when this voter begins to lead: from now on it measures how long others are silent. */
void electorate_begin(struct electorate_memory *electorate, uint64_t now);

enum electorate_wish_kind {
	ELECTORATE_NOTHING,
	ELECTORATE_STANDBY, /* add a server as a standby, which catches up with the log */
	ELECTORATE_PROMOTE, /* make a standby a voter */
	ELECTORATE_REMOVE,
};

struct electorate_wish {
	enum electorate_wish_kind kind;
	uint64_t server;
	const char *name, *address; /* STANDBY: the server's name and address */
};

struct electorate_wish electorate_look(struct electorate_memory *electorate,
                                       const struct electorate_server *servers,
                                       uint32_t servers_count, const struct standing *standing,
                                       uint32_t standing_count, uint64_t now);

/* Returns how many voters there should be, if `able` servers can vote, `voters` of them do now, and
 * `lost` of these voters are lost. */
uint32_t electorate_size(uint32_t able, uint32_t voters, uint32_t lost);

#endif
