/*
 * What the daemon's files share.
 */
#ifndef DAEMON_INTERNAL_H
#define DAEMON_INTERNAL_H

#include "daemon.h"

#include "buffer.h"
#include "engine.h"
#include "node.h"
#include "pace.h"
#include "resp.h"

#include <uv.h>

/* --- log.c --- */

/* One line on stderr, if its level is asked for: "2026-11-16T05:00:00Z n1 warning: …". */
__attribute__((format(printf, 2, 3))) void log_line(enum daemon_level level, const char *format,
                                                    ...);
void log_open(const char *name, enum daemon_level level);

/* --- notify.c --- */

/* Tells systemd, if it asked: "READY=1", "STOPPING=1", "STATUS=…". */
void notify(const char *state);

/* --- clients.c --- */

enum {
	CLIENT_BUCKETS = 4096,
	/* Bytes of replies that commands of one client make in a turn, before others have theirs. */
	CLIENT_TURN = 1 << 16,
	/* Bytes of replies that a client may leave unread; with more its commands are not served. */
	CLIENT_UNREAD_MAX = 1 << 26,
	/* The same while all clients together have the memory of CLIENTS_UNREAD_MAX. */
	CLIENT_UNREAD_FREE = 1 << 16,
	CLIENTS_UNREAD_MAX = 1 << 28,
	/* Who leaves more than this unread and takes less than this of it in --client-timeout is closed. */
	CLIENT_UNREAD_SLOW = 1 << 20,
	/* Events for a client that has so much unread end the connection. */
	CLIENT_OUTPUT_MAX = 1 << 20,
	/* Bytes of commands behind one that waits; with more the client is not read from. */
	CLIENT_INPUT_MAX = 1 << 20,
	/* Of a buffer that is (nearly) empty again. */
	CLIENT_ROOM_KEPT = 1 << 16,
};

/* What a client says of itself, so that others know whom they see: CLIENT SETNAME and SETINFO. */
enum client_text { CLIENT_NAME, CLIENT_LIB_NAME, CLIENT_LIB_VER, CLIENT_TEXTS };
enum { CLIENT_TEXT_MAX = 255 };

struct subscription {
	struct subscription *next;
	bool pattern;
	size_t size;
	char text[];
};

struct client {
	int fd;
	uint32_t events; /* that are waited for */
	bool tcp;
	struct daemon *daemon;
	struct client *next, **link; /* of all */
	struct client *bucket_next;  /* with sessions of the same bucket */
	struct client *dirty_next;   /* that have something to write */
	struct client *ready_next;   /* whose next command can be read */
	struct client *later_next;   /* whose next command is served in the next turn */
	struct client *closed_next;  /* whose memory is given back when the turn is over */
	uint64_t session;
	int version; /* of RESP */
	bool dirty, ready, later;
	bool serving; /* its commands are being served */
	bool waiting; /* a command has no answer yet */
	bool paused;  /* not read from: commands in its input cannot be served yet */
	bool stuffed; /* that was so, behind one that waits, when clients were watched last */
	bool excess;  /* and went on: what it says is thrown away, and the connection ends */
	bool ending;  /* no command is read any more; closed when all is written */
	bool overdue; /* that was so already when clients were watched last … */
	uint64_t overdue_taken; /* … and it had taken so much then */
	bool closing;
	struct buffer input; /* what has not been understood yet */
	size_t needed;       /* bytes of it before it is worth a look */
	uint32_t argument; /* of a command that is served piece by piece: which one is under way */
	struct buffer output; /* to be written */
	size_t charged;       /* its part of daemon->unread_room */
	uint64_t taken;       /* bytes of its output that were ever written */
	uint64_t slow_since;  /* it has taken next to nothing since then, … */
	uint64_t slow_taken;  /* … when it had taken this much */
	bool told_unread;     /* the log has said that it does not read */
	uv_timer_t *linger;   /* NULL: what it loses goes to others at once */
	uint64_t linger_ms;
	bool told_lost; /* and its time runs */
	struct subscription *subscriptions;
	uint32_t subscriptions_count;
	struct node_client who; /* its command is this client's own */
	uint64_t since;         /* when it connected */
	char *texts[CLIENT_TEXTS];
	bool multi_refused; /* so are its commands, up to EXEC or DISCARD */
};

#define CLIENT_TOO_MANY "-ERR too many clients at this node\r\n"

/* Of a connection that was accepted. */
struct client *client_make(struct daemon *daemon, int fd);
/* Lets it in, if there is room. */
void client_begin(struct client *client, const struct node_client *who);
/* May the log say that somebody was not let in? Not more than once a second. */
bool clients_may_complain(struct daemon *daemon);
/* No more clients; those that are there are closed, and what they held is given back; but who needs
 * time to stop what it does under a lock is told that it has lost it, and gets that time. */
void clients_leave(struct daemon *daemon);
/* When these have stopped, the rest is closed too. True: that is over. */
bool clients_are_gone(struct daemon *daemon);
/* The client of a session, or NULL. */
struct client *client_of(struct daemon *daemon, uint64_t session);
/* Its socket can be read, or written, or it is gone: what epoll tells. */
void client_event(struct client *client, uint32_t events);
/* Those that are closed are forgotten: no event of this turn can be theirs any more. */
void clients_forget_closed(struct daemon *daemon);
/* Serves what clients have sent whose last command was answered; false: there was none. */
bool clients_serve_ready(struct daemon *daemon);
void clients_flush(struct daemon *daemon);
/* A turn begins: those that had enough of the last one are ready again. Until then the loop must not sleep
 * if daemon->later is not NULL. */
