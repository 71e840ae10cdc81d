/*
 * The daemon's loop: the node's effects, its deadline, views, signals, the beginning and the end.
 *
 * Everything that was caused in one turn of the loop is written before the loop sleeps again
 * (end_turn): many replies and messages, few system calls.
 */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

enum {
	NAG_MS = 5000,   /* how often the log says what the node waits for */
	LEAVE_MS = 2000, /* how long the last messages may take */
	LEAVE_POLL_MS = 5,
	DESCRIPTORS_OURS = 24, /* beside those of peers and clients */
	EVENTS_MAX = 256,      /* of a turn; the others' come in the next */
};

/* 2026-01-01: epochs count the hours since. */
static const time_t origin = 1767225600;

uint64_t daemon_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* --- effects --- */

static void do_reply(struct daemon *daemon, const struct node_effect *effect)
{
	struct client *client = client_of(daemon, effect->reply.session);

	if (client != NULL)
		command_reply(client, effect);
}

static void do_event(struct daemon *daemon, const struct node_effect *effect)
{
	struct client *client = client_of(daemon, effect->event.session);

	if (client != NULL)
		command_event(client, effect);
}

void daemon_effects(struct daemon *daemon)
{
	struct node_effect effect;

	while (node_effect(daemon->node, &effect)) {
		switch (effect.kind) {
		case NODE_SEND:
			peers_send(daemon, effect.send.to, effect.send.epoch, effect.send.bytes,
			           effect.send.size);
			break;
		case NODE_REPLY:
			do_reply(daemon, &effect);
			break;
		case NODE_EVENT:
			do_event(daemon, &effect);
			break;
		case NODE_LOST: /* its holder hears it as an event; the operator here */
			log_line(LEVEL_WARNING, "the holder of '%.*s' has lost it, fence %llu",
			         (int)effect.lost.name.size, effect.lost.name.bytes,
			         (unsigned long long)effect.lost.fence);
			if (client_of(daemon, effect.lost.session) != NULL)
				client_lost(client_of(daemon, effect.lost.session));
			break;
		case NODE_READ:
			peers_read_again(daemon);
			break;
		case NODE_BUMP:
			log_line(LEVEL_WARNING,
			         "epoch %llu is at the end of its numbers or tables: a new one",
			         (unsigned long long)effect.bump.epoch);
			engine_bump(daemon->engine, effect.bump.epoch);
			break;
		case NODE_STOP:
			log_line(LEVEL_ERROR, "stopped, because going on could do harm: %s",
			         effect.stop.why);
			daemon_fail(daemon);
			break;
		}
	}
}

/* --- views --- */

/* So that epochs do not go back when all restart, whatever the clocks say. */
static void write_epoch(const struct daemon *daemon, const struct engine_view *view)
{
	char path[4096], temporary[4096 + 8], digits[64];
	const char *data = daemon->options->data;

	if (data == NULL)
		return;
	snprintf(path, sizeof(path), "%s/epoch", data);
	snprintf(temporary, sizeof(temporary), "%s.new", path);
	int size = snprintf(digits, sizeof(digits), "%llu %llu\n", (unsigned long long)view->epoch,
	                    (unsigned long long)view->floor);
	int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	bool good = fd >= 0 && write(fd, digits, (size_t)size) == size && fsync(fd) == 0;
	if (fd >= 0)
		close(fd);
	if (!good || rename(temporary, path) != 0)
		log_line(LEVEL_WARNING, "--data: %s cannot be written: %s", path, strerror(errno));
}

/* The last epoch and where its counters began; 0 if there was none. -1: it is in the log. */
static int read_epoch(const struct daemon_options *options, struct engine_proposal *ret_last)
{
	char path[4096];
	unsigned long long epoch = 0, floor = 0;

	*ret_last = (struct engine_proposal){0};
	if (options->data == NULL)
		return 0;
	snprintf(path, sizeof(path), "%s/epoch", options->data);
	FILE *file = fopen(path, "re");
	if (file == NULL && errno == ENOENT)
		return 0;
	if (file == NULL) {
		log_line(LEVEL_ERROR, "--data: %s cannot be read: %s", path, strerror(errno));
		return -1;
	}
	int count = fscanf(file, "%20llu %20llu", &epoch, &floor);
	fclose(file);
	if (count < 1 || epoch == 0 || epoch >= ENGINE_EPOCH_MAX || floor > ENGINE_FLOOR_MAX) {
		log_line(LEVEL_ERROR, "--data: %s does not hold an epoch from 1 to %llu", path,
		         (unsigned long long)ENGINE_EPOCH_MAX - 1);
		return -1;
	}
	*ret_last = (struct engine_proposal){.epoch = epoch, .floor = floor};
	return 0;
}

