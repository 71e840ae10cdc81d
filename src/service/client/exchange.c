#include "exchange.h"

#include "clock.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int64_t timeout_clamp(int64_t timeout_ms)
{
	const int64_t year_ms = INT64_C(365) * 86400 * 1000;

	return timeout_ms < year_ms ? timeout_ms : year_ms;
}

int64_t now_ms(void)
{
	return (int64_t)(clock_boot_ns() / 1000000);
}

/* --- addresses --- */

/* Is the address HOST:PORT? Anything else is a path. */
static bool has_port(const char *address)
{
	return strchr(address, '/') == NULL && strchr(address, ':') != NULL;
}

/* Returns NULL if the variable is not set, or empty. */
static const char *environment(const char *name)
{
	const char *value = getenv(name);

	return value != NULL && *value != '\0' ? value : NULL;
}

char *address_default(void)
{
	const char *runtime = environment("XDG_RUNTIME_DIR");
	char *in_runtime = NULL;

	if (runtime != NULL && asprintf(&in_runtime, "%s/baton.sock", runtime) < 0)
		return NULL;
	const char *const candidates[] = {environment("BATON_SOCKET"), in_runtime,
	                                  "/run/baton.sock"};
	const char *first = NULL, *existing = NULL;
	for (size_t i = 0; i < 3 && existing == NULL; i++) {
		if (candidates[i] == NULL)
			continue;
		if (first == NULL)
			first = candidates[i];
		if (has_port(candidates[i]) || access(candidates[i], F_OK) == 0)
			existing = candidates[i];
	}
	/* If none of the sockets exists, the error message is about the first one. */
	char *copy = strdup(existing != NULL ? existing : first);
	free(in_runtime);
	return copy;
}

static int no_node(struct why *why, const char *address, int error)
{
	if (error == EACCES || error == EPERM)
		return why_set(why, BATON_EACCESS, "no permission to connect to %.200s: %s",
		               address, strerror(error));
	/* connect fails with these errors when SO_SNDTIMEO has passed. */
	if (error == EAGAIN || error == EINPROGRESS)
		return why_set(why, BATON_ENODE,
		               "the node at %.200s did not accept a connection within %d s",
		               address, CONNECT_MS_MAX / 1000);
	return why_set(why, BATON_ENODE, "no node at %.200s: %s: is 'baton node' running there?",
	               address, strerror(error));
}

/* Connects, and goes on after a signal. Returns 0 or errno. */
static int connect_patiently(int fd, const struct sockaddr *address, socklen_t size)
{
	const struct timeval patience = {.tv_sec = CONNECT_MS_MAX / 1000};

	if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) != 0)
		return errno;
	while (connect(fd, address, size) != 0) {
		/* The earlier call was interrupted, but has connected in the meantime. */
		if (errno == EISCONN)
			return 0;
		if (errno != EINTR)
			return errno;
	}
	return 0;
}

/* Makes a socket and connects it. Returns the descriptor, or -errno. */
static int connect_new(int family, int protocol, const struct sockaddr *address, socklen_t size)
{
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, protocol);
	int error = fd < 0 ? errno : connect_patiently(fd, address, size);

	if (error == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -error;
}

static int open_path(const char *path, struct why *why)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	size_t size = strlen(path);

	if (size == 0 || size >= sizeof(address.sun_path))
		return why_set(why, BATON_EADDRESS,
		               "'%.200s': the path of a socket has 1 to %zu bytes, not %zu", path,
		               sizeof(address.sun_path) - 1, size);
	memcpy(address.sun_path, path, size + 1);
	int fd = connect_new(AF_UNIX, 0, (const struct sockaddr *)&address, sizeof(address));
	return fd < 0 ? no_node(why, path, -fd) : fd;
}

/* Makes the kernel notice a host that has vanished: it sends probes after 3, 5 and 7 s of silence,
 * and ends the connection after 9 s. */
