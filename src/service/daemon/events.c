#include "events.h"

#include "client_tls.h"
#include "instance.h"

static void set_size(struct client *client, size_t size)
{
	struct clients *clients = &client->daemon->clients;

	if (size == client->events_size)
		return;
	size_t *of_user = user_events(client->user);
	clients->events_users -= *of_user > 0;
	*of_user = *of_user - client->events_size + size;
	clients->events_users += *of_user > 0;
	clients->events_size = clients->events_size - client->events_size + size;
	client->events_size = size;
}

bool client_takes_events(const struct client *client)
{
	const struct clients *clients = &client->daemon->clients;

	if (client->events_size > CLIENT_EVENTS_MAX)
		return false;
	return clients->events_size <= CLIENTS_EVENTS_MAX ||
	       client->events_size <= CLIENT_EVENTS_FREE ||
	       *user_events(client->user) < CLIENTS_EVENTS_MAX / clients->events_users;
}

void client_add_events(struct client *client, size_t size)
{
	struct clients *clients = &client->daemon->clients;

	set_size(client, client->events_size + size);
	clients->events_count++;
	user_enqueue_events(&clients->users, client->user, &client->telling);
}

void client_events_written(struct client *client)
{
	size_t unread = buffer_size(&client->output);

	user_dequeue(&client->daemon->clients.users, &client->telling);
	if (client->tls != NULL)
		unread += client_tls_unread(client);
	if (client->events_size > unread)
		set_size(client, unread);
}

void client_forget_events(struct client *client)
{
	user_dequeue(&client->daemon->clients.users, &client->telling);
	set_size(client, 0);
}
