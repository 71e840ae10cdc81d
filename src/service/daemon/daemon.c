/*
 * The daemon as a whole: its beginning, its turns, its end. Each turn of the loop (loop.h) takes in what
 * has come; then everything that follows from it is done and written before the loop sleeps again: many
 * replies and messages, few system calls.
 */
#include "internal.h"
#include "memory.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
	NAG_MS = 5000,   /* how often the log says what the node waits for */
	LEAVE_MS = 2000, /* how long the last messages may take */
	LEAVE_POLL_MS = 5,
	DESCRIPTORS_OURS = 24, /* beside those of peers and clients */
};

/* 2026-01-01: epochs count the hours since. */
static const time_t origin = 1767225600;

uint64_t margin_ms(const struct daemon *daemon)
{
	return daemon->options->lease_ms / 10;
}

/* --- effects --- */

static void do_lost(struct daemon *daemon, const struct node_effect *effect)
{
	struct client *client = client_of(daemon, effect->lost.session);

	/* Its holder hears it as an event; the operator here. */
	log_line(LEVEL_WARNING, "the holder of '%.*s' has lost it, fence %llu: %.*s",
	         (int)effect->lost.name.size, effect->lost.name.bytes,
	         (unsigned long long)effect->lost.fence, (int)effect->lost.why.size,
	         effect->lost.why.bytes);
	if (client != NULL)
		client_lost(client);
}

static void do_node_effect(struct daemon *daemon, const struct node_effect *effect)
{
	struct client *client;

	switch (effect->kind) {
	case NODE_REPLY:
		client = client_of(daemon, effect->reply.session);
		if (client != NULL)
			command_reply(client, effect);
		break;
	case NODE_EVENT:
		client = client_of(daemon, effect->event.session);
		if (client != NULL)
			command_event(client, effect);
		break;
	case NODE_LOST:
		do_lost(daemon, effect);
		break;
	case NODE_STOP:
		log_line(LEVEL_ERROR, "stopped, because going on could do harm: %s",
		         effect->stop.why);
		daemon->code = 1;
		daemon_leave(daemon);
		break;
	case NODE_SEND:
	case NODE_READ:
	case NODE_BUMP:
		must(false); /* the member's own */
	}
}

static void do_view(struct daemon *daemon, const struct member_effect *effect)
{
	if (daemon->options->data != NULL)
		epoch_file_write(daemon->options->data, effect->view.epoch, effect->view.floor);
	log_line(LEVEL_INFO, "epoch %llu, %u member%s", (unsigned long long)effect->view.epoch,
	         effect->view.members_count, effect->view.members_count == 1 ? "" : "s");
	if (!effect->view.served)
		log_line(LEVEL_ERROR, "nobody is served in it: %s", node_waiting_for(daemon->node));
}

bool daemon_effects(struct daemon *daemon)
{
	static const enum daemon_level levels[] = {[MEMBER_WARNING] = LEVEL_WARNING,
	                                           [MEMBER_INFO] = LEVEL_INFO,
	                                           [MEMBER_DEBUG] = LEVEL_DEBUG};
	struct member_effect effect;
	bool any = false;

	/* What an effect causes is done by whoever is at it already. */
	if (daemon->pumping)
		return false;
	daemon->pumping = true;
	for (; member_effect(daemon->member, &effect); any = true) {
		switch (effect.kind) {
		case MEMBER_NODE:
			do_node_effect(daemon, &effect.node);
			break;
		case MEMBER_DIAL:
			peers_dial(daemon, effect.dial.connection, effect.dial.peer);
			break;
		case MEMBER_CLOSE:
			peers_close_connection(effect.close);
			break;
		case MEMBER_VIEW:
			do_view(daemon, &effect);
			break;
		case MEMBER_LOG:
			log_line(levels[effect.log.level], "%s", effect.log.text);
			break;
		}
	}
	daemon->pumping = false;
	return any;
}

/* --- a turn --- */

