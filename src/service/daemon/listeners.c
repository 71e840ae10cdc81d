#include "listeners.h"

#include "client_tls.h"
#include "clients.h"
#include "clock.h"
#include "command_lines.h"
#include "grace.h"
#include "instance.h"
#include "lease_note.h"
#include "leave.h"
#include "log.h"
#include "memory.h"
#include "sockets.h"
#include "strangers.h"
#include "strays.h"
#include "tame.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum {
	PROBE_S_MAX = 32767, /* the longest time between probes that the system allows */
	LOCK_MS = 2000,      /* how long another node in this folder may take to open its socket */
	LOCK_PAUSE_MS = 5,
	ACCEPTS_MAX = 16, /* the most clients that are accepted in a turn of the loop */
};

/* Returns a connection, or -1 and errno. */
static int accept_one(const struct listener *listener)
{
	struct daemon *daemon = listener->daemon;
	int fd = accept4(listener->watch.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd >= 0 && listener == &daemon->listeners.local)
		strays_expect(daemon->strays, fd);
	return fd;
}

static void close_refused(const struct listener *listener, int fd)
{
	struct daemon *daemon = listener->daemon;

	if (listener != &daemon->listeners.local)
		close(fd);
	else if (!strays_close(daemon->strays, fd))
		strays_leave(daemon->strays, fd, NULL);
}

/* Refuses one client, because there is no descriptor left for it. Uses the spare descriptor to
 * accept the client and tell it so. */
