/*
 * The connections of clients: bytes in, commands out of them in order, replies back. What the commands
 * mean is in commands.c.
 *
 * A connection is a session of the node. While a command waits for its answer the next ones stay in
 * the connection's input. Replies of one turn of the loop go out in one write.
 *
 * Sockets are waited for edge-triggered, and read and written by recv and send.
 */
#include "internal.h"
#include "memory.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

/* Of one client in a turn. */
enum { READS_MAX = 32 };
/* How often the log says that clients are refused. */
#define REFUSED_NS UINT64_C(1000000000)

static struct client **bucket_of(struct daemon *daemon, uint64_t session)
{
	return &daemon->buckets[(session ^ session >> 32) % CLIENT_BUCKETS];
}

struct client *client_of(struct daemon *daemon, uint64_t session)
{
	struct client *client = *bucket_of(daemon, session);

	while (client != NULL && client->session != session)
		client = client->bucket_next;
	return client;
}

void client_dirty(struct client *client)
{
	if (client->dirty || client->closing)
		return;
	client->dirty = true;
	client->dirty_next = client->daemon->dirty;
	client->daemon->dirty = client;
}

void client_ready(struct client *client)
{
	if (client->ready || client->closing)
		return;
	client->ready = true;
	client->ready_next = client->daemon->ready;
	client->daemon->ready = client;
}

void client_answered(struct client *client)
{
	client->waiting = false;
	/* Answered at once: serve() goes on by itself. */
	if (buffer_size(&client->input) > 0 && !client->serving)
		client_ready(client);
}

/* --- the end of a connection --- */

void clients_forget_closed(struct daemon *daemon)
{
	if (daemon->closed == NULL)
		return;
	while (daemon->closed != NULL) {
		struct client *client = daemon->closed;
		daemon->closed = client->closed_next;
		buffer_free(&client->input);
		buffer_free(&client->output);
		client_charge(client);
		subscriptions_free(client);
		for (int i = 0; i < CLIENT_TEXTS; i++)
			free(client->texts[i]);
		free((char *)client->who.command);
		*client->link = client->next;
		if (client->next != NULL)
			client->next->link = client->link;
		daemon->clients_count--;
		free(client);
	}
	doors_open_again(daemon);
}

/* From now on its session leads to it … */
static void enter_bucket(struct client *client)
{
	struct client **bucket = bucket_of(client->daemon, client->session);

	client->bucket_next = *bucket;
	*bucket = client;
}

/* … until here. */
static void leave_bucket(struct client *client)
{
	struct client **at = bucket_of(client->daemon, client->session);

	while (*at != client)
		at = &(*at)->bucket_next;
	*at = client->bucket_next;
}

/* Off a list that it may be on. */
static void drop_from_lists(struct client *client)
{
	struct daemon *daemon = client->daemon;

	for (struct client **at = &daemon->dirty; client->dirty && *at != NULL;
	     at = &(*at)->dirty_next) {
		if (*at == client) {
			*at = client->dirty_next;
			client->dirty = false;
			break;
		}
	}
	for (struct client **at = &daemon->ready; client->ready && *at != NULL;
	     at = &(*at)->ready_next) {
		if (*at == client) {
			*at = client->ready_next;
			client->ready = false;
			break;
		}
	}
	for (struct client **at = &daemon->later; client->later && *at != NULL;
	     at = &(*at)->later_next) {
		if (*at == client) {
			*at = client->later_next;
			client->later = false;
			break;
		}
	}
	if (client->session != 0)
		leave_bucket(client);
}

/* The time that it has to stop when it loses a lock. */
static uint64_t time_to_stop_ms(const struct client *client)
{
	return (client->tcp ? CLIENT_NOTICE_MS : 0) + client->grace_ms + margin_ms(client->daemon);
}

/* How long nothing was heard of a client that was given up because of that; 0: it was not. It may have answered
 * and only not read: that is given up, too, but it counts as heard of. */
