#include "sockets.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int socket_tcp(int family)
{
	return socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

/* Makes a bound socket. Returns 0, or an error for socket_error. */
static int bind_tcp(const struct daemon_address *address, int *ret_fd)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
	                         .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
	struct addrinfo *found;
	char port[8];
	int on = 1, off = 0;

	snprintf(port, sizeof(port), "%u", address->port);
	int error = getaddrinfo(address->host, port, &hints, &found);
	if (error != 0)
		return error == EAI_SYSTEM ? errno : error;
	int fd = socket_tcp(found->ai_family);
	if (fd >= 0 && found->ai_family == AF_INET6) /* [::] accepts IPv4 connections too */
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	bool bound = fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
	             bind(fd, found->ai_addr, found->ai_addrlen) == 0;
	error = bound ? 0 : errno;
	freeaddrinfo(found);
	if (!bound && fd >= 0)
		close(fd);
	*ret_fd = fd;
	return error;
}

int socket_listen_tcp(const struct daemon_address *address, int *ret_fd)
{
	int error = bind_tcp(address, ret_fd);

	if (error == 0 && listen(*ret_fd, 1024) != 0) {
		error = errno;
		close(*ret_fd);
	}
	return error;
}

/* Errors of getaddrinfo are negative, those of the system positive. */
const char *socket_error(int error)
{
	return error < 0 ? gai_strerror(error) : strerror(error);
}
