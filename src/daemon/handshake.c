/*
 * How a connection between two members comes about. Of two the one whose name comes first dials;
 * whoever is dialled checks who it is, and refuses with a sentence that both sides log.
 */
#include "peers.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/socket.h>
#include <xxhash.h>

enum {
	GREETING_MS = 5000,   /* for a handshake */
	SILENT_CUT_MS = 3000, /* a connection without acknowledgements is dead */
	STRANGER_MS = 1000,   /* how often the log says anything of who is none */
};

static size_t hello_for(const struct peer *peer, uint8_t room[LINK_GREETING_MAX])
{
	struct daemon *daemon = peer->daemon;
	const struct daemon_options *options = daemon->options;
	struct link_hello hello = {
	        .cluster = XXH3_64bits(options->cluster, strlen(options->cluster)),
	        .setup = daemon->peers->setup,
	        .incarnation = daemon->incarnation,
	        .peer_incarnation = engine_incarnation(daemon->engine, peer->options->name),
	        .received = link_received(peer->link),
	};

	snprintf(hello.name, sizeof(hello.name), "%s", options->peers[options->self].name);
	snprintf(hello.peer, sizeof(hello.peer), "%s", peer->options->name);
	return link_hello_write(&hello, room);
}

static void say(struct connection *connection, const uint8_t *bytes, size_t size)
{
	uv_buf_t piece = uv_buf_init((char *)bytes, (unsigned)size);

	/* The first bytes of a new connection: there is room for them, or it is no good. */
	if (uv_try_write((uv_stream_t *)&connection->tcp, &piece, 1) != (int)size)
		connection_close(connection);
}

/* Of a connection that is not known to be a peer's: one line a second, the same more rarely. */
static void complain_of_stranger(struct connection *connection, const char *text)
{
	struct peers *peers = connection->daemon->peers;
	struct sockaddr_storage address;
	int size = sizeof(address);
	char host[INET6_ADDRSTRLEN] = "?";
	uint64_t hash = XXH3_64bits(text, strlen(text));
	uint64_t now = daemon_now();
	uint64_t ms = hash == peers->stranger_hash ? SAME_LINE_MS : STRANGER_MS;

	if (now < peers->stranger_at + UINT64_C(1000000) * ms)
		return;
	peers->stranger_hash = hash;
	peers->stranger_at = now;
	if (uv_tcp_getpeername(&connection->tcp, (struct sockaddr *)&address, &size) == 0)
		uv_ip_name((struct sockaddr *)&address, host, sizeof(host));
	log_line(LEVEL_WARNING, "a connection from %s is refused: %s", host, text);
}

/* Both sides log it. */
static void refuse(struct connection *connection, struct peer *peer, const char *text)
{
	uint8_t room[LINK_GREETING_MAX];

	if (peer != NULL)
		peer_complain(peer, text);
	else
		complain_of_stranger(connection, text);
	say(connection, room, link_refusal_write(text, room));
	connection_end(connection);
}

/* NULL, or why this is nobody we want to talk to. */
static const char *find_fault(struct daemon *daemon, const struct link_hello *hello, char text[],
                              size_t size)
{
	const struct daemon_options *options = daemon->options;
	const char *name = options->peers[options->self].name;

	if (hello->cluster != XXH3_64bits(options->cluster, strlen(options->cluster)))
		snprintf(text, size, "%s is of another cluster than %s ('%s'): see --cluster",
		         hello->name, name, options->cluster);
	else if (strcmp(hello->peer, name) != 0)
		snprintf(text, size, "this is %s, and %s looks for %s: see --peers", name,
		         hello->name, hello->peer);
	else if (strcmp(hello->name, name) == 0)
		snprintf(text, size, "two nodes call themselves %s: see --name", name);
	else if (hello->setup != daemon->peers->setup)
		snprintf(text, size,
		         "%s and %s differ in --peers, --algorithm, --topology or --param, which "
		         "must "
		         "be the same at all nodes",
		         hello->name, name);
	else if (hello->peer_incarnation != 0 && hello->peer_incarnation != daemon->incarnation)
		snprintf(text, size,
		         "%s restarted; this version cannot take it back: restart every node",
		         name);
	else
		return NULL;
	return text;
}

static struct peer *find_peer(struct daemon *daemon, const char *name)
{
	for (uint32_t i = 0; i < daemon->options->peers_count; i++) {
		if (strcmp(daemon->options->peers[i].name, name) == 0)
			return peer_of(daemon, i);
	}
	return NULL;
}

static void come_up(struct connection *connection, const struct link_hello *hello, size_t taken)
{
	struct peer *peer = connection->peer;

	if (peer->connection != NULL) /* it knows better than we that the old one is dead */
		connection_close(peer->connection);
	if (link_attach(peer->link, hello->peer_incarnation == 0 ? 0 : hello->received) != 0) {
		refuse(connection, peer, "claims to have got what was never sent");
		return;
	}
	uv_timer_stop(&connection->patience);
	peer_connected(connection, (const uint8_t *)buffer_front(&connection->greeting) + taken,
	               buffer_size(&connection->greeting) - taken);
	buffer_free(&connection->greeting);
}

static void meet(struct connection *connection, const struct link_hello *hello, size_t taken)
{
	struct daemon *daemon = connection->daemon;
	char room[1024];
	const char *text = find_fault(daemon, hello, room, sizeof(room));
	struct peer *peer = find_peer(daemon, hello->name);
	uint64_t known = engine_incarnation(daemon->engine, hello->name);

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
		engine_met(daemon->engine, hello->name, hello->incarnation, &text);
	if (text != NULL) {
		refuse(connection, connection->peer, text);
		return;
	}
	if (!connection->dialled) {
		uint8_t answer[LINK_GREETING_MAX];
		connection->peer = peer;
		say(connection, answer, hello_for(peer, answer));
	}
	if (!connection->closing)
		come_up(connection, hello, taken);
}