void daemon_view(struct daemon *daemon)
{
	const struct daemon_options *options = daemon->options;
	bool changed;

	if (daemon->serve_at != 0 || daemon->leaving)
		return;
	const struct engine_view *view = engine_view(daemon->engine, &changed);
	if (view == NULL || !changed)
		return;
	struct node_member *members = calloc(view->members_count, sizeof(*members));
	char(*addresses)[300] = calloc(view->members_count, sizeof(*addresses));
	must(members != NULL && addresses != NULL);
	for (uint32_t i = 0; i < view->members_count; i++) {
		const struct daemon_address *address = &options->peers[i].address;
		snprintf(addresses[i], sizeof(*addresses), "%s:%u", address->host, address->port);
		members[i] = (struct node_member){
		        .name = view->members[i].name,
		        .incarnation = view->members[i].incarnation,
		        .address = address->host != NULL ? addresses[i] : NULL,
		};
	}
	write_epoch(daemon, view);
	/* The others must know the view before they get frames of it. */
	peers_tell(daemon);
	node_floor(daemon->node, view->floor);
	int error =
	        node_view(daemon->node, view->epoch, members, view->members_count, daemon_now());
	log_line(LEVEL_INFO, "epoch %llu, %u member%s", (unsigned long long)view->epoch,
	         view->members_count, view->members_count == 1 ? "" : "s");
	if (error != 0)
		log_line(LEVEL_ERROR, "nobody is served in it: %s", node_waiting_for(daemon->node));
	free(members);
	free(addresses);
	daemon_effects(daemon);
}

/*
 * The socket of a node that was killed was found. What its clients hold is not known any more, and they need the grace
 * of `baton run`, less than a lease, to stop.
 */
static void be_patient(struct daemon *daemon)
{
	if (daemon->serve_at == 0)
		return;
	log_line(LEVEL_WARNING,
	         "the last node on this socket was killed: nothing is granted for %llu ms, so that "
	         "what its clients run can stop",
	         (unsigned long long)daemon->options->lease_ms);
}

static void tell_if_ready(struct daemon *daemon)
{
	if (daemon->told_ready || node_waiting_for(daemon->node) != NULL)
		return;
	daemon->told_ready = true;
	log_line(LEVEL_INFO, "serving on %s", daemon->options->socket);
	notify("READY=1\nSTATUS=serving");
}

static void nag(struct daemon *daemon)
{
	const char *waiting_for = node_waiting_for(daemon->node);
	const char *missing = engine_missing(daemon->engine);
	const char *unlinked = peers_missing(daemon);

	clients_watch(daemon);
	peers_watch(daemon);
	if (missing != NULL)
		log_line(LEVEL_INFO, "waiting for %s", missing);
	else if (waiting_for != NULL)
		log_line(LEVEL_INFO, "waiting for %s", waiting_for);
	else if (unlinked != NULL)
		log_line(LEVEL_DEBUG, "no connection to %s", unlinked);
}

/* --- time --- */

/*
 * The node's deadlines are kept by a timer of the system, which stays set while the loop sleeps and wakes; one of
 * libuv's would be set anew for every sleep. And it goes by CLOCK_BOOTTIME, so that one that passes while the machine
 * is suspended has passed when it is resumed.
 */
static void on_alarm(uv_poll_t *alarm, int status, int events)
{
	struct daemon *daemon = alarm->data;
	uint64_t now = daemon_now(), times;

	(void)status;
	(void)events;
	if (read(daemon->alarm_fd, &times, sizeof(times)) < 0)
		return; /* not yet */
	daemon->alarm_at = NODE_NEVER;
	if (now >= daemon->serve_at)
		daemon->serve_at = 0;
	if (now >= daemon->nag_at) {
		daemon->nag_at = now + UINT64_C(1000000) * NAG_MS;
		nag(daemon);
	}
	node_tick(daemon->node, now);
	daemon_effects(daemon);
}

static void set_alarm(struct daemon *daemon)
{
	uint64_t at = node_deadline(daemon->node);

	if (daemon->nag_at < at)
		at = daemon->nag_at;
	if (daemon->serve_at != 0 && daemon->serve_at < at)
		at = daemon->serve_at;
	if (at == daemon->alarm_at)
		return;
	daemon->alarm_at = at;
	struct itimerspec when = {0};
	if (at != NODE_NEVER) {
		at += at == 0; /* that would be never */
		when.it_value.tv_sec = (time_t)(at / 1000000000);
		when.it_value.tv_nsec = (long)(at % 1000000000);
	}
	must(timerfd_settime(daemon->alarm_fd, TFD_TIMER_ABSTIME, &when, NULL) == 0);
}

