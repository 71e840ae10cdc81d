/*
 * A running daemon: its parts, and how far it is between its start and its end.
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

struct member_note;
struct peers;
struct rules;

struct daemon {
	const struct daemon_options *options;
	struct loop loop;
	/* Those of the cluster; before the node belongs to one, those that it would begin with. */
	struct daemon_settings settings;
	struct archive *archive;
	struct member *member;
	struct node *node; /* belongs to the member */
	struct peers *peers;
	struct clients clients;
	/* Who may do what here; NULL: everybody may do everything. */
	struct rules *rules;
	struct reload reload;
	struct listeners listeners;
	struct status_jobs status_jobs;
	struct word_page lease_page;
	struct sched_policy sched_policy;
	struct credentials *credentials; /* NULL: there is no TLS */
	/* When the end of a certificate was last warned of; 0: never. */
	uint64_t end_told_at;
	/* Limits the lines about clients and peers that cannot be accepted. */
	struct log_limit refusals;
	struct log_limit slow_disk;
	struct log_limit denials; /* limits the lines about commands that rules forbid */
	struct loop_watch signals;
	struct loop_timer nag; /* checks slow clients, and logs what the node waits for */
	/* Nothing is granted before this time, because the last node on this socket was killed; 0:
	 * it was not. */
	uint64_t serve_at;
	uint64_t started; /* when the daemon was started */
	bool told_ready;
	/* It founds a cluster alone: its first clients wait until it serves. */
	bool newborn;
	uint64_t
	        frozen_since_ns; /* when it learnt of a view in which it does not serve yet; 0: it serves */
	bool pumping;            /* effects are being carried out */
	/* Since when the members of the view are known. */
	struct member_note *notes;
	uint32_t notes_count;
	/* For the end: see leave.h. */
	bool draining; /* nothing is granted any more; it leaves when nobody holds anything */
	uint64_t drain_deadline; /* or at this time */
	bool removed; /* an operator has removed this node: it leaves the view, and goes on running */
	bool leaving;
	bool hurried; /* it was told twice to leave: clients that cannot stop are not waited for */
	bool ended;   /* the loop has no more turns */
	int code;     /* what daemon_run returns */
	uint64_t leave_deadline;     /* when the last messages must be out */
	struct loop_timer drain;     /* checks again whether anybody holds something */
	struct loop_timer departure; /* checks again whether all clients have gone */
	struct loop_timer eviction;  /* closes the clients that have lost everything by a removal */
	char inbox[1 << 16];         /* a buffer for one read of a socket */
};

/* What the node needs to know, by the options and the cluster's settings. */
struct node_options daemon_node_options(const struct daemon *daemon);

/* The node ends, is drained or was removed: who asks for a lock here is told so. */
static inline bool daemon_grants_nothing(const struct daemon *daemon)
{
	return daemon->leaving || daemon->draining || daemon->removed;
}

static inline const char *daemon_name(const struct daemon *daemon)
{
	return archive_identity(daemon->archive)->name;
}

#endif
