/*
 * The daemon: its start, its turns, its end. Each turn of the loop (loop.h) first reads what has
 * arrived. Then it does everything that follows from that and writes all output before the loop
 * sleeps again, so that many replies and messages take few system calls.
 */
#include "daemon.h"

#include "archive.h"
#include "client_tls.h"
#include "clients.h"
#include "clock.h"
#include "closing.h"
#include "command_lines.h"
#include "effects.h"
#include "epoch_file.h"
#include "grace.h"
#include "instance.h"
#include "lease_page.h"
#include "leave.h"
#include "memory.h"
#include "must.h"
#include "notify.h"
#include "peers.h"
#include "randomness.h"
#include "strays.h"
#include "trust.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum {
	/* How often slow clients are checked, and how often the log says what the node waits
	 * for. */
	NAG_MS = 5000,
	/* How many descriptors the daemon needs besides the sockets of peers and clients. */
	DESCRIPTORS_OURS = 32,
	/* For how many leases a new member must have been there before it may become a voter; and
	 * after how many milliseconds of silence a voter is replaced. */
	GROW_LEASES = 10,
	REPLACE_MS = 600000,
};

/* --- a turn --- */

static void tell_if_ready(struct daemon *daemon)
{
	if (daemon->told_ready || daemon->leaving || node_waiting_for(daemon->node) != NULL)
		return;
	daemon->told_ready = true;
	listeners_resume(daemon);
	log_line(LEVEL_INFO, "serving on %s", daemon->options->socket);
	notify_send(daemon->options->alone == NULL ? "READY=1\nSTATUS=serving"
	                                           : "READY=1\nSTATUS=serving, a cluster of one");
}

/* Logs how long nothing was granted in this view: from its beginning until all its members have
 * reported. Operators and the benchmark of failover want to know this. */
static void tell_if_active(struct daemon *daemon)
{
	if (daemon->frozen_since_ns == 0 || !node_active(daemon->node))
		return;
	log_line(LEVEL_DEBUG, "active after %.3f ms",
	         (double)(daemon->loop.now - daemon->frozen_since_ns) / LOOP_MS);
	daemon->frozen_since_ns = 0;
}

static void on_nag(struct loop_timer *timer)
{
	struct daemon *daemon = (struct daemon *)((char *)timer - offsetof(struct daemon, nag));
	char waits_for[WAITS_FOR_MAX];
	const char *unlinked;

	loop_timer_set(&daemon->loop, timer, daemon->loop.now + NAG_MS * LOOP_MS);
	clients_watch(daemon);
	listeners_resume(daemon);
	peers_resume(daemon);
	trust_watch(daemon);
	if (status_waits_for(daemon, waits_for, sizeof(waits_for)))
		log_line(member_identity(daemon->member)->witness ? LEVEL_DEBUG : LEVEL_INFO,
		         "waiting for %s", waits_for);
	else if ((unlinked = member_missing(daemon->member)) != NULL)
		log_line(LEVEL_DEBUG, "no connection to %s", unlinked);
}

/* Runs before the loop sleeps, and does and writes everything that is left, except for clients that
 * wait for their next turn. */
static void end_turn(struct daemon *daemon)
{
	member_tick(daemon->member, daemon->loop.now);
	for (;;) {
		if (effects_do(daemon) || clients_serve_next(daemon))
			continue;
		if (LIST_EMPTY(&daemon->clients.dirty))
			break;
		/* Writing may show that a slow client reads again or that another is gone; both can
		 * cause more work. */
		clients_flush(daemon);
	}
	clients_begin_grace(daemon);
	tell_if_active(daemon);
	if (!daemon->told_ready)
		tell_if_ready(daemon);
	lease_page_publish(daemon);
	peers_flush(daemon);
	if (clients_forget_closed(daemon))
		listeners_resume(daemon);
	peers_forget_closed(daemon);
	sched_policy_turn(&daemon->sched_policy, daemon->loop.now / LOOP_MS);
}

/* --- ending --- */

static void on_signal(struct loop_watch *watch, uint32_t events)
{
	struct daemon *daemon = (struct daemon *)((char *)watch - offsetof(struct daemon, signals));
	struct signalfd_siginfo info;

	(void)events;
	while (read(watch->fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGHUP) {
			trust_reload(daemon);
			reload_begin(daemon);
			continue;
		}
		log_line(LEVEL_INFO, "SIG%s: leaving", sigabbrev_np((int)info.ssi_signo));
		daemon_leave(daemon);
	}
}

static void close_all(struct daemon *daemon)
{
	peers_close(daemon);
	effects_tell_losses(daemon);
	if (daemon->member != NULL)
		member_destroy(daemon->member);
	daemon->member = NULL;
	users_free(&daemon->clients.users);
	credentials_free(daemon->credentials);
	archive_close(daemon->archive);
	/* Close the listeners last: 'baton drain' waits for that, and after it another node may use
	 * the directory. */
	listeners_close(daemon);
	strays_end(daemon->strays);
	command_lines_close(daemon->command_lines);
	loop_close_fd(&daemon->loop, &daemon->signals);
	reload_close(daemon);
	lease_page_close(&daemon->lease_page);
	sched_policy_close(&daemon->sched_policy);
	free(daemon->notes);
	loop_close(&daemon->loop);
}