/* Before it sleeps: nothing may be left undone or unsaid. */
static void end_turn(struct daemon *daemon)
{
	do {
		do {
			daemon_view(daemon);
		} while (clients_serve_ready(daemon));
		clients_flush(
		        daemon); /* who was too slow to be served may have taken its replies now */
	} while (daemon->ready != NULL);
	if (!daemon->leaving)
		peers_tell(daemon);
	if (!daemon->told_ready && !daemon->leaving)
		tell_if_ready(daemon);
	peers_flush(daemon);
	set_alarm(daemon);
	pace_turn(&daemon->pace, daemon->now / 1000000);
}

/* --- the end --- */

static void close_all(struct daemon *daemon)
{
	sigset_t signals;

	/* It ends: who says again that it should does not cut that short. */
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	daemon->ended = true;
	doors_close(daemon);
	peers_close(daemon);
	uv_close((uv_handle_t *)&daemon->alarm, NULL);
	uv_close((uv_handle_t *)&daemon->departure, NULL);
	uv_close((uv_handle_t *)&daemon->terminate, NULL);
	uv_close((uv_handle_t *)&daemon->interrupt, NULL);
	uv_close((uv_handle_t *)&daemon->hangup, NULL);
}

static void on_leaving(uv_timer_t *timer)
{
	struct daemon *daemon = timer->data;

	if (!clients_are_gone(daemon))
		daemon->leave_deadline = daemon_now() + UINT64_C(1000000) * LEAVE_MS;
	else if (peers_quiet(daemon) || daemon_now() >= daemon->leave_deadline)
		close_all(daemon);
}

/* What clients hold goes to who waits for it, when they have stopped; when the others have heard of it,
 * the end. */
void daemon_leave(struct daemon *daemon)
{
	if (daemon->leaving)
		return;
	notify("STOPPING=1");
	clients_leave(daemon);
	daemon_effects(daemon);
	daemon->leaving = true;
	daemon->nag_at = NODE_NEVER;
	daemon->leave_deadline = daemon_now() + UINT64_C(1000000) * LEAVE_MS;
	uv_timer_start(&daemon->departure, on_leaving, 0, LEAVE_POLL_MS);
}

void daemon_fail(struct daemon *daemon)
{
	daemon->code = 1;
	daemon_leave(daemon);
}

static void on_signal(uv_signal_t *signal, int number)
{
	struct daemon *daemon = signal->data;

	log_line(LEVEL_INFO, "SIG%s: leaving", sigabbrev_np(number));
	daemon_leave(daemon);
}

/* --- the beginning --- */

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
		return error == EAI_SYSTEM ? -errno : UV_EAI_NONAME;
	int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0 && found->ai_family == AF_INET6) /* [::] is for all, also for version 4 */
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	bool bound = fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
	             bind(fd, found->ai_addr, found->ai_addrlen) == 0;
	error = bound ? 0 : -errno;
	freeaddrinfo(found);
	if (!bound && fd >= 0)
		close(fd);
	*ret_fd = fd;
	return error;
}