static uint64_t silence_ms(const struct client *client)
{
	struct tcp_info info;
	socklen_t size = sizeof(info);

	if (!client->timed_out ||
	    getsockopt(client->watch.fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0)
		return 0;
	return info.tcpi_last_ack_recv < info.tcpi_last_data_recv ? info.tcpi_last_ack_recv
	                                                          : info.tcpi_last_data_recv;
}

/* A session whose connection is gone, but which may not have stopped what it did under its locks. */
struct orphan {
	struct loop_timer timer;
	struct daemon *daemon;
	uint64_t session;
};

static void on_orphan_over(struct loop_timer *timer)
{
	struct orphan *orphan = (struct orphan *)timer;
	struct daemon *daemon = orphan->daemon;

	daemon->orphans_count--;
	node_session_close(daemon->node, orphan->session, daemon->loop.now);
	free(orphan);
}

/*
 * True: it holds something, and is given the time that it needs to stop. That is counted from a new
 * reading of the clock, because the client may have been well until just now, and this process may have
 * been stopped since the turn began. If nothing was heard of it for the whole of --client-timeout, that time
 * counts.
 */
static bool make_orphan(struct client *client)
{
	struct daemon *daemon = client->daemon;
	uint64_t ms = time_to_stop_ms(client), silent_ms = silence_ms(client);

	/* Nobody is there any more to be let in elsewhere. */
	node_session_withdraw(daemon->node, client->session, daemon->loop.now);
	if (!node_session_evict(daemon->node, client->session, NODE_LOST_CONNECTION,
	                        daemon->loop.now))
		return false;
	ms = ms > silent_ms ? ms - silent_ms : 0;
	uint64_t at = clock_now() + ms * LOOP_MS;
	if (loop_timer_is_set(&client->grace) && client->grace.at > at)
		at = client->grace.at;
	struct orphan *orphan = calloc(1, sizeof(*orphan));
	memory_must(orphan != NULL);
	*orphan = (struct orphan){
	        .timer = {.due = on_orphan_over}, .daemon = daemon, .session = client->session};
	loop_timer_set(&daemon->loop, &orphan->timer, at);
	daemon->orphans_count++;
	log_line(LEVEL_WARNING,
	         "the connection of a client that held a lock is gone: its locks are free in %llu "
	         "ms",
	         (unsigned long long)(at > daemon->loop.now ? (at - daemon->loop.now) / LOOP_MS
	                                                    : 0));
	return true;
}

void client_close(struct client *client)
{
	struct daemon *daemon = client->daemon;
	uint64_t session = client->session;

	if (client->closing)
		return;
	drop_from_lists(client);
	status_cancel(client);
	client->closing = true;
	/* A Unix socket that the other side closed has ended with those who had it. But a network may just be cut;
	 * and who is closed by us must notice that. */
	bool stopped = client->quits || (client->gone && !client->tcp);
	if (client->forsaken || (client->grace_ms > 0 && !stopped && make_orphan(client)))
		session = 0;
	loop_timer_clear(&daemon->loop, &client->grace);
	client->session = 0;
	loop_close_fd(&daemon->loop, &client->watch);
	client->closed_next = daemon->closed;
	daemon->closed = client;
	if (session != 0)
		node_session_close(daemon->node, session, daemon->loop.now);
}

static void on_grace_over(struct loop_timer *timer)
{
	struct client *client = (struct client *)((char *)timer - offsetof(struct client, grace));

	/* What came in this turn may have taken another lock from it: then the time of both begins again. */
	daemon_effects(client->daemon);
	if (client->in_lost || client->closing)
		return;
	log_line(
	        LEVEL_WARNING,
	        "a client that lost a lock has not stopped in its %llu ms: the lock goes to others",
	        (unsigned long long)time_to_stop_ms(client));
	client->told_lost = false;
	if (node_session_forfeit(client->daemon->node, client->session, client->daemon->loop.now))
		return; /* it holds another lock, which nobody took away */
	client->quits = true;
	client_close(client);
}

void client_unlocked(struct client *client)
{
	if (!client->told_lost || node_session_losing(client->daemon->node, client->session))
		return;
	client->told_lost = false;
	loop_timer_clear(&client->daemon->loop, &client->grace);
}

void client_set_grace(struct client *client, uint64_t ms)
{
	client->grace_ms = ms;
	node_session_linger(client->daemon->node, client->session);
}

void client_lost(struct client *client)
{
	if (client->grace_ms == 0 && !client->stays)
		return;
	/* It has given the lock back in the same turn. */
	if (!node_session_losing(client->daemon->node, client->session))
		return;
	/* Another lock was lost before: the time of both begins again. */
	client->told_lost = true;
	if (client->in_lost)
		return;
	client->in_lost = true;
	client->lost_next = client->daemon->lost;
	client->daemon->lost = client;
}

/* Counted from when it was told and not from the beginning of the turn: this process may have been
 * stopped in between. */
void clients_begin_grace(struct daemon *daemon)
{
	while (daemon->lost != NULL) {
		struct client *client = daemon->lost;
		daemon->lost = client->lost_next;
		client->in_lost = false;
		if (client->told_lost && !client->stays && !client->closing)
			loop_timer_set(&daemon->loop, &client->grace,
			               clock_now() + time_to_stop_ms(client) * LOOP_MS);
	}
}

void client_stay(struct client *client)
{
	if (client->stays)
		return;
	client->stays = true;
	node_session_linger(client->daemon->node, client->session);
	loop_timer_clear(&client->daemon->loop, &client->grace);
	log_line(LEVEL_WARNING, "a client cannot stop what it runs: what it loses stays with it "
	                        "until its connection ends");
}

void client_end(struct client *client)
{
	client->ending = true;
	client_dirty(client);
}

/* --- writing --- */

/* What one large command or reply needed is not kept for ever. */
static void slim(struct buffer *buffer)
{
	struct buffer smaller = {0};

	if (buffer->room <= CLIENT_ROOM_KEPT || buffer_size(buffer) > buffer->room / 8)
		return;
	buffer_append(&smaller, buffer_front(buffer), buffer_size(buffer));
	buffer_free(buffer);
	*buffer = smaller;
}

static void hang_up(struct client *client);

static void wait_for(struct client *client, uint32_t events)
{
	client->events = events;
	loop_change(&client->daemon->loop, &client->watch, events | EPOLLRDHUP | EPOLLET);
}

/* What epoll has to tell: that there is something to read, or that it takes again what is left. A
 * change tells also what is so already. */
static void watch(struct client *client)
{
	uint32_t events = 0;

	if (!client->paused && !client->ending)
		events |= EPOLLIN;
	if (buffer_size(&client->output) > 0)
		events |= EPOLLOUT;
	if (events != client->events)
		wait_for(client, events);
}

static void flush(struct client *client)
{
	struct buffer *output = &client->output;

	if (buffer_size(output) > 0) {
		ssize_t written = send(client->watch.fd, buffer_front(output), buffer_size(output),
		                       MSG_NOSIGNAL);
		if (written < 0 && errno != EAGAIN && errno != EINTR) {
			hang_up(client);
			return;
		}
		if (written > 0) {
			buffer_take(output, (size_t)written);
			client->taken += (uint64_t)written;
		}
	}
	slim(output);
	if (client->paused && !client->waiting && !client->later) {
		if (client_takes_replies(client))
			client_ready(client);
		else
			client_tell_unread(client);
	}
	if (client->events_dropped > 0 && buffer_size(output) < CLIENT_EVENTS_MAX / 2)
		command_tell_dropped(client);
	if (buffer_size(output) == 0) {
		client->told_unread = false;
		if (client->ending) {
			client_close(client);
			return;
		}
	}
	watch(client);
}

void clients_flush(struct daemon *daemon)
{
	while (daemon->dirty != NULL) {
		struct client *client = daemon->dirty;
		daemon->dirty = client->dirty_next;
		client->dirty = false;
		flush(client);
	}
}

/* --- reading --- */

/* The rest of its commands is for the next turn. */
static void client_later(struct client *client)
{
	if (client->later || client->closing)
		return;
	client->later = true;
	client->later_next = client->daemon->later;
	client->daemon->later = client;
}

void clients_turn(struct daemon *daemon)
{
	while (daemon->later != NULL) {
		struct client *client = daemon->later;
		daemon->later = client->later_next;
		client->later = false;
		client_ready(client);
	}
}

/* The last reply, and why it is the last. */
static void end_with(struct client *client, const char *what, const char *why)
{
	char text[160];

	snprintf(text, sizeof(text), "%s%s", what, why);
	resp_error(&client->output, "ERR", text);
	client_end(client);
}

/* Serves commands as long as there are whole ones; how many bytes that took. */
static size_t serve_commands(struct client *client, const char *bytes, size_t size)
{
	struct daemon *daemon = client->daemon;
	size_t taken = 0;
	size_t unread = buffer_size(&client->output);
	const char *wrong = "";

	client->needed = 0;
	while (taken < size && !client->waiting && !client->ending && !client->closing &&
	       client_takes_replies(client)) {
		if (client->excess && client->argument == 0) {
			end_with(client, "",
			         "more than 1048576 bytes of commands behind one that "
			         "waits: they were not done");
			return size;
		}
		if (buffer_size(&client->output) >= unread + CLIENT_TURN) {
			client_later(client);
			break;
		}
		switch (resp_read(bytes + taken, size - taken, &daemon->command, &client->needed,
		                  &wrong)) {
		case RESP_MORE:
			return taken;
		case RESP_WRONG:
			end_with(client, "Protocol error: ", wrong);
			return size;
		case RESP_COMMAND:
			break;
		}
		if (daemon->command.arguments_count == 0 || command_serve(client, &daemon->command))
			taken += daemon->command.size;
		daemon_effects(daemon);
	}
	return taken;
}

static size_t serve(struct client *client, const char *bytes, size_t size)
{
	client->serving = true;
	size_t taken = serve_commands(client, bytes, size);
	client->serving = false;
	return taken;
}

/* Its input holds commands that cannot be served now: then nothing more is read. */
static void pause_or_resume(struct client *client)
{
	if (client->closing || client->ending)
		return;
	bool stuffed = client->waiting && !client->excess &&
	               buffer_size(&client->input) > CLIENT_INPUT_MAX;
	bool unread = !client->waiting && !client_takes_replies(client);
	bool pause = stuffed || unread || client->later;
	if (stuffed) {
		/* Also if nothing changes: that it has closed may have been told before, and matters now. */
		client->paused = true;
		wait_for(client, client->events & ~(uint32_t)EPOLLIN);
	} else if (pause != client->paused) {
		client->paused = pause;
		watch(client);
	}
}

/* What is in its input, now that it can be served again. */
static void serve_input(struct client *client)
{
	struct buffer *input = &client->input;

	if (buffer_size(input) >= client->needed)
		buffer_take(input, serve(client, buffer_front(input), buffer_size(input)));
	slim(input);
	pause_or_resume(client);
}

bool clients_serve_ready(struct daemon *daemon)
{
	struct client *client = daemon->ready;

	if (client == NULL)
		return false;
	daemon->ready = client->ready_next;
	client->ready = false;
	serve_input(client);
	return true;
}

static void take_bytes(struct client *client, const char *bytes, size_t size)
{
	if (client->excess)
		return;
	if (buffer_size(&client->input) == 0) {
		size_t taken = serve(client, bytes, size);
		if (client->closing)
			return;
		buffer_append(&client->input, bytes + taken, size - taken);
		pause_or_resume(client);
		return;
	}
	buffer_append(&client->input, bytes, size);
	if (client->waiting)
		pause_or_resume(client);
	else
		serve_input(client);
}

/* It says no more, and gets what has been said to it; but what it waits for it does not want any more. */
static void hear_the_end(struct client *client)
{
	client->gone = true;
	if (!client->waiting && buffer_size(&client->output) > 0) {
		client_end(client);
		return;
	}
	if (buffer_size(&client->output) > 0)
		send(client->watch.fd, buffer_front(&client->output), buffer_size(&client->output),
		     MSG_NOSIGNAL);
	client_close(client);
}

/* How many bytes there were; 0: none, or it is closed. */
static size_t receive(struct client *client)
{
	char *inbox = client->daemon->inbox;
	ssize_t size;

	do {
		size = recv(client->watch.fd, inbox, sizeof(client->daemon->inbox), 0);
	} while (size < 0 && errno == EINTR);
	if (size < 0 && errno == EAGAIN)
		return 0;
	if (size == 0)
		hear_the_end(client);
	if (size < 0) {
		client->gone = true;
		client->timed_out = errno == ETIMEDOUT;
		client_close(client);
	}
	if (size <= 0)
		return 0;
	take_bytes(client, inbox, (size_t)size);
	return (size_t)size;
}

/* The other side is gone and takes no reply any more, but what it said before counts. */
static void hang_up(struct client *client)
{
	size_t before;
	int reads = 0; /* it may go on writing although it does not read */

	do {
		do {
			before = buffer_size(&client->input);
			buffer_take(&client->output, buffer_size(&client->output));
			serve_input(client);
		} while (buffer_size(&client->input) < before);
	} while (!client->closing && !client->ending && !client->waiting && reads++ < READS_MAX &&
	         receive(client) > 0);
	client_close(client);
}

/*
 * Edge-triggered: read until empty. A short read means empty, except at end of stream. A client that sends
 * very much lets the others have a turn.
 */
static void on_client_ready(struct loop_watch *watch, uint32_t events)
{
	struct client *client = (struct client *)watch;
	bool ends = (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
	bool more = ends || (events & EPOLLIN) != 0;
	int reads = 0;

	while (more && !client->closing && !client->ending && !client->paused) {
		if (reads++ == READS_MAX) {
			wait_for(client, client->events); /* which tells it again */
			break;
		}
		size_t size = receive(client);
		more = size > 0 && (ends || size == sizeof(client->daemon->inbox));
	}
	if (client->closing)
		return;
	if (ends && client->paused && client->waiting) {
		hear_the_end(client);
		return;
	}
	if (ends || (events & EPOLLOUT) != 0)
		client_dirty(client);
}

/*
 * It has said too much behind a command that waits, and nothing more was read since: it may be in the middle of
 * writing, and never come to read. So the rest is taken and thrown away. The reply to the command that waits
 * comes when it comes, the error behind it.
 */
void client_watch_stuffed(struct client *client)
{
	bool stuffed = client->waiting && client->paused;

	if (stuffed && client->stuffed) {
		client->excess = true;
		client->paused = false;
		watch(client);
	}
	client->stuffed = stuffed;
}

/* --- the beginning of a connection --- */

struct client *client_make(struct daemon *daemon, int fd)
{
	struct client *client = calloc(1, sizeof(*client));

	memory_must(client != NULL);
	client->watch = (struct loop_watch){.fd = fd, .ready = on_client_ready};
	client->grace.due = on_grace_over;
	client->daemon = daemon;
	client->version = 2;
	client->next = daemon->clients;
	client->link = &daemon->clients;
	if (client->next != NULL)
		client->next->link = &client->next;
	daemon->clients = client;
	daemon->clients_count++;
	loop_add(&daemon->loop, &client->watch, EPOLLET);
	return client;
}

bool clients_may_complain(struct daemon *daemon)
{
	uint64_t now = daemon->loop.now;

	if (daemon->refused_at != 0 && now < daemon->refused_at + REFUSED_NS)
		return false;
	daemon->refused_at = now;
	return true;
}

void client_begin(struct client *client, const struct node_client *who)
{
	struct daemon *daemon = client->daemon;

	client->who = *who;
	client->who.command = strdup(who->command);
	memory_must(client->who.command != NULL);
	client->since = client->slow_since = daemon->loop.now;
	bool room = daemon->clients_count <= daemon->clients_most;
	if (room)
		client->session = node_session_open(daemon->node, who, daemon->loop.now);
	if (client->session == 0) {
		if (clients_may_complain(daemon))
			log_line(LEVEL_WARNING, "a client was refused: there are too many, see %s",
			         room ? "--max-clients" : "ulimit -n");
		buffer_append(&client->output, CLIENT_TOO_MANY, sizeof(CLIENT_TOO_MANY) - 1);
		client_end(client);
		flush(client); /* its descriptor may be needed */
		return;
	}
	enter_bucket(client);
	watch(client);
}

/* Nothing of the old session is left: its locks, its subscriptions, what it asked for with CLIENT. */
void client_renew(struct client *client)
{
	struct daemon *daemon = client->daemon;

	leave_bucket(client);
	subscriptions_free(client);
	client->subscriptions_count = 0;
	client->version = 2;
	client->multi_refused = false;
	for (int i = 0; i < CLIENT_TEXTS; i++) {
		free(client->texts[i]);
		client->texts[i] = NULL;
	}
	loop_timer_clear(&daemon->loop, &client->grace);
	client->grace_ms = 0;
	client->told_lost = client->reasons = client->stays = false;
	client->events_dropped = 0;
	node_session_close(daemon->node, client->session, daemon->loop.now);
	client->session = node_session_open(daemon->node, &client->who, daemon->loop.now);
	must(client->session != 0); /* there was room for the one before */
	enter_bucket(client);
}

void clients_leave(struct daemon *daemon)
{
	struct client *next;

	for (struct client *client = daemon->clients; client != NULL; client = next) {
		next = client->next;
		/* Nobody is let in here any more. */
		node_session_withdraw(daemon->node, client->session, daemon->loop.now);
		if (node_session_evict(daemon->node, client->session, NODE_LOST_LEAVING,
		                       daemon->loop.now))
			client_lost(client);
		/* One that listens may have to hear of it. */
		else if (client->subscriptions_count == 0)
			client_close(client);
	}
}

bool clients_are_stopping(const struct daemon *daemon)
{
	for (const struct client *client = daemon->clients; client != NULL; client = client->next) {
		if (client->told_lost && !client->closing && !(client->stays && daemon->hurried))
			return true;
	}
	return false;
}

bool clients_are_gone(struct daemon *daemon)
{
	struct client *next;

	if (clients_are_stopping(daemon))
		return false;
	for (struct client *client = daemon->clients; client != NULL; client = next) {
		next = client->next;
		/* What it runs goes on: nobody else may be let in. */
		client->forsaken = client->stays && client->told_lost;
		daemon->forsakes = daemon->forsakes || client->forsaken;
		client_close(client);
	}
	return daemon->clients_count == 0 && daemon->orphans_count == 0;
}
