/*
 * Connections between members. Of two the one whose name comes first dials; whoever is dialled
 * checks who it is, and refuses with a sentence that both sides log. What goes through a connection is the link's
 * (net/link.h), which outlives it, and the engine's notices; here are only the sockets.
 *
 * A seam for TLS: on_read and write_piece are the only places that see the bytes of a connection.
 */
#include "internal.h"

#include "link.h"

#include "baton/error.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/socket.h>
#include <xxhash.h>

enum {
	REDIAL_MS_FIRST = 20,
	REDIAL_MS_MAX = 1000,
	GREETING_MS = 5000,   /* for a handshake */
	ACKNOWLEDGE_MS = 100, /* at the latest */
	SILENT_CUT_MS = 3000, /* a connection without acknowledgements is dead */
	KEPT_MAX = 64 << 20,  /* bytes kept for a peer that does not take them */
	PIECE_MAX = 1 << 18,  /* bytes of a write that has to wait */
	SAME_LINE_MS = 10000, /* how often the log says the same of a peer */
	STRANGER_MS = 1000,   /* how often it says anything of who is none */
};

struct connection {
	uv_tcp_t tcp;
	uv_timer_t patience; /* until the handshake is done */
	uv_connect_t connect;
	uv_getaddrinfo_t resolve;
	uv_write_t request;
	struct daemon *daemon;
	struct peer *peer; /* NULL: it has not said who it is */
	struct connection *next, **link;
	struct buffer greeting; /* until the handshake is done */
	char *piece;            /* being written */
	bool dialled, up, closing, resolving;
	int handles; /* that are not closed yet */
};

struct peer {
	struct daemon *daemon;
	const struct daemon_peer *options;
	struct link *link;
	struct connection *connection; /* the one that is up */
	struct connection *attempt;    /* the one we dial */
	uv_timer_t redial;
	uint32_t backoff_ms;
	bool stalled; /* the node does not want its next frame yet */
	bool dirty;
	struct peer *dirty_next;
	uint64_t line_hash, line_at; /* what was last complained of */
};

struct peers {
	uv_tcp_t listener;
	bool listening;
	uv_timer_t acknowledge;
	bool acknowledging;
	struct connection *connections;
	struct peer *dirty;
	uint64_t setup;                      /* what must be the same at all */
	uint64_t stranger_hash, stranger_at; /* what was last complained of, and when */
	char *missing;
	struct peer peers[];
};

static void dial(struct peer *peer);
static void flush(struct peer *peer);

static struct peer *peer_of(struct daemon *daemon, uint32_t index)
{
	return &daemon->peers->peers[index];
}

static void mark_dirty(struct peer *peer)
{
	struct peers *peers = peer->daemon->peers;

	if (peer->dirty)
		return;
	peer->dirty = true;
	peer->dirty_next = peers->dirty;
	peers->dirty = peer;
}

/* A complaint about a peer; the same one again only now and then. */
static void complain(struct peer *peer, const char *text)
{
	uint64_t hash = XXH3_64bits(text, strlen(text));
	uint64_t now = daemon_now();

	if (hash == peer->line_hash && now < peer->line_at + UINT64_C(1000000) * SAME_LINE_MS)
		return;
	peer->line_hash = hash;
	peer->line_at = now;
	log_line(LEVEL_WARNING, "%s: %s", peer->options->name, text);
}

static void complain_of_refusal(struct peer *peer, const char *why)
{
	char text[LINK_TEXT_MAX + 64];

	snprintf(text, sizeof(text), "it ends the connection: %s", why);
	complain(peer, text);
}

/* --- the end of a connection --- */

static void on_closed(uv_handle_t *handle)
{
	struct connection *connection = handle->data;

	if (--connection->handles > 0 || connection->resolving)
		return;
	*connection->link = connection->next;
	if (connection->next != NULL)
		connection->next->link = connection->link;
	buffer_free(&connection->greeting);
	free(connection->piece);
	free(connection);
}

static void on_redial(uv_timer_t *timer)
{
	dial(timer->data);
}

static void dial_later(struct peer *peer)
{
	if (peer->daemon->leaving)
		return;
	uv_timer_start(&peer->redial, on_redial, peer->backoff_ms, 0);
	peer->backoff_ms =
	        peer->backoff_ms * 2 > REDIAL_MS_MAX ? REDIAL_MS_MAX : peer->backoff_ms * 2;
}

