/*
 * The clients of a colony, and their judge. A client that was let in reads the lease word of the
 * process that let it in, in memory that both share. It goes on as long as the word allows, by the
 * clock of its place, even if that process is gone.
 */
#include "colony.h"

#include "baton/error.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 2 /* how often each client is let in after the healing */ };

static void wake(struct colony *colony, struct colony_client *client, uint64_t delay)
{
	colony_push(colony, colony->now + delay, COLONY_CLIENT, client->place, ++client->wake,
	            (uint32_t)(client - colony->clients));
}

static void rest(struct colony *colony, struct colony_client *client)
{
	uint64_t lease = colony->plan.lease_ns;

	client->state = CLIENT_IDLE;
	client->lost = false;
	wake(colony, client, chance_between(&client->chance, lease / 200, lease / 10));
}

void clients_begin(struct colony *colony)
{
	/* Strangers have no clients, because their locks have the same names but are other
	 * locks. */
	colony->clients_count = colony->plan.nodes * COLONY_CLIENTS_EACH;
	for (uint32_t i = 0; i < colony->clients_count; i++) {
		colony->clients[i].place = i % colony->plan.nodes;
		colony->clients[i].chance = chance_stream(colony->plan.seed, 3, i);
		rest(colony, &colony->clients[i]);
	}
}

static struct node *node_of(const struct colony *colony, const struct colony_client *client)
{
	return member_node(colony->places[client->place].member);
}

static size_t name_lock(uint32_t lock, char room[16])
{
	return (size_t)snprintf(room, 16, "lock-%u", lock);
}

/* --- the judge --- */

/* True if the client may go on, as far as it can know itself. */
static bool is_valid(const struct colony *colony, const struct colony_client *client)
{
	const struct colony_place *place = &colony->places[client->place];
	uint64_t word =
	        place->life == client->life && place->member != NULL ? place->word : client->word;

	return client->state == CLIENT_HOLDS && (word & 0xffff) == (client->lapses & 0xffff) &&
	       colony_clock(colony, client->place) < (word >> 16) * COLONY_MS;
}

void clients_judge(struct colony *colony)
{
	const struct colony_client *holders[COLONY_LOCKS] = {NULL};

	for (uint32_t i = 0; i < colony->clients_count; i++) {
		const struct colony_client *client = &colony->clients[i];
		if (!is_valid(colony, client))
			continue;
		if (holders[client->lock] != NULL)
			colony_wrong(colony,
			             "clients at %s and %s hold lock-%u at once, fences %" PRIu64
			             " and %" PRIu64,
			             colony->places[holders[client->lock]->place].name,
			             colony->places[client->place].name, client->lock,
			             holders[client->lock]->fence, client->fence);
		holders[client->lock] = client;
	}
}

static void let_in(struct colony *colony, struct colony_client *client,
                   const struct node_effect *effect)
{
	uint64_t lease = colony->plan.lease_ns, fence = effect->reply.number;
	bool briefly = colony->healing || chance_percent(&client->chance, 90);

	colony_note(colony, client->place, "lets client %u into lock-%u: %" PRIu64,
	            (uint32_t)(client - colony->clients), client->lock, fence);
	if (fence <= colony->fences[client->lock])
		colony_wrong(colony, "a fence of lock-%u is not greater than the one before",
		             client->lock);
	colony->fences[client->lock] = fence;
	colony->grants++;
	client->state = CLIENT_HOLDS;
	client->fence = fence;
	client->lapses = effect->reply.lapses;
	client->lost = false;
	/* The client may have lost the lock again before it was told that it has it. */
	if (!is_valid(colony, client) &&
	    (colony->places[client->place].word & 0xffff) == (client->lapses & 0xffff))
		colony_wrong(colony, "%s lets a client in without a lease",
		             colony->places[client->place].name);
	clients_judge(colony);
	wake(colony, client,
	     chance_between(&client->chance, COLONY_MS, briefly ? lease / 15 : 2 * lease));
}

/* --- what they hear --- */

