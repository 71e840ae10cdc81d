/*
 * The page over HTTP: files from a table, to who asks this very host, and nothing else.
 */
#ifndef WEB_SERVER_H
#define WEB_SERVER_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

struct MHD_Daemon;

struct server_options {
	struct sockaddr_storage address; /* to listen on; its port may be 0: any */
	socklen_t address_size;
	const char *host; /* as given, without brackets: a name by which it may be asked for too */
};

struct server {
	struct MHD_Daemon *daemon;
	struct server_options options;
	uint16_t port;
};

/* 0, or -1 and errno. It serves on a thread of its own until server_stop. The struct must stay. */
int server_start(struct server *server, const struct server_options *options);
void server_stop(struct server *server);

/* Is `given`, the value of a Host header, one of the names of this server? Any other may come from a
 * page that has its own name point here. Exposed for the tests. */
bool server_is_host(const struct server *server, const char *given);

#endif
