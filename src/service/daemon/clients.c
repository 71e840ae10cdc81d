#include "clients.h"

#include "client_tls.h"
#include "clock.h"
#include "closing.h"
#include "commands.h"
#include "effects.h"
#include "events.h"
#include "flow.h"
#include "grace.h"
#include "instance.h"
#include "log.h"
#include "memory.h"
#include "replies.h"
#include "strays.h"
#include "tls.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum {
	/* How long one client is served before it is another's turn, and how long all clients
	 * together are served before it is the turn of peers and timers. */
	CLIENT_TURN_US = 250,
	CLIENTS_TURNS_US = 1000,
	/* After how many commands, or bytes of replies, the clock is read in a client's turn. */
	CLOCK_COMMANDS = 8,
	CLOCK_OUTPUT = 512,
	/* The most reads of a client's socket after its other side is gone. */
	DEAF_READS_MAX = 32,
	/* The most turns of a client after its time to stop is over. */
	LAST_TURNS_MAX = 8,
};

/* --- writing --- */

/* Frees the memory that one large command or reply needed, if it is more than `kept`. */
static void slim(struct buffer *buffer, size_t kept)
{
	struct buffer smaller = {0};

	if (buffer->room <= kept || buffer_size(buffer) > buffer->room / 8)
		return;
	buffer_append(&smaller, buffer_front(buffer), buffer_size(buffer));
	buffer_free(buffer);
	*buffer = smaller;
}

static void hang_up(struct client *client);

/* Too many descriptors that processes of this node's user have sent are not received yet, so the
 * kernel takes no more. The client gets its reply without the lease word, and asks LEASE. */
static void give_up_word(struct client *client)
{
	struct daemon *daemon = client->daemon;

	client->passes_word = false;
	if (log_limit_passes(&daemon->words, daemon->loop.now))
		log_line(LEVEL_WARNING,
		         "the lease word cannot be passed to a client: %s: clients ask for the "
		         "lease instead (LEASE)",
		         strerror(errno));
}

/* Writes the output, and with it the descriptor of the lease word. Returns what send returns. */
static ssize_t write_with_word(struct client *client)
{
	struct buffer *output = &client->output;

	union {
		struct cmsghdr header; /* gives the union its alignment */
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {.bytes = {0}};
	struct iovec bytes = {(char *)buffer_front(output), buffer_size(output)};
	struct msghdr message = {.msg_iov = &bytes,
	                         .msg_iovlen = 1,
	                         .msg_control = control.bytes,
	                         .msg_controllen = sizeof(control.bytes)};
	struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
	rights->cmsg_level = SOL_SOCKET;
	rights->cmsg_type = SCM_RIGHTS;
	rights->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(rights), &client->daemon->lease_page.fd, sizeof(int));
	ssize_t written = sendmsg(client->watch.fd, &message, MSG_NOSIGNAL);
	client->passes_word = written <= 0;
	return written;
}

/* Writes the output, and with it the descriptor of the lease word, if the client has asked for it.
 * Returns what send returns. */
static ssize_t write_bytes(struct client *client)
{
	const struct buffer *output = &client->output;

	if (client->passes_word) {
		ssize_t written = write_with_word(client);
		if (written >= 0 || errno != ETOOMANYREFS)
			return written;
		give_up_word(client);
	}
	return send(client->watch.fd, buffer_front(output), buffer_size(output), MSG_NOSIGNAL);
}

