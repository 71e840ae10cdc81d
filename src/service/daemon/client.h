/*
 * A client of the node: one connection with one session. struct client has all that the daemon
 * knows about the client, and the lists that the client is on. clients.c reads its commands, and
 * commands.c interprets them.
 */
#ifndef DAEMON_CLIENT_H
#define DAEMON_CLIENT_H

#include "buffer.h"
#include "loop.h"
#include "node.h"
#include "resp.h"
#include "subject.h"
#include "users.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

struct client_tls;
struct daemon;
struct log_limit;
struct status_job;

enum {
	CLIENT_BUCKETS = 65536,
	/* How many bytes of replies one client may get in its turn, before other clients are
	 * served. */
	CLIENT_TURN = 1 << 16,
	/* How many bytes of a client's commands are kept while an earlier command waits. Beyond
	 * that, nothing more is read from the client. */
	CLIENT_INPUT_MAX = 1 << 20,
	/* How much memory the output keeps when it is empty or nearly empty. */
	CLIENT_ROOM_KEPT = 1 << 16,
};

/* Texts by which a client makes itself recognisable: CLIENT SETNAME and SETINFO. */
enum client_text { CLIENT_NAME, CLIENT_LIB_NAME, CLIENT_LIB_VER, CLIENT_TEXTS };
enum { CLIENT_TEXT_MAX = 255 };

/* How far the answer to a STATUS is, see status_queue.h. */
enum status_stage {
	STATUS_NONE,    /* there is none, or it was answered */
	STATUS_HELD,    /* it waits, because its user has too many that are being answered */
	STATUS_PUT_OFF, /* it waits, because there is no memory for a long reply */
	STATUS_DUE,     /* it need not wait any longer: the node is asked in the client's turn */
	STATUS_ASKED,   /* it is being answered */
};

/* The STATUS that a client has sent. */
struct client_status {
	enum status_stage stage;
	char *pattern; /* NULL: all locks */
	size_t pattern_size;
	uint32_t count;            /* as in node_status */
	TAILQ_ENTRY(client) entry; /* linked in a line of its user, if held or put off */
};

/* The fields are grouped by purpose. */
/* NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): 32 bytes are the price of that. */
struct client {
	struct loop_watch watch; /* the client's socket; must be the first member */
	uint32_t events;         /* what epoll waits for: EPOLLIN, EPOLLOUT */
	/* The socket of a client that was closed while something was unread: see strays.h. -1:
	 * none. */
	int unread_fd;
	bool tcp;
	struct daemon *daemon;

	LIST_ENTRY(client) all;
	LIST_ENTRY(client) bucket;      /* linked with clients whose sessions have the same hash */
	LIST_ENTRY(client) dirty_entry; /* linked if `dirty` */
	struct user_place place;        /* where the client waits for its turn, see client_turn */
	struct user_place telling;      /* where the client waits until its events are written */
	LIST_ENTRY(client) stranger_entry; /* linked if `stranger` */
	SLIST_ENTRY(client) lost_entry;    /* linked if `in_lost` */
	/* Linked if the client was closed in this turn; freed when the turn is over. */
	SLIST_ENTRY(client) closed_entry;
	bool dirty;     /* the client has output, which is written at the end of the turn */
	bool ready;     /* commands in the client's input can be served now */
	uint32_t heard; /* events of epoll that were not acted on yet */
	/* The client's TLS handshake is not over: it has no session yet, and belongs to no user. */
	bool stranger;
	/* The client lost a lock in this turn; its time to stop begins when the turn ends. */
	bool in_lost;

	uint64_t session; /* the client's session; 0: it has none, or the session is closed */
	struct node_client who;
	/* The user, groups and certificate by which rules know the client. The client owns the
	 * texts, which may be NULL. */
	struct subject subject;
	/* The client connected while there were rules. Now there are none, and the socket's mode
	 * would not let it connect: it may do nothing. */
	bool shut_out;
	/* The user toward whose limit this connection counts; NULL: the client was refused, or is a
	 * stranger. */
	struct user *user;
	uint64_t since;         /* when the client connected */
	int version;            /* the version of RESP that the client speaks, 2 or 3 */
	struct client_tls *tls; /* the TLS of the connection; NULL: there is none */
	char *texts[CLIENT_TEXTS];

