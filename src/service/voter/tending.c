#include "tending.h"

#include "memory.h"
#include "roster.h"

#include <stdlib.h>

#define MS UINT64_C(1000000)

static struct electorate_server *list_servers(const struct replica *replica,
                                              const struct agreed_state *state, uint64_t self,
                                              uint64_t now, uint32_t *ret_count)
{
	size_t count = replica_servers(replica, UINT64_MAX, NULL);
	struct electorate_server *list = calloc(count + 1, sizeof(*list));

	memory_must(list != NULL);
	for (size_t i = 0; i < count; i++) {
		struct replica_server server;
		replica_servers(replica, i, &server);
		const char *name = roster_name(server.address);
		const struct name_record *record = state_name(state, entry_text_of(name));
		list[i] = (struct electorate_server){
		        .id = server.id,
		        .name = name,
		        .votes = server.role == REPLICA_VOTER,
		        .leads = server.id == self,
		        .unwanted = record != NULL &&
		                    (record->forbidden || record->vote == VOTE_UNWANTED),
		        .wanted = record != NULL && record->vote == VOTE_WANTED,
		        .caught_up = replica_caught_up(replica, server.id),
		        .heard = replica_heard(replica, server.id, now / MS),
		};
	}
	*ret_count = (uint32_t)count;
	return list;
}

/* A leader that is to be removed hands the lead over first. */
static void hand_over(struct replica *replica, const struct electorate_server *servers,
                      uint32_t count, uint64_t now)
{
	for (uint32_t i = 0; i < count; i++) {
		if (servers[i].votes && !servers[i].leads && !servers[i].unwanted &&
		    replica_transfer(replica, servers[i].id, now / MS))
			return;
	}
}

void tending_look(struct electorate_memory *electorate, struct replica *replica,
                  const struct warden *warden, uint64_t self, uint64_t now)
{
	uint32_t servers_count;
	struct electorate_server *servers =
	        list_servers(replica, warden_state(warden), self, now, &servers_count);
	struct standing *standing;
	uint32_t standing_count = warden_standing(warden, &standing);
	struct electorate_wish wish =
	        electorate_look(electorate, servers, servers_count, standing, standing_count, now);
	struct replica_server server = {.id = wish.server, .address = ""};
	char place[ROSTER_PLACE_MAX + 1];

	switch (wish.kind) {
	case ELECTORATE_NOTHING:
		break;
	case ELECTORATE_STANDBY:
		roster_place(wish.server, wish.address, wish.name, place);
		server.address = place;
		server.role = REPLICA_STANDBY;
		replica_change(replica, &server, now / MS);
		break;
	case ELECTORATE_PROMOTE:
		server.role = REPLICA_VOTER;
		replica_change(replica, &server, now / MS);
		break;
	case ELECTORATE_REMOVE:
		server.role = REPLICA_NONE;
		if (wish.server == self)
			hand_over(replica, servers, servers_count, now);
		else
			replica_change(replica, &server, now / MS);
		break;
	}
	free(servers);
	free(standing);
}
