#include "client.h"

#include "client_tls.h"
#include "instance.h"
#include "memory.h"
#include "must.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- sessions --- */

static struct client_bucket *bucket_of(struct daemon *daemon, uint64_t session)
{
	return &daemon->clients.buckets[(session ^ session >> 32) % CLIENT_BUCKETS];
}

struct client *client_of(struct daemon *daemon, uint64_t session)
{
	struct client *client = LIST_FIRST(bucket_of(daemon, session));

	while (client != NULL && client->session != session)
		client = LIST_NEXT(client, bucket);
	return client;
}

void client_enter(struct client *client)
{
	LIST_INSERT_HEAD(bucket_of(client->daemon, client->session), client, bucket);
	node_session_user(client->daemon->node, client->session, user_at_node(client->user));
}

void client_leave(struct client *client)
{
	LIST_REMOVE(client, bucket);
}

/* The new session must have nothing of the old one: no locks, no subscriptions, no settings made
 * with CLIENT. */
void client_renew(struct client *client)
{
	struct daemon *daemon = client->daemon;

	client_leave(client);
	client->subscriptions_count = 0;
	client->version = 2;
	client->multi_refused = false;
	for (int i = 0; i < CLIENT_TEXTS; i++) {
		free(client->texts[i]);
		client->texts[i] = NULL;
	}
	loop_timer_clear(&daemon->loop, &client->grace);
	client->grace_ms = 0;
	client->told_lost = client->reasons = client->timed = client->stays = false;
	client->leases = client->asks_lease = false;
	client->events_dropped = 0;
	/* RESET says that the client has stopped using its locks. So its old session need not
	 * linger, and leaves room for the new one. */
	node_session_quit(daemon->node, client->session, daemon->loop.now);
	client->session = node_session_open(daemon->node, &client->who, daemon->loop.now);
	must(client->session != 0); /* cannot fail: the session that just ended has made room */
	client_enter(client);
}

/* --- work for the loop --- */

void client_dirty(struct client *client)
{
	if (client->dirty || client->closing)
		return;
	client->dirty = true;
	LIST_INSERT_HEAD(&client->daemon->clients.dirty, client, dirty_entry);
}

void client_turn(struct client *client)
{
	must(!client->closing);
	user_enqueue(&client->daemon->clients.users, client->user, &client->place);
}

void client_ready(struct client *client)
{
	if (client->closing)
		return;
	client->ready = true;
	client_turn(client);
}

void client_answered(struct client *client)
{
	client->waiting = client->wants_lock = false;
	/* If the command was answered at once, serve_commands is still running and goes on by
	 * itself. */
	if (buffer_size(&client->input) > 0 && !client->serving)
		client_ready(client);
	if (client->half_closed_at != 0 && !client->closing) {
		client->heard |= EPOLLRDHUP; /* read the end again, after the rest of the input */
		client_ready(client);
	}
}

void client_end(struct client *client)
{
	client->ending = true;
	client_dirty(client);
}

void client_wait_for(struct client *client, uint32_t events)
{
	client->events = events;
	loop_change(&client->daemon->loop, &client->watch, events | EPOLLRDHUP | EPOLLET);
}

void client_watch(struct client *client)
{
	uint32_t events = 0;

	if (!client->paused && !client->ending)
		events |= EPOLLIN;
	if (buffer_size(&client->output) > 0 || (client->tls != NULL && client_tls_waits(client)))
		events |= EPOLLOUT;
	if (events != client->events)
		client_wait_for(client, events);
}

void client_describe(const struct client *client, char room[CLIENT_DESCRIPTION_MAX])
{
	const struct subject *subject = &client->subject;

	if (subject->certificate != NULL)
		snprintf(room, CLIENT_DESCRIPTION_MAX, "certificate '%s', %s", subject->certificate,
		         client->who.command);
	else if (client->tcp)
		snprintf(room, CLIENT_DESCRIPTION_MAX, "%s", client->who.command);
	else
		snprintf(room, CLIENT_DESCRIPTION_MAX, "uid %u, pid %u, %s", subject->uid,
		         client->who.pid, client->who.command);
}

struct log_limit *client_orders(const struct client *client)
{
	const char *certificate = client->subject.certificate;
	uint32_t hash = client->subject.uid;

	for (; certificate != NULL && *certificate != '\0'; certificate++)
		hash = (hash ^ (unsigned char)*certificate) * 16777619U;
	return &client->daemon->orders[hash % CLIENT_ORDERS];
}
