#include "views.h"

#include "connection.h"
#include "member_state.h"
#include "memory.h"
#include "outcome.h"

#include <stdlib.h>

void views_tell(struct peer *peer)
{
	const uint8_t *bytes;
	size_t size = engine_write(peer->member->engine, &bytes);

	link_notice(peer->link, bytes, size);
	connection_changed(peer->connection);
}

void views_spread(struct member *member)
{
	if (member->leaving || !engine_news(member->engine))
		return;
	const struct engine_view *view = engine_view(member->engine, NULL);
	for (uint32_t i = 0; i < member->peers_count; i++) {
		struct peer *peer = &member->peers[i];
		if (peer->link != NULL && view != NULL)
			link_forget(peer->link, view->epoch);
		if (peer->connection != NULL)
			views_tell(peer);
	}
}

void views_enter(struct member *member)
{
	bool changed;

	if (member->now < member->quiet_until || member->leaving)
		return;
	const struct engine_view *view = engine_view(member->engine, &changed);
	if (view == NULL || !changed)
		return;
	struct node_member *members = calloc(view->members_count, sizeof(*members));
	memory_must(members != NULL);
	for (uint32_t i = 0; i < view->members_count; i++)
		members[i] = (struct node_member){.name = view->members[i].name,
		                                  .incarnation = view->members[i].incarnation,
		                                  .address = member->peers[i].address};
	struct outcome *outcome = outcome_add(member, MEMBER_VIEW, 0);
	outcome->effect.view.epoch = view->epoch;
	outcome->effect.view.floor = view->floor;
	outcome->effect.view.members = view->members;
	outcome->effect.view.members_count = view->members_count;
	/* Tell the others first: they must know the view before they get frames of it. */
	views_spread(member);
	node_floor(member->node, view->floor);
	outcome->effect.view.served = node_view(member->node, view->epoch, members,
	                                        view->members_count, member->now) == 0;
	for (uint32_t i = 0; i < member->peers_count; i++)
		member->peers[i].congested = false;
	free(members);
}
