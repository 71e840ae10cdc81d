#include "peers.h"

#include "instance.h"
#include "log.h"
#include "memory.h"
#include "must.h"
#include "sockets.h"
#include "strangers.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	/* A connection without acknowledgements for a third of the lease counts as dead, so that
	 * another can be tried before the lease ends. */
	SILENT_CUT_PART = 3,
	SILENT_CUT_MS_MIN = 500,
	READS_MAX = 16, /* the most reads of one connection in a turn */
	/* How many connections may be open whose other side has not yet shown who it is. */
	STRANGERS_MAX = 128,
};

/* The look-up of a host's name, in a thread of the C library. It may outlive the connection that
 * needs it. */
struct lookup {
	LIST_ENTRY(lookup) entry;
	/* The connection that needs the address; NULL: none needs it any more. */
	struct peer_socket *socket;
	struct gaicb request;
	struct addrinfo hints;
	char *host, port[8];
	int bell;
	atomic_bool done;
};

struct peer_socket {
	struct loop_watch watch;
	struct daemon *daemon;
	LIST_ENTRY(peer_socket) entry;
	struct connection *connection;
	/* The look-up of the host's name; NULL: there is none. */
	struct lookup *lookup;
	struct addrinfo *addresses, *address; /* all addresses, and the one that is being tried */
	uint32_t events;
	bool accepted, connecting, shut;
	uint64_t network; /* if accepted: the other side's network, see strangers.h */
};

struct peers {
	struct daemon *daemon;
	struct loop_watch listener;
	bool paused;            /* the listener does not accept at present */
	uint32_t sockets_count; /* how many connections were accepted and are open */
	struct loop_watch bell; /* an eventfd that tells that a look-up is done */
	LIST_HEAD(, peer_socket) sockets;
	LIST_HEAD(, peer_socket) closed; /* sockets that are freed when the turn is over */
	LIST_HEAD(, lookup) lookups;
};

/* --- closing sockets --- */

static void close_socket(struct peer_socket *socket, const char *why)
{
	struct daemon *daemon = socket->daemon;

	loop_close_fd(&daemon->loop, &socket->watch);
	if (socket->lookup != NULL)
		socket->lookup->socket = NULL;
	if (socket->addresses != NULL)
		freeaddrinfo(socket->addresses);
	LIST_REMOVE(socket, entry);
	LIST_INSERT_HEAD(&daemon->peers->closed, socket, entry);
	member_closed(daemon->member, socket->connection, why, daemon->loop.now);
}

void peers_close_connection(struct connection *connection)
{
	close_socket(connection_user(connection), NULL);
}

/* Stops or resumes accepting. The listener is paused while there is no descriptor for another
 * connection, or while PEERS_SOCKETS_MAX / 2 accepted connections are open. */
static void pause_listener(struct peers *peers, bool pause)
{
	if (peers->paused == pause || peers->listener.fd < 0)
		return;
	peers->paused = pause;
	loop_change(&peers->daemon->loop, &peers->listener, pause ? 0 : EPOLLIN);
}

static bool is_full(const struct peers *peers)
{
	return peers->sockets_count >= PEERS_SOCKETS_MAX / 2;
}

void peers_resume(struct daemon *daemon)
{
	pause_listener(daemon->peers, is_full(daemon->peers));
}

void peers_forget_closed(struct daemon *daemon)
{
	while (!LIST_EMPTY(&daemon->peers->closed)) {
		struct peer_socket *socket = LIST_FIRST(&daemon->peers->closed);
		LIST_REMOVE(socket, entry);
		if (socket->accepted)
			daemon->peers->sockets_count--;
		free(socket);
		peers_resume(daemon);
	}
}

/* --- bytes --- */