static struct colony_client *find(struct colony *colony, uint32_t place, uint64_t session)
{
	for (uint32_t i = 0; i < colony->clients_count; i++) {
		struct colony_client *client = &colony->clients[i];
		if (client->place == place && client->session == session &&
		    client->life == colony->places[place].life)
			return client;
	}
	return NULL;
}

void clients_effect(struct colony *colony, uint32_t place, const struct node_effect *effect)
{
	struct colony_client *client = NULL;

	if (effect->kind == NODE_REPLY)
		client = find(colony, place, effect->reply.session);
	if (effect->kind == NODE_LOST)
		client = find(colony, place, effect->lost.session);
	if (client == NULL)
		return;
	if (effect->kind == NODE_LOST) {
		/* The client reads the lease word, so it need not be told of the loss. */
		if (client->state == CLIENT_HOLDS)
			client->lost = true;
	} else if (effect->reply.kind == REPLY_FENCE) {
		let_in(colony, client, effect);
	} else {
		rest(colony, client);
	}
}

void clients_orphan(struct colony *colony, uint32_t place, uint64_t last)
{
	for (uint32_t i = 0; i < colony->clients_count; i++) {
		struct colony_client *client = &colony->clients[i];
		if (client->place != place || client->session == 0)
			continue;
		client->session = 0;
		client->word = last;
		if (client->state == CLIENT_WAITS)
			rest(colony, client);
	}
}

/* --- what they do --- */

static void ask(struct colony *colony, struct colony_client *client, uint64_t clock)
{
	struct node *node = node_of(colony, client);
	bool waits = colony->healing || chance_percent(&client->chance, 80);
	char name[16];

	if (client->session == 0)
		client->session = node_session_open(node, &(struct node_client){.pid = 1}, clock);
	client->life = colony->places[client->place].life;
	client->lock = (uint32_t)chance_below(&client->chance, COLONY_LOCKS);
	client->state = CLIENT_WAITS;
	int error = node_lock(node, client->session, name, name_lock(client->lock, name),
	                      waits ? NODE_WAIT : NODE_NOWAIT, 0, clock);
	if (error < 0)
		rest(colony, client);
	else if (!colony->healing && chance_percent(&client->chance, 20))
		wake(colony, client, chance_below(&client->chance, 2 * colony->plan.lease_ns));
}

/* Ends a hold or a wait. A lock that was lost is released by closing the session. */
static void stop(struct colony *colony, struct colony_client *client, uint64_t clock)
{
	struct node *node = node_of(colony, client);
	uint64_t session = client->session;
	bool closes = client->state == CLIENT_WAITS || client->lost ||
	              chance_percent(&client->chance, 15);
	char name[16];

	if (client->state == CLIENT_HOLDS && client->rounds > 0)
		client->rounds--;
	/* End the hold first: the call below may already let another client in. */
	rest(colony, client);
	if (closes) {
		client->session = 0;
		node_session_close(node, session, clock);
	} else {
		node_unlock(node, session, name, name_lock(client->lock, name), client->fence,
		            clock);
	}
}

void clients_on_event(struct colony *colony, const struct event *event)
{
	struct colony_client *client = &colony->clients[event->from];
	uint64_t clock = colony_clock(colony, client->place);

	if (client->wake != event->number)
		return;
	if (client->session == 0 && client->state == CLIENT_HOLDS) {
		rest(colony, client); /* the client notices that its process is gone */
		return;
	}
	bool rests = colony->places[client->place].member == NULL ||
	             colony->places[client->place].leaving ||
	             (colony->healing && client->rounds == 0);
	if (client->state == CLIENT_IDLE && rests) {
		rest(colony, client);
		return;
	}
	if (client->state == CLIENT_IDLE)
		ask(colony, client, clock);
	else
		stop(colony, client, clock);
	colony_pump(colony, client->place);
}

/* --- after the faults --- */

void clients_heal(struct colony *colony)
{
	for (uint32_t i = 0; i < colony->clients_count; i++)
		colony->clients[i].rounds = ROUNDS;
}

const char *clients_waiting(const struct colony *colony)
{
	for (uint32_t i = 0; i < colony->clients_count; i++) {
		if (colony->clients[i].rounds > 0)
			return "a client waits to be let in";
	}
	return NULL;
}
