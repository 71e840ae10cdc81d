/*
 * The other members: what goes through a connection is the link's (net/link.h), which outlives it, and
 * the engine's notices; here are only the sockets. How a connection comes about is in handshake.c.
 *
 * A seam for TLS: connection_read, write_piece and the handshake's `say` are the only places that see the
 * bytes of a connection.
 */
#include "peers.h"

#include "baton/error.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/socket.h>
#include <xxhash.h>

enum {
	REDIAL_MS_MAX = 1000,
	ENDING_MS = 1000,     /* for the other side to hear why */
	ACKNOWLEDGE_MS = 100, /* at the latest */
	KEPT_MAX = 64 << 20,  /* bytes kept for a peer that does not take them */
	PIECE_MAX = 1 << 18,  /* bytes of a write that has to wait */
};

static void flush(struct peer *peer);

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
void peer_complain(struct peer *peer, const char *text)
{
	uint64_t hash = XXH3_64bits(text, strlen(text));
	uint64_t now = daemon_now();

	if (hash == peer->line_hash && now < peer->line_at + UINT64_C(1000000) * SAME_LINE_MS)
		return;
	peer->line_hash = hash;
	peer->line_at = now;
	log_line(LEVEL_WARNING, "%s: %s", peer->options->name, text);
}

void peer_complain_of_refusal(struct peer *peer, const char *why)
{
	char text[LINK_TEXT_MAX + 64];

	snprintf(text, sizeof(text), "it ends the connection: %s", why);
	snprintf(peer->refusal, sizeof(peer->refusal), "%.255s", why);
	peer_complain(peer, text);
}

/* --- the end of a connection --- */

void connection_closed(uv_handle_t *handle)
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
	peer_dial(timer->data);
}

static void dial_later(struct peer *peer)
{
	if (peer->daemon->leaving)
		return;
	uv_timer_start(&peer->redial, on_redial, peer->backoff_ms, 0);
	peer->backoff_ms =
	        peer->backoff_ms * 2 > REDIAL_MS_MAX ? REDIAL_MS_MAX : peer->backoff_ms * 2;
}

/* It is not the peer's connection any more. */
static void part(struct connection *connection)
{
	struct peer *peer = connection->peer;

	if (peer == NULL)
		return;
	connection->peer = NULL;
	if (peer->connection == connection) {
		peer->connection = NULL;
		peer->stalled = false;
		link_detach(peer->link);
		engine_parted(connection->daemon->engine, peer->options->name);
		if (!connection->daemon->leaving)
			log_line(LEVEL_WARNING, "%s: the connection is gone", peer->options->name);
	}
	if (connection->dialled && peer->connection == NULL)
		dial_later(peer);
}

void connection_close(struct connection *connection)
{
	if (connection->closing)
		return;
	connection->closing = true;
	if (connection->resolving)
		uv_cancel((uv_req_t *)&connection->resolve);
	uv_close((uv_handle_t *)&connection->tcp, connection_closed);
	uv_close((uv_handle_t *)&connection->patience, connection_closed);
	part(connection);
}

static void on_ended(uv_timer_t *timer)
{
	connection_close(timer->data);
}

static void on_shut(uv_shutdown_t *shutdown, int status)
{
	struct connection *connection = shutdown->data;

	if (status < 0)
		connection_close(connection);
}

void connection_end(struct connection *connection)
{
	if (connection->closing || connection->ended)
		return;
	connection->ended = true;
	connection->shutdown.data = connection;
	if (uv_shutdown(&connection->shutdown, (uv_stream_t *)&connection->tcp, on_shut) != 0) {
		connection_close(connection);
		return;
	}
	/* A peer that stalled is not read: what it says now is thrown away. */
	uv_read_start((uv_stream_t *)&connection->tcp, connection_need, connection_read);
	uv_timer_start(&connection->patience, on_ended, ENDING_MS, 0);
	part(connection);
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
		connection_close(connection);
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
			connection_close(connection);
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
		peer_complain(peer,
		              "takes no messages, and too many wait for it: the epoch must end");
		engine_bump(daemon->engine, epoch);
		return;
	}
	mark_dirty(peer);
}