/* Reads once. Returns true if there may be more to read. */
static bool read_socket(struct peer_socket *socket)
{
	struct daemon *daemon = socket->daemon;
	ssize_t size = recv(socket->watch.fd, daemon->inbox, sizeof(daemon->inbox), 0);

	if (size < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (size <= 0) {
		close_socket(socket, size < 0 ? strerror(errno) : NULL);
		return false;
	}
	member_input(daemon->member, socket->connection, (const uint8_t *)daemon->inbox,
	             (size_t)size, daemon->loop.now);
	return (size_t)size == sizeof(daemon->inbox);
}

/* Writes the connection's output. Returns false if the socket is closed. */
static bool write_output(struct peer_socket *socket)
{
	const uint8_t *bytes;
	size_t size;

	while ((size = connection_output(socket->connection, &bytes)) > 0) {
		ssize_t written = send(socket->watch.fd, bytes, size, MSG_NOSIGNAL);
		if (written < 0 && (errno == EAGAIN || errno == EINTR))
			return true;
		if (written < 0) {
			close_socket(socket, strerror(errno));
			return false;
		}
		connection_written(socket->connection, (size_t)written);
		if ((size_t)written < size)
			return true;
	}
	if (connection_ends(socket->connection) && !socket->shut) {
		socket->shut = true;
		shutdown(socket->watch.fd, SHUT_WR);
	}
	return true;
}

static void wait_for(struct peer_socket *socket)
{
	const uint8_t *bytes;
	uint32_t events = 0;

	if (socket->connecting)
		events = EPOLLOUT;
	else if (connection_reads(socket->connection))
		events |= EPOLLIN;
	if (!socket->connecting && connection_output(socket->connection, &bytes) > 0)
		events |= EPOLLOUT;
	if (events == socket->events)
		return;
	socket->events = events;
	loop_change(&socket->daemon->loop, &socket->watch, events);
}

void peers_flush(struct daemon *daemon)
{
	struct connection *connection;

	while ((connection = member_changed(daemon->member)) != NULL) {
		struct peer_socket *socket = connection_user(connection);
		/* A connection that is being closed, or was never dialled, has no output. */
		if (socket == NULL || socket->watch.fd < 0 || socket->connecting)
			continue;
		if (write_output(socket))
			wait_for(socket);
	}
}

/* --- new sockets --- */

static void connect_next(struct peer_socket *socket, const char *why);

static void finish_connecting(struct peer_socket *socket)
{
	int error = 0;
	socklen_t size = sizeof(error);

	if (getsockopt(socket->watch.fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0)
		error = errno;
	if (error != 0) {
		connect_next(socket, strerror(error));
		return;
	}
	socket->connecting = false;
	member_dialled(socket->daemon->member, socket->connection, socket->daemon->loop.now);
	wait_for(socket);
}

static void on_socket_ready(struct loop_watch *watch, uint32_t events)
{
	struct peer_socket *socket = (struct peer_socket *)watch;

	if (socket->connecting) {
		finish_connecting(socket);
		return;
	}
	if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) {
		for (int reads = 0; reads < READS_MAX && watch->fd >= 0 &&
		                    connection_reads(socket->connection) && read_socket(socket);
		     reads++)
			;
		/* Reading would have shown that the other side is gone, but the connection is not
		 * read now. */
		if (watch->fd >= 0 && !connection_reads(socket->connection) &&
		    (events & (EPOLLHUP | EPOLLERR)) != 0)
			close_socket(socket, NULL);
	}
	if (watch->fd >= 0 && (events & EPOLLOUT) != 0 && write_output(socket))
		wait_for(socket);
}

static struct peer_socket *new_socket(struct daemon *daemon)
{
	struct peer_socket *socket = calloc(1, sizeof(*socket));

	memory_must(socket != NULL);
	socket->daemon = daemon;
	socket->watch = (struct loop_watch){.fd = -1, .ready = on_socket_ready};
	LIST_INSERT_HEAD(&daemon->peers->sockets, socket, entry);
	return socket;
}

/* Sends small frames at once, and notices a peer that vanishes without closing the connection. */
static void tune(const struct daemon *daemon, int fd)
{
	uint64_t part_ms = daemon->settings.lease_ms / SILENT_CUT_PART;
	int cut_ms = part_ms < SILENT_CUT_MS_MIN ? SILENT_CUT_MS_MIN : (int)part_ms;
	const struct {
		int level, option, value;
	} settings[] = {
	        {IPPROTO_TCP, TCP_NODELAY, 1},  {SOL_SOCKET, SO_KEEPALIVE, 1},
	        {IPPROTO_TCP, TCP_KEEPIDLE, 1}, {IPPROTO_TCP, TCP_KEEPINTVL, 1},
	        {IPPROTO_TCP, TCP_KEEPCNT, 2},  {IPPROTO_TCP, TCP_USER_TIMEOUT, cut_ms},
	};

	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++)
		setsockopt(fd, settings[i].level, settings[i].option, &settings[i].value,
		           sizeof(settings[i].value));
}