void connection_greet(struct connection *connection)
{
	struct link_greeted greeted;
	char text[LINK_TEXT_MAX + 64];

	link_greeting_read((const uint8_t *)buffer_front(&connection->greeting),
	                   buffer_size(&connection->greeting), &greeted);
	switch (greeted.kind) {
	case GREETING_MORE:
		return;
	case GREETING_HELLO:
		meet(connection, &greeted.hello, greeted.size);
		return;
	case GREETING_REFUSED:
		if (connection->peer != NULL)
			peer_complain_of_refusal(connection->peer, greeted.text);
		connection_close(connection);
		return;
	case GREETING_VERSION:
		snprintf(text, sizeof(text),
		         "the other side speaks version %u of the protocol, this one %d",
		         greeted.version, LINK_VERSION);
		refuse(connection, connection->peer, text);
		return;
	case GREETING_NONSENSE:
		refuse(connection, connection->peer, "it does not speak baton's protocol");
		return;
	}
}

static void on_impatience(uv_timer_t *timer)
{
	struct connection *connection = timer->data;

	if (connection->peer != NULL)
		peer_complain(connection->peer, "does not answer");
	else
		complain_of_stranger(connection, "it says nothing");
	connection_close(connection);
}

/* --- the beginning of a connection --- */

static struct connection *new_connection(struct daemon *daemon)
{
	struct connection *connection = calloc(1, sizeof(*connection));
	struct peers *peers = daemon->peers;

	must(connection != NULL);
	connection->daemon = daemon;
	connection->next = peers->connections;
	connection->link = &peers->connections;
	if (connection->next != NULL)
		connection->next->link = &connection->next;
	peers->connections = connection;
	must(uv_tcp_init(&daemon->loop, &connection->tcp) == 0);
	must(uv_timer_init(&daemon->loop, &connection->patience) == 0);
	connection->handles = 2;
	connection->tcp.data = connection->patience.data = connection;
	uv_timer_start(&connection->patience, on_impatience, GREETING_MS, 0);
	return connection;
}

/* No delay, and an end that is noticed even if nobody says so. */
static void tune(struct connection *connection)
{
	uv_os_fd_t fd;
	int on = 1, interval = 1, probes = 2;
	unsigned patience = SILENT_CUT_MS;

	uv_tcp_nodelay(&connection->tcp, 1);
	if (uv_fileno((uv_handle_t *)&connection->tcp, &fd) != 0)
		return;
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &interval, sizeof(interval));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof(interval));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes));
	setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &patience, sizeof(patience));
}

void connection_accept(uv_stream_t *listener, int status)
{
	struct daemon *daemon = listener->data;

	if (status < 0) {
		log_line(LEVEL_WARNING, "a peer cannot be accepted: %s", uv_strerror(status));
		return;
	}
	struct connection *connection = new_connection(daemon);
	if (uv_accept(listener, (uv_stream_t *)&connection->tcp) != 0 || daemon->leaving) {
		connection_close(connection);
		return;
	}
	tune(connection);
	uv_read_start((uv_stream_t *)&connection->tcp, connection_need, connection_read);
}

static void on_connected(uv_connect_t *connect, int status)
{
	struct connection *connection = connect->data;
	uint8_t room[LINK_GREETING_MAX];

	if (connection->closing)
		return;
	if (status < 0) {
		log_line(LEVEL_DEBUG, "%s: %s", connection->peer->options->name,
		         uv_strerror(status));
		connection_close(connection);
		return;
	}
	tune(connection);
	say(connection, room, hello_for(connection->peer, room));
	if (!connection->closing)
		uv_read_start((uv_stream_t *)&connection->tcp, connection_need, connection_read);
}

static void connect_to(struct connection *connection, const struct addrinfo *found)
{
	connection->connect.data = connection;
	if (uv_tcp_connect(&connection->connect, &connection->tcp, found->ai_addr, on_connected) !=
	    0)
		connection_close(connection);
}

static void on_resolved(uv_getaddrinfo_t *resolve, int status, struct addrinfo *found)
{
	struct connection *connection = resolve->data;

	connection->resolving = false;
	if (connection->closing) {
		uv_freeaddrinfo(found);
		if (connection->handles == 0) {
			connection->handles = 1;
			connection_closed((uv_handle_t *)&connection->tcp);
		}
		return;
	}
	if (status == 0) {
		connect_to(connection, found);
	} else {
		char text[400];
		snprintf(text, sizeof(text), "its host '%s' is not found: %s",
		         connection->peer->options->address.host, uv_strerror(status));
		peer_complain(connection->peer, text);
		connection_close(connection);
	}
	uv_freeaddrinfo(found);
}

void peer_dial(struct peer *peer)
{
	struct daemon *daemon = peer->daemon;
	struct connection *connection = new_connection(daemon);
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
	char port[8];

	connection->peer = peer;
	connection->dialled = true;
	snprintf(port, sizeof(port), "%u", peer->options->address.port);
	struct addrinfo numeric = hints, *found;
	numeric.ai_flags |= AI_NUMERICHOST;
	if (getaddrinfo(peer->options->address.host, port, &numeric, &found) == 0) {
		connect_to(connection, found); /* without a thread that looks names up */
		freeaddrinfo(found);
		return;
	}
	connection->resolve.data = connection;
	connection->resolving = true;
	if (uv_getaddrinfo(&daemon->loop, &connection->resolve, on_resolved,
	                   peer->options->address.host, port, &hints) != 0) {
		connection->resolving = false;
		connection_close(connection);
	}
}
