/*
 * Serves the page over HTTP: files from a table, only to requests that name this host, and nothing
 * else.
 */
#ifndef WEB_SERVER_H
#define WEB_SERVER_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

struct MHD_Daemon;

struct server_options {
	struct sockaddr_storage address; /* where to listen; a port of 0 means any */
	socklen_t address_size;
	/* The host as given, without brackets: one more name that requests may use. */
	const char *host;
};

struct server {
	struct MHD_Daemon *daemon;
	struct server_options options;
	uint16_t port;
};

/* Serves in a thread of its own until server_stop. Returns 0, or -1 and errno. The struct must stay
 * valid. */
int server_start(struct server *server, const struct server_options *options);
void server_stop(struct server *server);

/* Is `given`, the value of a Host header, one of the names of this server? Any other name may come
 * from a web page whose own name was made to point here. Public for the tests. */
bool server_is_host(const struct server *server, const char *given);

#endif