/* Strangers must not keep members out. */
static void limit_strangers(struct peers *peers)
{
	struct peer_socket *strangers[STRANGERS_MAX + 1], *socket;
	uint64_t networks[STRANGERS_MAX + 1];
	uint32_t count = 0;

	LIST_FOREACH (socket, &peers->sockets, entry) { /* the newest comes first */
		if (socket->accepted && count <= STRANGERS_MAX &&
		    connection_is_stranger(socket->connection)) {
			networks[count] = socket->network;
			strangers[count++] = socket;
		}
	}
	if (count <= STRANGERS_MAX)
		return;
	socket = strangers[strangers_choose(networks, count)];
	connection_complain(socket->connection,
	                    "too many connections that do not show who they are: "
	                    "the oldest ones are closed");
	close_socket(socket, NULL);
}

static uint32_t count_namesakes(const struct peers *peers, const char *name)
{
	const struct peer_socket *socket;
	uint32_t count = 0;

	LIST_FOREACH (socket, &peers->sockets, entry) {
		const char *other = socket->accepted ? connection_peer(socket->connection) : NULL;
		count += other != NULL && strcmp(other, name) == 0;
	}
	return count;
}

/* A member must not keep the others out either. If there is no room for another connection, the
 * member with the most connections loses its oldest one. */
static void limit_namesakes(struct peers *peers)
{
	struct peer_socket *socket, *oldest = NULL;
	uint32_t most = PEERS_NAMESAKES_MAX + 1;

	LIST_FOREACH (socket, &peers->sockets, entry) { /* the newest comes first */
		const char *name = socket->accepted ? connection_peer(socket->connection) : NULL;
		uint32_t count = name != NULL ? count_namesakes(peers, name) : 0;
		if (count >= most) {
			most = count;
			oldest = socket;
		}
	}
	if (oldest == NULL)
		return;
	connection_complain(oldest->connection,
	                    "it has too many connections: the oldest ones are closed");
	close_socket(oldest, NULL);
}

static void accept_one(struct peers *peers, int fd, const struct sockaddr *address,
                       socklen_t address_size)
{
	struct daemon *daemon = peers->daemon;
	char host[INET6_ADDRSTRLEN] = "?";

	if (daemon->leaving) {
		close(fd);
		return;
	}
	peers->sockets_count++;
	if (is_full(peers))
		pause_listener(peers, true);
	tune(daemon, fd);
	getnameinfo(address, address_size, host, sizeof(host), NULL, 0, NI_NUMERICHOST);
	struct peer_socket *socket = new_socket(daemon);
	socket->watch.fd = fd;
	socket->accepted = true;
	socket->events = EPOLLIN;
	loop_add(&daemon->loop, &socket->watch, EPOLLIN);
	socket->network = strangers_network(address);
	socket->connection = member_accepted(daemon->member, host, socket, daemon->loop.now);
	limit_strangers(peers);
	if (peers->paused)
		limit_namesakes(peers);
}

static void on_listener_ready(struct loop_watch *watch, uint32_t events)
{
	struct peers *peers = (struct peers *)((char *)watch - offsetof(struct peers, listener));
	struct sockaddr_storage address = {0};
	socklen_t size = sizeof(address);
	int fd = accept4(watch->fd, (struct sockaddr *)&address, &size,
	                 SOCK_CLOEXEC | SOCK_NONBLOCK);

	(void)events;
	if (fd >= 0) {
		accept_one(peers, fd, (struct sockaddr *)&address, size);
		return;
	}
	if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED)
		return;
	bool lacks = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
	if (log_limit_passes(&peers->daemon->refusals, peers->daemon->loop.now))
		log_line(LEVEL_WARNING, "a peer cannot be accepted: %s", strerror(errno));
	if (lacks)
		pause_listener(peers, true);
}