/* Greater than what was there before; or -1, and it is in the log. */
static int propose(const struct daemon_options *options, struct engine_proposal *ret_proposal)
{
	struct timespec now;
	struct engine_proposal proposal = {.epoch = 1}, last;

	if (read_epoch(options, &last) != 0)
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

static int make_node(struct daemon *daemon)
{
	const struct daemon_options *options = daemon->options;
	struct node_options node = {
	        .name = options->peers[options->self].name,
	        .incarnation = daemon->incarnation,
	        .cluster = XXH3_64bits(options->cluster, strlen(options->cluster)),
	        .algorithm = options->algorithm,
	        .topology = options->topology,
	        .seed = 1,
	        .parameters = options->parameters,
	        .texts = options->texts,
	        .turns = options->turns,
	        .idle_hop_ns = options->idle_hop_ns,
	        .limits = {.sessions = options->sessions_max, .locks = options->locks_max},
	};
	const char *wrong;
	struct engine_proposal proposal;

	if (propose(options, &proposal) != 0)
		return -1;
	const char **names = calloc(options->peers_count, sizeof(*names));
	must(names != NULL);
	for (uint32_t i = 0; i < options->peers_count; i++)
		names[i] = options->peers[i].name;
	daemon->engine = engine_create(names, options->peers_count, options->self,
	                               daemon->incarnation, proposal);
	free(names);
	daemon->node = node_create(&node, &wrong);
	if (daemon->node == NULL) {
		log_line(LEVEL_ERROR, "%s", wrong);
		return -1;
	}
	return 0;
}

/* As many descriptors as the system lets us have: one a client, if some are left for ourselves. 0, or -1
 * and it is in the log. */
static int raise_limits(struct daemon *daemon)
{
	const rlim_t ours = DESCRIPTORS_OURS + 3 * (rlim_t)daemon->options->peers_count;
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

static void start_handles(struct daemon *daemon)
{
	daemon->alarm_fd = timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC);
	must(daemon->alarm_fd >= 0);
	must(uv_poll_init(&daemon->loop, &daemon->alarm, daemon->alarm_fd) == 0);
	uv_timer_init(&daemon->loop, &daemon->departure);
	uv_signal_init(&daemon->loop, &daemon->terminate);
	uv_signal_init(&daemon->loop, &daemon->interrupt);
	uv_signal_init(&daemon->loop, &daemon->hangup);
	daemon->alarm.data = daemon->departure.data = daemon;
	daemon->terminate.data = daemon->interrupt.data = daemon->hangup.data = daemon;
	uv_poll_start(&daemon->alarm, UV_READABLE, on_alarm);
	uv_signal_start(&daemon->terminate, on_signal, SIGTERM);
	uv_signal_start(&daemon->interrupt, on_signal, SIGINT);
	/* Unless whoever started us wants it to be ignored: nohup(1). */
	struct sigaction hangup;
	if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
		uv_signal_start(&daemon->hangup, on_signal, SIGHUP);
}

/* Clients and libuv's loop, which has all the rest, side by side: libuv's part only when it has something to do. */
static void run(struct daemon *daemon)
{
	struct epoll_event events[EVENTS_MAX];

	while (uv_loop_alive(&daemon->loop)) {
		if (!daemon->ended)
			end_turn(daemon);
		int patience_ms = daemon->later != NULL ? 0 : uv_backend_timeout(&daemon->loop);
		if (patience_ms > 0) {
			uv_update_time(&daemon->loop);
			patience_ms = uv_backend_timeout(&daemon->loop);
		}
		int count = epoll_wait(daemon->epoll_fd, events, EVENTS_MAX, patience_ms);
		bool others = count <= 0 || patience_ms == 0;
		daemon->now = daemon_now();
		for (int i = 0; i < count; i++) {
			if (events[i].data.ptr == NULL)
				others = true;
			else
				client_event(events[i].data.ptr, events[i].events);
		}
		clients_turn(daemon);
		if (others)
			uv_run(&daemon->loop, UV_RUN_NOWAIT);
		clients_forget_closed(daemon);
	}
}

int daemon_run(const struct daemon_options *options)
{
	struct daemon *daemon = calloc(1, sizeof(*daemon));
	struct timespec now;

	must(daemon != NULL);
	daemon->options = options;
	daemon->unix_listener.fd = daemon->tcp_listener.fd = daemon->spare_fd = -1;
	daemon->alarm_at = NODE_NEVER;
	daemon->nag_at = daemon_now() + UINT64_C(1000000) * NAG_MS;
	clock_gettime(CLOCK_REALTIME, &now);
	daemon->incarnation = (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
	log_open(options->peers[options->self].name, options->level);
	signal(SIGPIPE, SIG_IGN);
	if (raise_limits(daemon) != 0) {
		free(daemon);
		return 1;
	}
	must(uv_loop_init(&daemon->loop) == 0);
	daemon->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	must(daemon->epoll_fd >= 0);
	struct epoll_event loop = {.events = EPOLLIN, .data.ptr = NULL};
	must(epoll_ctl(daemon->epoll_fd, EPOLL_CTL_ADD, uv_backend_fd(&daemon->loop), &loop) == 0);
	daemon->now = daemon_now();
	pace_open(&daemon->pace, daemon->now / 1000000);
	start_handles(daemon);
	if (make_node(daemon) != 0 || peers_open(daemon) != 0 || doors_open(daemon) != 0) {
		daemon->code = 1;
		close_all(daemon);
	} else {
		be_patient(daemon);
	}
	run(daemon);
	close(daemon->epoll_fd);
	must(uv_loop_close(&daemon->loop) == 0);
	close(daemon->alarm_fd);
	pace_close(&daemon->pace);
	int code = daemon->code;
	peers_free(daemon);
	if (daemon->node != NULL)
		node_destroy(daemon->node);
	engine_destroy(daemon->engine);
	free(daemon);
	return code;
}
