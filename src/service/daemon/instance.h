/*
 * A daemon that runs: its parts, and how far it has come between its beginning and its end.
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
	struct node *node; /* the member's */
	struct peers *peers;
	struct clients clients;
	struct listeners listeners;
	struct status_jobs status_jobs;
	struct sched_policy sched_policy;
	struct log_limit refusals; /* lines about clients and peers that cannot be accepted */
	struct loop_watch signals;
	struct loop_timer nag; /* looks after slow clients, and logs what the node waits for */
	uint64_t incarnation;
	/* Nothing is granted before this time, because the last node on this socket was killed; or 0. */
	uint64_t serve_at;
	bool told_ready;
	bool pumping; /* effects are being done */
	/* The end: see leave.h. */
	bool leaving;
	bool hurried; /* told twice to leave: clients that cannot stop are not waited for */
	bool ended;   /* the loop has no more turns */
	int code;     /* what daemon_run returns */
	uint64_t leave_deadline;     /* the last messages may take until then */
	struct loop_timer departure; /* looks again whether all clients have gone */
	char inbox[1 << 16];         /* what one read of a socket brings */
};

#endif
