/*
 * A client of the node: one connection, which is one session. This is what is known of it, and the
 * lists it is on; what it says is read in clients.c and understood in commands.c.
 */
#ifndef DAEMON_CLIENT_H
#define DAEMON_CLIENT_H

#include "buffer.h"
#include "loop.h"
#include "node.h"
#include "resp.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

struct daemon;
struct status_job;

enum {
	CLIENT_BUCKETS = 4096,
	/* A subscriber that has left so many bytes of events unread is sent no more of them. */
	CLIENT_EVENTS_MAX = 1 << 20,
	/* Bytes of replies that one client's commands make in a turn, before others have theirs. */
	CLIENT_TURN = 1 << 16,
	/* Bytes of commands kept while an earlier command waits; with more the client is not read from. */
	CLIENT_INPUT_MAX = 1 << 20,
	/* An empty or nearly empty buffer keeps this much memory. */
	CLIENT_ROOM_KEPT = 1 << 16,
};

/* What a client says of itself, so that others know whom they see: CLIENT SETNAME and SETINFO. */
enum client_text { CLIENT_NAME, CLIENT_LIB_NAME, CLIENT_LIB_VER, CLIENT_TEXTS };
enum { CLIENT_TEXT_MAX = 255 };

struct subscription {
	TAILQ_ENTRY(subscription) entry;
	bool pattern;
	size_t size;
	char text[];
};

struct client {
	struct loop_watch watch; /* its socket; the first member */
	uint32_t events;         /* what epoll waits for: EPOLLIN, EPOLLOUT */
	bool tcp;
	struct daemon *daemon;

	LIST_ENTRY(client) all;
	LIST_ENTRY(client) bucket;        /* clients with sessions of the same hash */
	LIST_ENTRY(client) dirty_entry;   /* those with `dirty` */
	LIST_ENTRY(client) ready_entry;   /* those with `ready` */
	LIST_ENTRY(client) later_entry;   /* those with `later` */
	SLIST_ENTRY(client) lost_entry;   /* those with `in_lost` */
	SLIST_ENTRY(client) closed_entry; /* closed in this turn; freed when it is over */
	bool dirty;                       /* its output is written at the end of the turn */
	bool ready;                       /* commands in its input can be served now */
	bool later;   /* it had its share of this turn: it is ready again in the next */
	bool in_lost; /* it lost a lock in this turn: its time to stop begins when the turn ends */

	uint64_t session; /* 0: none, or it is closed */
	struct node_client who;
	uint64_t since; /* when it connected */
	int version;    /* of RESP, 2 or 3 */
	char *texts[CLIENT_TEXTS];

	/* Commands. */
	struct buffer input; /* what has come and has not been served */
	size_t needed;       /* bytes that must be there before input is worth another look */
	bool serving;        /* its commands are being served: a reply need not make it ready */
	bool waiting;       /* the last command has no answer yet; those after it wait in `input` */
	bool asks_silent;   /* the command is LEADER name SILENT */
	uint32_t argument;  /* of a SUBSCRIBE: which of its names waits for an answer; 0: none */
	bool multi_refused; /* a MULTI was refused: so is what follows it, up to EXEC or DISCARD */
	bool paused;        /* its socket is not read: its input cannot be served now */
	bool stuffed; /* clients_watch has seen it paused with a command that waits; twice is too long */
	bool excess; /* it sent too much while a command waited: the rest is thrown away, then it ends */

	/* Replies. */
	struct buffer output;   /* what its socket has not taken yet */
	size_t charged;         /* its part of clients.unread_room */
	uint64_t taken;         /* bytes of output that its socket has taken since it connected */
	uint64_t slow_since;    /* since then it has taken next to nothing … */
	uint64_t slow_taken;    /* … beyond this value of `taken` */
	bool told_unread;       /* the log has said that it does not read */
	bool ending;            /* no more commands are read; closed when all output is written */
	bool overdue;           /* clients_watch has seen it ending … */
	uint64_t overdue_taken; /* … with this value of `taken` */
	bool closing;           /* client_close was called */
	struct status_job *status_job; /* its STATUS that is being written, or NULL */

	/* Events. */
	TAILQ_HEAD(, subscription) subscriptions;
	uint32_t subscriptions_count;
	bool reasons;       /* its LOST events say why */
	size_t events_size; /* bytes of events since its output was last short */
	/* Events not sent because it did not read, and it was not told yet. */
	uint64_t events_dropped;

	/* The end of its locks. */
	/* How long it needs to stop after losing a lock; 0: others get it at once. */
	uint64_t grace_ms;
	struct loop_timer grace; /* when its time to stop is over */
	bool told_lost;          /* it has lost a lock and was told; it has until `grace` to stop */
	bool stays; /* CLIENT STAY: it cannot stop, so what it loses stays with it while connected */
	bool evicted;   /* this node leaves and has handed its locks on: its connection ends */
	bool forsaken;  /* this node leaves while it stays: its locks are not handed on */
	bool quits;     /* it said QUIT: it has stopped whatever it did under its locks */
	bool gone;      /* the other side, or the network, has closed the connection */
	bool timed_out; /* the network closed it because nothing was heard of it */
};

/* All clients of a node. */
struct clients {
	LIST_HEAD(, client) all;
	LIST_HEAD(client_bucket, client) buckets[CLIENT_BUCKETS]; /* by session */
	LIST_HEAD(, client) dirty, ready, later;
	SLIST_HEAD(, client) lost, closed;
	uint32_t count;
	uint32_t count_max;     /* as many descriptors there are for them */
	uint32_t orphans_count; /* sessions without a connection that still hold something */
	size_t unread_room; /* memory of all outputs, each without its first CLIENT_UNREAD_FREE */
	bool crowded;       /* that is more than CLIENTS_UNREAD_MAX */
	bool forsakes;      /* one was forsaken: the next node on this socket has to wait for it */
	struct resp_command command; /* the one that is being read */
};

/* The client of a session, or NULL. */
struct client *client_of(struct daemon *daemon, uint64_t session);
/* Its session leads to it from now on; and no longer. */
void client_enter(struct client *client);
void client_leave(struct client *client);
/* RESET: its session ends and another begins, as if it had connected again. */
void client_renew(struct client *client);

/* Something was put into its output. */
void client_dirty(struct client *client);
/* Its next command can be served. */
void client_ready(struct client *client);
/* The rest of its commands is for the next turn. */
void client_later(struct client *client);
/* The command that it waited for has its answer. */
void client_answered(struct client *client);
/* What was said to it is still written, then the connection ends. */
void client_end(struct client *client);

/* Makes epoll wait for these events; it also tells again what is ready already. */
void client_wait_for(struct client *client, uint32_t events);
/* Makes epoll wait for what there is to do: read unless it is paused, write what is left. */
void client_watch(struct client *client);

/* Adding one twice changes nothing; so does removing one that is not there. */
void subscription_add(struct client *client, bool pattern, const char *bytes, size_t size);
void subscription_remove(struct client *client, bool pattern, const char *bytes, size_t size);
void subscriptions_free(struct client *client);

/* "pid 17, sleep 5", or "tcp 127.0.0.1:4711": for the log. */
enum { CLIENT_DESCRIPTION_MAX = NODE_COMMAND_MAX + 32 };
void client_describe(const struct client *client, char room[CLIENT_DESCRIPTION_MAX]);

#endif
