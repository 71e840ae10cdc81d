#include "connection.h"

#include "member_state.h"
#include "memory.h"
#include "outcome.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum {
	HELLO_MS = 5000,  /* how long a handshake may take */
	ENDING_MS = 1000, /* how long the other side has to read why the connection ends */
	REDIAL_MS_MAX = 1000,
	SAME_LINE_MS = 10000, /* the least time between equal log lines about strangers */
	STRANGER_MS = 1000,   /* the least time between any log lines about strangers */
	LAST_WORDS_MAX = LINK_FRAME_MAX + 4096,
};

void connection_changed(struct connection *connection)
{
	if (connection->changed)
		return;
	connection->changed = true;
	STAILQ_INSERT_TAIL(&connection->member->changed, connection, changed_entry);
}

struct connection *member_changed(struct member *member)
{
	struct connection *connection = STAILQ_FIRST(&member->changed);

	if (connection == NULL)
		return NULL;
	STAILQ_REMOVE_HEAD(&member->changed, changed_entry);
	connection->changed = false;
	return connection;
}

void connection_say(struct connection *connection, const uint8_t *bytes, size_t size)
{
	buffer_append(&connection->output, bytes, size);
	connection_changed(connection);
}

static void set_patience(struct connection *connection, uint64_t ms)
{
	connection->patience_at = connection->member->now + ms * MS;
	member_due(connection->member, connection->patience_at);
}

/* --- complaints --- */

void connection_complain(const struct connection *connection, const char *text)
{
	if (connection->peer != NULL)
		peer_complain(connection->peer, text);
}

/* Logs something about a connection that is not known to be a peer's: one line a second, equal ones
 * more rarely. */
void connection_complain_of_stranger(const struct connection *connection, const char *text)
{
	struct member *member = connection->member;
	uint64_t hash = XXH3_64bits(text, strlen(text));
	uint64_t ms = hash == member->stranger_hash ? SAME_LINE_MS : STRANGER_MS;

	if (member->stranger_at != 0 && member->now < member->stranger_at + ms * MS)
		return;
	member->stranger_hash = hash;
	member->stranger_at = member->now;
	member_log(member, MEMBER_WARNING, "a connection from %s is refused: %s", connection->from,
	           text);
}

/* --- the beginning --- */

struct connection *connection_new(struct member *member, enum connection_state state)
{
	struct connection *connection = calloc(1, sizeof(*connection));

	memory_must(connection != NULL);
	connection->member = member;
	connection->state = state;
	LIST_INSERT_HEAD(&member->connections, connection, all);
	set_patience(connection, HELLO_MS);
	return connection;
}

void peer_dial(struct peer *peer)
{
	struct connection *connection = connection_new(peer->member, CONNECTION_DIALLING);

	peer->redial_at = NODE_NEVER;
	connection->peer = peer;
	connection->dialled = true;
	struct outcome *outcome = outcome_add(peer->member, MEMBER_DIAL, 0);
	outcome->effect.dial.connection = connection;
	outcome->effect.dial.peer = (uint32_t)(peer - peer->member->peers);
}

void connection_set_user(struct connection *connection, void *user)
{
	connection->user = user;
}

void *connection_user(const struct connection *connection)
{
	return connection->user;
}

/* --- the end --- */

static void dial_later(struct peer *peer)
{
	struct member *member = peer->member;

	if (member->leaving)
		return;
	peer->redial_at = member->now + peer->backoff_ms * MS;
	member_due(member, peer->redial_at);
	peer->backoff_ms =
	        peer->backoff_ms * 2 > REDIAL_MS_MAX ? REDIAL_MS_MAX : peer->backoff_ms * 2;
}

/* The connection no longer belongs to its peer. */
void connection_part(struct connection *connection)
{
	struct member *member = connection->member;
	struct peer *peer = connection->peer;

	if (peer == NULL)
		return;
	connection->peer = NULL;
	if (peer->connection == connection) {
		peer->connection = NULL;
		peer->stalled = false;
		link_detach(peer->link);
		engine_parted(member->engine, peer->name);
		if (!member->leaving)
			member_log(member, MEMBER_WARNING, "%s: the connection is gone",
			           peer->name);
	}
	if (connection->dialled && peer->connection == NULL)
		dial_later(peer);
}

void connection_close(struct connection *connection)
{
	if (connection->state == CONNECTION_CLOSING)
		return;
	connection->state = CONNECTION_CLOSING;
	connection->patience_at = NODE_NEVER;
	buffer_free(&connection->output);
	connection_part(connection);
	outcome_add(connection->member, MEMBER_CLOSE, 0)->effect.close = connection;
}

void connection_end(struct connection *connection)
{
	const uint8_t *bytes;

	if (connection->state == CONNECTION_CLOSING || connection->state == CONNECTION_ENDING)
		return;
	/* The reason is the link's next output, after the rest of a frame that is half written. */
	if (connection->state == CONNECTION_UP) {
		size_t size = link_output(connection->peer->link, &bytes);
		buffer_append(&connection->output, bytes,
		              size < LAST_WORDS_MAX ? size : LAST_WORDS_MAX);
	}
	connection->state = CONNECTION_ENDING;
	set_patience(connection, ENDING_MS);
	connection_part(connection);
	connection_changed(connection);
}

void connection_free(struct connection *connection)
{
	if (connection->changed)
		STAILQ_REMOVE(&connection->member->changed, connection, connection, changed_entry);
	LIST_REMOVE(connection, all);
	buffer_free(&connection->hello);
	buffer_free(&connection->output);
	free(connection);
}

void connection_tick(struct connection *connection)
{
	if (connection->patience_at > connection->member->now)
		return;
	if (connection->state != CONNECTION_ENDING) {
		if (connection->peer != NULL)
			peer_complain(connection->peer, "does not answer");
		else
			connection_complain_of_stranger(connection, "it says nothing");
	}
	connection_close(connection);
}

/* --- output, and what the driver asks --- */

size_t connection_output(struct connection *connection, const uint8_t **ret_bytes)
{
	if (buffer_size(&connection->output) > 0) {
		*ret_bytes = (const uint8_t *)buffer_front(&connection->output);
		return buffer_size(&connection->output);
	}
	if (connection->state != CONNECTION_UP)
		return 0;
	if (link_wants_ack(connection->peer->link))
		link_ack(connection->peer->link);
	return link_output(connection->peer->link, ret_bytes);
}

void connection_written(struct connection *connection, size_t size)
{
	if (buffer_size(&connection->output) > 0)
		buffer_take(&connection->output, size);
	else
		link_written(connection->peer->link, size);
}

bool connection_reads(const struct connection *connection)
{
	return connection->peer == NULL || !connection->peer->stalled ||
	       connection->peer->connection != connection;
}

bool connection_ends(const struct connection *connection)
{
	return connection->state == CONNECTION_ENDING;
}
