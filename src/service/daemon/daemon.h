/*
 * The daemon: a member of the cluster (src/service/member, without I/O) with sockets and a disk. It
 * carries bytes between the member and its peers, and between the member's node and clients, in one
 * thread with one event loop (loop.h). A second thread writes to the disk (archive.h).
 */
#ifndef DAEMON_DAEMON_H
#define DAEMON_DAEMON_H

#include "algorithm.h"
#include "credentials.h"
#include "problem.h"
#include "rules.h"
#include "wiring.h"

#include <stdbool.h>
#include <stdint.h>

enum daemon_level { LEVEL_ERROR, LEVEL_WARNING, LEVEL_INFO, LEVEL_DEBUG };

struct daemon_address {
	char *host; /* a name or an IP address; NULL: there is no such address */
	uint16_t port;
};

struct daemon_peer {
	const char *name;
	const char *address; /* where others reach the peer, as HOST:PORT */
};

enum { DAEMON_LEASE_MS_MAX = 24 * 60 * 60 * 1000 }; /* the longest lease of a cluster */

/* The settings that are fixed when a cluster is born, in the form that the program needs. */
struct daemon_settings {
	const struct algorithm *algorithm;
	const char *topology; /* the topology as text; NULL: the algorithm's own */
	struct wiring wiring;
	const uint64_t *parameters; /* parameters and texts are as in struct node_options */
	const char *const *texts;
	uint64_t lease_ms;
};

/* The caller owns all texts, which must stay valid as long as the daemon runs. */
struct daemon_options {
	const char *name;
	/* Where this node listens for peers; host NULL: nobody can join. */
	struct daemon_address listen;
	const char *address; /* HOST:PORT where others reach this node; NULL: nowhere */
	/* The nodes that meet when the cluster is born, sorted by name, this node among them; or
	 * none. */
	const struct daemon_peer *peers;
	uint32_t peers_count;
	/* Addresses of members of a cluster that this node wants to join. */
	const char *const *join;
	uint32_t join_count;
	/* The user gave the name; the user gave the address. What the user did not give is taken
	 * from the data directory, if there is one. */
	bool name_given, address_given;
	bool witness; /* this node votes, and serves no locks */
	/* The user gave --witness now; otherwise the data directory says whether this node is a
	 * witness. */
	bool witness_given;
	const char *data; /* a folder for what must survive the process; NULL: none */
	bool data_made;   /* the folder was missing at the start: it may be misspelt */
	/*
	 * The settings for a cluster that is born now, as lines "name = value" in a fixed order:
	 * what the user gave, and defaults for the rest.
	 */
	const char *settings;
	/*
	 * Reads the settings of a cluster, which may differ from this node's. On success returns 0
	 * and settings that stay valid while the daemon runs. Returns -1 and a problem if they are
	 * malformed, or if they contradict what the user gave; the problem then names both values.
	 */
	int (*resolve)(void *context, const char *settings, struct daemon_settings *ret_settings,
	               struct problem *problem);
	void *context;
	const char *socket;            /* the path of the Unix socket for clients */
	struct daemon_address clients; /* where clients connect over TCP */
	uint64_t client_timeout_ms;
	/* The rules that say who may do what here; NULL: everybody may do everything. The daemon
	 * frees them. */
	struct rules *rules;
	/* Reads the rules again. It is called in a thread of its own, because looking up users and
	 * groups may block. Returns 0 and new rules (see `rules`), or -1 and a problem. */
	int (*reload)(void *context, struct rules **ret_rules, struct problem *problem);
	void *reload_context;
	struct credentials_files tls;
	uint32_t turns; /* turns and idle_hop_ns are as in struct node_options */
	uint64_t idle_hop_ns;
	uint32_t sessions_max, locks_max;
	uint32_t user_sessions_max; /* the most sessions of one user; 0: 7/8 of all */
	uint32_t user_locks_max;    /* as in struct node_limits */
	enum daemon_level level;
	/* For a cluster of one in memory: a sentence for the log that says why it is one, and what
	 * to do if it should not be; otherwise NULL. `alone_unmeant`: the user has probably
	 * forgotten to name peers. */
	const char *alone;
	bool alone_unmeant;
};

/* Runs until the node has left, after SIGTERM, SIGINT or DRAIN, and returns 0. Otherwise logs the
 * reason, and returns 1 if the daemon could not start or must not go on, or 2 if the user gave
 * settings that are wrong or contradict the cluster's, or files for TLS that cannot be used. */
int daemon_run(const struct daemon_options *options);

#endif
