/*
 * How much is kept for clients that do not read. One that writes many commands before it reads the first reply is
 * served, up to CLIENT_UNREAD_MAX bytes of replies; all of them together may have the memory of CLIENTS_UNREAD_MAX.
 * Beyond that a client is not read from until it has taken some; and one that never does is closed.
 */
#include "internal.h"

#include <stdio.h>

/* "pid 17, sleep 5", or "tcp 127.0.0.1:4711". */
static void describe(const struct client *client, char *room, size_t size)
{
	if (client->tcp)
		snprintf(room, size, "%s", client->who.command);
	else
		snprintf(room, size, "pid %u, %s", client->who.pid, client->who.command);
}

/* There is memory for replies again. */
static void wake_paused(struct daemon *daemon)
{
	for (struct client *client = daemon->clients; client != NULL; client = client->next) {
		if (client->paused && !client->waiting && !client->later)
			client_ready(client);
	}
}

void client_charge(struct client *client)
{
	struct daemon *daemon = client->daemon;
	size_t room = client->output.room;
	size_t charged = room > CLIENT_UNREAD_FREE ? room - CLIENT_UNREAD_FREE : 0;

	if (charged == client->charged)
		return;
	daemon->unread_room = daemon->unread_room - client->charged + charged;
	client->charged = charged;
	if (!daemon->crowded && daemon->unread_room >= CLIENTS_UNREAD_MAX) {
		daemon->crowded = true;
		log_line(
		        LEVEL_WARNING,
		        "clients leave %d MiB of replies unread: none is served that has more than "
		        "%d KiB, until they read",
		        CLIENTS_UNREAD_MAX >> 20, CLIENT_UNREAD_FREE >> 10);
	} else if (daemon->crowded && daemon->unread_room < CLIENTS_UNREAD_MAX / 4 * 3) {
		daemon->crowded = false;
		wake_paused(daemon);
	}
}

/* A client that writes many commands before it reads is served, as far as the memory goes. */
bool client_takes_replies(struct client *client)
{
	client_charge(client);
	size_t unread = buffer_size(&client->output);
	return unread < CLIENT_UNREAD_FREE ||
	       (unread < CLIENT_UNREAD_MAX && !client->daemon->crowded);
}

void client_tell_unread(struct client *client)
{
	char who[NODE_COMMAND_MAX + 32];

	if (client->told_unread || buffer_size(&client->output) < CLIENT_UNREAD_SLOW)
		return;
	client->told_unread = true;
	describe(client, who, sizeof(who));
	log_line(
	        LEVEL_WARNING,
	        "a client leaves %zu bytes of replies unread, and is not served until it reads: %s",
	        buffer_size(&client->output), who);
}

/* Its connection ends, and it does not take its last replies. Also if it takes some, but as slowly as if it
 * wanted to keep what it holds. */
static bool is_overdue(struct client *client)
{
	bool overdue =
	        client->overdue && client->taken - client->overdue_taken < CLIENT_UNREAD_FREE;

	client->overdue = client->ending;
	client->overdue_taken = client->taken;
	return overdue;
}

/* It never reads, unlike one that has written much and will. */
static bool never_reads(struct client *client)
{
	const struct daemon *daemon = client->daemon;
	size_t most = daemon->crowded ? CLIENT_UNREAD_FREE : CLIENT_UNREAD_SLOW;

	if (buffer_size(&client->output) <= most || client->taken - client->slow_taken >= most) {
		client->slow_since = daemon->loop.now;
		client->slow_taken = client->taken;
		return false;
	}
	return daemon->loop.now - client->slow_since >=
	       daemon->options->client_timeout_ms * UINT64_C(1000000);
}

void clients_watch(struct daemon *daemon)
{
	char who[NODE_COMMAND_MAX + 32];
	struct client *next;

	for (struct client *client = daemon->clients; client != NULL; client = next) {
		next = client->next;
		if (client->closing)
			continue;
		if (never_reads(client)) {
			describe(client, who, sizeof(who));
			log_line(LEVEL_WARNING,
			         "a client has left %zu bytes of replies unread for %llu s: its "
			         "connection is closed: %s",
			         buffer_size(&client->output),
			         (unsigned long long)(daemon->loop.now - client->slow_since) /
			                 1000000000,
			         who);
			client_close(client);
		} else if (is_overdue(client)) {
			client_close(client);
		} else {
			client_watch_stuffed(client);
		}
	}
	doors_open_again(daemon);
}
