/*
 * One-time invitations, on which the voters agree. A node that knows the secret of an invitation
 * may have a certificate for one name and one key, once. The voters keep only a digest of the
 * secret, so that nobody can use an invitation by reading the log.
 *
 * The first ADMIT that is committed uses up the invitation. Its ticket is a digest of the name and
 * the key. So a node that asks again, because the answer was lost, gets the same answer, and
 * anybody else is refused, by every node and every leader.
 *
 * An invitation expires by the wall clock, as certificates do. The node that proposes an entry
 * reads its clock, and the time is part of the entry, so that all voters decide alike.
 */
#ifndef ENGINE_INVITATIONS_H
#define ENGINE_INVITATIONS_H

#include "entries.h"

enum { INVITATIONS_MAX = 64 };

struct invitation {
	struct entry_digest secret;    /* the digest of the secret */
	uint64_t expiry;               /* when the invitation expires, in seconds since 1970 */
	struct entry_digest ticket;    /* the ticket of the node that has used the invitation */
	char user[ENTRY_NAME_MAX + 1]; /* the name of that node; "": the invitation is unused */
};

/* A struct of zeros is an empty list. The oldest invitation comes first. */
struct invitations {
	struct invitation *list;
	uint32_t count;
	size_t size;
};

/* Finds an invitation. Returns NULL if it was never made, or was forgotten. */
const struct invitation *invitations_find(const struct invitations *invitations,
                                          const struct entry_digest *secret);
/* Adds an invitation. If there is no room, first forgets those that are used or have expired by
 * `time`. Returns false if the invitation is known already, or if there is still no room. */
bool invitations_add(struct invitations *invitations, const struct entry_digest *secret,
                     uint64_t time, uint64_t expiry);
/* Uses an invitation. Returns false if it is unknown, used already, or expired by `time`. */
bool invitations_use(struct invitations *invitations, const struct entry_digest *secret,
                     const struct entry_digest *ticket, uint64_t time, struct entry_text user);

/* Append all invitations to out->bytes, and read them back into an empty list. Reading sets in->bad
 * if the bytes are malformed. */
void invitations_write(const struct invitations *invitations, struct out *out);
void invitations_read(struct invitations *invitations, struct in *in);
void invitations_free(struct invitations *invitations);

#endif
