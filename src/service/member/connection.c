/*
 * How a connection between two members comes about, what goes through it, and how it ends. What goes
 * through it is the link's (link.h), which outlives it, and the engine's notices.
 */
#include "internal.h"

#include "baton/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum {
	HELLO_MS = 5000,  /* for a handshake */
	ENDING_MS = 1000, /* for the other side to hear why */
	REDIAL_MS_MAX = 1000,
	ACKNOWLEDGE_MS = 100, /* at the latest */
	SAME_LINE_MS = 10000, /* how often the log says the same of a peer */
	STRANGER_MS = 1000,   /* how often it says anything of who is none */
	LAST_WORDS_MAX = LINK_FRAME_MAX + 4096,
	/* Bytes that wait for a peer, beyond which it gets no events; far below what ends an epoch. */
	CONGESTED_SIZE = 1 << 20,
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

static void set_patience(struct connection *connection, uint64_t ms)
{
	connection->patience_at = connection->member->now + ms * MS;
	member_due(connection->member, connection->patience_at);
}

/* --- complaints --- */

void peer_complain(struct peer *peer, const char *text)
{
	struct member *member = peer->member;
	uint64_t hash = XXH3_64bits(text, strlen(text));

	if (hash == peer->line_hash && member->now < peer->line_at + SAME_LINE_MS * MS)
		return;
	peer->line_hash = hash;
	peer->line_at = member->now;
	member_log(member, MEMBER_WARNING, "%s: %s", peer->name, text);
}

void connection_complain(const struct connection *connection, const char *text)
{
	if (connection->peer != NULL)
		peer_complain(connection->peer, text);
}

static void complain_of_refusal(struct peer *peer, const char *why)
{
	char text[LINK_TEXT_MAX + 64];

	snprintf(text, sizeof(text), "it ends the connection: %s", why);
	snprintf(peer->refusal, sizeof(peer->refusal), "%.255s", why);
	peer_complain(peer, text);
}

/* Of a connection that is not known to be a peer's: one line a second, the same more rarely. */
static void complain_of_stranger(const struct connection *connection, const char *text)
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

/* --- the end of a connection --- */

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

/* It is not the peer's connection any more. */
static void part(struct connection *connection)
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
	part(connection);
	member_outcome(connection->member, MEMBER_CLOSE, 0)->effect.close = connection;
}

