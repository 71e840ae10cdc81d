#include "flow.h"

#include "instance.h"
#include "log.h"
#include "status_queue.h"

/* --- commands --- */

static void charge_input(struct client *client, size_t charged)
{
	struct clients *clients = &client->daemon->clients;
	bool less = charged < client->input_charged;

	if (charged == client->input_charged)
		return;
	struct user_input *input = user_input(client->user);
	if (less)
		TAILQ_REMOVE(&input->clients, client, input_entry);
	/* Serving commands makes the input smaller. The client then moves to the end of the list,
	 * and is the last of its user's clients to be ended. */
	if (charged > 0 && (less || client->input_charged == 0))
		TAILQ_INSERT_TAIL(&input->clients, client, input_entry);
	clients->input_room = clients->input_room - client->input_charged + charged;
	input->room = input->room - client->input_charged + charged;
	client->input_charged = charged;
}

/* Ends a client of the user with the most input, and frees the client's input. */
static void end_one(struct daemon *daemon)
{
	struct client *client = TAILQ_FIRST(&users_most_input(&daemon->clients.users)->clients);
	char who[CLIENT_DESCRIPTION_MAX];

	client_describe(client, who);
	if (log_limit_passes(&daemon->refusals, daemon->loop.now))
		log_line(LEVEL_WARNING,
		         "commands that are incomplete or wait take %d MiB: the user with most of "
		         "them loses its oldest ones: %s",
		         CLIENTS_INPUT_MAX >> 20, who);
	if (!client->ending) {
		resp_error(&client->output, "ERR",
		           "this user has sent too many bytes of commands that are incomplete or "
		           "not served yet: send whole commands, and fewer after one that "
		           "waits");
		client_end(client);
	}
	buffer_free(&client->input);
	client->needed = 0;
	charge_input(client, 0);
}

void client_charge_input(struct client *client)
{
	struct daemon *daemon = client->daemon;
	size_t room = client->closing ? 0 : client->input.room;

	charge_input(client, room > CLIENT_INPUT_FREE ? room - CLIENT_INPUT_FREE : 0);
	while (daemon->clients.input_room > CLIENTS_INPUT_MAX)
		end_one(daemon);
}

/* --- replies --- */

/* Serves paused clients again, because there is memory for replies. */
static void wake_paused(struct daemon *daemon)
{
	struct client *client;

	LIST_FOREACH (client, &daemon->clients.all, all) {
		if (client->paused && !client->waiting)
			client_ready(client);
	}
}

void client_charge(struct client *client)
{
	struct clients *clients = &client->daemon->clients;
	size_t room = client->output.room;
	size_t charged = room > CLIENT_UNREAD_FREE ? room - CLIENT_UNREAD_FREE : 0;
	size_t making = client->making_room;
	size_t before = client->charged + client->making_charged;

	if (charged == client->charged && making == client->making_charged)
		return;
	clients->unread_room = clients->unread_room - client->charged + charged;
	clients->making_room = clients->making_room - client->making_charged + making;
	client->charged = charged;
	client->making_charged = making;
	if (client->user != NULL)
		user_replies(client->user)->room += charged + making - before;
	if (charged + making < before)
		status_wake(clients);
	if (!clients->crowded && clients->unread_room >= CLIENTS_UNREAD_MAX) {
		clients->crowded = true;
		log_limited(&client->daemon->unread, client->daemon->loop.now, LEVEL_WARNING,
		            "clients leave %d MiB of replies unread: clients with more than %d KiB "
		            "unread are not served until they read",
		            CLIENTS_UNREAD_MAX >> 20, CLIENT_UNREAD_FREE >> 10);
	} else if (clients->crowded &&
	           clients->unread_room < CLIENTS_UNREAD_MAX - CLIENTS_UNREAD_MAX / 4) {
		clients->crowded = false;
		wake_paused(client->daemon);
	}
}

bool client_takes_replies(struct client *client)
{
	client_charge(client);
	size_t unread = buffer_size(&client->output);
	return unread < CLIENT_UNREAD_FREE ||
	       (unread < CLIENT_UNREAD_MAX && !client->daemon->clients.crowded);
}

void client_tell_unread(struct client *client)
{
	char who[CLIENT_DESCRIPTION_MAX];

	if (client->told_unread || buffer_size(&client->output) < CLIENT_UNREAD_SLOW)
		return;
	client->told_unread = true;
	client_describe(client, who);
	log_limited(
	        &client->daemon->unread, client->daemon->loop.now, LEVEL_WARNING,
	        "a client leaves %zu bytes of replies unread, and is not served until it reads: %s",
	        buffer_size(&client->output), who);
}

bool client_is_overdue(struct client *client)
{
	bool overdue =
	        client->overdue && client->taken - client->overdue_taken < CLIENT_UNREAD_FREE;

	client->overdue = client->ending;
	client->overdue_taken = client->taken;
	return overdue;
}

bool client_never_reads(struct client *client)
{
	const struct daemon *daemon = client->daemon;
	size_t most = daemon->clients.crowded ? CLIENT_UNREAD_FREE : CLIENT_UNREAD_SLOW;

	if (buffer_size(&client->output) <= most || client->taken - client->slow_taken >= most) {
		client->slow_since = daemon->loop.now;
		client->slow_taken = client->taken;
		return false;
	}
	return daemon->loop.now - client->slow_since >=
	       daemon->options->client_timeout_ms * UINT64_C(1000000);
}

bool client_waits_too_long(const struct client *client)
{
	const struct daemon *daemon = client->daemon;

	return client->half_closed_at != 0 && client->waiting &&
	       daemon->loop.now - client->half_closed_at >=
	               daemon->options->client_timeout_ms * UINT64_C(1000000);
}