static void close_connection(struct connection *connection)
{
	struct peer *peer = connection->peer;

	if (connection->closing)
		return;
	connection->closing = true;
	if (connection->resolving)
		uv_cancel((uv_req_t *)&connection->resolve);
	uv_close((uv_handle_t *)&connection->tcp, on_closed);
	uv_close((uv_handle_t *)&connection->patience, on_closed);
	if (peer == NULL)
		return;
	if (peer->connection == connection) {
		peer->connection = NULL;
		peer->stalled = false;
		link_detach(peer->link);
		engine_parted(connection->daemon->engine, peer->options->name);
		if (!connection->daemon->leaving)
			log_line(LEVEL_WARNING, "%s: the connection is gone", peer->options->name);
	}
	if (peer->attempt == connection)
		peer->attempt = NULL;
	if (connection->dialled && peer->connection == NULL)
		dial_later(peer);
}

/* --- writing --- */

static void on_piece_written(uv_write_t *request, int status)
{
	struct connection *connection = request->data;

	free(connection->piece);
	connection->piece = NULL;
	if (connection->closing)
		return;
	if (status < 0)
		close_connection(connection);
	else if (connection->peer != NULL)
		mark_dirty(connection->peer);
}

/* How many of the bytes are gone, or an error. What the socket does not take at once waits in a copy. */
static ssize_t write_piece(struct connection *connection, const uint8_t *bytes, size_t size)
{
	uv_buf_t piece = uv_buf_init((char *)bytes, (unsigned)size);
	int written = uv_try_write((uv_stream_t *)&connection->tcp, &piece, 1);

	if (written < 0 && written != UV_EAGAIN)
		return written;
	size_t gone = written < 0 ? 0 : (size_t)written;
	if (gone == size)
		return (ssize_t)size;
	size_t rest = size - gone < PIECE_MAX ? size - gone : PIECE_MAX;
	connection->piece = malloc(rest);
	must(connection->piece != NULL);
	memcpy(connection->piece, bytes + gone, rest);
	piece = uv_buf_init(connection->piece, (unsigned)rest);
	connection->request.data = connection;
	int error = uv_write(&connection->request, (uv_stream_t *)&connection->tcp, &piece, 1,
	                     on_piece_written);
	return error < 0 ? error : (ssize_t)(gone + rest);
}

static void flush(struct peer *peer)
{
	struct connection *connection = peer->connection;
	const uint8_t *bytes;
	size_t size;

	if (connection == NULL)
		return;
	if (link_wants_ack(peer->link))
		link_ack(peer->link);
	while (connection->piece == NULL && (size = link_output(peer->link, &bytes)) > 0) {
		ssize_t written = write_piece(connection, bytes, size);
		if (written < 0) {
			close_connection(connection);
			return;
		}
		link_written(peer->link, (size_t)written);
	}
}

void peers_flush(struct daemon *daemon)
{
	struct peers *peers = daemon->peers;

	while (peers->dirty != NULL) {
		struct peer *peer = peers->dirty;
		peers->dirty = peer->dirty_next;
		peer->dirty = false;
		flush(peer);
	}
}

static void on_acknowledge(uv_timer_t *timer)
{
	struct daemon *daemon = timer->data;

	daemon->peers->acknowledging = false;
	for (uint32_t i = 0; i < daemon->options->peers_count; i++) {
		struct peer *peer = peer_of(daemon, i);
		if (peer->connection == NULL)
			continue;
		link_ack(peer->link);
		mark_dirty(peer);
	}
}

static void acknowledge_later(struct daemon *daemon)
{
	if (daemon->peers->acknowledging)
		return;
	daemon->peers->acknowledging = true;
	uv_timer_start(&daemon->peers->acknowledge, on_acknowledge, ACKNOWLEDGE_MS, 0);
}

void peers_send(struct daemon *daemon, uint32_t member, uint64_t epoch, const uint8_t *bytes,
                size_t size)
{
	struct peer *peer = peer_of(daemon, member - 1);

	must(peer->link != NULL);
	if (link_send(peer->link, epoch, bytes, size) != 0) {
		complain(peer, "takes no messages, and too many wait for it: the epoch must end");
		engine_bump(daemon->engine, epoch);
		return;
	}
	mark_dirty(peer);
}