static void keep_alive(int fd)
{
	static const struct {
		int level, option, value;
	} settings[] = {
	        {IPPROTO_TCP, TCP_NODELAY, 1},  {SOL_SOCKET, SO_KEEPALIVE, 1},
	        {IPPROTO_TCP, TCP_KEEPIDLE, 3}, {IPPROTO_TCP, TCP_KEEPINTVL, 2},
	        {IPPROTO_TCP, TCP_KEEPCNT, 3},  {IPPROTO_TCP, TCP_USER_TIMEOUT, 8500},
	};

	/* A failure to set these does not matter much: a lost host is then noticed later. */
	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++)
		setsockopt(fd, settings[i].level, settings[i].option, &settings[i].value,
		           sizeof(settings[i].value));
}

enum { HOST_MAX = 255 };

/* Connects, and returns the host in the address. */
static int open_port(const char *address, char ret_host[HOST_MAX + 1], struct why *why)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
	struct addrinfo *found;
	char host[HOST_MAX + 1];
	const char *from = address, *port = strrchr(address, ':') + 1;
	size_t size = (size_t)(port - 1 - from);

	if (from[0] == '[' && size >= 2 && from[size - 1] == ']') {
		from++;
		size -= 2;
	}
	if (size == 0 || size >= sizeof(host) || strspn(port, "0123456789") != strlen(port) ||
	    strlen(port) > 5 || atoi(port) < 1 || atoi(port) > 65535)
		return why_set(why, BATON_EADDRESS,
		               "'%.200s': an address is the path of a socket, or HOST:PORT with a "
		               "port from 1 to 65535",
		               address);
	memcpy(host, from, size);
	host[size] = '\0';
	int failed = getaddrinfo(host, port, &hints, &found);
	if (failed != 0)
		return why_set(why, BATON_ENODE, "no node at %.200s: %s", address,
		               failed == EAI_SYSTEM ? strerror(errno) : gai_strerror(failed));
	int fd = -ENOENT;
	for (const struct addrinfo *at = found; at != NULL && fd < 0; at = at->ai_next)
		fd = connect_new(at->ai_family, at->ai_protocol, at->ai_addr, at->ai_addrlen);
	freeaddrinfo(found);
	if (fd < 0)
		return no_node(why, address, -fd);
	keep_alive(fd);
	memcpy(ret_host, host, size + 1);
	return fd;
}

/* --- a connection --- */

static int begin(struct exchange *exchange, int fd, struct why *why)
{
	*exchange = (struct exchange){.fd = fd, .reader = redisReaderCreate()};
	if (exchange->reader != NULL)
		return 0;
	close(fd);
	exchange->fd = -1;
	return why_set(why, BATON_EMEMORY, "out of memory");
}

int exchange_open(struct exchange *exchange, const char *address, struct secure_files files,
                  struct why *why)
{
	char host[HOST_MAX + 1];
	bool port = has_port(address);
	int error = port ? secure_files_complete(&files, why) : 0;

	if (error < 0)
		return error;
	int64_t until_ms = now_ms() + CONNECT_MS_MAX;
	int fd = port ? open_port(address, host, why) : open_path(address, why);
	if (fd < 0)
		return fd;
	error = begin(exchange, fd, why);
	if (error == 0 && port && files.ca != NULL)
		error = secure_open(fd, host, address, &files, until_ms, &exchange->secure, why);
	if (error < 0)
		exchange_close(exchange);
	return error;
}

void exchange_close(struct exchange *exchange)
{
	if (exchange->fd < 0)
		return;
	close(exchange->fd);
	if (exchange->passed)
		close(exchange->passed_fd);
	redisReaderFree(exchange->reader);
	secure_close(exchange->secure);
	*exchange = (struct exchange){.fd = -1};
}

/* Returns 1 if there may be bytes; 0 if there were none in time; -1 and errno on failure. */
static int wait_for_bytes(int fd, int64_t until_ms)
{
	struct pollfd item = {.fd = fd, .events = POLLIN};

	for (;;) {
		int64_t left = until_ms - now_ms();
		if (left < 0)
			return 0;
		int ready = poll(&item, 1, left > INT32_MAX ? INT32_MAX : (int)left);
		if (ready > 0 || (ready < 0 && errno != EINTR))
			return ready;
	}
}