void clients_turn(struct daemon *daemon);
/* Now and then: has it said too much behind a command that waits? */
void client_watch_stuffed(struct client *client);
/* Its next command can be read. */
void client_ready(struct client *client);
/* The command that was under way has its answer. */
void client_answered(struct client *client);
/* Something was put into its output. */
void client_dirty(struct client *client);
/* Everything written so far is written, then the connection ends. */
void client_end(struct client *client);
void client_close(struct client *client);
/* RESET: its session ends and another begins, as if it had connected again. */
void client_renew(struct client *client);
/* Locks that are taken away from it are held back until it has stopped, so long at most. */
void client_linger(struct client *client, uint64_t ms);
/* A lock was taken away from it. */
void client_lost(struct client *client);

/* --- flow.c --- */

/* The memory of its output may have changed. */
void client_charge(struct client *client);
/* Is there room for its replies? */
bool client_takes_replies(struct client *client);
/* The log says that there is none, once; not of one that has little unread and stops because of others. */
void client_tell_unread(struct client *client);
/* Now and then: is there a client that does not take its replies, or says too much? */
void clients_watch(struct daemon *daemon);

/* --- doors.c --- */

struct listener {
	uv_poll_t poll;
	int fd; /* -1: there is none */
	uv_poll_cb on_client;
};

/* 0, or -1 and it is in the log. */
int doors_open(struct daemon *daemon);
/* Somebody has gone, or some time: there may be room again. */
void doors_open_again(struct daemon *daemon);
void doors_close(struct daemon *daemon);

/* --- commands.c --- */

/* Does what a command says. True: it is done with, and was answered or will be. False: it has to be given again when
 * the client has been answered: it is served piece by piece. */
bool command_serve(struct client *client, const struct resp_command *command);
void command_reply(struct client *client, const struct node_effect *effect);
void command_event(struct client *client, const struct node_effect *effect);
void subscriptions_free(struct client *client);

/* --- status.c --- */

/* The JSON of STATUS; to be freed. */
char *status_json(struct daemon *daemon, const struct node_status *status);
/* Why it serves nobody; false: it does. */
enum { WAITS_FOR_MAX = 512 };
bool status_waits_for(struct daemon *daemon, char *ret_text, size_t size);

/* --- peers.c --- */

struct peers;

int peers_open(struct daemon *daemon);
void peers_close(struct daemon *daemon);
/* When the loop has ended. */
void peers_free(struct daemon *daemon);
/* To the member of that number. */
void peers_send(struct daemon *daemon, uint32_t member, uint64_t epoch, const uint8_t *bytes,
                size_t size);
/* Frames that the node refused may be offered again. */
void peers_read_again(struct daemon *daemon);
/* The engine may have news for all. */
void peers_tell(struct daemon *daemon);
void peers_flush(struct daemon *daemon);
/* Has everything arrived at those who can be reached? */
bool peers_quiet(const struct daemon *daemon);
/* Members that this node has no connection to and wants one: "n2, n3"; NULL: none. */
const char *peers_missing(struct daemon *daemon);

/* Why a peer refuses to talk to us, or has left; NULL: none does. */
const char *peers_refusal(const struct daemon *daemon);
/* Now and then: is there one that is connected and does not listen? */
void peers_watch(struct daemon *daemon);

/* --- daemon.c --- */

struct daemon {
	const struct daemon_options *options;
	uv_loop_t loop;
	int epoll_fd; /* clients, and what the loop waits for */
	uint64_t now; /* when this turn began */
	int alarm_fd; /* a timer of the system, … */
	uv_poll_t alarm;
	uint64_t alarm_at;    /* … set to this: the node's next deadline or … */
	uint64_t nag_at;      /* … when the log says again what is waited for */
	uv_timer_t departure; /* while it leaves */
	struct pace pace;
	uv_signal_t terminate, interrupt, hangup;
	struct node *node;
	struct engine *engine;
	uint64_t incarnation;
	struct peers *peers;
	uint64_t serve_at; /* not before: the last node here was killed; 0: any time */
	bool told_ready;
	bool leaving;
	bool ended; /* all is closed */
	int code;   /* what daemon_run returns */
	uint64_t leave_deadline;
	/* Clients. */
	struct listener unix_listener, tcp_listener;
	bool rests;   /* they do, because nobody can be let in */
	int spare_fd; /* given up to tell somebody that there are no more */
	bool socket_made;
	struct client *clients;
	struct client *buckets[CLIENT_BUCKETS];
	struct client *dirty, *ready, *later, *closed;
	size_t unread_room; /* of all outputs, each without the first CLIENT_UNREAD_FREE */
	bool crowded;       /* that is too much */
	uint32_t clients_count;
	uint32_t clients_most;       /* for whom there are descriptors */
	uint32_t orphans_count;      /* sessions without a connection that still hold something */
	uint64_t refused_at;         /* when the log last said that there are too many */
	struct resp_command command; /* the one that is read now */
	char inbox[1 << 16];         /* what a read brings */
};

/* CLOCK_BOOTTIME, in nanoseconds. */
uint64_t daemon_now(void);
/* Does what the node wants done. After every call of it. */
void daemon_effects(struct daemon *daemon);
/* The engine may have a new view. */
void daemon_view(struct daemon *daemon);
/* Ends: hands on what can be handed on first. */
void daemon_leave(struct daemon *daemon);
void daemon_fail(struct daemon *daemon);

/* A socket with that address. 0, or a libuv error. */
int bind_tcp(const struct daemon_address *address, int *ret_fd);

#endif
