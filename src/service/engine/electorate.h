/*
 * Who should vote: what the leader of the voters changes next, one change at a time.
 *
 *	1 voter; 3 as soon as three can; 5 as soon as seven can
 *	a voter that is lost is replaced by the one that has stood longest, once that has caught up
 *	five may shrink to three, three never shrink
 *
 * Those who can vote are members and witnesses with a data directory that have stood for some time.
 * Newcomers catch up as standbys before anything else changes.
 *
 * Then the order matters if somebody else fails for good in the same moment. A voter whose disk is lost
 * goes before its successor is promoted: of three, the two that are left must agree either way, and if
 * the successor is gone too, they still can. A voter that is only silent may come back, and one that is
 * forbidden is there: they go after the promotion. Of three and the successor any one may be lost then,
 * and the rest are a majority as soon as all others are back.
 *
 * A decision here can be wrong, about who is dead for instance, and costs availability only. The log
 * sees to it that every change is safe.
 */
#ifndef ENGINE_ELECTORATE_H
#define ENGINE_ELECTORATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct electorate_options {
	uint64_t grow_ns;    /* how long a newcomer has stood before it counts */
	uint64_t replace_ns; /* how long a voter is not heard before it counts as lost */
};

/* A process with a data directory that was heard lately. */
struct standing {
	uint64_t server;
	const char *name, *address;
	bool witness;  /* it votes and serves no locks */
	bool eligible; /* a witness, or a member that does not leave; and not forbidden */
	uint64_t since;
};

/* A server of the log. */
struct electorate_server {
	uint64_t id;
	const char *name;
	bool votes; /* false: a standby */
	bool leads;
	bool forbidden;
	bool caught_up; /* it has everything that the leader has */
};

struct electorate_memory;

struct electorate_memory *electorate_create(const struct electorate_options *options);
void electorate_destroy(struct electorate_memory *electorate);
/* This voter leads from now on: nobody has been silent for longer. */
void electorate_begin(struct electorate_memory *electorate, uint64_t now);

enum electorate_wish_kind {
	ELECTORATE_NOTHING,
	ELECTORATE_STANDBY, /* let it catch up */
	ELECTORATE_PROMOTE, /* from a standby to a voter */
	ELECTORATE_REMOVE,
};

struct electorate_wish {
	enum electorate_wish_kind kind;
	uint64_t server;
	const char *name, *address; /* STANDBY */
};

struct electorate_wish electorate_look(struct electorate_memory *electorate,
                                       const struct electorate_server *servers,
                                       uint32_t servers_count, const struct standing *standing,
                                       uint32_t standing_count, uint64_t now);

/* How many voters there should be when so many can vote, so many do, and so many of these are lost. */
uint32_t electorate_size(uint32_t able, uint32_t voters, uint32_t lost);

#endif
