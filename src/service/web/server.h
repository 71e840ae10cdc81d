/*
 * The HTTP server: it serves the files of the page, and what is known about the node. It answers
 * only requests that name this host, and takes no orders unless it was started with --control.
 */
#ifndef WEB_SERVER_H
#define WEB_SERVER_H

#include "feed.h"
#include "guests.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

struct MHD_Daemon;

struct server_options {
	struct sockaddr_storage address; /* where to listen; a port of 0 means any */
	/* The host as given, without brackets: one more name that requests may use. */
	const char *host;
	const char *node; /* the node's address; NULL: the one that clients use by default */
	bool control;     /* viewers may break locks */
};

struct server {
	struct MHD_Daemon *daemon;
	struct server_options options;
	uint16_t port;
	struct hub *hub;
	struct feed feed;
	struct guests guests;
};

/* Serves in threads of its own until server_stop. Returns 0, or -1 and errno. The struct must stay
 * valid. */
int server_start(struct server *server, const struct server_options *options);
/* Call it about once a second. */
void server_watch(struct server *server);
void server_stop(struct server *server);

#endif