/* --- starting --- */

struct node_options daemon_node_options(const struct daemon *daemon)
{
	const struct daemon_options *options = daemon->options;
	const struct daemon_settings *settings = &daemon->settings;

	return (struct node_options){
	        .algorithm = settings->algorithm,
	        .topology = settings->topology,
	        .seed = settings->wiring.seed,
	        .links = settings->wiring.links,
	        .parameters = settings->parameters,
	        .texts = settings->texts,
	        .turns = options->turns,
	        .idle_hop_ns = options->idle_hop_ns,
	        .secret = randomness_draw(NULL),
	        .limits = {.sessions = options->sessions_max,
	                   .locks = options->locks_max,
	                   .user_locks = options->user_locks_max},
	};
}

/* Returns where the fences of a cluster born now begin. Returns 0 if the epoch that the first
 * version of baton left in the data directory cannot be read; then the reason was logged. */
static uint64_t first_base(const struct daemon_options *options)
{
	uint64_t epoch = 0;

	if (options->data != NULL && epoch_file_read(options->data, &epoch) != 0)
		return 0;
	return charter_base(clock_real_ns() / 1000000, epoch);
}

static uint64_t real_s(void *context)
{
	(void)context;
	return clock_real_ns() / 1000000000;
}

/* With neither peers nor addresses to join, the node founds a cluster alone. Returns 0, or -1 after
 * logging the reason. */
static int make_member(struct daemon *daemon)
{
	const struct daemon_options *options = daemon->options;
	const struct identity *identity = archive_identity(daemon->archive);
	struct member_peer alone = {identity->name, identity->address};
	struct member_peer *peers = calloc(options->peers_count + 1UL, sizeof(*peers));
	struct electors addresses = {0};
	struct member_options member = {
	        .process = randomness_draw(NULL),
	        .identity = identity,
	        .content = archive_content(daemon->archive),
	        .peers = peers,
	        .peers_count = options->peers_count,
	        .addresses = &addresses,
	        .settings = options->settings,
	        .base = first_base(options),
	        .begin_at = daemon->serve_at,
	        .node = daemon_node_options(daemon),
	        .electorate = {.grow_ns = GROW_LEASES * daemon->settings.lease_ms * LOOP_MS,
	                       .replace_ns = REPLACE_MS * LOOP_MS},
	        .credentials = daemon->credentials,
	        .draw = randomness_draw,
	        .real_s = real_s,
	};
	const char *wrong;

	memory_must(peers != NULL);
	if (member.base == 0) {
		free(peers);
		return -1;
	}
	for (uint32_t i = 0; i < options->peers_count; i++)
		peers[i] = (struct member_peer){options->peers[i].name, options->peers[i].address};
	if (options->peers_count == 0 && options->join_count == 0 &&
	    identity->stage == BIRTH_NOTHING) {
		peers[0] = alone;
		member.peers_count = 1;
	}
	archive_addresses(daemon->archive, &addresses);
	for (uint32_t i = 0; i < options->join_count; i++)
		electors_add(&addresses, 0, entry_text_of(""), entry_text_of(options->join[i]));
	daemon->member = member_create(&member, daemon->loop.now, &wrong);
	free(peers);
	electors_free(&addresses);
	archive_forget_content(daemon->archive);
	if (daemon->member == NULL) {
		log_line(LEVEL_ERROR, "%s", wrong);
		return -1;
	}
	daemon->node = member_node(daemon->member);
	/* An existing cluster tells by its leases when clients may be let in, so this node need not
	 * wait. */
	if (member_unborn(daemon->member) == NULL)
		daemon->serve_at = 0;
	return 0;
}

/* Divides the descriptors for clients. Strangers, which have not finished the TLS handshake, get a
 * quarter at most. One user gets at most seven eighths of the rest, unless the operator has set a
 * limit. */
static void share_descriptors(struct daemon *daemon, uint32_t count)
{
	const struct daemon_options *options = daemon->options;
	struct clients *clients = &daemon->clients;

	if (options->clients.host != NULL && options->tls.ca != NULL)
		clients->strangers_max =
		        count / 4 < CLIENT_STRANGERS_MAX ? count / 4 + 1 : CLIENT_STRANGERS_MAX;
	clients->count_max = count - clients->strangers_max;
	uint32_t all = clients->count_max < options->sessions_max ? clients->count_max
	                                                          : options->sessions_max;
	clients->user_max =
	        options->user_sessions_max != 0 ? options->user_sessions_max : all - all / 8;
}

/* Raises the limit of descriptors as far as the system allows. Clients get those that the daemon
 * does not need itself. Returns 0, or -1 after logging the reason. */
