/*
 * A member's part of the membership: it asks all voters to renew the lease, or to let it join, and
 * learns from them until when it may hold locks, and who the members are.
 *
 *	in:  that the node wants to renew (tenant_renew), bulletins of voters, which links stand
 *	out: petitions for all voters; a new deadline, a new view, more fences for the node; which peers
 *	     a link is needed to
 *
 * The clock is read before a petition is sent and kept under its number; an acknowledgement of that
 * number moves the deadline to that time and the lease, however late it comes. So a deadline has
 * always passed when the voters may take the member for gone.
 *
 * No I/O and no clock. Effects are taken after every call until there is none.
 */
#ifndef ENGINE_TENANT_H
#define ENGINE_TENANT_H

#include "state.h"
#include "wiring.h"

struct tenant_options {
	const char *name, *address;
	uint64_t process; /* drawn by chance when the process began; not 0 */
	uint64_t lease_ns;
	struct wiring wiring;
};

struct tenant;

struct tenant *tenant_create(const struct tenant_options *options);
void tenant_destroy(struct tenant *tenant);

/* What the node says of itself when it renews. */
struct tenant_condition {
	bool active;                /* it serves in the epoch that the tenant knows */
	const uint64_t *unreported; /* processes of members whose REPORT has not come */
	uint32_t unreported_count;
};

/* The node's clock said `taken` when it wanted to renew. */
void tenant_renew(struct tenant *tenant, uint64_t taken, const struct tenant_condition *condition);
/* The node holds nothing any more and wants to leave the view. Once it is out, nothing more is asked. */
void tenant_depart(struct tenant *tenant);
void tenant_extend(struct tenant *tenant, uint64_t epoch, uint64_t limit);
void tenant_bump(struct tenant *tenant, uint64_t epoch);
/* A link to that process stands, or no more. */
void tenant_linked(struct tenant *tenant, uint64_t process, bool stands);
/* A bulletin of a voter. False: malformed. */
bool tenant_bulletin(struct tenant *tenant, const uint8_t *bytes, size_t size);

const char *tenant_name(const struct tenant *tenant);
/* The own incarnation; 0: not in the view. */
uint64_t tenant_incarnation(const struct tenant *tenant);
/* NULL, or why this process can never join: good as long as the tenant. */
const char *tenant_refusal(const struct tenant *tenant);

/* Peers of this view, and of the next one as far as it is known: those that a link is needed to. */
struct tenant_peer {
	char name[ENTRY_NAME_MAX + 1];
	char address[ENTRY_ADDRESS_MAX + 1];
	uint64_t process;
	bool stands;
};

const struct tenant_peer *tenant_peers(const struct tenant *tenant, uint32_t *ret_count);

enum tenant_effect_kind {
	TENANT_PETITION, /* to all voters */
	TENANT_LEASE,    /* the deadline is this now */
	TENANT_VIEW,     /* a new view: tenant_view has it */
	TENANT_LIMIT,    /* fences of this epoch up to a new limit */
	TENANT_PEERS,    /* tenant_peers has changed */
};

struct tenant_effect {
	enum tenant_effect_kind kind;
	const uint8_t *bytes; /* PETITION; good until the next call */
	size_t size;
	uint64_t deadline;
	uint64_t epoch, limit; /* LIMIT */
};

bool tenant_effect(struct tenant *tenant, struct tenant_effect *ret_effect);

/* The last view. */
struct tenant_view {
	uint64_t epoch, base, limit;
	const struct seat *seats; /* sorted by name */
	uint32_t seats_count;
	uint32_t self; /* the own place among them; seats_count: not in it */
};

struct tenant_view tenant_view(const struct tenant *tenant);

#endif