	/* Commands. */
	struct buffer input; /* bytes that were received and not served yet */
	/* How much of clients.input_room the input takes. Unless it is 0, the client is linked in
	 * its user's user_input. */
	size_t input_charged;
	TAILQ_ENTRY(client) input_entry;
	size_t needed; /* while the input has fewer bytes than this, no command in it is complete */
	/* The client's commands are being served, so a reply need not make it ready. */
	bool serving;
	bool waiting;       /* the last command is not answered yet; later ones wait in `input` */
	bool wants_lock;    /* the last command is LOCK or ELECT */
	bool asks_silent;   /* the last command is LEADER name SILENT */
	bool lists_members; /* the last command is MEMBER LIST */
	/* The number of the question to the voters that the last command waits for, an order or an
	 * invitation; 0: none. */
	uint64_t asking;
	char *token;       /* the invitation that is being made; NULL: none */
	bool secret;       /* an invitation is in the memory of the output */
	uint32_t argument; /* SUBSCRIBE: the argument whose subscription is pending; 0: none */
	/* A MULTI was refused, and so are the commands after it, up to EXEC, DISCARD or RESET. */
	bool multi_refused;
	bool paused; /* the socket is not read, because no more input can be served now */
	/* clients_watch has seen once that the client is paused while a command waits. The second
	 * time, it sets `excess`. */
	bool stuffed;
	/* The client sent too much while a command waited: the rest is discarded, then the client
	 * is closed. */
	bool excess;

	/* Replies. */
	struct buffer output; /* bytes that the client's socket has not taken yet */
	size_t charged;       /* how much of clients.unread_room this client's output takes */
	/* Bytes of output that the socket has taken since the client connected. */
	uint64_t taken;
	uint64_t slow_since; /* the time since which the socket has taken almost nothing */
	uint64_t slow_taken; /* the value of `taken` at slow_since */
	bool told_unread;    /* it was logged that this client does not read */
	/* No more commands are read; the client is closed when all output is written. */
	bool ending;
	bool overdue;           /* clients_watch has already found the client ending once */
	uint64_t overdue_taken; /* the value of `taken` when `overdue` was set */
	bool closing;           /* client_close was called */
	struct client_status status;
	/* The STATUS that is being written for the client, or NULL. */
	struct status_job *status_job;
	size_t making_room;    /* how much memory it takes */
	size_t making_charged; /* how much of clients.making_room that is, as was charged last */

	/* Events. */
	/* The number of subscriptions that the client was told last. */
	uint32_t subscriptions_count;
	bool reasons; /* the client's LOST events include the reason */
	bool timed;   /* the client's LOST events include when this node sent them */
	/* How many bytes of events the output has, at most: replies may be between them. */
	size_t events_size;
	/* How many events were not sent, because the client did not read; it was not told of them
	 * yet. */
	uint64_t events_dropped;

	/* Leases. */
	bool leases; /* replies to the client's LOCK and ELECT tell what is left of the lease */
	/* The client has asked LEASE: it may not notice the end of its connection. */
	bool asks_lease;
	bool passes_word; /* the descriptor of the lease word must be sent with the next bytes */
	/* The client has asked for the lease word. It gets the descriptor only once: descriptors
	 * that are not received yet count for this node's user, and their number is limited. */
	bool asked_word;

	/* Losing locks. */
	/* How long the client needs to stop after losing a lock; 0: others get the lock at once. */
	uint64_t grace_ms;
	struct loop_timer grace; /* when the client's time to stop is over */
	/* How many turns the client gets at most before others can have the locks that it has lost,
	 * because its time to stop is over; 0: it is not over. */
	uint32_t last_turns;
	bool dismissed; /* the client is closed in its next turn */
	/* The client was told that it lost a lock, and has until `grace` to stop. */
	bool told_lost;
	bool forfeits; /* that time is over, and others get the locks that it has lost */
	/* CLIENT STAY: the client cannot stop, so a lost lock stays with it while it is
	 * connected. */
	bool stays;
	/* This node is leaving or was removed, and has handed the client's locks on: the connection
	 * ends. */
	bool evicted;
	/* This node is leaving, but the client cannot stop: its locks are not handed on. */
	bool forsaken;
	/* The client need not be waited for: it said QUIT, so it has stopped what it did under its
	 * locks; or its time to stop is over. */
	bool quits;
	bool gone; /* the other side, or the network, has closed the connection */
	/* The connection is closed in both directions: nobody reads the client's replies. */
	bool hung_up;
	/* When it was seen that the client sends nothing more, while a command waited; 0: never. */
	uint64_t half_closed_at;
	/* Nobody reads the client's replies any more: they are discarded. The commands that it sent
	 * before are still served. */
	bool deaf;
	uint32_t deaf_reads; /* how often the socket was read since the client became deaf */
};

