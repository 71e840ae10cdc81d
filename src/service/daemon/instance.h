/*
 * A running daemon: its parts, and how far it has come between start and end.
 */
#ifndef DAEMON_INSTANCE_H
#define DAEMON_INSTANCE_H

#include "archive.h"
#include "client.h"
#include "daemon.h"
#include "lease_page.h"
#include "listeners.h"
#include "log.h"
#include "loop.h"
#include "member.h"
#include "reload.h"
#include "sched_policy.h"
#include "status_json.h"

struct command_lines;
struct member_note;
struct peers;
struct rules;
struct strays;

struct daemon {
	const struct daemon_options *options;
	struct loop loop;
	/* The settings of the cluster; before the node belongs to one, the settings that it would
	 * begin with. */
	struct daemon_settings settings;
	struct archive *archive;
	struct member *member;
	struct node *node; /* the node, which the member owns */
	struct peers *peers;
	struct clients clients;
	/* The rules that say who may do what here; NULL: everybody may do everything. */
	struct rules *rules;
	struct reload reload;
	struct listeners listeners;
	struct strays *strays;
	struct command_lines *command_lines;
	struct word_page lease_page;
	struct sched_policy sched_policy;
	struct credentials *credentials; /* the keys for TLS; NULL: there is no TLS */
	/* When a warning about the end of a certificate was last logged; 0: never. */
	uint64_t end_told_at;
	/* Limits the lines about clients and peers that cannot be accepted. */
	struct log_limit refusals;
	struct log_limit slow_disk;
	struct log_limit denials; /* limits the lines about commands that rules forbid */
	struct log_limit stays;   /* limits the lines about clients that cannot stop */
	struct log_limit gone;    /* limits the lines about holders whose connection is gone */
	struct log_limit late;    /* limits the lines about clients that did not stop in time */
	struct log_limit unread;  /* limits the lines about clients that do not read */
	struct log_limit crowd;   /* limits the lines about events that all clients do not read */
	struct log_limit words;   /* limits the lines about lease words that cannot be passed */
	/* Limit the lines about orders of clients, see client_orders. */
	struct log_limit orders[CLIENT_ORDERS];
	/* Counts the locks that were lost in this second, to limit the lines about them. */
	uint64_t losses_count;
	struct loop_timer losses;
	struct loop_watch signals;
	struct loop_timer nag; /* checks slow clients, and logs what the node waits for */
	/* Nothing is granted before this time, because the last node on this socket was killed; 0:
	 * no node was killed. */
	uint64_t serve_at;
	uint64_t started; /* when the daemon was started */
	bool told_ready;
	/* The node founds a cluster alone: its first clients wait until it serves. */
	bool newborn;
	/* When the node learnt of a view in which it does not serve yet; 0: it serves. */
	uint64_t frozen_since_ns;
	bool pumping; /* effects are being carried out */
	/* When each member of the view was first seen. */
	struct member_note *notes;
	uint32_t notes_count;
	/* Leaving: see leave.h. */
	/* Nothing is granted any more; the node leaves when nobody holds anything. */
	bool draining;
	uint64_t drain_deadline; /* the node leaves at this time even if something is held */
	/* An operator has removed this node: it leaves the view, and goes on running. */
	bool removed;
	bool leaving;
	/* When the node leaves, clients that cannot stop are waited for until this time. */
	uint64_t stay_deadline;
	bool ended; /* the loop has no more turns */
	int code;   /* what daemon_run returns */
	/* When all clients have gone, the loop ends at this time at the latest. */
	uint64_t leave_deadline;
	struct loop_timer drain;     /* checks again whether anybody holds something */
	struct loop_timer departure; /* checks again whether all clients have gone */
	/* closes the clients that lost all locks when the node was removed */
	struct loop_timer eviction;
	char inbox[1 << 16]; /* a buffer for one read of a socket */
};

/* Returns the node's options, which follow from the daemon's options and the cluster's settings. */
struct node_options daemon_node_options(const struct daemon *daemon);

/* Is the node ending, draining or removed? Then clients that ask for a lock here are told so. */
static inline bool daemon_grants_nothing(const struct daemon *daemon)
{
	return daemon->leaving || daemon->draining || daemon->removed;
}

static inline const char *daemon_name(const struct daemon *daemon)
{
	return archive_identity(daemon->archive)->name;
}

#endif
