/*
 * A client of the node: one connection, which is one session. This has what the daemon knows about
 * it, and the lists that it is on. clients.c reads what it sends, and commands.c interprets it.
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
struct status_job;

enum {
	CLIENT_BUCKETS = 4096,
	/* A subscriber that has left this many bytes of events unread is sent no more events. */
	CLIENT_EVENTS_MAX = 1 << 20,
	/* How many bytes of replies the commands of one client may make in a turn, before it is the
	 * others' turn. */
	CLIENT_TURN = 1 << 16,
	/* How many bytes of commands are kept while an earlier command waits. With more, nothing is
	 * read. */
	CLIENT_INPUT_MAX = 1 << 20,
	/* How much memory an empty or nearly empty buffer keeps. */
	CLIENT_ROOM_KEPT = 1 << 16,
};

/* What a client tells about itself, so that others recognise it: CLIENT SETNAME and SETINFO. */
enum client_text { CLIENT_NAME, CLIENT_LIB_NAME, CLIENT_LIB_VER, CLIENT_TEXTS };
enum { CLIENT_TEXT_MAX = 255 };

struct subscription {
	TAILQ_ENTRY(subscription) entry;
	bool pattern;
	size_t size;
	char text[];
};

/* The fields are grouped by purpose. */
/* NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): 32 bytes are a price for that. */
struct client {
	struct loop_watch watch; /* its socket; must be the first member */
	uint32_t events;         /* what epoll waits for: EPOLLIN, EPOLLOUT */
	bool tcp;
	struct daemon *daemon;

	LIST_ENTRY(client) all;
	LIST_ENTRY(client) bucket;      /* linked with clients whose sessions have the same hash */
	LIST_ENTRY(client) dirty_entry; /* linked if `dirty` */
	LIST_ENTRY(client) ready_entry; /* linked if `ready` */
	LIST_ENTRY(client) later_entry; /* linked if `later` */
	SLIST_ENTRY(client) lost_entry; /* linked if `in_lost` */
	/* Linked if closed in this turn; freed when the turn is over. */
	SLIST_ENTRY(client) closed_entry;
	bool dirty;   /* it has output, which is written at the end of the turn */
	bool ready;   /* commands in its input can be served now */
	bool later;   /* it has had its share of this turn, and is ready again in the next one */
	bool in_lost; /* it lost a lock in this turn; its time to stop begins when the turn ends */

	uint64_t session; /* 0: it has no session, or the session is closed */
	struct node_client who;
	/* Whom rules take it for. What it points to belongs to the client, and may be NULL. */
	struct subject subject;
	struct user *user;      /* among whose connections it counts; NULL: it was refused */
	uint64_t since;         /* when it connected */
	int version;            /* the version of RESP that it speaks, 2 or 3 */
	struct client_tls *tls; /* NULL: its bytes go as they are */
	char *texts[CLIENT_TEXTS];

	/* Commands. */
	struct buffer input; /* bytes that were received and not served yet */
	size_t needed;      /* how many bytes the input must have before it is worth another look */
	bool serving;       /* its commands are being served, so a reply need not make it ready */
	bool waiting;       /* the last command is not answered yet; later ones wait in `input` */
	bool asks_silent;   /* that command is LEADER name SILENT */
	bool lists_members; /* it is MEMBER LIST */
	uint32_t argument;  /* of a SUBSCRIBE: which of its names waits for an answer; 0: none */
	bool multi_refused; /* a MULTI was refused, and so is what follows, up to EXEC or DISCARD */
	bool paused;        /* its socket is not read, because its input cannot be served now */
	/* clients_watch has seen it paused with a waiting command; a second time is too long. */
	bool stuffed;
	/* It sent too much while a command waited: the rest is discarded, then it is closed. */
	bool excess;