static int raise_limits(struct daemon *daemon)
{
	const bool peers = archive_identity(daemon->archive)->address[0] != '\0' ||
	                   daemon->options->address != NULL || daemon->options->join_count > 0;
	rlim_t ours = DESCRIPTORS_OURS + (peers ? PEERS_SOCKETS_MAX : 0);
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		limit.rlim_cur = RLIM_INFINITY;
	else if (limit.rlim_cur < limit.rlim_max) {
		struct rlimit raised = {limit.rlim_max, limit.rlim_max};
		if (setrlimit(RLIMIT_NOFILE, &raised) == 0)
			limit = raised;
	}
	ours += strays_reserve(daemon->strays, limit.rlim_cur);
	if (limit.rlim_cur <= ours + 1) { /* one for a client, one for a stranger */
		log_line(LEVEL_ERROR,
		         "at least %llu descriptors are needed, and the system allows %llu: see "
		         "ulimit -n",
		         (unsigned long long)ours + 2, (unsigned long long)limit.rlim_cur);
		return -1;
	}
	share_descriptors(daemon, limit.rlim_cur - ours < UINT32_MAX
	                                  ? (uint32_t)(limit.rlim_cur - ours)
	                                  : UINT32_MAX);
	return 0;
}

/* From now on signals are read from a descriptor instead of being handled. */
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
 * Logs how long nothing is granted, because an earlier node on this socket was killed. Nobody knows
 * what its clients hold, and they need time to stop.
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

static void say_room(const struct daemon *daemon)
{
	if (daemon->clients.count_max < daemon->options->sessions_max)
		log_line(LEVEL_INFO,
		         "there are descriptors for %u clients, fewer than --max-clients %u: see "
		         "ulimit -n",
		         daemon->clients.count_max, daemon->options->sessions_max);
}

static void say_witness(const struct daemon *daemon)
{
	const struct daemon_options *options = daemon->options;

	if (!member_identity(daemon->member)->witness)
		return;
	log_line(LEVEL_INFO, "this node is a witness: it votes and serves no locks");
	if (!options->witness_given)
		log_line(LEVEL_INFO,
		         "--witness was given before, and the data directory %s remembers it for "
		         "good. To serve locks, the node needs an empty directory: see --witness "
		         "in baton-node(1)",
		         options->data);
}

/* Returns 0, or the code to end with after logging the reason. */
static int begin(struct daemon *daemon)
{
	const struct daemon_options *options = daemon->options;
	struct problem problem;

	if (options->resolve(options->context, options->settings, &daemon->settings, &problem) !=
	    0) {
		log_line(LEVEL_ERROR, "%s", problem.text);
		return 2;
	}
	daemon->archive = archive_open(daemon);
	if (daemon->archive == NULL)
		return 1;
	log_open(daemon_name(daemon), options->level);
	if (raise_limits(daemon) != 0)
		return 1;
	if (trust_open(daemon) != 0)
		return 2;
	if (options->data_made)
		log_line(LEVEL_INFO, "made the folder %s", options->data);
	if (listeners_open(daemon) != 0 || make_member(daemon) != 0 || peers_open(daemon) != 0)
		return 1;
	if (options->alone != NULL)
		log_line(options->alone_unmeant ? LEVEL_ERROR : LEVEL_WARNING, "%s",
		         options->alone);
	say_patience(daemon);
	say_room(daemon);
	say_witness(daemon);
	/* A cluster of one is born soon, because it needs nobody else. Let its first clients wait
	 * for that, instead of dropping them at MEMBER_SETTLE. */
	bool alone = options->peers_count == 0 && options->join_count == 0;
	daemon->newborn = alone && member_unborn(daemon->member) != NULL &&
	                  daemon->serve_at <= daemon->loop.now;
	if (alone && daemon->serve_at <= daemon->loop.now)
		listeners_pause(daemon);
	loop_timer_set(&daemon->loop, &daemon->nag, daemon->loop.now + NAG_MS * LOOP_MS);
	return 0;
}

int daemon_run(const struct daemon_options *options)
{
	struct daemon *daemon = calloc(1, sizeof(*daemon));

	memory_must(daemon != NULL);
	/* Whoever takes over this process must not gain rights from a setuid program. */
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	daemon->options = options;
	listeners_init(&daemon->listeners);
	users_init(&daemon->clients.users);
	daemon->nag.due = on_nag;
	daemon->rules = options->rules;
	log_open(options->name, options->level);
	loop_open(&daemon->loop);
	daemon->started = daemon->loop.now;
	read_signals(daemon);
	reload_open(daemon);
	daemon->strays =
	        strays_open(&daemon->loop, strays_are_refusable(), client_closed_late, daemon);
	daemon->command_lines = command_lines_open(&daemon->loop, listeners_late_command, daemon);
	sched_policy_open(&daemon->sched_policy, daemon->loop.now / LOOP_MS);
	lease_page_open(&daemon->lease_page);
	daemon->code = begin(daemon);
	daemon->ended = daemon->code != 0;
	while (!daemon->ended) {
		end_turn(daemon);
		if (daemon->ended)
			break;
		loop_turn(&daemon->loop, users_are_waiting(&daemon->clients.users),
		          member_deadline(daemon->member));
		clients_turn(daemon);
		listeners_turn(daemon);
		loop_serve_timers(&daemon->loop);
	}
	close_all(daemon);
	int code = daemon->code;
	free(daemon);
	return code;
}
