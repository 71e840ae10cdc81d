/*
 * The daemon: a member of the cluster (src/service/member, without I/O) with sockets. It carries
 * bytes between the member and its peers, and between the member's node and clients, in one thread
 * with one event loop (loop.h).
 */
#ifndef DAEMON_DAEMON_H
#define DAEMON_DAEMON_H

#include "algorithm.h"

#include <stdbool.h>
#include <stdint.h>

enum daemon_level { LEVEL_ERROR, LEVEL_WARNING, LEVEL_INFO, LEVEL_DEBUG };

struct daemon_address {
	char *host; /* NULL: there is no such address */
	uint16_t port;
};

struct daemon_peer {
	const char *name;
	struct daemon_address address;
	bool linked; /* the topology needs a link to it; always false for the node itself */
};

/* The caller owns all texts, which must stay valid as long as the daemon runs. */
struct daemon_options {
	const char *cluster;             /* the name of the cluster */
	const struct daemon_peer *peers; /* sorted by name; this node is among them */
	uint32_t peers_count;
	uint32_t self;                 /* the index of this node in `peers` */
	struct daemon_address listen;  /* where peers connect; not used by a cluster of one */
	const char *socket;            /* the path of the Unix socket for clients */
	struct daemon_address clients; /* where clients connect over TCP */
	uint64_t client_timeout_ms;
	/* These are as in struct node_options. */
	const struct algorithm *algorithm;
	const char *topology;
	const uint64_t *parameters;
	const char *const *texts;
	uint32_t turns;
	uint64_t idle_hop_ns;
	uint64_t lease_ms;    /* told to clients; in this version no member is removed */
	uint64_t epoch_floor; /* the least epoch to propose */
	const char *data;     /* a folder for what must survive the process; NULL: none */
	uint32_t sessions_max, locks_max; /* 0: the limits of the node */
	enum daemon_level level;
	/* A sentence for the log that says why this is a cluster of one, and what to do if it
	 * should not be; NULL: its peers were given. `alone_unmeant`: its peers were probably
	 * forgotten. */
	const char *alone;
	bool alone_unmeant;
};

/* How many connections peers, and strangers at their port, may have with a node at a time. */
static inline uint32_t peers_sockets_max(const struct daemon_options *options)
{
	return 2 * options->peers_count + 32;
}

/* Runs until SIGTERM or SIGINT and returns 0; or returns 1 after logging why it could not start or
 * must not go on. */
int daemon_run(const struct daemon_options *options);

#endif