/* Tries the next address of the host; `why` is the reason why the last one failed. */
static void connect_next(struct peer_socket *socket, const char *why)
{
	struct daemon *daemon = socket->daemon;

	loop_close_fd(&daemon->loop, &socket->watch);
	for (; socket->address != NULL; why = strerror(errno)) {
		const struct addrinfo *address = socket->address;
		socket->address = address->ai_next;
		int fd = socket_tcp(address->ai_family);
		if (fd < 0)
			continue;
		tune(daemon, fd);
		if (connect(fd, address->ai_addr, address->ai_addrlen) == 0 ||
		    errno == EINPROGRESS) {
			socket->watch.fd = fd;
			socket->connecting = true;
			socket->events = EPOLLOUT;
			loop_add(&daemon->loop, &socket->watch, EPOLLOUT);
			return;
		}
		int error = errno;
		close(fd);
		errno = error;
	}
	close_socket(socket, why);
}

static void connect_to(struct peer_socket *socket, struct addrinfo *addresses)
{
	socket->addresses = socket->address = addresses;
	connect_next(socket, "it has no address");
}

/* --- names of hosts --- */

/* Tells the loop that a host was looked up. Runs in a thread of the C library. */
static void ring(union sigval value)
{
	struct lookup *lookup = value.sival_ptr;
	int bell = lookup->bell;

	atomic_store(&lookup->done, true);
	eventfd_write(bell, 1);
}

static void finish_lookup(struct lookup *lookup)
{
	struct peer_socket *socket = lookup->socket;
	int error = gai_error(&lookup->request);
	char text[400];

	LIST_REMOVE(lookup, entry);
	if (socket == NULL) {
		if (error == 0)
			freeaddrinfo(lookup->request.ar_result);
	} else {
		socket->lookup = NULL;
		if (error == 0) {
			connect_to(socket, lookup->request.ar_result);
		} else {
			snprintf(text, sizeof(text), "its host '%s' is not found: %s", lookup->host,
			         gai_strerror(error));
			connection_complain(socket->connection, text);
			close_socket(socket, NULL);
		}
	}
	free(lookup->host);
	free(lookup);
}

static void on_bell(struct loop_watch *watch, uint32_t events)
{
	struct peers *peers = (struct peers *)((char *)watch - offsetof(struct peers, bell));
	struct lookup *lookup, *next;
	eventfd_t value;

	(void)events;
	eventfd_read(watch->fd, &value);
	for (lookup = LIST_FIRST(&peers->lookups); lookup != NULL; lookup = next) {
		next = LIST_NEXT(lookup, entry);
		if (atomic_load(&lookup->done))
			finish_lookup(lookup);
	}
}

