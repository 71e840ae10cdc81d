/*
 * The daemon: how it starts, its turns, how it ends. Each turn of the loop (loop.h) first reads
 * what has arrived. Then everything that follows is done and written before the loop sleeps again,
 * so that many replies and messages take few system calls.
 */
#include "daemon.h"

#include "clients.h"
#include "clock.h"
#include "closing.h"
#include "effects.h"
#include "epoch_file.h"
#include "grace.h"
#include "instance.h"
#include "leave.h"
#include "memory.h"
#include "must.h"
#include "notify.h"
#include "peers.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum {
	/* How often slow clients are checked, and what the node waits for is logged. */
	NAG_MS = 5000,
	/* How many open files the daemon needs besides the sockets of peers and clients. */
	DESCRIPTORS_OURS = 24,
};

/* 2026-01-01: epochs count the hours since then. */
static const uint64_t origin_ms = UINT64_C(1767225600000);

/* --- a turn --- */

static void tell_if_ready(struct daemon *daemon)
{
	if (daemon->told_ready || daemon->leaving || node_waiting_for(daemon->node) != NULL)
		return;
	daemon->told_ready = true;
	log_line(LEVEL_INFO, "serving on %s", daemon->options->socket);
	notify_send(daemon->options->alone == NULL ? "READY=1\nSTATUS=serving"
	                                           : "READY=1\nSTATUS=serving, a cluster of one");
}

static void on_nag(struct loop_timer *timer)
{
	struct daemon *daemon = (struct daemon *)((char *)timer - offsetof(struct daemon, nag));
	const char *waiting_for = node_waiting_for(daemon->node);
	const char *unknown = member_unknown(daemon->member);
	const char *unlinked = member_missing(daemon->member);

	loop_timer_set(&daemon->loop, timer, daemon->loop.now + NAG_MS * LOOP_MS);
	clients_watch(daemon);
	listeners_resume(daemon);
	peers_resume(daemon);
	member_watch(daemon->member, daemon->loop.now);
	if (unknown != NULL)
		log_line(LEVEL_INFO, "waiting for %s", unknown);
	else if (waiting_for != NULL)
		log_line(LEVEL_INFO, "waiting for %s", waiting_for);
	else if (unlinked != NULL)
		log_line(LEVEL_DEBUG, "no connection to %s", unlinked);
}

/* Runs before the loop sleeps: nothing may be left undone or unwritten. Returns true if there is
 * more to do, so that the loop must not sleep. */
static bool end_turn(struct daemon *daemon)
{
	bool more = status_continue(daemon);

	member_tick(daemon->member, daemon->loop.now);
	for (;;) {
		if (effects_do(daemon) || clients_serve_ready(daemon))
			continue;
		if (LIST_EMPTY(&daemon->clients.dirty))
			break;
		/* A slow client may have taken its replies now, another may be gone; both can cause
		 * more work. */
		clients_flush(daemon);
	}
	clients_begin_grace(daemon);
	if (!daemon->told_ready)
		tell_if_ready(daemon);
	peers_flush(daemon);
	if (clients_forget_closed(daemon))
		listeners_resume(daemon);
	peers_forget_closed(daemon);
	sched_policy_turn(&daemon->sched_policy, daemon->loop.now / LOOP_MS);
	return more;
}

/* --- the end --- */

static void on_signal(struct loop_watch *watch, uint32_t events)
{
	struct daemon *daemon = (struct daemon *)((char *)watch - offsetof(struct daemon, signals));
	struct signalfd_siginfo info;

	(void)events;
	while (read(watch->fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGHUP) {
			log_line(LEVEL_INFO, "SIGHUP: there is nothing to reload");
			continue;
		}
		daemon->hurried = daemon->leaving;
		log_line(LEVEL_INFO, "SIG%s: leaving%s", sigabbrev_np((int)info.ssi_signo),
		         daemon->hurried ? ", without waiting for clients that cannot stop" : "");
		daemon_leave(daemon);
	}
}

static void close_all(struct daemon *daemon)
{
	listeners_close(daemon);
	peers_close(daemon);
	if (daemon->member != NULL)
		member_destroy(daemon->member);
	loop_close_fd(&daemon->loop, &daemon->signals);
	sched_policy_close(&daemon->sched_policy);
	loop_close(&daemon->loop);
}

/* --- the beginning --- */

/* Proposes an epoch and floor above the last ones on disk. Returns -1 if that failed, which was
 * logged. */
static int propose(const struct daemon_options *options, struct engine_proposal *ret_proposal)
{
	struct engine_proposal proposal = {.epoch = 1}, last = {0};
	const uint64_t now_ms = clock_real_ns() / 1000000, hour_ms = 3600000;

	if (options->data != NULL && epoch_file_read(options->data, &last) != 0)
		return -1;
	if (now_ms >= origin_ms + hour_ms) {
		proposal.epoch = (now_ms - origin_ms) / hour_ms;
		/* The floor counts the milliseconds within the hour, each with room for 4,096
		 * grants of a lock, so that fences rise even if all nodes restart at once. */
		proposal.floor = (now_ms - origin_ms) % hour_ms << 12;
	}
	/* The clock has gone back, or epochs are ahead of it. */
	if (proposal.epoch < last.epoch ||
	    (proposal.epoch == last.epoch && proposal.floor <= last.floor))
		proposal = (struct engine_proposal){.epoch = last.epoch + 1};
	if (proposal.epoch < options->epoch_floor)
		proposal = (struct engine_proposal){.epoch = options->epoch_floor};
	*ret_proposal = proposal;
	return 0;
}

