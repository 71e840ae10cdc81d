/*
 * Decides who should vote. The leader of the voters makes one change at a time; this file chooses
 * the next.
 *
 * 	There is 1 voter at first, 3 as soon as three servers can vote, and 5 as soon as seven can.
 * 	A lost voter is replaced by the longest-standing candidate, once that one has caught up.
 * 	Five voters may become three again; three never become fewer.
 *
 * An operator may want a name to vote, or not to vote. A wanted server takes the place of a voter
 * that no operator asked for. An unwanted voter stays until another server can take its place.
 *
 * Members and witnesses with a data directory can vote after they have been there for some time.
 * Newcomers first catch up as standbys, before anything else changes.
 *
 * The order of removal and promotion matters, in case another server fails for good at the same
 * moment. A voter whose disk is lost is removed before its successor is promoted: with three voters
 * the remaining two must agree in either order, and this way they still can if the successor fails
 * too. A voter that is only silent may come back, and a forbidden voter is still there: both are
 * removed after the promotion. Then any one of the four may fail for good, and the other three are
 * still a majority once they are all back. When the number of voters shrinks, voters that are gone
 * are removed first. A voter that is there is removed only if the others could then lose one more
 * and still agree.
 *
 * A decision here can be wrong, for instance about which server is dead. That costs only
 * availability, because the log makes every change safe.
 */
#ifndef ENGINE_ELECTORATE_H
#define ENGINE_ELECTORATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct electorate_options {
	uint64_t grow_ns;    /* how long a new server must be there before it may vote */
	uint64_t replace_ns; /* a voter that was silent for this long counts as lost */
};

/* A process with a data directory that was heard from lately. */
struct standing {
	uint64_t server;
	const char *name, *address;
	bool witness; /* the node votes but serves no locks */
	/* The node may vote: it is a witness, or a member that is not leaving, and it is neither
	 * forbidden nor demoted. */
	bool eligible;
	bool wanted; /* an operator wants the node to vote */
	uint64_t since;
};

/* A server of the log. */
struct electorate_server {
	uint64_t id;
	const char *name;
	bool votes; /* the server votes; false: it is a standby */
	bool leads;
	/* The server is forbidden, or an operator wants another to vote in its place. */
	bool unwanted;
	bool wanted;    /* an operator wants the server to vote */
	bool caught_up; /* the server has everything that the leader has */
	/* A letter of the server has just reached the leader, or the server is the leader. */
	bool heard;
};

struct electorate_memory;

struct electorate_memory *electorate_create(const struct electorate_options *options);
void electorate_destroy(struct electorate_memory *electorate);
/* Call it when this voter begins to lead: how long others are silent is measured from now on. */
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