static void refuse_one(struct daemon *daemon, const struct listener *listener)
{
	close(daemon->listeners.spare_fd);
	int fd = accept_one(listener);
	if (fd >= 0) {
		send(fd, CLIENT_TOO_MANY, sizeof(CLIENT_TOO_MANY) - 1, MSG_NOSIGNAL);
		close_refused(listener, fd);
	}
	daemon->listeners.spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

void listeners_pause(struct daemon *daemon)
{
	struct listeners *listeners = &daemon->listeners;

	listeners->paused = true;
	if (listeners->local.watch.fd >= 0)
		loop_change(&daemon->loop, &listeners->local.watch, 0);
	if (listeners->tcp.watch.fd >= 0)
		loop_change(&daemon->loop, &listeners->tcp.watch, 0);
}

static void cannot_accept(struct daemon *daemon, const struct listener *listener, int error)
{
	if (error == EAGAIN || error == EINTR || error == ECONNABORTED)
		return;
	if (log_limit_passes(&daemon->refusals, daemon->loop.now))
		log_line(LEVEL_WARNING, "a client cannot be accepted: %s", strerror(error));
	if (error == EMFILE && daemon->listeners.spare_fd >= 0)
		refuse_one(daemon, listener);
	else if (error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM)
		listeners_pause(daemon);
}

/* Accepts a client that waits, or returns NULL. */
static struct client *accept_client(const struct listener *listener)
{
	struct daemon *daemon = listener->daemon;

	/* If the next one must be refused, it may be one more that cannot be closed now. */
	if (strays_are_too_many(daemon->strays)) {
		listeners_pause(daemon);
		return NULL;
	}
	int fd = accept_one(listener);
	if (fd < 0) {
		cannot_accept(daemon, listener, errno);
		return NULL;
	}
	/* Accept clients while others still have time to stop: they may ask for the status. */
	if (daemon->leaving && !clients_are_stopping(daemon)) {
		close_refused(listener, fd);
		return NULL;
	}
	return client_make(daemon, fd);
}

/* Opens a file of a process in /proc. Returns its descriptor, or -1. */
static int open_of_process(pid_t pid, const char *file)
{
	char path[48];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, file);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* Reads the name of a process, which does not need the lock of its memory, and puts it in brackets,
 * as ps does. */
static void read_name(pid_t pid, char room[NODE_COMMAND_MAX + 1])
{
	char name[64];
	ssize_t got = 0;
	int fd = open_of_process(pid, "comm");

	if (fd >= 0) {
		got = read(fd, name, sizeof(name));
		close(fd);
	}
	while (got > 0 && name[got - 1] == '\n')
		got--;
	tame_text(name, got > 0 ? (size_t)got : 0);
	snprintf(room, NODE_COMMAND_MAX + 1, "[%.*s]", got > 0 ? (int)got : 0, name);
}

/* Reads the command line of a process; "" if it cannot be read. If that takes too long, reads the
 * name of the process, and *ret_ticket is what command_lines_read says. */
static void read_command_line(struct daemon *daemon, pid_t pid, char room[NODE_COMMAND_MAX + 1],
                              uint64_t *ret_ticket)
{
	int fd = open_of_process(pid, "cmdline");

	room[0] = '\0';
	*ret_ticket = 0;
	if (fd >= 0 && !command_lines_read(daemon->command_lines, fd, room, ret_ticket))
		read_name(pid, room);
}

void listeners_late_command(void *context, uint64_t session, const char *command)
{
	struct daemon *daemon = context;
	struct client *client = client_of(daemon, session);

	if (client == NULL)
		return;
	free((char *)client->who.command);
	client->who.command = strdup(command);
	memory_must(client->who.command != NULL);
	node_session_command(daemon->node, session, command);
}

/* Reads the primary and other groups of the process that connected, as of that moment. The socket
 * has them, so nothing has to be looked up. */
static void read_groups(struct client *client, uint32_t primary)
{
	gid_t some[64];
	socklen_t size = sizeof(some);
	gid_t *more = NULL, *found = some;

	if (getsockopt(client->watch.fd, SOL_SOCKET, SO_PEERGROUPS, some, &size) != 0) {
		if (errno == ERANGE) { /* `size` now says how much room is needed */
			more = malloc(size);
			memory_must(more != NULL);
			found = more;
		}
		if (more == NULL ||
		    getsockopt(client->watch.fd, SOL_SOCKET, SO_PEERGROUPS, more, &size) != 0)
			size = 0;
	}
	uint32_t count = (uint32_t)(size / sizeof(gid_t));
	uint32_t *gids = calloc(count + 1UL, sizeof(*gids));
	memory_must(gids != NULL);
	gids[0] = primary;
	for (uint32_t i = 0; i < count; i++)
		gids[i + 1] = found[i];
	free(more);
	client->subject.gids = gids;
	client->subject.gids_count = count + 1;
}

/* Would the socket's mode refuse this client if it connected now? The mode was another when the
 * client connected. */
static bool is_shut_out(const struct listeners *listeners, const struct client *client)
{
	const struct subject *subject = &client->subject;

	if (!listeners->judges || client->tcp || subject->uid == 0 ||
	    subject->uid == listeners->owner)
		return false;
	for (uint32_t i = 0; i < subject->gids_count; i++) {
		if (subject->gids[i] == listeners->group)
			return false;
	}
	return true;
}

static bool accept_unix(struct listener *listener)
{
	struct ucred who = {.uid = SUBJECT_NOBODY};
	socklen_t who_size = sizeof(who);
	char command[NODE_COMMAND_MAX + 1] = "";
	uint64_t ticket = 0;
	struct client *client = accept_client(listener);

	if (client == NULL)
		return false;
	if (getsockopt(client->watch.fd, SOL_SOCKET, SO_PEERCRED, &who, &who_size) == 0) {
		read_command_line(client->daemon, who.pid, command, &ticket);
		read_groups(client, who.gid);
	}
	client->subject.uid = who.uid;
	client->shut_out = is_shut_out(&client->daemon->listeners, client);
	client_begin(client, &(struct node_client){.pid = (uint32_t)who.pid,
	                                           .uid = (uint32_t)who.uid,
	                                           .command = command});
	if (ticket != 0)
		command_lines_expect(client->daemon->command_lines, ticket, client->session);
	return true;
}

/* Makes the kernel notice within the timeout that a client's host is gone: by probes while the
 * connection is idle, otherwise by missing acknowledgements. */
static void watch_over(int fd, uint64_t timeout_ms)
{
	int on = 1, probes = 3;
	uint64_t interval_s = timeout_ms / 4000;
	int interval = (int)(interval_s < 1             ? 1
	                     : interval_s > PROBE_S_MAX ? PROBE_S_MAX
	                                                : interval_s);
	unsigned patience = timeout_ms < INT32_MAX ? (unsigned)timeout_ms : INT32_MAX;

	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &interval, sizeof(interval));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof(interval));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes));
	setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &patience, sizeof(patience));
}

