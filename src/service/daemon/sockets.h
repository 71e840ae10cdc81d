/*
 * TCP sockets for clients and peers.
 */
#ifndef DAEMON_SOCKETS_H
#define DAEMON_SOCKETS_H

#include "daemon.h"

/* Makes a nonblocking TCP socket. Returns -1 and errno on failure. */
int socket_tcp(int family);
/* Makes a socket that listens on this address. Returns 0, or an error for socket_error. */
int socket_listen_tcp(const struct daemon_address *address, int *ret_fd);
const char *socket_error(int error);

#endif
