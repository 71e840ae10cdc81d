/*
 * The daemon: a member of the cluster (src/service/member, without I/O) behind sockets. It carries bytes between the
 * member and its peers, and between the member's node and clients, in one thread with one event loop (loop.h).
 */
#ifndef DAEMON_DAEMON_H
#define DAEMON_DAEMON_H

#include "algorithm.h"

#include <stdbool.h>
#include <stdint.h>

enum daemon_level { LEVEL_ERROR, LEVEL_WARNING, LEVEL_INFO, LEVEL_DEBUG };

struct daemon_address {
	char *host; /* NULL: none */
	uint16_t port;
};

struct daemon_peer {
	const char *name;
	struct daemon_address address;
	bool linked; /* does the topology want a link to it? Not to oneself */
};

/* All texts stay the caller's and must stay as long as the daemon runs. */
struct daemon_options {
	const char *cluster;             /* its name */
	const struct daemon_peer *peers; /* sorted by name, this node among them */
	uint32_t peers_count;
	uint32_t self;                 /* its index */
	struct daemon_address listen;  /* for peers; not used by a cluster of one */
	const char *socket;            /* for clients */
	struct daemon_address clients; /* for clients over TCP */
	uint64_t client_timeout_ms;
	/* As in struct node_options. */
	const struct algorithm *algorithm;
	const char *topology;
	const uint64_t *parameters;
	const char *const *texts;
	uint32_t turns;
	uint64_t idle_hop_ns;
	uint64_t lease_ms;    /* told to clients; this version removes no member */
	uint64_t epoch_floor; /* the least epoch to propose */
	const char *data;     /* a folder for what must outlive the process; NULL: none */
	uint32_t sessions_max, locks_max; /* 0: the node's own limits */
	enum daemon_level level;
	/* Why it is a cluster of one, and what to do if it should not be: a sentence for the log; NULL: it was told its
	 * peers. `alone_unmeant`: it looks as if it should have been told. */
	const char *alone;
	bool alone_unmeant;
};

/* Connections that peers, and strangers at their port, may have with a node at a time. */
static inline uint32_t peers_sockets_max(const struct daemon_options *options)
{
	return 2 * options->peers_count + 32;
}

/* Until SIGTERM or SIGINT, then 0; or 1 and the reason is in the log: it could not start, or must not go on. */
int daemon_run(const struct daemon_options *options);

#endif
