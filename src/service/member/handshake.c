#include "handshake.h"

#include "member_state.h"
#include "outcome.h"
#include "records.h"
#include "views.h"

#include <stdio.h>
#include <string.h>

static size_t write_hello(const struct peer *peer, uint8_t room[LINK_HELLO_MAX])
{
	const struct member *member = peer->member;
	struct link_hello hello = {
	        .cluster = member->cluster_hash,
	        .setup = member->setup,
	        .incarnation = member->incarnation,
	        .peer_incarnation = engine_incarnation(member->engine, peer->name),
	        .received = link_received(peer->link),
	};

	snprintf(hello.name, sizeof(hello.name), "%s", member->peers[member->self].name);
	snprintf(hello.peer, sizeof(hello.peer), "%s", peer->name);
	return link_hello_write(&hello, room);
}

/* Refuses the connection. Both sides log the reason. */
static void refuse(struct connection *connection, struct peer *peer, const char *text)
{
	uint8_t room[LINK_HELLO_MAX];

	if (peer != NULL)
		peer_complain(peer, text);
	else
		connection_complain_of_stranger(connection, text);
	connection_say(connection, room, link_refusal_write(text, room));
	connection_end(connection);
}

/* Returns NULL, or why we do not want to talk to this one. */
static const char *find_fault(const struct member *member, const struct link_hello *hello,
                              char text[], size_t size)
{
	const char *name = member->peers[member->self].name;

	if (hello->cluster != member->cluster_hash)
		snprintf(text, size, "%s is of another cluster than %s ('%s'): see --cluster",
		         hello->name, name, member->cluster);
	else if (strcmp(hello->peer, name) != 0)
		snprintf(text, size, "this is %s, and %s looks for %s: see --peers", name,
		         hello->name, hello->peer);
	else if (strcmp(hello->name, name) == 0)
		snprintf(text, size, "two nodes call themselves %s: see --name", name);
	else if (hello->setup != member->setup)
		snprintf(
		        text, size,
		        "%s and %s differ in --peers, --algorithm, --topology, --param or --lease, "
		        "which must be the same at all nodes",
		        hello->name, name);
	else if (hello->peer_incarnation != 0 && hello->peer_incarnation != member->incarnation)
		snprintf(text, size,
		         "%s restarted; this version cannot take it back: restart every node",
		         name);
	else
		return NULL;
	return text;
}

static struct peer *find_peer(const struct member *member, const char *name)
{
	for (uint32_t i = 0; i < member->peers_count; i++) {
		if (strcmp(member->peers[i].name, name) == 0)
			return &member->peers[i];
	}
	return NULL;
}

static void come_up(struct connection *connection, const struct link_hello *hello, size_t taken)
{
	struct peer *peer = connection->peer;

	/* The other side dialled again, so it knows that the old connection is dead. */
	if (peer->connection != NULL)
		connection_close(peer->connection);
	if (link_attach(peer->link, hello->peer_incarnation == 0 ? 0 : hello->received) != 0) {
		refuse(connection, peer, "claims to have received what was never sent");
		return;
	}
	peer->redial_at = NODE_NEVER;
	peer->connection = connection;
	peer->backoff_ms = REDIAL_MS_FIRST;
	peer->line_hash = 0;
	peer->refusal[0] = '\0';
	connection->state = CONNECTION_UP;
	connection->patience_at = NODE_NEVER;
	member_log(connection->member, MEMBER_INFO, "%s: connected", peer->name);
	views_tell(peer);
	struct buffer rest = connection->hello;
	connection->hello = (struct buffer){0};
	records_input(connection, (const uint8_t *)buffer_front(&rest) + taken,
	              buffer_size(&rest) - taken);
	buffer_free(&rest);
}

static void meet(struct connection *connection, const struct link_hello *hello, size_t taken)
{
	struct member *member = connection->member;
	char room[1024];
	const char *text = find_fault(member, hello, room, sizeof(room));
	struct peer *peer = find_peer(member, hello->name);
	uint64_t known = engine_incarnation(member->engine, hello->name);

	if (text == NULL && (peer == NULL || peer->link == NULL)) {
		snprintf(room, sizeof(room), "%s has no link to %s in this topology", hello->name,
		         hello->peer);
		text = room;
	}
	if (text == NULL && known != 0 && known != hello->incarnation && peer->connection != NULL) {
		snprintf(room, sizeof(room),
		         "another process is connected as %s already: two nodes with one name?",
		         hello->name);
		text = room;
	}
	if (text == NULL)
		engine_met(member->engine, hello->name, hello->incarnation, &text);
	if (text != NULL) {
		refuse(connection, connection->peer, text);
		return;
	}
	if (!connection->dialled) {
		uint8_t answer[LINK_HELLO_MAX];
		connection->peer = peer;
		connection_say(connection, answer, write_hello(peer, answer));
	}
	come_up(connection, hello, taken);
}

/* Reads what has arrived of the handshake. */
static void greet(struct connection *connection)
{
	struct link_heard heard;
	char text[LINK_TEXT_MAX + 64];

	link_hello_read((const uint8_t *)buffer_front(&connection->hello),
	                buffer_size(&connection->hello), &heard);
	switch (heard.kind) {
	case HELLO_MORE:
		return;
	case HELLO_WHOLE:
		meet(connection, &heard.hello, heard.size);
		return;
	case HELLO_REFUSED:
		if (connection->peer != NULL)
			peer_complain_of_refusal(connection->peer, heard.text);
		connection_close(connection);
		return;
	case HELLO_VERSION:
		snprintf(text, sizeof(text),
		         "the other side speaks version %u of the protocol, this one %d",
		         heard.version, LINK_VERSION);
		refuse(connection, connection->peer, text);
		return;
	case HELLO_NONSENSE:
		refuse(connection, connection->peer, "it does not speak baton's protocol");
		return;
	}
}

void handshake_begin(struct connection *connection)
{
	uint8_t room[LINK_HELLO_MAX];

	connection_say(connection, room, write_hello(connection->peer, room));
}

void handshake_input(struct connection *connection, const uint8_t *bytes, size_t size)
{
	buffer_append(&connection->hello, bytes, size);
	greet(connection);
}
