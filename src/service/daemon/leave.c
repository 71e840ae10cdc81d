#include "leave.h"

#include "closing.h"
#include "grace.h"
#include "instance.h"
#include "notify.h"

enum {
	LEAVE_MS = 2000, /* how long the last messages may take */
	LEAVE_POLL_MS = 5,
};

/*
 * Replies to commands of this turn are written at its end, so the client is not closed at once. But
 * no more commands are read, because a client that never pauses would keep the node from leaving.
 */
static void close_or_end(struct client *client)
{
	if (client->dirty && !client->ending)
		client_end(client);
	else
		client_close(client);
}

/* Accepts no more clients. Those that hold nothing are closed; those that do are told that they
 * lose it. */
static void evict_clients(struct daemon *daemon)
{
	struct client *client;

	LIST_FOREACH (client, &daemon->clients.all, all) {
		/* No client is let in here any more. */
		node_session_withdraw(daemon->node, client->session, daemon->loop.now);
		if (node_session_evict(daemon->node, client->session, NODE_LOST_LEAVING,
		                       daemon->loop.now))
			client_lost(client);
		/* A subscriber may have to be told of the loss. */
		else if (client->subscriptions_count == 0)
			close_or_end(client);
	}
}

bool clients_are_stopping(const struct daemon *daemon)
{
	const struct client *client;

	LIST_FOREACH (client, &daemon->clients.all, all) {
		if (client->told_lost && !client->closing && !(client->stays && daemon->hurried))
			return true;
	}
	return false;
}

/* When the last one has stopped, the others are closed too. Returns true when that is done. */
static bool clients_are_gone(struct daemon *daemon)
{
	struct clients *clients = &daemon->clients;
	struct client *client;

	/* Its locks have been handed on. The end of the connection tells it so, even if it is
	 * subscribed to something else and others still have time to stop. */
	LIST_FOREACH (client, &clients->all, all) {
		if (client->evicted)
			close_or_end(client);
	}
	if (clients_are_stopping(daemon))
		return false;
	LIST_FOREACH (client, &clients->all, all) {
		/* It ended its connection in this very turn, so whatever it ran is over. */
		if (client->closing)
			continue;
		/* What it runs goes on, so nobody else may be let in. */
		client->forsaken = client->stays && client->told_lost;
		clients->forsakes = clients->forsakes || client->forsaken;
		close_or_end(client);
	}
	return clients->count == 0 && clients->orphans_count == 0;
}

static void on_departure(struct loop_timer *timer)
{
	struct daemon *daemon =
	        (struct daemon *)((char *)timer - offsetof(struct daemon, departure));

	loop_timer_set(&daemon->loop, timer, daemon->loop.now + LEAVE_POLL_MS * LOOP_MS);
	if (!clients_are_gone(daemon))
		daemon->leave_deadline = daemon->loop.now + LEAVE_MS * LOOP_MS;
	else if (member_quiet(daemon->member) || daemon->loop.now >= daemon->leave_deadline)
		daemon->ended = true;
}

void daemon_leave(struct daemon *daemon)
{
	if (daemon->leaving)
		return;
	notify_send("STOPPING=1");
	daemon->leaving = true;
	evict_clients(daemon);
	member_leave(daemon->member);
	loop_timer_clear(&daemon->loop, &daemon->nag);
	daemon->leave_deadline = daemon->loop.now + LEAVE_MS * LOOP_MS;
	daemon->departure.due = on_departure;
	loop_timer_set(&daemon->loop, &daemon->departure,
	               daemon->loop.now + LEAVE_POLL_MS * LOOP_MS);
}