static void tell(struct peer *peer)
{
	const uint8_t *bytes;
	size_t size = engine_write(peer->daemon->engine, &bytes);

	link_notice(peer->link, bytes, size);
	mark_dirty(peer);
}

void peers_tell(struct daemon *daemon)
{
	if (!engine_news(daemon->engine))
		return;
	const struct engine_view *view = engine_view(daemon->engine, NULL);
	for (uint32_t i = 0; i < daemon->options->peers_count; i++) {
		struct peer *peer = peer_of(daemon, i);
		if (peer->link != NULL && view != NULL)
			link_forget(peer->link, view->epoch);
		if (peer->connection != NULL)
			tell(peer);
	}
}

/* --- frames and notices --- */

/* The frames that have come; false: the connection has ended. */
static bool take_records(struct peer *peer)
{
	struct daemon *daemon = peer->daemon;
	struct connection *connection = peer->connection;
	const char *name = peer->options->name, *text;
	const uint8_t *bytes;
	size_t size;
	int error;

	for (;;) {
		switch (link_next(peer->link, &bytes, &size)) {
		case LINK_NOTHING:
			return true;
		case LINK_BROKEN:
			complain(peer, (const char *)bytes);
			close_connection(connection);
			return false;
		case LINK_REFUSED:
			complain_of_refusal(peer, (const char *)bytes);
			close_connection(connection);
			return false;
		case LINK_NOTICE:
			if (engine_notice(daemon->engine, name, bytes, size, &text) != 0) {
				complain(peer, text);
				link_refuse(peer->link, text);
				flush(peer);
				close_connection(connection);
				return false;
			}
			daemon_view(daemon);
			break;
		case LINK_FRAME:
			if (!engine_agrees(daemon->engine, name)) {
				complain(peer, "sent a frame before it agreed on the view");
				close_connection(connection);
				return false;
			}
			error = node_receive(daemon->node, name, bytes, size, daemon_now());
			if (error == BATON_EAGAIN) {
				peer->stalled = true;
				return true;
			}
			link_take(peer->link);
			if (error != 0)
				complain(peer,
				         "sent a frame that is refused: malformed, or not its own");
			acknowledge_later(daemon);
			break;
		}
		if (peer->connection != connection)
			return false;
	}
}

static void on_need(uv_handle_t *handle, size_t suggested, uv_buf_t *ret_buf)
{
	struct connection *connection = handle->data;

	(void)suggested;
	*ret_buf = uv_buf_init(connection->daemon->inbox, sizeof(connection->daemon->inbox));
}

static void greet(struct connection *connection);

static void on_read(uv_stream_t *stream, ssize_t size, const uv_buf_t *buf)
{
	struct connection *connection = stream->data;
	struct peer *peer = connection->peer;

	if (size < 0) {
		close_connection(connection);
		return;
	}
	if (size == 0)
		return;
	if (!connection->up) {
		buffer_append(&connection->greeting, buf->base, (size_t)size);
		greet(connection);
		return;
	}
	link_input(peer->link, (const uint8_t *)buf->base, (size_t)size);
	if (take_records(peer) && peer->stalled) {
		link_keep(peer->link);
		uv_read_stop(stream);
	}
	daemon_effects(connection->daemon);
	if (peer->connection != NULL && link_wants_ack(peer->link))
		mark_dirty(peer);
}

void peers_read_again(struct daemon *daemon)
{
	for (uint32_t i = 0; i < daemon->options->peers_count; i++) {
		struct peer *peer = peer_of(daemon, i);
		if (!peer->stalled)
			continue;
		peer->stalled = false;
		if (take_records(peer) && !peer->stalled)
			uv_read_start((uv_stream_t *)&peer->connection->tcp, on_need, on_read);
	}
}

