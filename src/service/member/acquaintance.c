/*
 * Remembers voters whose connection has ended, and when. Nothing of this is stored on disk.
 */
#include "member_state.h"
#include "tenant.h"

struct member_acquaintance member_acquaintance(const struct member *member, uint64_t server)
{
	const struct post *post;

	if (server != 0 && server == member->identity.server)
		return (struct member_acquaintance){.connected = true,
		                                    .witness = member->identity.witness};
	LIST_FOREACH (post, &member->posts, all) {
		if (post->state == POST_UP && post->call.server == server)
			return (struct member_acquaintance){.connected = true,
			                                    .witness = post->call.witness};
	}
	for (uint32_t i = 0; i < VOTERS_LOST_MAX; i++) {
		if (server != 0 && member->lost[i].server == server)
			return (struct member_acquaintance){.witness = member->lost[i].witness,
			                                    .lost = member->lost[i].at};
	}
	return (struct member_acquaintance){0};
}

/* Overwrites the entry of the same voter or, if it has none, the oldest entry. */
void member_lost(struct member *member, const struct call *call)
{
	const struct elector *elector = NULL;
	uint32_t place = 0;

	if (member->resident != NULL)
		elector = electors_find(tenant_electors(resident_tenant(member->resident)),
		                        call->name);
	if (elector == NULL || call->server == 0 || elector->server != call->server)
		return;
	for (uint32_t i = 0; i < VOTERS_LOST_MAX; i++) {
		if (member->lost[i].server == call->server) {
			place = i;
			break;
		}
		if (member->lost[i].at < member->lost[place].at)
			place = i;
	}
	member->lost[place].server = call->server;
	member->lost[place].witness = call->witness;
	member->lost[place].at = member->now;
}
