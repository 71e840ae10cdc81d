#include "leave.h"

#include "closing.h"
#include "grace.h"
#include "instance.h"
#include "notify.h"

enum { LEAVE_POLL_MS = 5, DRAIN_POLL_MS = 20 };

/*
 * Closes the client. If replies or events are not written yet, it is closed after them, but no
 * more of its commands are read: a client that sends without a pause would keep the node from
 * leaving.
 */
static void close_or_end(struct client *client)
{
	if ((client->dirty || client->telling.queue != NULL) && !client->ending)
		client_end(client);
	else
		client_close(client);
}

/* Ends all waits and takes all locks. Clients that held something are told; if the node ends,
 * clients that held nothing are closed. */
static void evict_clients(struct daemon *daemon)
{
	struct client *client;

	LIST_FOREACH (client, &daemon->clients.all, all) {
		node_session_withdraw(daemon->node, client->session, daemon->loop.now);
		while (node_session_evict(daemon->node, client->session, NODE_LOST_LEAVING,
		                          daemon->loop.now))
			;
		if (node_session_losing(daemon->node, client->session))
			client_lost(client);
		/* Keep subscribers for now: they may have to be told of a loss. */
		else if (daemon->leaving && client->subscriptions_count == 0)
			close_or_end(client);
	}
}

bool clients_are_stopping(const struct daemon *daemon)
{
	const struct client *client;

	LIST_FOREACH (client, &daemon->clients.all, all) {
		if (client->told_lost && !client->closing &&
		    (!client->stays || daemon->loop.now < daemon->stay_deadline))
			return true;
	}
	return false;
}

/* Closes clients whose locks have been handed on. A client learns of that by the end of its
 * connection, so this does not wait for other clients, which may still have time to stop. */
static void close_evicted(struct daemon *daemon)
{
	struct client *client;

	LIST_FOREACH (client, &daemon->clients.all, all) {
		if (client->evicted)
			close_or_end(client);
	}
}

/* The client cannot stop what it runs, so this node hands its locks on to nobody. But the node ends
 * all the same: a client must not be able to prevent that. What follows is as if the node had been
 * killed. */
static void forsake(struct client *client)
{
	struct daemon *daemon = client->daemon;
	char who[CLIENT_DESCRIPTION_MAX];

	client->forsaken = daemon->clients.forsakes = true;
	client_describe(client, who);
	if (log_limit_passes(&daemon->stays, daemon->loop.now))
		log_line(LEVEL_ERROR,
		         "this node ends, but a client cannot stop what it runs: when this node's "
		         "lease is over, others can have the client's locks, even if its processes "
		         "still run: %s",
		         who);
}

/* Closes the remaining clients when the last client that had to stop has stopped. Returns true when
 * all are closed. */
static bool clients_are_gone(struct daemon *daemon)
{
	struct clients *clients = &daemon->clients;
	struct client *client;
	bool gone = clients->orphans_count == 0;

	close_evicted(daemon);
	if (clients_are_stopping(daemon))
		return false;
	LIST_FOREACH (client, &clients->all, all) {
		/* Connections that wait for the closing thread do not count: it may take long. */
		gone = gone && client->user == NULL;
		/* The client ended its connection in this turn, so it has stopped. */
		if (client->closing)
			continue;
		if (client->stays && client->told_lost && !client->forsaken)
			forsake(client);
		close_or_end(client);
	}
	return gone;
}

static void on_departure(struct loop_timer *timer)
{
	struct daemon *daemon =
	        (struct daemon *)((char *)timer - offsetof(struct daemon, departure));

	loop_timer_set(&daemon->loop, timer, daemon->loop.now + LEAVE_POLL_MS * LOOP_MS);
	if (!clients_are_gone(daemon))
		daemon->leave_deadline = daemon->loop.now + daemon->settings.lease_ms * LOOP_MS;
	else if (daemon->loop.now >= daemon->leave_deadline)
		daemon->ended = true;
	/* If the node hands over the lead of the voters, it ends at the next check, so that the
	 * messages about it can be sent. */
	else if (member_left(daemon->member) && !member_hand_over(daemon->member, daemon->loop.now))
		daemon->ended = true;
}

static uint64_t count_holds(const struct daemon *daemon)
{
	const struct client *client;
	uint64_t count = 0;

	LIST_FOREACH (client, &daemon->clients.all, all)
		count += node_session_holds(daemon->node, client->session);
	return count;
}

static void on_drain(struct loop_timer *timer)
{
	struct daemon *daemon = (struct daemon *)((char *)timer - offsetof(struct daemon, drain));

	if (count_holds(daemon) == 0 || daemon->loop.now >= daemon->drain_deadline)
		daemon_leave(daemon);
	else
		loop_timer_set(&daemon->loop, timer, daemon->loop.now + DRAIN_POLL_MS * LOOP_MS);
}

uint64_t daemon_drain(struct daemon *daemon, uint64_t finish_ms)
{
	struct client *client;
	uint64_t holds = count_holds(daemon);

	daemon->drain_deadline =
	        finish_ms == UINT64_MAX ? UINT64_MAX : daemon->loop.now + finish_ms * LOOP_MS;
	if (daemon->leaving)
		return holds;
	daemon->draining = true;
	LIST_FOREACH (client, &daemon->clients.all, all)
		node_session_withdraw(daemon->node, client->session, daemon->loop.now);
	daemon->drain.due = on_drain;
	loop_timer_set(&daemon->loop, &daemon->drain, daemon->loop.now + DRAIN_POLL_MS * LOOP_MS);
	return holds;
}

static void on_eviction(struct loop_timer *timer)
{
	close_evicted((struct daemon *)((char *)timer - offsetof(struct daemon, eviction)));
}

void daemon_removed(struct daemon *daemon, bool removed)
{
	daemon->removed = removed;
	if (daemon->leaving)
		return;
	if (!removed) {
		log_line(LEVEL_INFO, "an operator has invited this node: it joins again");
		return;
	}
	log_line(LEVEL_WARNING,
	         "an operator has removed this node: it grants nothing more. 'baton member invite "
	         "%s' lets it come back",
	         daemon_name(daemon));
	evict_clients(daemon);
	/* Clients are told of their losses in this turn of the loop; the timer closes their
	 * connections later. */
	daemon->eviction.due = on_eviction;
	loop_timer_set(&daemon->loop, &daemon->eviction,
	               daemon->loop.now + LEAVE_POLL_MS * LOOP_MS);
}

void daemon_leave(struct daemon *daemon)
{
	if (daemon->leaving)
		return;
	loop_timer_clear(&daemon->loop, &daemon->drain);
	notify_send("STOPPING=1");
	daemon->leaving = true;
	evict_clients(daemon);
	member_leave(daemon->member, daemon->loop.now);
	loop_timer_clear(&daemon->loop, &daemon->nag);
	daemon->stay_deadline = daemon->leave_deadline =
	        daemon->loop.now + daemon->settings.lease_ms * LOOP_MS;
	daemon->departure.due = on_departure;
	loop_timer_set(&daemon->loop, &daemon->departure,
	               daemon->loop.now + LEAVE_POLL_MS * LOOP_MS);
}
