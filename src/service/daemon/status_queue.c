#include "status_queue.h"

#include "flow.h"
#include "instance.h"
#include "log.h"
#include "memory.h"

#include <stdlib.h>
#include <string.h>

/* --- lines of clients that wait --- */

static bool nobody_waits(const struct user_replies *replies)
{
	return TAILQ_EMPTY(&replies->held) && TAILQ_EMPTY(&replies->put_off);
}

static struct status_line *line_of(struct client *client)
{
	struct user_replies *replies = user_replies(client->user);

	return client->status.stage == STATUS_HELD ? &replies->held : &replies->put_off;
}

static void enter_line(struct client *client, enum status_stage stage)
{
	struct user_replies *replies = user_replies(client->user);

	if (nobody_waits(replies))
		TAILQ_INSERT_TAIL(&client->daemon->clients.users.waiting, replies, entry);
	client->status.stage = stage;
	TAILQ_INSERT_TAIL(line_of(client), client, status.entry);
}

static void leave_line(struct client *client)
{
	struct user_replies *replies = user_replies(client->user);

	TAILQ_REMOVE(line_of(client), client, status.entry);
	if (nobody_waits(replies))
		TAILQ_REMOVE(&client->daemon->clients.users.waiting, replies, entry);
}

/* --- turns --- */

/* Is there memory for a long reply to the user? */
static bool has_room(const struct clients *clients, const struct user_replies *replies)
{
	return replies->room < USER_REPLIES_FREE ||
	       clients->unread_room + clients->making_room < CLIENTS_UNREAD_MAX;
}

/* Returns the client of the user whose STATUS need not wait any longer, or NULL. */
static struct client *next_of(const struct clients *clients, const struct user_replies *replies)
{
	if (replies->status_count >= USER_STATUS_MAX)
		return NULL;
	if (!TAILQ_EMPTY(&replies->put_off) && has_room(clients, replies))
		return TAILQ_FIRST(&replies->put_off);
	return TAILQ_FIRST(&replies->held);
}

void status_wake(struct clients *clients)
{
	struct user_replies *replies, *following;
	struct client *client;

	for (replies = TAILQ_FIRST(&clients->users.waiting); replies != NULL; replies = following) {
		following = TAILQ_NEXT(replies, entry); /* this user may be taken off the list */
		while ((client = next_of(clients, replies)) != NULL) {
			leave_line(client);
			client->status.stage = STATUS_DUE;
			replies->status_count++;
			client_turn(client);
		}
	}
}

bool status_enter(struct client *client, const char *pattern, size_t pattern_size, uint32_t count)
{
	struct user_replies *replies = user_replies(client->user);

	client->status = (struct client_status){.pattern_size = pattern_size, .count = count};
	if (pattern != NULL) {
		client->status.pattern = malloc(pattern_size + 1);
		memory_must(client->status.pattern != NULL);
		memcpy(client->status.pattern, pattern, pattern_size);
	}
	if (replies->status_count >= USER_STATUS_MAX) {
		enter_line(client, STATUS_HELD);
		return false;
	}
	client->status.stage = STATUS_DUE;
	replies->status_count++;
	return true;
}

bool status_put_off(struct client *client, size_t room)
{
	struct daemon *daemon = client->daemon;
	struct user_replies *replies = user_replies(client->user);
	char who[CLIENT_DESCRIPTION_MAX];

	if (room <= CLIENT_UNREAD_FREE || has_room(&daemon->clients, replies))
		return false;
	client_describe(client, who);
	if (log_limit_passes(&daemon->refusals, daemon->loop.now))
		log_line(LEVEL_WARNING,
		         "a STATUS waits: replies that are being made or not read take %d MiB or "
		         "more, and %zu MiB are of this user: %s",
		         CLIENTS_UNREAD_MAX >> 20, replies->room >> 20, who);
	enter_line(client, STATUS_PUT_OFF);
	replies->status_count--;
	status_wake(&daemon->clients);
	return true;
}

void status_leave(struct client *client)
{
	struct client_status *status = &client->status;
	bool counts = status->stage == STATUS_DUE || status->stage == STATUS_ASKED;

	if (status->stage == STATUS_NONE)
		return;
	if (!counts)
		leave_line(client);
	free(status->pattern);
	*status = (struct client_status){.stage = STATUS_NONE};
	if (!counts)
		return;
	user_replies(client->user)->status_count--;
	status_wake(&client->daemon->clients);
}