/* Writes as much of the output as the socket takes. Returns 0, or -1 if the socket is dead. */
static int write_output(struct client *client)
{
	struct buffer *output = &client->output;

	if (client->deaf) {
		buffer_take(output, buffer_size(output));
		return 0;
	}
	if (client->tls != NULL)
		return client_tls_flush(client);
	if (buffer_size(output) == 0)
		return 0;
	ssize_t written = write_bytes(client);
	if (written < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -1;
	buffer_take(output, (size_t)written);
	client->taken += (uint64_t)written;
	return 0;
}

static void flush(struct client *client)
{
	struct buffer *output = &client->output;

	if (write_output(client) != 0) {
		hang_up(client);
		return;
	}
	client_events_written(client);
	slim(output, CLIENT_ROOM_KEPT);
	client_charge(client);
	if (client->paused && !client->waiting) {
		if (client_takes_replies(client))
			client_ready(client);
		else
			client_tell_unread(client);
	}
	if (client->events_dropped > 0 && client->events_size < CLIENT_EVENTS_MAX / 2 &&
	    client_takes_events(client))
		reply_dropped(client);
	if (buffer_size(output) == 0 && (client->tls == NULL || !client_tls_waits(client))) {
		client->told_unread = false;
		if (client->ending) {
			client_close(client);
			return;
		}
	}
	client_watch(client);
}

void clients_flush(struct daemon *daemon)
{
	while (!LIST_EMPTY(&daemon->clients.dirty)) {
		struct client *client = LIST_FIRST(&daemon->clients.dirty);
		LIST_REMOVE(client, dirty_entry);
		client->dirty = false;
		flush(client);
	}
}

/* --- serving --- */

/* Has the client had its share of time or replies, so that it is another's turn? The clock is one
 * that goes on while the machine is suspended: after a pause of any kind the client's commands must
 * wait for another turn, which begins with a reading of the lease clock. */
static bool turn_is_over(const struct client *client)
{
	struct clients *clients = &client->daemon->clients;
	size_t unread = buffer_size(&client->output);

	clients->turn_commands = 0;
	clients->turn_output = unread;
	return unread >= clients->turn_unread + CLIENT_TURN ||
	       clock_boot_ns() - clients->turn_began >= CLIENT_TURN_US * UINT64_C(1000);
}

/* Is it another's turn before the next command? To read the clock takes a tenth of the time of a
 * short command, so it is read after the first command, after several, and after a long reply. */
static bool must_stop(const struct client *client)
{
	const struct clients *clients = &client->daemon->clients;

	return (clients->turn_commands >= CLOCK_COMMANDS ||
	        buffer_size(&client->output) >= clients->turn_output + CLOCK_OUTPUT) &&
	       turn_is_over(client);
}

/* Sends a last reply, which says why the connection ends. */
static void end_with(struct client *client, const char *what, const char *why)
{
	char text[160];

	snprintf(text, sizeof(text), "%s%s", what, why);
	resp_error(&client->output, "ERR", text);
	client_end(client);
}

/* Serves commands as long as there are complete ones. Returns how many bytes they took. */
static size_t serve_commands(struct client *client, const char *bytes, size_t size)
{
	struct daemon *daemon = client->daemon;
	size_t taken = 0;
	const char *wrong = "";

	client->needed = 0;
	while (taken < size && !client->waiting && !client->ending && !client->closing &&
	       client_takes_replies(client)) {
		if (client->excess && client->argument == 0) {
			end_with(client, "",
			         "more than 1048576 bytes of commands after one that waits: they "
			         "were not carried out");
			return size;
		}
		if (must_stop(client)) {
			client_ready(client);
			break;
		}
		switch (resp_read(bytes + taken, size - taken, &daemon->clients.command,
		                  &client->needed, &wrong)) {
		case RESP_MORE:
			return taken;
		case RESP_WRONG:
			end_with(client, "Protocol error: ",
			         (uint8_t)bytes[taken] == TLS_FIRST_BYTE ? "this port has no TLS"
			                                                 : wrong);
			return size;
		case RESP_COMMAND:
			break;
		}
		if (daemon->clients.command.arguments_count == 0 ||
		    command_serve(client, &daemon->clients.command))
			taken += daemon->clients.command.size;
		daemon->clients.turn_commands++;
		effects_do(daemon);
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

/* Stops reading while the input holds commands that cannot be served now. */
static void pause_or_resume(struct client *client)
{
	if (client->closing || client->ending)
		return;
	bool stuffed = client->waiting && !client->excess &&
	               buffer_size(&client->input) > CLIENT_INPUT_MAX;
	bool unread = !client->waiting && !client_takes_replies(client);
	bool pause = stuffed || unread;
	if (stuffed) {
		/* Call this even if the client is paused already: epoll then reports again an end
		 * of the stream that was not acted on before. */
		client->paused = true;
		client_wait_for(client, client->events & ~(uint32_t)EPOLLIN);
	} else if (pause != client->paused) {
		client->paused = pause;
		/* If its output was written earlier, flush is not called again and does not log
		 * it. */
		if (unread)
			client_tell_unread(client);
		client_watch(client);
	}
}

/* Serves the commands in the client's input, now that this is possible again. */
static void serve_input(struct client *client)
{
	struct buffer *input = &client->input;

	if (buffer_size(input) >= client->needed)
		buffer_take(input, serve(client, buffer_front(input), buffer_size(input)));
	slim(input, CLIENT_INPUT_FREE);
	client_charge_input(client);
	pause_or_resume(client);
}

/* --- reading --- */

static void take_bytes(struct client *client, const char *bytes, size_t size)
{
	if (client->excess)
		return;
	if (buffer_size(&client->input) == 0) {
		size_t taken = serve(client, bytes, size);
		if (client->closing)
			return;
		if (taken < size) {
			buffer_append(&client->input, bytes + taken, size - taken);
			client_charge_input(client);
		}
		pause_or_resume(client);
		return;
	}
	buffer_append(&client->input, bytes, size);
	client_charge_input(client);
	if (client->waiting)
		pause_or_resume(client);
	else
		serve_input(client);
}

/* Half-closed: the client sends nothing more but may still read replies. Its wait for a lock, if
 * any, ends. If another command waits, the end is heard again when that is answered. */
static void hear_the_end(struct client *client)
{
	client->gone = true;
	if (client_awaits_last(client))
		return;
	if (!client->waiting && buffer_size(&client->output) > 0) {
		client_end(client);
		return;
	}
	write_output(client);
	client_close(client);
}

/* Serves bytes that were decrypted. Stops while earlier commands are not served yet: the end of
 * TLS, which ends the client, may come after them. Returns true if there were any. */
static bool take_decrypted(struct client *client)
{
	char *inbox = client->daemon->inbox;
	bool any = false;
	size_t size;

	while (!client->closing && !client->ending && !client->ready &&
	       (size = client_tls_read(client, inbox, sizeof(client->daemon->inbox))) > 0) {
		take_bytes(client, inbox, size);
		any = true;
		/* A record may have a single byte, and so no command that would end the turn. */
		if (!client->closing && !client->ready && turn_is_over(client))
			client_ready(client);
	}
	return any;
}

/* Reads into the daemon's inbox. Returns what recv returns; *ret_strays: see strays_receive. */
static ssize_t read_socket(struct client *client, bool *ret_strays)
{
	struct daemon *daemon = client->daemon;

	if (client->tcp)
		return recv(client->watch.fd, daemon->inbox, sizeof(daemon->inbox), 0);
	return strays_receive(daemon->strays, client->watch.fd, daemon->inbox,
	                      sizeof(daemon->inbox), ret_strays);
}

static void refuse_strays(struct client *client)
{
	struct daemon *daemon = client->daemon;
	char who[CLIENT_DESCRIPTION_MAX];

	client_describe(client, who);
	if (log_limit_passes(&daemon->refusals, daemon->loop.now))
		log_line(LEVEL_WARNING, "a client was refused: it sends descriptors: %s", who);
	end_with(client, "", "a node takes no descriptors (SCM_RIGHTS)");
}

/* Returns the number of bytes read; 0: there were none, or the stream has ended. */
static size_t receive(struct client *client)
{
	char *inbox = client->daemon->inbox;
	bool strays = false;
	ssize_t size;

	do {
		size = read_socket(client, &strays);
	} while (size < 0 && errno == EINTR);
	if (strays) {
		refuse_strays(client);
		return 0;
	}
	if (size < 0 && errno == EAGAIN)
		return 0;
	if (size == 0)
		hear_the_end(client);
	if (size < 0) {
		client->gone = true;
		client_close(client);
	}
	if (size <= 0)
		return 0;
	if (client->tls == NULL)
		take_bytes(client, inbox, (size_t)size);
	else if (client_tls_input(client, inbox, (size_t)size))
		take_decrypted(client);
	return (size_t)size;
}

/* The other side is gone and reads no more replies, but the commands that it sent before count. */
static void hang_up(struct client *client)
{
	if (client->ending || client->waiting) {
		client_close(client);
		return;
	}
	client->deaf = true;
	client_ready(client);
}

/* --- turns --- */

/* Serves what is left of a deaf client's commands, and closes the client. The number of reads is
 * limited, because a client may write without end although it does not read. */
static void serve_deaf(struct client *client)
{
	size_t before;
	bool more;

	do {
		do {
			before = buffer_size(&client->input);
			buffer_take(&client->output, buffer_size(&client->output));
			serve_input(client);
			if (client->ready) /* the rest is served in the client's next turn */
				return;
		} while (buffer_size(&client->input) < before);
		more = !client->closing && !client->ending && !client->waiting &&
		       ((client->tls != NULL && take_decrypted(client)) ||
		        (client->deaf_reads++ < DEAF_READS_MAX && receive(client) > 0));
	} while (more);
	client_close(client);
}

/* Acts on the events of the client's socket. Edge-triggered: read until empty. A short read means
 * empty, except at end of stream. */
static void serve_events(struct client *client)
{
	uint32_t events = client->heard;
	bool ends = (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
	bool more = ends || (events & EPOLLIN) != 0;

	client->heard = 0;
	client->hung_up = client->hung_up || (events & (EPOLLHUP | EPOLLERR)) != 0;
	while (more && !client->closing && !client->ending && !client->paused) {
		size_t size = receive(client);
		more = size > 0 && (ends || size == sizeof(client->daemon->inbox));
		/* Do not read more while there are commands that were not served: they would take
		 * memory without limit. */
		if (more && !client->closing && !client->ending && !client->paused &&
		    (client->ready || turn_is_over(client))) {
			client->heard = events & ~(uint32_t)EPOLLOUT;
			client_turn(client);
			break;
		}
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

static void serve_turn(struct client *client)
{
	struct clients *clients = &client->daemon->clients;

	clients->turn_unread = clients->turn_output = buffer_size(&client->output);
	clients->turn_commands = CLOCK_COMMANDS - 1; /* one command is served in any case */
	bool ready = client->ready;
	client->ready = false;
	if (client->dismissed) {
		client_close(client);
		return;
	}
	if (client->deaf) {
		serve_deaf(client);
		return;
	}
	if (client->status_job != NULL)
		status_continue(client);
	if (client->status.stage == STATUS_DUE) {
		command_ask_status(client);
		effects_do(client->daemon);
	}
	if (ready)
		serve_input(client);
	if (ready && client->tls != NULL)
		take_decrypted(client);
	if (client->heard != 0 && !client->ready && !client->closing)
		serve_events(client);
}

/* Lets others have the locks that the client has lost, because its time to stop is over, unless it
 * said CLIENT STAY or released them in time. Called after a turn of the client. */
static void end_grace(struct client *client)
{
	/* A client that sends without a pause must not keep its locks by that. */
	if ((client->ready || client->heard != 0) && --client->last_turns > 0)
		return;
	client->last_turns = 0;
	/* Effects of this turn may take another lock from the client. Then its time to stop begins
	 * again, for both locks. */
	effects_do(client->daemon);
	if (client->closing || client->in_lost || client->stays || !client->told_lost ||
	    loop_timer_is_set(&client->grace))
		return;
	if (!client->forfeits)
		log_limited(
		        &client->daemon->late, client->daemon->loop.now, LEVEL_WARNING,
		        "a client that lost a lock did not stop within %llu ms: others can have "
		        "the lock",
		        (unsigned long long)client_time_to_stop_ms(client));
	client->forfeits = true;
	if (node_session_forfeit(client->daemon->node, client->session, client->daemon->loop.now)) {
		/* Others get the rest after the client's next turns. */
		client->last_turns = 1;
		client_turn(client);
		return;
	}
	client->told_lost = client->forfeits = false;
	if (node_session_holds(client->daemon->node, client->session) > 0)
		return; /* the client holds another lock, which was not taken away */
	client->quits = true;
	client_close(client);
}

static struct client *client_at(struct user_place *place)
{
	return (struct client *)((char *)place - offsetof(struct client, place));
}

/* Writes events to clients of one user: to this one, and to as many others as fit into a turn. */
static void write_events(struct daemon *daemon, struct user_place *place)
{
	struct clients *clients = &daemon->clients;

	while (place != NULL) {
		struct client *client =
		        (struct client *)((char *)place - offsetof(struct client, telling));
		struct user *user = client->user;
		flush(client);
		if (clock_boot_ns() - clients->turn_began >= CLIENT_TURN_US * UINT64_C(1000))
			break;
		place = user_next_events(&clients->users, user);
	}
}

/* Serves a client. If its commands cause many events, its user waits for others while these are
 * written: else events would be caused faster than they are written. */
static void serve_and_hold(struct daemon *daemon, struct client *client)
{
	struct clients *clients = &daemon->clients;
	struct user *user = client->user;
	uint64_t before = clients->events_count;

	serve_turn(client);
	if (client->last_turns > 0)
		end_grace(client);
	uint64_t events = clients->events_count - before;
	if (user != NULL && events > EVENTS_UNHELD)
		user_hold(user, clients->turn_began + events * EVENT_WRITE_NS);
}

bool clients_serve_next(struct daemon *daemon)
{
	struct clients *clients = &daemon->clients;

	if (!users_are_waiting(&clients->users))
		return false;
	/* The process may have been stopped since the last client's turn, or since the events were
	 * noted. A command must not be served as if the lease were still valid. The turn begins
	 * before the lease clock is read: after a stop between the two, it is over at once. */
	clients->turn_began = clock_boot_ns();
	daemon->loop.worked = true;
	loop_read_clock(&daemon->loop);
	if (clients->turns_until == 0)
		clients->turns_until = daemon->loop.now + CLIENTS_TURNS_US * UINT64_C(1000);
	else if (daemon->loop.now >= clients->turns_until)
		return false;
	struct user_place *place = users_next(&clients->users, clients->turn_began);
	if (place->tells)
		write_events(daemon, place);
	else
		serve_and_hold(daemon, client_at(place));
	return true;
}

void clients_turn(struct daemon *daemon)
{
	daemon->clients.turns_until = 0;
	while (clients_serve_next(daemon))
		;
	daemon->loop.worked = true; /* what follows may take long */
}

static void on_client_ready(struct loop_watch *watch, uint32_t events)
{
	struct client *client = (struct client *)watch;

	client->heard |= events;
	client_turn(client);
}

/* --- new connections --- */

/* This node may have been stopped for a while, and CLIENT STAY may be among the commands that came
 * meanwhile and were not read. So they are served before others can have the client's locks. */
static void on_grace_over(struct loop_timer *timer)
{
	struct client *client = (struct client *)((char *)timer - offsetof(struct client, grace));

	if (client->closing)
		return;
	client->last_turns = LAST_TURNS_MAX;
	client->heard |= EPOLLIN;
	client_turn(client);
}

struct client *client_make(struct daemon *daemon, int fd)
{
	struct client *client = calloc(1, sizeof(*client));

	memory_must(client != NULL);
	client->watch = (struct loop_watch){.fd = fd, .notes = true, .ready = on_client_ready};
	client->grace.due = on_grace_over;
	client->daemon = daemon;
	client->unread_fd = -1;
	client->version = 2;
	LIST_INSERT_HEAD(&daemon->clients.all, client, all);
	loop_add(&daemon->loop, &client->watch, EPOLLET);
	return client;
}

/* Sends the reason as the only reply, and ends the connection. */
static void refuse(struct client *client, const char *reply, const char *option)
{
	struct daemon *daemon = client->daemon;
	char who[CLIENT_DESCRIPTION_MAX];

	client_describe(client, who);
	if (log_limit_passes(&daemon->refusals, daemon->loop.now))
		log_line(LEVEL_WARNING, "a client was refused: there are too many, see %s: %s",
		         option, who);
	buffer_append(&client->output, reply, strlen(reply));
	client_end(client);
}

bool client_admit(struct client *client)
{
	struct daemon *daemon = client->daemon;

	if (daemon->clients.count >= daemon->clients.count_max) {
		refuse(client, CLIENT_TOO_MANY, "ulimit -n");
		return false;
	}
	uint64_t session = node_session_open(daemon->node, &client->who, daemon->loop.now);
	if (session == 0) {
		refuse(client, CLIENT_TOO_MANY, "--max-clients");
		return false;
	}
	client->user =
	        user_enter(&daemon->clients.users, &client->subject, daemon->clients.user_max);
	if (client->user == NULL) {
		node_session_quit(daemon->node, session, daemon->loop.now);
		refuse(client, CLIENT_TOO_MANY_OF_USER, "--max-user-clients");
		return false;
	}
	daemon->clients.count++;
	client->session = session;
	client_enter(client);
	return true;
}

void client_begin(struct client *client, const struct node_client *who)
{
	struct daemon *daemon = client->daemon;

	client->who = *who;
	client->who.command = strdup(who->command);
	memory_must(client->who.command != NULL);
	client->since = client->slow_since = daemon->loop.now;
	if (client->tls != NULL || client_admit(client))
		client_watch(client);
	else
		flush(client); /* write it now, because another client may need the descriptor */
}

/* --- periodic checks --- */

/*
 * Handles a client that has sent too much while a command waited, so that its socket was not read
 * for a while. The client may be blocked in a write and never read its reply. So the rest of its
 * input is read and discarded. The client still gets the reply to the waiting command, and then the
 * error.
 */
static void watch_stuffed(struct client *client)
{
	bool stuffed = client->waiting && client->paused;

	if (stuffed && client->stuffed) {
		client->excess = true;
		client->paused = false;
		client_watch(client);
	}
	client->stuffed = stuffed;
}

/* Closes the client in its next turn: one user may have thousands that are closed together, and each
 * may hold locks, which takes time. */
static void dismiss(struct client *client)
{
	client->dismissed = true;
	client_turn(client);
}

void clients_watch(struct daemon *daemon)
{
	char who[CLIENT_DESCRIPTION_MAX];
	struct client *client;

	LIST_FOREACH (client, &daemon->clients.all, all) {
		if (client->closing || client->dismissed)
			continue;
		if (client_never_reads(client)) {
			client_describe(client, who);
			log_limited(&daemon->unread, daemon->loop.now, LEVEL_WARNING,
			            "a client has left %zu bytes of replies unread for %llu s: "
			            "its connection is closed: %s",
			            buffer_size(&client->output),
			            (unsigned long long)(daemon->loop.now - client->slow_since) /
			                    1000000000,
			            who);
			dismiss(client);
		} else if (client_is_overdue(client) || client_tls_is_late(client) ||
		           client_waits_too_long(client)) {
			dismiss(client);
		} else {
			watch_stuffed(client);
		}
	}
}