static void look_up(struct peer_socket *socket, const char *host, const char *port)
{
	struct peers *peers = socket->daemon->peers;
	struct lookup *lookup = calloc(1, sizeof(*lookup));
	struct gaicb *request = &lookup->request;

	memory_must(lookup != NULL);
	lookup->host = strdup(host);
	memory_must(lookup->host != NULL);
	snprintf(lookup->port, sizeof(lookup->port), "%s", port);
	lookup->hints = (struct addrinfo){.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
	*request = (struct gaicb){
	        .ar_name = lookup->host, .ar_service = lookup->port, .ar_request = &lookup->hints};
	lookup->bell = peers->bell.fd;
	struct sigevent told = {.sigev_notify = SIGEV_THREAD,
	                        .sigev_notify_function = ring,
	                        .sigev_value.sival_ptr = lookup};
	if (getaddrinfo_a(GAI_NOWAIT, &request, 1, &told) != 0) {
		free(lookup->host);
		free(lookup);
		close_socket(socket, "no thread can be made to look up its host");
		return;
	}
	lookup->socket = socket;
	socket->lookup = lookup;
	LIST_INSERT_HEAD(&peers->lookups, lookup, entry);
}

/* Splits HOST:PORT or [HOST]:PORT. Returns false if it is neither. */
static bool split(const char *address, char *host, size_t host_size, const char **ret_port)
{
	const char *colon = strrchr(address, ':');

	if (colon == NULL || (size_t)(colon - address) >= host_size)
		return false;
	bool bracketed = address[0] == '[' && colon > address + 1 && colon[-1] == ']';
	snprintf(host, host_size, "%.*s", (int)(colon - address) - 2 * bracketed,
	         address + bracketed);
	*ret_port = colon + 1;
	return strlen(*ret_port) < sizeof(((struct lookup *)NULL)->port);
}

void peers_dial(struct daemon *daemon, struct connection *connection, const char *address)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
	                         .ai_flags = AI_NUMERICSERV | AI_NUMERICHOST};
	struct peer_socket *socket = new_socket(daemon);
	struct addrinfo *found;
	char host[256];
	const char *port;

	socket->connection = connection;
	connection_set_user(connection, socket);
	if (!split(address, host, sizeof(host), &port))
		close_socket(socket, "its address is not HOST:PORT");
	else if (getaddrinfo(host, port, &hints, &found) == 0)
		connect_to(socket, found);
	else
		look_up(socket, host, port);
}

/* --- opening and closing all --- */

/* Finds the address to listen on. A node that is started again needs only its data directory, which
 * has the address where others reach the node. Returns 0, or -1 after logging the reason. */
static int find_listen(const struct daemon *daemon, struct daemon_address *ret_listen, char *room,
                       size_t size)
{
	const char *stored = archive_identity(daemon->archive)->address, *port;

	*ret_listen = daemon->options->listen;
	if (daemon->options->address_given || stored[0] == '\0' ||
	    (daemon->options->address != NULL && strcmp(stored, daemon->options->address) == 0))
		return 0;
	if (!split(stored, room, size, &port)) {
		log_line(LEVEL_ERROR, "--data: the stored address '%s' is not HOST:PORT", stored);
		return -1;
	}
	*ret_listen =
	        (struct daemon_address){.host = room, .port = (uint16_t)strtoul(port, NULL, 10)};
	return 0;
}

int peers_open(struct daemon *daemon)
{
	struct peers *peers = calloc(1, sizeof(*peers));
	struct daemon_address listen;
	char host[256];
	int fd;

	memory_must(peers != NULL);
	daemon->peers = peers;
	peers->daemon = daemon;
	peers->listener = (struct loop_watch){.fd = -1, .ready = on_listener_ready};
	peers->bell =
	        (struct loop_watch){.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), .ready = on_bell};
	must(peers->bell.fd >= 0);
	loop_add(&daemon->loop, &peers->bell, EPOLLIN);
	if (find_listen(daemon, &listen, host, sizeof(host)) != 0)
		return -1;
	if (listen.host == NULL) /* a cluster of one need not listen */
		return 0;
	int error = socket_listen_tcp(&listen, &fd);
	if (error != 0) {
		log_line(LEVEL_ERROR, "--listen: cannot listen on %s:%u: %s", listen.host,
		         listen.port, socket_error(error));
		return -1;
	}
	peers->listener.fd = fd;
	loop_add(&daemon->loop, &peers->listener, EPOLLIN);
	return 0;
}

void peers_close(struct daemon *daemon)
{
	struct peers *peers = daemon->peers;

	if (peers == NULL)
		return;
	if (daemon->member != NULL)
		peers_flush(daemon);
	while (!LIST_EMPTY(&peers->sockets))
		close_socket(LIST_FIRST(&peers->sockets), NULL);
	peers_forget_closed(daemon);
	loop_close_fd(&daemon->loop, &peers->listener);
	/* Leave the eventfd open if a thread is still looking up a host and will write to it; the
	 * process ends soon. */
	if (!LIST_EMPTY(&peers->lookups))
		return;
	loop_close_fd(&daemon->loop, &peers->bell);
	free(peers);
	daemon->peers = NULL;
}