/* --- the handshake --- */

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
		close_connection(connection);
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
		complain(peer, text);
	else
		complain_of_stranger(connection, text);
	say(connection, room, link_refusal_write(text, room));
	close_connection(connection);
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
	struct daemon *daemon = connection->daemon;
	struct peer *peer = connection->peer;

	if (peer->connection != NULL) /* it knows better than we that the old one is dead */
		close_connection(peer->connection);
	if (link_attach(peer->link, hello->peer_incarnation == 0 ? 0 : hello->received) != 0) {
		refuse(connection, peer, "claims to have got what was never sent");
		return;
	}
	uv_timer_stop(&connection->patience);
	uv_timer_stop(&peer->redial);
	peer->connection = connection;
	peer->backoff_ms = REDIAL_MS_FIRST;
	peer->line_hash = 0;
	connection->up = true;
	log_line(LEVEL_INFO, "%s: connected", peer->options->name);
	tell(peer);
	link_input(peer->link, (const uint8_t *)buffer_front(&connection->greeting) + taken,
	           buffer_size(&connection->greeting) - taken);
	if (take_records(peer) && peer->stalled) {
		link_keep(peer->link);
		uv_read_stop((uv_stream_t *)&connection->tcp);
	}
	buffer_free(&connection->greeting);
	daemon_effects(daemon);
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

static void greet(struct connection *connection)
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
			complain_of_refusal(connection->peer, greeted.text);
		close_connection(connection);
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
		complain(connection->peer, "does not answer");
	else
		complain_of_stranger(connection, "it says nothing");
	close_connection(connection);
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

static void on_connection(uv_stream_t *listener, int status)
{
	struct daemon *daemon = listener->data;

	if (status < 0) {
		log_line(LEVEL_WARNING, "a peer cannot be accepted: %s", uv_strerror(status));
		return;
	}
	struct connection *connection = new_connection(daemon);
	if (uv_accept(listener, (uv_stream_t *)&connection->tcp) != 0 || daemon->leaving) {
		close_connection(connection);
		return;
	}
	tune(connection);
	uv_read_start((uv_stream_t *)&connection->tcp, on_need, on_read);
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
		close_connection(connection);
		return;
	}
	tune(connection);
	say(connection, room, hello_for(connection->peer, room));
	if (!connection->closing)
		uv_read_start((uv_stream_t *)&connection->tcp, on_need, on_read);
}

static void connect_to(struct connection *connection, const struct addrinfo *found)
{
	connection->connect.data = connection;
	if (uv_tcp_connect(&connection->connect, &connection->tcp, found->ai_addr, on_connected) !=
	    0)
		close_connection(connection);
}

static void on_resolved(uv_getaddrinfo_t *resolve, int status, struct addrinfo *found)
{
	struct connection *connection = resolve->data;

	connection->resolving = false;
	if (connection->closing) {
		uv_freeaddrinfo(found);
		if (connection->handles == 0) {
			connection->handles = 1;
			on_closed((uv_handle_t *)&connection->tcp);
		}
		return;
	}
	if (status == 0) {
		connect_to(connection, found);
	} else {
		char text[400];
		snprintf(text, sizeof(text), "its host '%s' is not found: %s",
		         connection->peer->options->address.host, uv_strerror(status));
		complain(connection->peer, text);
		close_connection(connection);
	}
	uv_freeaddrinfo(found);
}

static void dial(struct peer *peer)
{
	struct daemon *daemon = peer->daemon;
	struct connection *connection = new_connection(daemon);
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
	char port[8];

	connection->peer = peer;
	connection->dialled = true;
	peer->attempt = connection;
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
		close_connection(connection);
	}
}

/* --- the whole --- */

/* What all nodes must have the same: who they are, and the algorithm on which topology. */
static uint64_t digest_setup(const struct daemon_options *options)
{
	XXH3_state_t *state = XXH3_createState();

	must(state != NULL);
	XXH3_64bits_reset(state);
	for (uint32_t i = 0; i < options->peers_count; i++)
		XXH3_64bits_update(state, options->peers[i].name,
		                   strlen(options->peers[i].name) + 1);
	XXH3_64bits_update(state, options->algorithm->name, strlen(options->algorithm->name) + 1);
	const char *topology =
	        options->topology != NULL ? options->topology : options->algorithm->topology;
	XXH3_64bits_update(state, topology, strlen(topology) + 1);
	XXH3_64bits_update(state, options->parameters,
	                   PARAMETERS_MAX * sizeof(*options->parameters));
	for (size_t i = 0; i < PARAMETERS_MAX; i++) {
		const char *text = options->texts[i] != NULL ? options->texts[i] : "";
		XXH3_64bits_update(state, text, strlen(text) + 1);
	}
	uint64_t digest = XXH3_64bits_digest(state);
	XXH3_freeState(state);
	return digest;
}

