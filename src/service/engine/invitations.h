/*
 * One-time invitations, as the voters agree upon them. Whoever knows the secret of one may have a
 * certificate for one name and one key, once. The voters keep only a digest of the secret, so that
 * nobody can use what stands in their log.
 *
 * An invitation is used by the first ADMIT that is committed for it. Its ticket is a digest of the
 * name and the key, so that a node that asks again, because the answer was lost, is told the same;
 * and anybody else is refused, by every node and every leader.
 *
 * An invitation ends by the wall clock, as certificates do. The clock is read by the node that
 * proposes, and the time is part of the entry, so that all voters decide alike.
 */
#ifndef ENGINE_INVITATIONS_H
#define ENGINE_INVITATIONS_H

#include "entries.h"

enum { INVITATIONS_MAX = 64 };

struct invitation {
	struct entry_digest secret;    /* the digest of the secret */
	uint64_t expiry;               /* when it ends, in seconds since 1970 */
	struct entry_digest ticket;    /* the ticket of the node that has used it */
	char user[ENTRY_NAME_MAX + 1]; /* the name of that node; "": nobody has */
};

/* All zero: there is none. The oldest comes first. */
struct invitations {
	struct invitation *list;
	uint32_t count;
	size_t size;
};

/* Returns NULL if there is no such invitation, or if it was forgotten. */
const struct invitation *invitations_find(const struct invitations *invitations,
                                          const struct entry_digest *secret);
/* Adds an invitation. If there is no room, those are forgotten that were used or have ended at that
 * time. Returns false if it is known already, or if there is still no room. */
bool invitations_add(struct invitations *invitations, const struct entry_digest *secret,
                     uint64_t time, uint64_t expiry);
/* Uses an invitation. Returns false if there is no such invitation, if it was used, or if it has
 * ended at that time. */
bool invitations_use(struct invitations *invitations, const struct entry_digest *secret,
                     const struct entry_digest *ticket, uint64_t time, struct entry_text user);

/* Append all of it to out->bytes, and read it into an empty list. Reading sets in->bad if the bytes
 * are malformed. */
void invitations_write(const struct invitations *invitations, struct out *out);
void invitations_read(struct invitations *invitations, struct in *in);
void invitations_free(struct invitations *invitations);

#endif