	/* Replies. */
	struct buffer output; /* bytes that its socket has not taken yet */
	size_t charged;       /* its share of clients.unread_room */
	uint64_t taken;       /* bytes of output that its socket has taken since it connected */
	uint64_t slow_since;  /* since when it has taken next to nothing */
	uint64_t slow_taken;  /* the value of `taken` at that time */
	bool told_unread;     /* it was logged that it does not read */
	bool ending;  /* no more commands are read; it is closed when all output is written */
	bool overdue; /* clients_watch has seen it ending */
	uint64_t overdue_taken;        /* the value of `taken` at that time */
	bool closing;                  /* client_close was called */
	struct status_job *status_job; /* the STATUS that is being written for it, or NULL */

	/* Events. */
	TAILQ_HEAD(, subscription) subscriptions;
	uint32_t subscriptions_count;
	bool reasons;       /* its LOST events include the reason */
	size_t events_size; /* how many bytes of events were sent since its output was last short */
	/* How many events were not sent, because it did not read, and it was not told of yet. */
	uint64_t events_dropped;

	/* Leases. */
	bool leases;      /* the replies to its LOCK and ELECT tell what is left of the lease */
	bool asks_lease;  /* it has asked LEASE: it may not notice the end of its connection */
	bool passes_word; /* the descriptor of the lease word goes with the next bytes */

	/* The end of its locks. */
	/* How long it needs to stop after losing a lock; 0: others get the lock at once. */
	uint64_t grace_ms;
	struct loop_timer grace; /* when its time to stop is over */
	bool told_lost; /* it was told that it lost a lock, and has until `grace` to stop */
	/* CLIENT STAY: it cannot stop, so a lost lock stays with it while it is connected. */
	bool stays;
	bool evicted; /* this node is leaving and has handed its locks on: its connection ends */
	/* This node is leaving while the client stays: its locks are not handed on. */
	bool forsaken;
	bool quits; /* it said QUIT, so it has stopped whatever it did under its locks */
	bool gone;  /* the other side, or the network, has closed the connection */
};

/* All clients of a node. */
struct clients {
	LIST_HEAD(, client) all;
	/* Indexed by a hash of the session. */
	LIST_HEAD(client_bucket, client) buckets[CLIENT_BUCKETS];
	LIST_HEAD(, client) dirty, ready, later;
	SLIST_HEAD(, client) lost, closed;
	uint32_t count;
	uint32_t count_max; /* for how many clients there are descriptors */
	struct users users;
	uint32_t orphans_count; /* sessions without a connection that still hold something */
	/* The memory of all outputs, without the first CLIENT_UNREAD_FREE of each. */
	size_t unread_room;
	bool crowded;  /* unread_room is more than CLIENTS_UNREAD_MAX */
	bool forsakes; /* a client was forsaken: the next node on this socket must wait for it */
	struct resp_command command; /* the command that is being read */
};

/* Returns the client of a session, or NULL. */
struct client *client_of(struct daemon *daemon, uint64_t session);
/* Makes the session lead to this client; and no longer. */
void client_enter(struct client *client);
void client_leave(struct client *client);
/* RESET: its session ends and another one begins, as if it had connected again. */
void client_renew(struct client *client);

/* Something was added to its output. */
void client_dirty(struct client *client);
/* Its next command can be served. */
void client_ready(struct client *client);
/* The rest of its commands is left for the next turn. */
void client_later(struct client *client);
/* Its waiting command was answered. */
void client_answered(struct client *client);
/* Closes it after its output is written. */
void client_end(struct client *client);

/* Makes epoll wait for these events. It also reports again what is ready already. */
void client_wait_for(struct client *client, uint32_t events);
/* Makes epoll wait for what there is to do: read, unless it is paused, and write what is left. */
void client_watch(struct client *client);

/* Adding a subscription twice changes nothing, nor does removing one that does not exist. */
void subscription_add(struct client *client, bool pattern, const char *bytes, size_t size);
void subscription_remove(struct client *client, bool pattern, const char *bytes, size_t size);
void subscriptions_free(struct client *client);

/* Describes the client for the log: "pid 17, sleep 5", or "tcp 127.0.0.1:4711". */
enum { CLIENT_DESCRIPTION_MAX = NODE_COMMAND_MAX + 32 };
void client_describe(const struct client *client, char room[CLIENT_DESCRIPTION_MAX]);

#endif