/* Returns 0, or -1 after logging the reason. */
static int make_member(struct daemon *daemon)
{
	const struct daemon_options *options = daemon->options;
	struct member_options member = {
	        .cluster = options->cluster,
	        .peers_count = options->peers_count,
	        .self = options->self,
	        .incarnation = daemon->incarnation,
	        .quiet_until = daemon->serve_at,
	        .lease_ms = options->lease_ms,
	        .node =
	                {
	                        .algorithm = options->algorithm,
	                        .topology = options->topology,
	                        .seed = 1,
	                        .parameters = options->parameters,
	                        .texts = options->texts,
	                        .turns = options->turns,
	                        .idle_hop_ns = options->idle_hop_ns,
	                        .limits = {.sessions = options->sessions_max,
	                                   .locks = options->locks_max},
	                },
	};
	const char *wrong;

	if (propose(options, &member.proposal) != 0)
		return -1;
	struct member_peer *peers = calloc(options->peers_count, sizeof(*peers));
	char(*addresses)[300] = calloc(options->peers_count, sizeof(*addresses));
	memory_must(peers != NULL && addresses != NULL);
	for (uint32_t i = 0; i < options->peers_count; i++) {
		const struct daemon_peer *peer = &options->peers[i];
		snprintf(addresses[i], sizeof(*addresses), "%s:%u", peer->address.host,
		         peer->address.port);
		peers[i] = (struct member_peer){.name = peer->name,
		                                .address = peer->address.host != NULL ? addresses[i]
		                                                                      : NULL,
		                                .linked = peer->linked};
	}
	member.peers = peers;
	daemon->member = member_create(&member, &wrong);
	free(peers);
	free(addresses);
	if (daemon->member == NULL) {
		log_line(LEVEL_ERROR, "%s", wrong);
		return -1;
	}
	daemon->node = member_node(daemon->member);
	return 0;
}

/* Gets as many descriptors as the system allows: one for each client, if some are left for the
 * daemon itself. Returns 0, or -1 after logging the reason. */
static int raise_limits(struct daemon *daemon)
{
	const rlim_t ours =
	        DESCRIPTORS_OURS + (rlim_t)daemon->options->peers_count +
	        (daemon->options->listen.host != NULL ? peers_sockets_max(daemon->options) : 0);
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		limit.rlim_cur = RLIM_INFINITY;
	else if (limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	if (limit.rlim_cur <= ours) {
		log_line(LEVEL_ERROR,
		         "at least %llu descriptors are needed, and the system allows %llu: see "
		         "ulimit -n",
		         (unsigned long long)ours + 1, (unsigned long long)limit.rlim_cur);
		return -1;
	}
	daemon->clients.count_max =
	        limit.rlim_cur - ours < UINT32_MAX ? (uint32_t)(limit.rlim_cur - ours) : UINT32_MAX;
	return 0;
}

/* From now on signals are read from a descriptor instead of being handled. SIGHUP is ignored. */
static void read_signals(struct daemon *daemon)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	signal(SIGPIPE, SIG_IGN);
	daemon->signals = (struct loop_watch){
	        .fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK), .ready = on_signal};
	must(daemon->signals.fd >= 0);
	loop_add(&daemon->loop, &daemon->signals, EPOLLIN);
}

/*
 * A node on this socket was killed before. This node does not know what that node's clients hold,
 * and they need some time to stop.
 */
static void say_patience(const struct daemon *daemon)
{
	if (daemon->serve_at <= daemon->loop.now)
		return;
	log_line(LEVEL_WARNING,
	         "the last node on this socket was killed: nothing is granted for %llu ms, so that "
	         "commands started under it can stop",
	         (unsigned long long)((daemon->serve_at - daemon->loop.now) / LOOP_MS));
}

int daemon_run(const struct daemon_options *options)
{
	struct daemon *daemon = calloc(1, sizeof(*daemon));

	memory_must(daemon != NULL);
	daemon->options = options;
	listeners_init(&daemon->listeners);
	TAILQ_INIT(&daemon->status_jobs);
	daemon->nag.due = on_nag;
	daemon->incarnation = clock_real_ns() / 1000;
	log_open(options->peers[options->self].name, options->level);
	if (raise_limits(daemon) != 0) {
		free(daemon);
		return 1;
	}
	loop_open(&daemon->loop);
	read_signals(daemon);
	sched_policy_open(&daemon->sched_policy, daemon->loop.now / LOOP_MS);
	if (listeners_open(daemon) != 0 || make_member(daemon) != 0 || peers_open(daemon) != 0) {
		daemon->code = 1;
		daemon->ended = true;
	} else {
		if (options->alone != NULL)
			log_line(options->alone_unmeant ? LEVEL_ERROR : LEVEL_WARNING, "%s",
			         options->alone);
		say_patience(daemon);
		loop_timer_set(&daemon->loop, &daemon->nag, daemon->loop.now + NAG_MS * LOOP_MS);
	}
	while (!daemon->ended) {
		bool busy = end_turn(daemon) || !LIST_EMPTY(&daemon->clients.later);
		loop_turn(&daemon->loop, busy, member_deadline(daemon->member));
		clients_turn(daemon);
	}
	close_all(daemon);
	int code = daemon->code;
	free(daemon);
	return code;
}
