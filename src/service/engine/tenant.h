/*
 * A member's side of the membership. It asks all voters to renew its lease, or to let it join, and
 * learns from them until when it may hold locks and who the members are.
 *
 * 	in:  the node wants to renew (tenant_renew), bulletins of voters, which links are up
 * 	out: petitions for all voters; a new deadline, a new view, more fences for the node; the
 * 	     peers to which a link is needed
 *
 * Before it sends a petition, the tenant notes the time under the petition's number. The
 * acknowledgement of that number moves the deadline to that time plus the lease, no matter when it
 * arrives. So the deadline has always passed before the voters may give the member up.
 *
 * No I/O and no clock. The caller takes effects after every call until there are none left.
 */
#ifndef ENGINE_TENANT_H
#define ENGINE_TENANT_H

#include "electors.h"
#include "petition.h"
#include "state.h"
#include "wiring.h"

struct tenant_options {
	const char *name, *address;
	uint64_t process; /* a random number drawn when the process started; not 0 */
	uint64_t lease_ns;
	struct wiring wiring;
	uint64_t server; /* the id of the node's data directory; 0: the node has none */
	bool witness;    /* the node may vote, and never wants to be a member */
	/* The lowest and the highest version that this process speaks; 0: the versions of this
	 * program. */
	uint64_t version_least, version;
	/* The last known voters, or addresses to try; NULL: none. The list is copied. */
	const struct electors *voters;
};

struct tenant;

struct tenant *tenant_create(const struct tenant_options *options);
void tenant_destroy(struct tenant *tenant);

/* The condition that the node reports when it renews. */
struct tenant_condition {
	bool active;                /* the node serves in the epoch that the tenant knows */
	const uint64_t *unreported; /* processes of the members whose REPORT has not arrived */
	uint32_t unreported_count;
};

/* Asks for a renewal. `taken` is the time at which the node decided to renew; a new lease counts
 * from it. */
void tenant_renew(struct tenant *tenant, uint64_t taken, const struct tenant_condition *condition);
/* Call it when no client of the node holds anything and the node wants to leave the view. Once it
 * is out, the tenant sends no more petitions. With `departs` false, it asks to join again. */
void tenant_depart(struct tenant *tenant, bool departs);
void tenant_extend(struct tenant *tenant, uint64_t epoch, uint64_t limit);
void tenant_bump(struct tenant *tenant, uint64_t epoch);
/* Tells the tenant whether its link to that process is up. */
void tenant_linked(struct tenant *tenant, uint64_t process, bool stands);
/* Takes a bulletin of a voter. Returns false if it is malformed. */
bool tenant_bulletin(struct tenant *tenant, const uint8_t *bytes, size_t size);

const char *tenant_name(const struct tenant *tenant);
/* Returns this process' incarnation, or 0 if it is not in the view. */
uint64_t tenant_incarnation(const struct tenant *tenant);
/* Returns NULL, or why this process can never join. The text is valid as long as the tenant. */
const char *tenant_refusal(const struct tenant *tenant);

/* Has an operator removed this name, and not invited it since? */
bool tenant_removed(const struct tenant *tenant);

/* Has no leader of the voters answered for a lease or, if a lease is long, for some seconds? */
bool tenant_unanswered(const struct tenant *tenant);

/* A peer to which this process needs a link, in this view or, as far as that is known, in the
 * next. */
struct tenant_peer {
	char name[ENTRY_NAME_MAX + 1];
	char address[ENTRY_ADDRESS_MAX + 1];
	uint64_t process;
	bool stands;
};

/* Returns the voters, as far as they are known. */
const struct electors *tenant_electors(const struct tenant *tenant);
/* Does this member believe that the node with that name and data directory votes? A member that was
 * never told who votes believes it of every node. */
bool tenant_believes_voter(const struct tenant *tenant, const char *name, uint64_t server);
/*
 * Does this member believe a bulletin of that node? Only voters know what was agreed upon. As long
 * as the known voters answer, this member believes nobody else about a view or about other voters.
 * If none has answered for a lease, they may all have been replaced; then it believes any member
 * about who votes now.
 */
bool tenant_believes(const struct tenant *tenant, const char *name, uint64_t server,
                     enum bulletin_kind kind);
/*
 * Does this member believe a bulletin of the voter in its own process? Always, except for a list of
 * voters that is not newer than the one it knows. The log of its own voter may be old: other voters
 * may have replaced that voter while this host was down. The list in that old log would arrive
 * before all others each time, and the member would believe voters of long ago instead of those
 * that answer.
 */
bool tenant_believes_own(const struct tenant *tenant, const struct bulletin *bulletin);
/*
 * Must this member itself tell a petitioner who votes? `voters` is the list in the log of this
 * process's own voter, or NULL if it has no voter. Yes, if it has no voter; or if that list is
 * older than the one that this member was told, and the petitioner knows no voters that answer.
 *
 * The voter itself never passes on what its member was told. Others believe a voter, but the member
 * may have been told a lie, which would then spread to all.
 */
bool tenant_must_tell(const struct tenant *tenant, const struct electors *voters,
                      const struct petition *petition);
const struct tenant_peer *tenant_peers(const struct tenant *tenant, uint32_t *ret_count);

enum tenant_effect_kind {
	TENANT_ELECTORS, /* tenant_electors has changed and is worth keeping for the next start */
	TENANT_PETITION, /* send a petition to all voters */
	TENANT_LEASE,    /* the lease now ends at `deadline` */
	TENANT_VIEW,     /* there is a new view: see tenant_view */
	TENANT_LIMIT,    /* fences of this epoch may be used up to the new limit */
	TENANT_PEERS,    /* tenant_peers has changed */
	TENANT_REMOVED,  /* tenant_removed has changed */
};

struct tenant_effect {
	enum tenant_effect_kind kind;
	/* PETITION: nobody has answered for a lease. Send it to every address that is known,
	 * because the voters may have changed. */
	bool wide;
	const uint8_t *bytes; /* PETITION: its bytes, valid until the next call */
	size_t size;
	uint64_t deadline;
	uint64_t epoch, limit; /* LIMIT: the epoch and its new limit */
};

bool tenant_effect(struct tenant *tenant, struct tenant_effect *ret_effect);

/* The last view that this process has learned. */
struct tenant_view {
	uint64_t epoch, base, limit;
	const struct seat *seats; /* the members of the view, sorted by name */
	uint32_t seats_count;
	/* The index of this process in `seats`; seats_count: it is not in the view. */
	uint32_t self;
};

struct tenant_view tenant_view(const struct tenant *tenant);

#endif