static void tell_if_ready(struct daemon *daemon)
{
	if (daemon->told_ready || daemon->leaving || node_waiting_for(daemon->node) != NULL)
		return;
	daemon->told_ready = true;
	log_line(LEVEL_INFO, "serving on %s", daemon->options->socket);
	notify(daemon->options->alone == NULL ? "READY=1\nSTATUS=serving"
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
	peers_open_again(daemon);
	member_watch(daemon->member, daemon->loop.now);
	if (unknown != NULL)
		log_line(LEVEL_INFO, "waiting for %s", unknown);
	else if (waiting_for != NULL)
		log_line(LEVEL_INFO, "waiting for %s", waiting_for);
	else if (unlinked != NULL)
		log_line(LEVEL_DEBUG, "no connection to %s", unlinked);
}

/* Before the loop sleeps: nothing may be left undone or unsaid. True: there is more to do, and it must not
 * sleep. */
static bool end_turn(struct daemon *daemon)
{
	bool more = status_continue(daemon);

	member_tick(daemon->member, daemon->loop.now);
	for (;;) {
		if (daemon_effects(daemon) || clients_serve_ready(daemon))
			continue;
		if (daemon->dirty == NULL)
			break;
		/* One that was too slow to be served may have taken its replies now, another may be gone:
		 * both cause more. */
		clients_flush(daemon);
	}
	clients_begin_grace(daemon);
	if (!daemon->told_ready)
		tell_if_ready(daemon);
	peers_flush(daemon);
	clients_forget_closed(daemon);
	peers_forget_closed(daemon);
	pace_turn(&daemon->pace, daemon->loop.now / LOOP_MS);
	return more;
}

/* --- the end --- */

static void on_departure(struct loop_timer *timer)
{
	struct daemon *daemon =
	        (struct daemon *)((char *)timer - offsetof(struct daemon, departure));

	loop_timer_set(&daemon->loop, timer, daemon->loop.now + LEAVE_POLL_MS * LOOP_MS);
	if (!clients_are_gone(daemon))
		daemon->leave_deadline = daemon->loop.now + LEAVE_MS * LOOP_MS;
	else if (member_quiet(daemon->member) || daemon->loop.now >= daemon->leave_deadline)
		daemon->ended = true;
}

/* What clients hold goes to who waits for it, when they have stopped; when the others have heard of it,
 * the end. */
void daemon_leave(struct daemon *daemon)
{
	if (daemon->leaving)
		return;
	notify("STOPPING=1");
	daemon->leaving = true;
	clients_leave(daemon);
	member_leave(daemon->member);
	loop_timer_clear(&daemon->loop, &daemon->nag);
	daemon->leave_deadline = daemon->loop.now + LEAVE_MS * LOOP_MS;
	loop_timer_set(&daemon->loop, &daemon->departure,
	               daemon->loop.now + LEAVE_POLL_MS * LOOP_MS);
}

static void on_signal(struct loop_watch *watch, uint32_t events)
{
	struct daemon *daemon = (struct daemon *)((char *)watch - offsetof(struct daemon, signals));
	struct signalfd_siginfo info;

	(void)events;
	while (read(watch->fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGHUP) {
			log_line(LEVEL_INFO, "SIGHUP: there is nothing to read again");
			continue;
		}
		daemon->hurried = daemon->leaving;
		log_line(LEVEL_INFO, "SIG%s: leaving%s", sigabbrev_np((int)info.ssi_signo),
		         daemon->hurried ? ", and waits for nobody who cannot stop" : "");
		daemon_leave(daemon);
	}
}

static void close_all(struct daemon *daemon)
{
	doors_close(daemon);
	peers_close(daemon);
	if (daemon->member != NULL)
		member_destroy(daemon->member);
	loop_close_fd(&daemon->loop, &daemon->signals);
	pace_close(&daemon->pace);
	loop_close(&daemon->loop);
}

/* --- the beginning --- */

int socket_tcp(int family)
{
	return socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

int bind_tcp(const struct daemon_address *address, int *ret_fd)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
	                         .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
	struct addrinfo *found;
	char port[8];
	int on = 1, off = 0;

	snprintf(port, sizeof(port), "%u", address->port);
	int error = getaddrinfo(address->host, port, &hints, &found);
	if (error != 0)
		return error == EAI_SYSTEM ? errno : error;
	int fd = socket_tcp(found->ai_family);
	if (fd >= 0 && found->ai_family == AF_INET6) /* [::] is for all, also for version 4 */
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	bool bound = fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
	             bind(fd, found->ai_addr, found->ai_addrlen) == 0;
	error = bound ? 0 : errno;
	freeaddrinfo(found);
	if (!bound && fd >= 0)
		close(fd);
	*ret_fd = fd;
	return error;
}

/* Those of getaddrinfo are negative, those of the system positive. */
const char *bind_error(int error)
{
	return error < 0 ? gai_strerror(error) : strerror(error);
}

/* Greater than what was there before; or -1, and it is in the log. */
static int propose(const struct daemon_options *options, struct engine_proposal *ret_proposal)
{
	struct timespec now;
	struct engine_proposal proposal = {.epoch = 1}, last = {0};

	if (options->data != NULL && epoch_file_read(options->data, &last) != 0)
		return -1;
	clock_gettime(CLOCK_REALTIME, &now);
	if (now.tv_sec >= origin + 3600) {
		proposal.epoch = (uint64_t)(now.tv_sec - origin) / 3600;
		/* Within the hour milliseconds, each with room for 4,096 grants of a lock, so that fences rise also
		 * when all restart at once. */
		proposal.floor = ((uint64_t)(now.tv_sec - origin) % 3600 * 1000 +
		                  (uint64_t)now.tv_nsec / 1000000)
		                 << 12;
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

/* 0, or -1 and it is in the log. */
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

/* As many descriptors as the system lets us have: one a client, if some are left for ourselves. 0, or -1
 * and it is in the log. */
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
	daemon->clients_most =
	        limit.rlim_cur - ours < UINT32_MAX ? (uint32_t)(limit.rlim_cur - ours) : UINT32_MAX;
	return 0;
}

/* From now on signals are read, not handled. SIGHUP is harmless. */
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
 * The socket of a node that was killed was found. What its clients hold is not known any more, and they need
 * some time to stop.
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
	struct timespec now;

	memory_must(daemon != NULL);
	daemon->options = options;
	daemon->unix_listener.watch.fd = daemon->tcp_listener.watch.fd = daemon->spare_fd = -1;
	daemon->nag.due = on_nag;
	daemon->departure.due = on_departure;
	clock_gettime(CLOCK_REALTIME, &now);
	daemon->incarnation = (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
	log_open(options->peers[options->self].name, options->level);
	if (raise_limits(daemon) != 0) {
		free(daemon);
		return 1;
	}
	loop_open(&daemon->loop);
	read_signals(daemon);
	pace_open(&daemon->pace, daemon->loop.now / LOOP_MS);
	if (doors_open(daemon) != 0 || make_member(daemon) != 0 || peers_open(daemon) != 0) {
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
		bool busy = end_turn(daemon) || daemon->later != NULL;
		loop_turn(&daemon->loop, busy, member_deadline(daemon->member));
		clients_turn(daemon);
	}
	close_all(daemon);
	int code = daemon->code;
	free(daemon);
	return code;
}
