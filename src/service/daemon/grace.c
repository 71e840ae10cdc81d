#include "grace.h"

#include "clock.h"
#include "instance.h"
#include "log.h"
#include "memory.h"

#include <stdlib.h>

uint64_t client_time_to_stop_ms(const struct client *client)
{
	return client->grace_ms + grace_margin_ms(client->daemon->settings.lease_ms);
}

void client_set_grace(struct client *client, uint64_t ms)
{
	client->grace_ms = ms;
	node_session_grace(client->daemon->node, client->session, ms * LOOP_MS);
	node_session_linger(client->daemon->node, client->session);
}

void client_ask_lease(struct client *client)
{
	client->asks_lease = true;
	node_session_linger(client->daemon->node, client->session);
}

/* Returns when others may get the locks that the client has just lost. */
static uint64_t end_of_grace(const struct client *client)
{
	uint64_t at = clock_lease_ns() + client_time_to_stop_ms(client) * LOOP_MS;
	uint64_t deadline = client->asks_lease ? node_lease_deadline(client->daemon->node) : 0;

	return deadline != NODE_NEVER && deadline > at ? deadline : at;
}

void client_stay(struct client *client)
{
	struct daemon *daemon = client->daemon;
	char who[CLIENT_DESCRIPTION_MAX];

	if (client->stays)
		return;
	client->stays = true;
	node_session_stay(daemon->node, client->session);
	loop_timer_clear(&daemon->loop, &client->grace);
	client_describe(client, who);
	if (log_limit_passes(&daemon->stays, daemon->loop.now))
		log_line(LEVEL_WARNING,
		         "a client cannot stop what it runs soon enough: locks that it loses stay "
		         "with it until its connection ends. End the client, or the processes that "
		         "it runs: %s",
		         who);
}

void client_lost(struct client *client)
{
	/* Its time to stop begins when this turn ends, so it must be told by then. */
	client_dirty(client);
	if (client->grace_ms == 0 && !client->stays && !client->asks_lease) {
		client->evicted = client->daemon->leaving || client->daemon->removed;
		return;
	}
	/* If the client has released the lock in the turn in which it lost it, there is nothing to
	 * hold back. */
	if (!node_session_losing(client->daemon->node, client->session))
		return;
	/* If the client had lost another lock before, its time to stop begins again for both. */
	client->told_lost = true;
	if (client->in_lost)
		return;
	client->in_lost = true;
	SLIST_INSERT_HEAD(&client->daemon->clients.lost, client, lost_entry);
}

/* Ends the client, because this node has lapsed. Its locks are not held back: others may have them
 * already. */
void client_lapsed(struct client *client)
{
	client->told_lost = false;
	loop_timer_clear(&client->daemon->loop, &client->grace);
	client_end(client);
}

void client_unlocked(struct client *client)
{
	if (!client->told_lost || node_session_losing(client->daemon->node, client->session))
		return;
	client->told_lost = false;
	loop_timer_clear(&client->daemon->loop, &client->grace);
}

void clients_begin_grace(struct daemon *daemon)
{
	while (!SLIST_EMPTY(&daemon->clients.lost)) {
		struct client *client = SLIST_FIRST(&daemon->clients.lost);
		SLIST_REMOVE_HEAD(&daemon->clients.lost, lost_entry);
		client->in_lost = false;
		client->forfeits = false;
		if (client->told_lost && !client->stays && !client->closing)
			loop_timer_set(&daemon->loop, &client->grace, end_of_grace(client));
	}
}

/* --- sessions whose connection is gone --- */

/* A session whose connection is gone, but whose client may not have stopped yet. */
struct orphan {
	struct loop_timer timer;
	struct daemon *daemon;
	uint64_t session;
	uint64_t end; /* when others may get its locks */
};

/* Takes the locks from the session, some in each turn of the loop, and closes the session when all
 * are taken and the time is over. */
static void on_orphan(struct loop_timer *timer)
{
	struct orphan *orphan = (struct orphan *)timer;
	struct daemon *daemon = orphan->daemon;
	bool more = node_session_evict(daemon->node, orphan->session, NODE_LOST_CONNECTION,
	                               daemon->loop.now);

	if (more || daemon->loop.now < orphan->end) {
		loop_timer_set(&daemon->loop, timer, more ? daemon->loop.now : orphan->end);
		return;
	}
	daemon->clients.orphans_count--;
	node_session_close(daemon->node, orphan->session, daemon->loop.now);
	free(orphan);
}

bool client_orphan(struct client *client)
{
	struct daemon *daemon = client->daemon;

	/* The client is gone, so it must not be let into the lock that it waits for. */
	node_session_withdraw(daemon->node, client->session, daemon->loop.now);
	bool more = node_session_evict(daemon->node, client->session, NODE_LOST_CONNECTION,
	                               daemon->loop.now);
	if (!node_session_losing(daemon->node, client->session))
		return false;
	uint64_t at = end_of_grace(client);
	if (loop_timer_is_set(&client->grace) && client->grace.at > at)
		at = client->grace.at;
	struct orphan *orphan = calloc(1, sizeof(*orphan));
	memory_must(orphan != NULL);
	*orphan = (struct orphan){.timer = {.due = on_orphan},
	                          .daemon = daemon,
	                          .session = client->session,
	                          .end = at};
	loop_timer_set(&daemon->loop, &orphan->timer, more ? daemon->loop.now : at);
	daemon->clients.orphans_count++;
	log_limited(
	        &daemon->gone, daemon->loop.now, LEVEL_WARNING,
	        "the connection of a client that held a lock is gone: its locks are free in %llu "
	        "ms",
	        (unsigned long long)(at > daemon->loop.now ? (at - daemon->loop.now) / LOOP_MS
	                                                   : 0));
	return true;
}
