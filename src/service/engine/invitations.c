#include "invitations.h"

#include "grow.h"

#include <stdlib.h>
#include <string.h>

static bool is_same(const struct entry_digest *a, const struct entry_digest *b)
{
	return memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

static struct invitation *find(const struct invitations *invitations,
                               const struct entry_digest *secret)
{
	for (uint32_t i = 0; i < invitations->count; i++) {
		if (is_same(&invitations->list[i].secret, secret))
			return &invitations->list[i];
	}
	return NULL;
}

const struct invitation *invitations_find(const struct invitations *invitations,
                                          const struct entry_digest *secret)
{
	return find(invitations, secret);
}

static struct invitation *append(struct invitations *invitations)
{
	invitations->list = grow(invitations->list, &invitations->size, invitations->count + 1UL,
	                         sizeof(*invitations->list));
	struct invitation *invitation = &invitations->list[invitations->count++];
	memset(invitation, 0, sizeof(*invitation));
	return invitation;
}

static void set_user(struct invitation *invitation, struct entry_text user)
{
	memcpy(invitation->user, user.bytes, user.size);
	invitation->user[user.size] = '\0';
}

/* It is safe to forget a used or expired invitation. An unknown invitation is refused too; only the
 * reason that the guest reads is different. */
static void forget_spent(struct invitations *invitations, uint64_t time)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < invitations->count; i++) {
		if (invitations->list[i].user[0] == '\0' && invitations->list[i].expiry > time)
			invitations->list[kept++] = invitations->list[i];
	}
	invitations->count = kept;
}

bool invitations_add(struct invitations *invitations, const struct entry_digest *secret,
                     uint64_t time, uint64_t expiry)
{
	if (find(invitations, secret) != NULL)
		return false;
	if (invitations->count == INVITATIONS_MAX)
		forget_spent(invitations, time);
	if (invitations->count == INVITATIONS_MAX)
		return false;
	struct invitation *invitation = append(invitations);
	invitation->secret = *secret;
	invitation->expiry = expiry;
	return true;
}

bool invitations_use(struct invitations *invitations, const struct entry_digest *secret,
                     const struct entry_digest *ticket, uint64_t time, struct entry_text user)
{
	struct invitation *invitation = find(invitations, secret);

	if (invitation == NULL || invitation->user[0] != '\0' || time >= invitation->expiry)
		return false;
	invitation->ticket = *ticket;
	set_user(invitation, user);
	return true;
}

void invitations_write(const struct invitations *invitations, struct out *out)
{
	out_uint(out, invitations->count);
	for (uint32_t i = 0; i < invitations->count; i++) {
		const struct invitation *invitation = &invitations->list[i];
		entry_put_digest(out, &invitation->secret);
		out_uint(out, invitation->expiry);
		entry_put_text(out, entry_text_of(invitation->user));
		if (invitation->user[0] != '\0')
			entry_put_digest(out, &invitation->ticket);
	}
}

void invitations_read(struct invitations *invitations, struct in *in)
{
	uint64_t count = in_range(in, 0, INVITATIONS_MAX);

	for (uint64_t i = 0; i < count && !in->bad; i++) {
		struct entry_digest secret = entry_get_digest(in), ticket = {0};
		uint64_t expiry = in_uint(in);
		struct entry_text user = entry_get_text(in, 0, ENTRY_NAME_MAX);
		if (user.size != 0)
			ticket = entry_get_digest(in);
		in->bad = in->bad || find(invitations, &secret) != NULL;
		if (in->bad)
			return;
		struct invitation *invitation = append(invitations);
		invitation->secret = secret;
		invitation->expiry = expiry;
		invitation->ticket = ticket;
		set_user(invitation, user);
	}
}

void invitations_free(struct invitations *invitations)
{
	free(invitations->list);
	*invitations = (struct invitations){0};
}
