/*
 * A running daemon: its parts, and how far it is between its start and its end.
 */
#ifndef DAEMON_INSTANCE_H
#define DAEMON_INSTANCE_H

#include "client.h"
#include "daemon.h"
#include "listeners.h"
#include "log.h"
#include "loop.h"
#include "member.h"
#include "sched_policy.h"
#include "status_json.h"

struct peers;

struct daemon {
	const struct daemon_options *options;
	struct loop loop;
	struct member *member;
	struct node *node; /* belongs to the member */
	struct peers *peers;
	struct clients clients;
	struct listeners listeners;
	struct status_jobs status_jobs;
	struct sched_policy sched_policy;
	/* Limits the lines about clients and peers that cannot be accepted. */
	struct log_limit refusals;
	struct loop_watch signals;
	struct loop_timer nag; /* checks slow clients, and logs what the node waits for */
	uint64_t incarnation;
	/* Nothing is granted before this time, because the last node on this socket was killed; 0:
	 * it was not. */
	uint64_t serve_at;
	bool told_ready;
	bool pumping; /* effects are being carried out */
	/* For the end: see leave.h. */
	bool leaving;
	bool hurried; /* it was told twice to leave: clients that cannot stop are not waited for */
	bool ended;   /* the loop has no more turns */
	int code;     /* what daemon_run returns */
	uint64_t leave_deadline;     /* when the last messages must be out */
	struct loop_timer departure; /* checks again whether all clients have gone */
	char inbox[1 << 16];         /* a buffer for one read of a socket */
};

#endif
