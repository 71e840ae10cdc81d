#include "closing.h"

#include "client_tls.h"
#include "commands_member.h"
#include "events.h"
#include "flow.h"
#include "grace.h"
#include "instance.h"
#include "log.h"
#include "status_queue.h"
#include "strays.h"

#include <stdlib.h>
#include <string.h>

/* Removes the client from all lists of work for the loop. */
static void drop_from_lists(struct client *client)
{
	if (client->dirty)
		LIST_REMOVE(client, dirty_entry);
	user_dequeue(&client->daemon->clients.users, &client->place);
	client_forget_events(client);
	if (client->stranger)
		LIST_REMOVE(client, stranger_entry);
	client->dirty = client->ready = client->stranger = false;
	if (client->session != 0)
		client_leave(client);
}

/* Closes the session of a client that may not notice that its connection has ended. If the client
 * asks LEASE, its locks stay held until the end of the lease that it was told. */
static void close_session(struct daemon *daemon, uint64_t session)
{
	uint64_t deadline = node_lease_deadline(daemon->node);
	bool holds = node_session_holds(daemon->node, session) > 0;

	node_session_close(daemon->node, session, daemon->loop.now);
	if (holds && deadline != NODE_NEVER && deadline > daemon->loop.now)
		log_limited(&daemon->gone, daemon->loop.now, LEVEL_WARNING,
		            "the connection of a client that held a lock is gone: its locks are "
		            "free in %llu ms at most",
		            (unsigned long long)((deadline - daemon->loop.now) / LOOP_MS));
}

bool client_awaits_last(struct client *client)
{
	if (!client->waiting || client->wants_lock || client->hung_up || client->deaf)
		return false;
	if (client->half_closed_at == 0)
		client->half_closed_at = client->daemon->loop.now;
	return true;
}

static void close_socket(struct client *client)
{
	struct daemon *daemon = client->daemon;

	if (client->tcp) {
		loop_close_fd(&daemon->loop, &client->watch);
		return;
	}
	int fd = loop_remove(&daemon->loop, &client->watch);
	bool closed = strays_close(daemon->strays, fd);
	if (!closed && client->user != NULL)
		client->unread_fd = fd;
	else if (!closed)
		/* It counts from now on, so that no more than the limit can wait. */
		strays_leave(daemon->strays, fd, NULL);
}

/* Counts one connection of the user less; NULL: it did not count. */
static void discount(struct daemon *daemon, struct user *user)
{
	if (user != NULL)
		daemon->clients.count--;
	user_leave(user);
}

void client_closed_late(void *context, void *user)
{
	discount(context, user);
	listeners_resume(context);
}

/* If the socket is not closed yet, the connection counts for its user until then. It is handed over
 * only now, because until now the client needs its user. */
static void end_connection(const struct client *client)
{
	struct daemon *daemon = client->daemon;

	if (client->unread_fd >= 0)
		strays_leave(daemon->strays, client->unread_fd, client->user);
	else
		discount(daemon, client->user);
}

void client_close(struct client *client)
{
	struct daemon *daemon = client->daemon;
	uint64_t session = client->session;

	if (client->closing)
		return;
	drop_from_lists(client);
	status_cancel(client);
	client->closing = true;
	client_charge_input(client);
	client_charge(client);
	status_leave(client);
	/* A client has surely stopped if it closed its Unix socket: all processes that had the
	 * socket have closed it or ended. This is not certain of a TCP connection, which may just
	 * be cut, nor of a client that asks LEASE. And a client that we close needs time to
	 * notice. */
	bool stopped = client->quits || (client->gone && !client->tcp && !client->asks_lease);
	if (client->forsaken ||
	    (client->grace_ms > 0 && !stopped && !client->asks_lease && client_orphan(client)))
		session = 0;
	loop_timer_clear(&daemon->loop, &client->grace);
	client->session = 0;
	close_socket(client);
	SLIST_INSERT_HEAD(&daemon->clients.closed, client, closed_entry);
	if (session != 0 && stopped)
		node_session_quit(daemon->node, session, daemon->loop.now);
	else if (session != 0)
		close_session(daemon, session);
}

bool clients_forget_closed(struct daemon *daemon)
{
	struct clients *clients = &daemon->clients;

	if (SLIST_EMPTY(&clients->closed))
		return false;
	while (!SLIST_EMPTY(&clients->closed)) {
		struct client *client = SLIST_FIRST(&clients->closed);
		SLIST_REMOVE_HEAD(&clients->closed, closed_entry);
		buffer_free(&client->input);
		if (client->secret)
			explicit_bzero(client->output.bytes, client->output.room);
		buffer_free(&client->output);
		client_charge(client);
		client_tls_free(client);
		for (int i = 0; i < CLIENT_TEXTS; i++)
			free(client->texts[i]);
		client_forget_token(client);
		free((char *)client->who.command);
		end_connection(client);
		free((uint32_t *)client->subject.gids);
		free((char *)client->subject.certificate);
		LIST_REMOVE(client, all);
		free(client);
	}
	return true;
}