static bool accept_tcp(struct listener *listener)
{
	struct sockaddr_storage address = {.ss_family = AF_UNSPEC};
	socklen_t address_size = sizeof(address);
	char host[INET6_ADDRSTRLEN] = "?", port[8] = "?", command[sizeof(host) + 16];
	int on = 1;
	struct client *client = accept_client(listener);

	if (client == NULL)
		return false;
	client->tcp = true;
	client->subject.uid = SUBJECT_NOBODY;
	setsockopt(client->watch.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	watch_over(client->watch.fd, client->daemon->options->client_timeout_ms);
	if (getpeername(client->watch.fd, (struct sockaddr *)&address, &address_size) == 0)
		getnameinfo((struct sockaddr *)&address, address_size, host, sizeof(host), port,
		            sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV);
	if (client->daemon->credentials != NULL)
		client_tls_begin(client, strangers_network((struct sockaddr *)&address));
	snprintf(command, sizeof(command), "tcp %s:%s", host, port);
	/* the process id is not known */
	client_begin(client, &(struct node_client){
	                             .pid = UINT32_MAX, .uid = UINT32_MAX, .command = command});
	return true;
}

static void on_listener_ready(struct loop_watch *watch, uint32_t events)
{
	(void)events;
	((struct listener *)watch)->ready = true;
}

/* Accepts one client in a turn of the loop. While clients wait for their turn, a turn is long, so
 * several are accepted: a user who connects must not be delayed for long by one who connects
 * often. */
static void accept_clients(struct listener *listener)
{
	int count = 0;

	if (!listener->ready)
		return;
	listener->ready = false;
	loop_read_clock(&listener->daemon->loop);
	while (listener->accept(listener) && ++count < ACCEPTS_MAX &&
	       users_are_waiting(&listener->daemon->clients.users))
		;
}

void listeners_turn(struct daemon *daemon)
{
	accept_clients(&daemon->listeners.local);
	accept_clients(&daemon->listeners.tcp);
}

/* --- listening --- */

/*
 * Two nodes that start on one path at the same moment must not both find a killed node's socket
 * there: the second would then remove the first one's new socket. So they take turns, by a lock on
 * the folder, which ends when the descriptor is closed. Returns -1 if the folder cannot be locked,
 * or if another process keeps the lock; the node then starts without it.
 */
static int lock_folder(const char *path)
{
	const struct timespec pause = {.tv_nsec = LOCK_PAUSE_MS * 1000000L};
	char *copy = strdup(path);
	memory_must(copy != NULL);
	int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	free(copy);
	for (int ms = 0; fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0; ms += LOCK_PAUSE_MS) {
		if (ms >= LOCK_MS) {
			close(fd);
			return -1;
		}
		nanosleep(&pause, NULL);
	}
	return fd;
}

/* Does a node accept connections on this socket? If its process was killed, nobody does. */
static bool is_served(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool served =
	        fd >= 0 && (connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0 ||
	                    errno == EAGAIN);

	if (fd >= 0)
		close(fd);
	return served;
}

/* The listener owns the descriptor from now on. */
static void serve_listener(struct daemon *daemon, struct listener *listener, int fd,
                           bool (*accept)(struct listener *listener))
{
	*listener =
	        (struct listener){.watch = {.fd = fd, .notes = true, .ready = on_listener_ready},
	                          .daemon = daemon,
	                          .accept = accept};
	loop_add(&daemon->loop, &listener->watch, EPOLLIN);
}

void listeners_resume(struct daemon *daemon)
{
	struct listeners *listeners = &daemon->listeners;

	if (!listeners->paused)
		return;
	listeners->paused = false;
	if (listeners->spare_fd < 0)
		listeners->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (listeners->local.watch.fd >= 0)
		loop_change(&daemon->loop, &listeners->local.watch, EPOLLIN);
	if (listeners->tcp.watch.fd >= 0)
		loop_change(&daemon->loop, &listeners->tcp.watch, EPOLLIN);
}

/* With rules, everybody may connect, and the rules decide what each may do. Without rules, the mode
 * of the socket admits only the node's user and group. */
static mode_t socket_mode(const struct daemon *daemon)
{
	return daemon->rules != NULL ? 0666 : 0660;
}

static int open_unix_locked(struct daemon *daemon)
{
	const char *path = daemon->options->socket;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	uint64_t lease_ms = daemon->settings.lease_ms;
	struct stat stat;

	if (strlen(path) >= sizeof(address.sun_path)) {
		log_line(LEVEL_ERROR, "--socket: a path has at most %zu bytes: '%s'",
		         sizeof(address.sun_path) - 1, path);
		return -1;
	}
	memcpy(address.sun_path, path, strlen(path) + 1);
	bool left = lstat(path, &stat) == 0;
	if (left) {
		if (!S_ISSOCK(stat.st_mode)) {
			log_line(LEVEL_ERROR, "--socket: '%s' exists and is not a socket", path);
			return -1;
		}
		if (is_served(&address)) {
			log_line(LEVEL_ERROR,
			         "--socket: another node serves '%s' already; give this one "
			         "another path",
			         path);
			return -1;
		}
		unlink(path);
	}
	/* A node that ends by itself leaves neither its socket nor its note. Commands started under
	 * one that was killed stop within its lease. Somebody may have removed the socket since, as
	 * scripts that start daemons do. */
	uint64_t old_ms = lease_note_read(path);
	if (left || old_ms != 0) {
		lease_ms = old_ms > lease_ms ? old_ms : lease_ms;
		daemon->serve_at = clock_lease_ns() + lease_ms * LOOP_MS;
	}
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0)
		strays_refuse(daemon->strays, fd);
	mode_t mask = umask(
	        0777 &
	        ~socket_mode(daemon)); /* so that the mode is right from the first moment on */
	daemon->listeners.socket_made =
	        fd >= 0 && bind(fd, (const struct sockaddr *)&address, sizeof(address)) == 0;
	int error = daemon->listeners.socket_made ? 0 : errno;
	umask(mask);
	if (daemon->listeners.socket_made)
		/* write it before listen, while nobody can connect */
		lease_note_write(path, lease_ms);
	if (daemon->listeners.socket_made && lstat(path, &stat) == 0) {
		daemon->listeners.socket_device = stat.st_dev;
		daemon->listeners.socket_inode = stat.st_ino;
	}
	if (error == 0 && listen(fd, 1024) != 0)
		error = errno;
	if (error != 0) {
		if (fd >= 0)
			close(fd);
		log_line(LEVEL_ERROR, "--socket: '%s' cannot be made: %s", path, strerror(error));
		return -1;
	}
	serve_listener(daemon, &daemon->listeners.local, fd, accept_unix);
	return 0;
}

