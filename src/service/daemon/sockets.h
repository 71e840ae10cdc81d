/*
 * TCP sockets, as clients and peers both need them.
 */
#ifndef DAEMON_SOCKETS_H
#define DAEMON_SOCKETS_H

#include "daemon.h"

/* A TCP socket, nonblocking; -1 and errno. */
int socket_tcp(int family);
/* A socket that listens on that address. 0, or an error for socket_error. */
int socket_listen_tcp(const struct daemon_address *address, int *ret_fd);
const char *socket_error(int error);

#endif