int exchange_take_fd(struct exchange *exchange)
{
	int fd = exchange->passed ? exchange->passed_fd : -1;

	exchange->passed = false;
	return fd;
}

bool exchange_is_local(const struct exchange *exchange)
{
	int domain;
	socklen_t size = sizeof(domain);

	return getsockopt(exchange->fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 &&
	       domain == AF_UNIX;
}

/* Receives like recv, and keeps a descriptor that comes with the bytes. */
static ssize_t receive_bytes(struct exchange *exchange, char *bytes, size_t size, int flags)
{
	union {
		struct cmsghdr header; /* gives the union its alignment */
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec room = {bytes, size};
	struct msghdr message = {.msg_iov = &room,
	                         .msg_iovlen = 1,
	                         .msg_control = control.bytes,
	                         .msg_controllen = sizeof(control.bytes)};
	ssize_t count = recvmsg(exchange->fd, &message, flags | MSG_CMSG_CLOEXEC);
	const struct cmsghdr *header = count > 0 ? CMSG_FIRSTHDR(&message) : NULL;

	if (header == NULL || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
		return count;
	if (exchange->passed)
		close(exchange->passed_fd);
	memcpy(&exchange->passed_fd, CMSG_DATA(header), sizeof(int));
	exchange->passed = true;
	return count;
}

/* Returns 1 or an error. */
static int feed(struct exchange *exchange, const char *bytes, size_t size, struct why *why)
{
	if (redisReaderFeed(exchange->reader, bytes, size) != REDIS_OK)
		return why_set(why, BATON_EMEMORY, "out of memory");
	return 1;
}

/* Decrypts bytes in place. Replies that came before the end of the connection still count. Returns
 * 1 or an error. */
static int decrypt(struct exchange *exchange, char *bytes, size_t size, size_t room,
                   struct why *why)
{
	bool any = false;
	int fed = 1;

	secure_received(exchange->secure, bytes, size);
	while (fed == 1 && (size = secure_read(exchange->secure, bytes, room)) > 0) {
		any = true;
		fed = feed(exchange, bytes, size, why);
	}
	if (fed < 0 || any)
		return fed;
	int verdict = secure_verdict(exchange->secure, why);
	return verdict < 0 ? verdict : 1;
}

/* Reports that another process has gone on with this connection. */
static int not_ours(struct why *why)
{
	return why_set(
	        why, BATON_ECONNECTION,
	        "another process uses this TLS connection since the fork, so this process cannot");
}

bool exchange_is_ours(const struct exchange *exchange)
{
	return exchange->secure == NULL || secure_is_ours(exchange->secure);
}

static bool claim(struct exchange *exchange)
{
	return exchange->secure == NULL || secure_claim(exchange->secure);
}

/* Returns 1 if something was read; 0 if nothing came in time; or an error. */
static int read_some(struct exchange *exchange, int64_t timeout_ms, int64_t until_ms,
                     struct why *why)
{
	char bytes[16384];
	ssize_t count;

	if (!exchange_is_ours(exchange))
		return timeout_ms == 0 ? 0 : not_ours(why);
	if (timeout_ms > 0) {
		int ready = wait_for_bytes(exchange->fd, until_ms);
		if (ready <= 0)
			return ready == 0 ? 0
			                  : why_set(why, BATON_ECONNECTION, "poll: %s",
			                            strerror(errno));
	}
	if (!claim(exchange))
		return not_ours(why);
	do
		count = receive_bytes(exchange, bytes, sizeof(bytes),
		                      timeout_ms < 0 ? 0 : MSG_DONTWAIT);
	while (count < 0 && errno == EINTR);
	if (count < 0 && errno == EAGAIN)
		return 0;
	if (count < 0)
		return why_set(why, BATON_ECONNECTION, "the connection to the node has ended: %s",
		               strerror(errno));
	if (count == 0)
		return why_set(why, BATON_ECONNECTION, "the node has closed the connection");
	if (exchange->secure != NULL)
		return decrypt(exchange, bytes, (size_t)count, sizeof(bytes), why);
	return feed(exchange, bytes, (size_t)count, why);
}

int exchange_receive(struct exchange *exchange, int64_t timeout_ms, redisReply **ret_reply,
                     struct why *why)
{
	int64_t until_ms = timeout_ms > 0 ? now_ms() + timeout_ms : 0;

	for (;;) {
		void *reply = NULL;
		if (redisReaderGetReply(exchange->reader, &reply) != REDIS_OK)
			return why_set(why,
			               exchange->reader->err == REDIS_ERR_OOM ? BATON_EMEMORY
			                                                      : BATON_EPROTOCOL,
			               "the reply is malformed, so this is not a baton node: %s",
			               exchange->reader->errstr);
		if (reply != NULL) {
			*ret_reply = reply;
			return 1;
		}
		int some = read_some(exchange, timeout_ms, until_ms, why);
		if (some <= 0)
			return some;
	}
}

/* The node has closed the connection. Finds out why, if its last reply or a TLS alert says so.
 * Returns an error. */
static int closed_because(struct exchange *exchange, int error, struct why *why)
{
	redisReply *last = NULL;
	struct why said;
	int got = error == EPIPE || error == ECONNRESET
	                  ? exchange_receive(exchange, 0, &last, &said)
	                  : 0;

	if (got == BATON_EACCESS) {
		*why = said;
		return got;
	}
	bool told = got == 1 && last != NULL && last->type == REDIS_REPLY_ERROR;
	if (told)
		why_set(why, BATON_ECONNECTION, "the node has closed the connection: %.200s",
		        last->str);
	if (got == 1)
		freeReplyObject(last);
	if (told)
		return BATON_ECONNECTION;
	return why_set(why, BATON_ECONNECTION, "the connection to the node has ended: %s",
	               strerror(error));
}

/* Returns 0 or errno. */
static int send_plain(const struct exchange *exchange, const char *bytes, size_t size)
{
	while (size > 0) {
		ssize_t count = send(exchange->fd, bytes, size, MSG_NOSIGNAL);
		if (count < 0 && errno != EINTR)
			return errno;
		if (count > 0) {
			bytes += count;
			size -= (size_t)count;
		}
	}
	return 0;
}

int exchange_send(struct exchange *exchange, const struct word *words, size_t words_count,
                  struct why *why)
{
	const char *bytes[COMMAND_WORDS_MAX];
	size_t sizes[COMMAND_WORDS_MAX];
	char *command;

	for (size_t i = 0; i < words_count; i++) {
		bytes[i] = words[i].bytes;
		sizes[i] = words[i].size;
	}
	int size = redisFormatCommandArgv(&command, (int)words_count, bytes, sizes);
	if (size < 0)
		return why_set(why, BATON_EMEMORY, "out of memory");
	if (!claim(exchange)) {
		redisFreeCommand(command);
		return not_ours(why);
	}
	int error = exchange->secure != NULL
	                    ? secure_send(exchange->secure, command, (size_t)size, 0)
	                    : send_plain(exchange, command, (size_t)size);
	redisFreeCommand(command);
	if (error == 0)
		return 0;
	if (error == EAGAIN)
		return why_set(why, BATON_ECONNECTION,
		               "the node has read nothing from this connection for %d s",
		               CONNECT_MS_MAX / 1000);
	return closed_because(exchange, error, why);
}

void exchange_quit(struct exchange *exchange)
{
	static const char quit[] = "*1\r\n$4\r\nQUIT\r\n";

	if (exchange->secure == NULL)
		(void)send(exchange->fd, quit, sizeof(quit) - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
	else if (claim(exchange))
		(void)secure_send(exchange->secure, quit, sizeof(quit) - 1, MSG_DONTWAIT);
}

bool exchange_ended(const struct exchange *exchange)
{
	struct pollfd item = {.fd = exchange->fd, .events = POLLRDHUP};

	return poll(&item, 1, 0) > 0 && item.revents != 0;
}