/* All clients of a node. */
struct clients {
	LIST_HEAD(, client) all;
	/* All clients, indexed by a hash of the session. */
	LIST_HEAD(client_bucket, client) buckets[CLIENT_BUCKETS];
	LIST_HEAD(, client) dirty;
	LIST_HEAD(, client) strangers; /* the newest comes first */
	SLIST_HEAD(, client) lost, closed;
	uint32_t count;         /* how many clients were admitted and are not forgotten yet */
	uint32_t count_max;     /* the most clients for which there are descriptors */
	uint32_t strangers_max; /* the most strangers, for which there are other descriptors */
	uint32_t user_max;      /* the most clients of one user */
	struct users users;
	/* Clients are served until this time; then it is the turn of peers and timers. 0: no client
	 * was served yet in this turn of the loop. */
	uint64_t turns_until;
	/* The turn of the client that is being served, see turn_is_over. */
	uint64_t turn_began;    /* on clock_boot_ns */
	size_t turn_unread;     /* how many bytes of output the client had when its turn began */
	uint32_t turn_commands; /* commands served since turn_is_over last read the clock */
	size_t turn_output;     /* how many bytes of output the client had at that reading */
	/* How many sessions have lost their connection and still hold something. */
	uint32_t orphans_count;
	/* The memory of all outputs; of each, the first CLIENT_UNREAD_FREE bytes do not count. */
	size_t unread_room;
	size_t making_room; /* the memory of all STATUS that are being written */
	/* `unread_room` has reached CLIENTS_UNREAD_MAX, and has not fallen below three quarters of
	 * it since. */
	bool crowded;
	/* How many bytes of events all clients together have not read, and how many users have
	 * such clients. */
	size_t events_size;
	uint32_t events_users;
	uint64_t events_count; /* how many events were told since the daemon began */
	/* The memory of all inputs; of each, the first CLIENT_INPUT_FREE bytes do not count. */
	size_t input_room;
	bool forsakes; /* a client was forsaken: the next node on this socket must wait for it */
	struct resp_command command; /* the command that is being read */
};

/* Returns the client of a session, or NULL. */
struct client *client_of(struct daemon *daemon, uint64_t session);
/* After client_enter, client_of finds this client by its session; after client_leave, no longer. */
void client_enter(struct client *client);
void client_leave(struct client *client);
/* Serves RESET: ends the client's session and begins another, as if the client had connected
 * again. */
void client_renew(struct client *client);

/* Call it when something was added to the client's output. */
void client_dirty(struct client *client);
/* Lets the client wait for its turn, in the queue of its user. */
void client_turn(struct client *client);
/* Notes that the client's next command can be served, when it is the client's turn. */
void client_ready(struct client *client);
/* Notes that the client's waiting command was answered. */
void client_answered(struct client *client);
/* Closes the client after its output is written. */
void client_end(struct client *client);

/* Makes epoll wait for these events. Events that are ready already are reported again. */
void client_wait_for(struct client *client, uint32_t events);
/* Makes epoll wait until the socket can be read, unless the client is paused, and until it can be
 * written, if output is left. */
void client_watch(struct client *client);

/* Writes a text for the log that describes the client: "uid 1000, pid 17, sleep 5", "tcp
 * 127.0.0.1:4711", or "certificate 'ops', tcp 10.0.0.7:4711". */
enum { CLIENT_DESCRIPTION_MAX = NODE_NAME_MAX + NODE_COMMAND_MAX + 48 };
void client_describe(const struct client *client, char room[CLIENT_DESCRIPTION_MAX]);
/* Returns the limit for lines about orders that the client gives. Users have different limits, as
 * far as there are enough: what one user orders must not hide what an operator does. */
enum { CLIENT_ORDERS = 64 };
struct log_limit *client_orders(const struct client *client);

#endif