void peer_tell(struct peer *peer)
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
			peer_tell(peer);
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
			peer_complain(peer, (const char *)bytes);
			connection_close(connection);
			return false;
		case LINK_REFUSED:
			peer_complain_of_refusal(peer, (const char *)bytes);
			connection_close(connection);
			return false;
		case LINK_NOTICE:
			if (engine_notice(daemon->engine, name, bytes, size, &text) != 0) {
				peer_complain(peer, text);
				link_refuse(peer->link, text);
				flush(peer);
				connection_end(connection);
				return false;
			}
			daemon_view(daemon);
			break;
		case LINK_FRAME:
			if (!engine_agrees(daemon->engine, name)) {
				peer_complain(peer, "sent a frame before it agreed on the view");
				connection_close(connection);
				return false;
			}
			error = node_receive(daemon->node, name, bytes, size, daemon_now());
			if (error == BATON_EAGAIN) {
				peer->stalled = true;
				return true;
			}
			link_take(peer->link);
			if (error != 0)
				peer_complain(
				        peer,
				        "sent a frame that is refused: malformed, or not its own");
			acknowledge_later(daemon);
			break;
		}
		if (peer->connection != connection)
			return false;
	}
}

static void take_bytes(struct connection *connection, const uint8_t *bytes, size_t size)
{
	struct peer *peer = connection->peer;

	link_input(peer->link, bytes, size);
	if (take_records(peer) && peer->stalled) {
		link_keep(peer->link);
		uv_read_stop((uv_stream_t *)&connection->tcp);
	}
	daemon_effects(connection->daemon);
	if (peer->connection != NULL && link_wants_ack(peer->link))
		mark_dirty(peer);
}

void connection_need(uv_handle_t *handle, size_t suggested, uv_buf_t *ret_buf)
{
	struct connection *connection = handle->data;

	(void)suggested;
	*ret_buf = uv_buf_init(connection->daemon->inbox, sizeof(connection->daemon->inbox));
}

void connection_read(uv_stream_t *stream, ssize_t size, const uv_buf_t *buf)
{
	struct connection *connection = stream->data;

	if (size < 0) {
		connection_close(connection);
		return;
	}
	if (size == 0 || connection->ended)
		return;
	if (!connection->up) {
		buffer_append(&connection->greeting, buf->base, (size_t)size);
		connection_greet(connection);
		return;
	}
	take_bytes(connection, (const uint8_t *)buf->base, (size_t)size);
}

void peer_connected(struct connection *connection, const uint8_t *bytes, size_t size)
{
	struct peer *peer = connection->peer;

	uv_timer_stop(&peer->redial);
	peer->connection = connection;
	peer->backoff_ms = REDIAL_MS_FIRST;
	peer->line_hash = 0;
	peer->refusal[0] = '\0';
	connection->up = true;
	log_line(LEVEL_INFO, "%s: connected", peer->options->name);
	peer_tell(peer);
	take_bytes(connection, bytes, size);
}

void peers_read_again(struct daemon *daemon)
{
	for (uint32_t i = 0; i < daemon->options->peers_count; i++) {
		struct peer *peer = peer_of(daemon, i);
		if (!peer->stalled)
			continue;
		peer->stalled = false;
		if (take_records(peer) && !peer->stalled)
			uv_read_start((uv_stream_t *)&peer->connection->tcp, connection_need,
			              connection_read);
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
	if (options->listen.host == NULL) /* a cluster of one need not */
		return 0;
	must(uv_tcp_init(&daemon->loop, &peers->listener) == 0);
	peers->listening = true;
	peers->listener.data = daemon;
	int fd;
	int error = bind_tcp(&options->listen, &fd);
	if (error == 0)
		error = uv_tcp_open(&peers->listener, fd);
	if (error == 0)
		error = uv_listen((uv_stream_t *)&peers->listener, 1024, connection_accept);
	if (error != 0) {
		log_line(LEVEL_ERROR, "--listen: cannot listen on %s:%u: %s", options->listen.host,
		         options->listen.port, uv_strerror(error));
		return -1;
	}
	for (uint32_t i = options->self + 1; i < options->peers_count; i++) {
		if (peers->peers[i].link != NULL)
			peer_dial(&peers->peers[i]);
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

const char *peers_refusal(const struct daemon *daemon)
{
	for (uint32_t i = 0; i < daemon->options->peers_count; i++) {
		if (daemon->peers->peers[i].refusal[0] != '\0')
			return daemon->peers->peers[i].refusal;
	}
	return NULL;
}

void peers_watch(struct daemon *daemon)
{
	for (uint32_t i = 0; i < daemon->options->peers_count; i++) {
		struct peer *peer = peer_of(daemon, i);
		size_t pending = peer->connection != NULL ? link_pending(peer->link) : 0;
		if (pending > 0 && peer->pending_before > 0 && pending >= peer->pending_before)
			peer_complain(
			        peer,
			        "takes no messages, though it is connected: stopped, or too busy");
		peer->pending_before = pending;
	}
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
		connection_close(at);
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