static int open_unix(struct daemon *daemon)
{
	int folder = lock_folder(daemon->options->socket);
	int result = open_unix_locked(daemon);

	if (folder >= 0)
		close(folder);
	return result;
}

static int open_tcp(struct daemon *daemon)
{
	const struct daemon_address *address = &daemon->options->clients;
	int fd;
	int error = socket_listen_tcp(address, &fd);

	if (error != 0) {
		log_line(LEVEL_ERROR, "--clients: cannot listen on %s:%u: %s", address->host,
		         address->port, socket_error(error));
		return -1;
	}
	serve_listener(daemon, &daemon->listeners.tcp, fd, accept_tcp);
	return 0;
}

void listeners_init(struct listeners *listeners)
{
	*listeners = (struct listeners){.spare_fd = -1};
	listeners->local.watch.fd = listeners->tcp.watch.fd = -1;
}

int listeners_open(struct daemon *daemon)
{
	daemon->listeners.spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (open_unix(daemon) != 0)
		return -1;
	return daemon->options->clients.host == NULL ? 0 : open_tcp(daemon);
}

/* Is the socket's file still ours? Another node may have replaced it, if it found nobody serving
 * it. */
static bool is_ours(const struct daemon *daemon)
{
	struct stat stat;

	return lstat(daemon->options->socket, &stat) == 0 &&
	       stat.st_dev == daemon->listeners.socket_device &&
	       stat.st_ino == daemon->listeners.socket_inode;
}

void listeners_adjust(struct daemon *daemon)
{
	struct listeners *listeners = &daemon->listeners;
	struct stat stat = {.st_uid = geteuid(), .st_gid = getegid()};
	struct client *client;

	if (listeners->socket_made && is_ours(daemon)) {
		if (chmod(daemon->options->socket, socket_mode(daemon)) != 0)
			log_line(LEVEL_ERROR, "--socket: the mode of '%s' cannot be changed: %s",
			         daemon->options->socket, strerror(errno));
		lstat(daemon->options->socket, &stat);
	}
	listeners->judges = daemon->rules == NULL;
	listeners->owner = stat.st_uid;
	listeners->group = stat.st_gid;
	LIST_FOREACH (client, &daemon->clients.all, all)
		client->shut_out = is_shut_out(listeners, client);
}

void listeners_close(struct daemon *daemon)
{
	/* Commands may still run under locks that we do not know of. Then leave the socket's file
	 * there: it tells the next node to wait. */
	if (daemon->listeners.socket_made && daemon->serve_at <= daemon->loop.now &&
	    !daemon->clients.forsakes && is_ours(daemon)) {
		unlink(daemon->options->socket);
		lease_note_remove(daemon->options->socket);
	}
	daemon->listeners.socket_made = false;
	if (daemon->listeners.spare_fd >= 0)
		close(daemon->listeners.spare_fd);
	daemon->listeners.spare_fd = -1;
	/* Connections that nobody has accepted are closed with the listener. */
	if (daemon->listeners.local.watch.fd >= 0)
		strays_leave(daemon->strays,
		             loop_remove(&daemon->loop, &daemon->listeners.local.watch), NULL);
	loop_close_fd(&daemon->loop, &daemon->listeners.tcp.watch);
}