void connection_end(struct connection *connection)
{
	const uint8_t *bytes;

	if (connection->state == CONNECTION_CLOSING || connection->state == CONNECTION_ENDING)
		return;
	/* The reason is the link's first output, or follows the rest of a frame that is half written. */
	if (connection->state == CONNECTION_UP) {
		size_t size = link_output(connection->peer->link, &bytes);
		buffer_append(&connection->output, bytes,
		              size < LAST_WORDS_MAX ? size : LAST_WORDS_MAX);
	}
	connection->state = CONNECTION_ENDING;
	set_patience(connection, ENDING_MS);
	part(connection);
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

void member_closed(struct member *member, struct connection *connection, const char *why,
                   uint64_t now)
{
	if (now > member->now)
		member->now = now;
	if (why != NULL && connection->peer != NULL)
		member_log(member, MEMBER_DEBUG, "%s: %s", connection->peer->name, why);
	part(connection);
	/* The driver closed it by itself before it could be told to. */
	struct outcome *outcome, *next;
	for (outcome = STAILQ_FIRST(&member->outcomes); outcome != NULL; outcome = next) {
		next = STAILQ_NEXT(outcome, entry);
		if ((outcome->effect.kind == MEMBER_CLOSE && outcome->effect.close == connection) ||
		    (outcome->effect.kind == MEMBER_DIAL &&
		     outcome->effect.dial.connection == connection)) {
			STAILQ_REMOVE(&member->outcomes, outcome, outcome, entry);
			free(outcome);
		}
	}
	connection_free(connection);
}

/* --- the handshake --- */

static void say(struct connection *connection, const uint8_t *bytes, size_t size)
{
	buffer_append(&connection->output, bytes, size);
	connection_changed(connection);
}

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

/* Both sides log it. */
static void refuse(struct connection *connection, struct peer *peer, const char *text)
{
	uint8_t room[LINK_HELLO_MAX];

	if (peer != NULL)
		peer_complain(peer, text);
	else
		complain_of_stranger(connection, text);
	say(connection, room, link_refusal_write(text, room));
	connection_end(connection);
}

/* NULL, or why this is nobody we want to talk to. */
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

static void take_bytes(struct connection *connection, const uint8_t *bytes, size_t size);

static void come_up(struct connection *connection, const struct link_hello *hello, size_t taken)
{
	struct peer *peer = connection->peer;

	if (peer->connection != NULL) /* it knows better than we that the old one is dead */
		connection_close(peer->connection);
	if (link_attach(peer->link, hello->peer_incarnation == 0 ? 0 : hello->received) != 0) {
		refuse(connection, peer, "claims to have got what was never sent");
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
	peer_tell(peer);
	struct buffer rest = connection->hello;
	connection->hello = (struct buffer){0};
	take_bytes(connection, (const uint8_t *)buffer_front(&rest) + taken,
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
		say(connection, answer, write_hello(peer, answer));
	}
	come_up(connection, hello, taken);
}

/* Something has come, and the handshake is not done. */
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
			complain_of_refusal(connection->peer, heard.text);
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

void connection_tick(struct connection *connection)
{
	if (connection->patience_at > connection->member->now)
		return;
	if (connection->state != CONNECTION_ENDING) {
		if (connection->peer != NULL)
			peer_complain(connection->peer, "does not answer");
		else
			complain_of_stranger(connection, "it says nothing");
	}
	connection_close(connection);
}

/* --- the beginning of a connection --- */

static struct connection *new_connection(struct member *member, enum connection_state state)
{
	struct connection *connection = calloc(1, sizeof(*connection));

	must(connection != NULL);
	connection->member = member;
	connection->state = state;
	LIST_INSERT_HEAD(&member->connections, connection, all);
	set_patience(connection, HELLO_MS);
	return connection;
}

struct connection *member_accepted(struct member *member, const char *from, void *user,
                                   uint64_t now)
{
	if (now > member->now)
		member->now = now;
	struct connection *connection = new_connection(member, CONNECTION_HELLO);
	connection->user = user;
	snprintf(connection->from, sizeof(connection->from), "%s", from);
	return connection;
}

void peer_dial(struct peer *peer)
{
	struct connection *connection = new_connection(peer->member, CONNECTION_DIALLING);

	peer->redial_at = NODE_NEVER;
	connection->peer = peer;
	connection->dialled = true;
	struct outcome *outcome = member_outcome(peer->member, MEMBER_DIAL, 0);
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

void member_dialled(struct member *member, struct connection *connection, uint64_t now)
{
	uint8_t room[LINK_HELLO_MAX];

	if (now > member->now)
		member->now = now;
	if (connection->state != CONNECTION_DIALLING)
		return;
	connection->state = CONNECTION_HELLO;
	say(connection, room, write_hello(connection->peer, room));
}

/* --- output --- */

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

void peer_tell(struct peer *peer)
{
	const uint8_t *bytes;
	size_t size = engine_write(peer->member->engine, &bytes);

	link_notice(peer->link, bytes, size);
	connection_changed(peer->connection);
}

/* Has it become congested, or is it over? */
static void look_at_congestion(struct peer *peer)
{
	struct member *member = peer->member;
	size_t pending = link_pending(peer->link);
	bool congested = pending > (peer->congested ? CONGESTED_SIZE / 2 : CONGESTED_SIZE);

	if (congested == peer->congested)
		return;
	peer->congested = congested;
	if (congested)
		peer_complain(peer, "much waits for it: it is sent no events until it takes that");
	node_congested(member->node, (uint32_t)(peer - member->peers) + 1, congested, member->now);
}

void peer_send(struct peer *peer, uint64_t epoch, const uint8_t *bytes, size_t size)
{
	must(peer->link != NULL);
	if (link_send(peer->link, epoch, bytes, size) != 0) {
		peer_complain(peer,
		              "takes no messages, and too many wait for it: the epoch must end");
		engine_bump(peer->member->engine, epoch);
		member_spread(peer->member);
		member_enter(peer->member);
		return;
	}
	if (peer->connection != NULL)
		connection_changed(peer->connection);
	look_at_congestion(peer);
}

/* --- input --- */

static void acknowledge_later(struct member *member)
{
	if (member->acknowledge_at != NODE_NEVER)
		return;
	member->acknowledge_at = member->now + ACKNOWLEDGE_MS * MS;
	member_due(member, member->acknowledge_at);
}

/* A notice of its engine. */
static void take_notice(struct connection *connection, const uint8_t *bytes, size_t size)
{
	struct member *member = connection->member;
	struct peer *peer = connection->peer;
	const char *text;

	if (engine_notice(member->engine, peer->name, bytes, size, &text) == 0) {
		member_spread(member);
		member_enter(member);
		return;
	}
	peer_complain(peer, text);
	link_refuse(peer->link, text);
	connection_end(connection);
}

/* A frame for the node; false: it does not want it yet. */
static bool take_frame(struct connection *connection, const uint8_t *bytes, size_t size)
{
	struct member *member = connection->member;
	struct peer *peer = connection->peer;

	if (!engine_agrees(member->engine, peer->name)) {
		peer_complain(peer, "sent a frame before it agreed on the view");
		connection_close(connection);
		return true;
	}
	int error = node_receive(member->node, peer->name, bytes, size, member->now);
	if (error == BATON_EAGAIN)
		return false;
	link_take(peer->link);
	if (error != 0)
		peer_complain(peer, "sent a frame that is refused: malformed, or not its own");
	acknowledge_later(member);
	return true;
}

/* The records that have come, as far as the node wants them. */
static void take_records(struct connection *connection)
{
	struct peer *peer = connection->peer;
	const uint8_t *bytes;
	size_t size;

	while (connection->state == CONNECTION_UP) {
		switch (link_next(peer->link, &bytes, &size)) {
		case LINK_NOTHING:
			return;
		case LINK_BROKEN:
			peer_complain(peer, (const char *)bytes);
			connection_close(connection);
			return;
		case LINK_REFUSED:
			complain_of_refusal(peer, (const char *)bytes);
			connection_close(connection);
			return;
		case LINK_NOTICE:
			take_notice(connection, bytes, size);
			break;
		case LINK_FRAME:
			if (!take_frame(connection, bytes, size)) {
				peer->stalled = true;
				connection_changed(connection);
				return;
			}
			break;
		}
	}
}

static void take_bytes(struct connection *connection, const uint8_t *bytes, size_t size)
{
	struct peer *peer = connection->peer;

	link_input(peer->link, bytes, size);
	take_records(connection);
	if (connection->state != CONNECTION_UP)
		return;
	if (peer->stalled)
		link_keep(peer->link);
	if (peer->congested)
		look_at_congestion(peer);
	if (link_wants_ack(peer->link))
		connection_changed(connection);
}

void peer_read_again(struct peer *peer)
{
	if (!peer->stalled)
		return;
	peer->stalled = false;
	connection_changed(peer->connection);
	take_records(peer->connection);
}

void member_input(struct member *member, struct connection *connection, const uint8_t *bytes,
                  size_t size, uint64_t now)
{
	if (now > member->now)
		member->now = now;
	if (size == 0)
		return;
	switch (connection->state) {
	case CONNECTION_HELLO:
		buffer_append(&connection->hello, bytes, size);
		greet(connection);
		break;
	case CONNECTION_UP:
		take_bytes(connection, bytes, size);
		break;
	case CONNECTION_DIALLING:
	case CONNECTION_ENDING:
	case CONNECTION_CLOSING:
		break;
	}
}