int peers_open(struct daemon *daemon)
{
	const struct daemon_options *options = daemon->options;
	struct peers *peers =
	        calloc(1, sizeof(*peers) + options->peers_count * sizeof(struct peer));

	must(peers != NULL);
	daemon->peers = peers;
	peers->setup = digest_setup(options);
	uv_timer_init(&daemon->loop, &peers->acknowledge);
	peers->acknowledge.data = daemon;
	for (uint32_t i = 0; i < options->peers_count; i++) {
		struct peer *peer = &peers->peers[i];
		peer->daemon = daemon;
		peer->options = &options->peers[i];
		peer->backoff_ms = REDIAL_MS_FIRST;
		uv_timer_init(&daemon->loop, &peer->redial);
		peer->redial.data = peer;
		if (options->peers[i].linked)
			peer->link = link_create(KEPT_MAX);
	}
	if (options->peers_count == 1)
		return 0;
	int error = listen_tcp(&daemon->loop, &peers->listener, &options->listen, on_connection);
	peers->listening = true;
	peers->listener.data = daemon;
	if (error != 0) {
		log_line(LEVEL_ERROR, "--listen: cannot listen on %s:%u: %s", options->listen.host,
		         options->listen.port, uv_strerror(error));
		return -1;
	}
	for (uint32_t i = options->self + 1; i < options->peers_count; i++) {
		if (peers->peers[i].link != NULL)
			dial(&peers->peers[i]);
	}
	return 0;
}

bool peers_quiet(const struct daemon *daemon)
{
	for (uint32_t i = 0; i < daemon->options->peers_count; i++) {
		const struct peer *peer = &daemon->peers->peers[i];
		if (peer->connection != NULL && link_pending(peer->link) > 0)
			return false;
	}
	return true;
}

const char *peers_missing(struct daemon *daemon)
{
	struct peers *peers = daemon->peers;
	struct buffer names = {0};

	for (uint32_t i = 0; i < daemon->options->peers_count; i++) {
		const struct peer *peer = &peers->peers[i];
		if (peer->link == NULL || peer->connection != NULL)
			continue;
		if (buffer_size(&names) > 0)
			buffer_append(&names, ", ", 2);
		buffer_append(&names, peer->options->name, strlen(peer->options->name));
	}
	free(peers->missing);
	peers->missing = NULL;
	if (buffer_size(&names) > 0) {
		buffer_append(&names, "", 1);
		peers->missing = names.bytes;
	}
	return peers->missing;
}

/* So that the others need not guess. */
static void say_goodbye(struct daemon *daemon)
{
	for (uint32_t i = 0; i < daemon->options->peers_count; i++) {
		struct peer *peer = peer_of(daemon, i);
		if (peer->connection == NULL)
			continue;
		link_refuse(peer->link,
		            "it has left; this version cannot take it back: restart every node");
		flush(peer);
	}
}

void peers_close(struct daemon *daemon)
{
	struct peers *peers = daemon->peers;
	struct connection *next;

	if (peers == NULL)
		return;
	daemon->leaving = true;
	say_goodbye(daemon);
	if (peers->listening)
		uv_close((uv_handle_t *)&peers->listener, NULL);
	uv_close((uv_handle_t *)&peers->acknowledge, NULL);
	for (struct connection *at = peers->connections; at != NULL; at = next) {
		next = at->next;
		close_connection(at);
	}
	for (uint32_t i = 0; i < daemon->options->peers_count; i++)
		uv_close((uv_handle_t *)&peers->peers[i].redial, NULL);
}

void peers_free(struct daemon *daemon)
{
	struct peers *peers = daemon->peers;

	if (peers == NULL)
		return;
	for (uint32_t i = 0; i < daemon->options->peers_count; i++) {
		if (peers->peers[i].link != NULL)
			link_destroy(peers->peers[i].link);
	}
	free(peers->missing);
	free(peers);
}
