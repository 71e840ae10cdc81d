/*
 * What the daemon's files share.
 */
#ifndef DAEMON_INTERNAL_H
#define DAEMON_INTERNAL_H

#include "daemon.h"

#include "buffer.h"
#include "loop.h"
#include "member.h"
#include "pace.h"
#include "resp.h"

#include <string.h>
#include <sys/types.h>

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
	/* Events for a client that has so much unread are dropped. */
	CLIENT_EVENTS_MAX = 1 << 20,
	/* Bytes of replies that commands of one client make in a turn, before others have theirs. */
	CLIENT_TURN = 1 << 16,
	/* Bytes of replies that a client may leave unread; with more its commands are not served. */
	CLIENT_UNREAD_MAX = 1 << 26,
	/* The same while all clients together have the memory of CLIENTS_UNREAD_MAX. */
	CLIENT_UNREAD_FREE = 1 << 16,
	CLIENTS_UNREAD_MAX = 1 << 28,
	/* Who leaves more than this unread and takes less than this of it in --client-timeout is closed. */
	CLIENT_UNREAD_SLOW = 1 << 20,
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
	struct loop_watch watch; /* the first member */
	uint32_t events;         /* that are waited for */
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
	bool serving;     /* its commands are being served */
	bool waiting;     /* a command has no answer yet */
	bool asks_silent; /* that is LEADER, and the answer is to tell who is silent, too */
	bool paused;      /* not read from: commands in its input cannot be served yet */
	bool stuffed;     /* that was so, behind one that waits, when clients were watched last */
	bool excess;      /* and went on: what it says is thrown away, and the connection ends */
	bool ending;      /* no command is read any more; closed when all is written */
	bool overdue;     /* that was so already when clients were watched last … */
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
	/* Milliseconds that it needs to stop when it loses a lock; 0: the lock goes to others at once. */
	uint64_t grace_ms;
	struct loop_timer grace;
	bool told_lost; /* it has lost a lock, and has until `grace` to stop */
	bool quits;     /* it said QUIT: it has stopped whatever it did */
	bool gone;      /* the other side has closed the connection, or the network has */
	bool timed_out; /* because nothing was heard of it */
	bool stays;     /* it cannot stop: what it loses stays with it while it is connected */
	bool forsaken;  /* this node ends while it stays: its locks are not handed on */
	bool in_lost;   /* that was so in this turn: it is in daemon->lost */
	struct client *lost_next;
	struct subscription *subscriptions;
	uint32_t subscriptions_count;
	bool reasons;                  /* it wants to know why locks are lost */
	size_t events_size;            /* of those put into an output that was already long */
	uint64_t events_dropped;       /* because it did not read, and it has not been told */
	struct status_job *status_job; /* its STATUS that is being written, or NULL */
	struct node_client who;        /* its command is this client's own */
	uint64_t since;                /* when it connected */
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
/* Are there any that were told, and have not stopped yet? */
bool clients_are_stopping(const struct daemon *daemon);
/* When these have stopped, the rest is closed too. True: that is over. */
bool clients_are_gone(struct daemon *daemon);
/* The client of a session, or NULL. */
struct client *client_of(struct daemon *daemon, uint64_t session);
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
/* Locks that are taken away from it are held back until it has stopped, for that time at most; the time
 * that it needs to notice, and a margin, are added. */
void client_set_grace(struct client *client, uint64_t ms);
/* It cannot stop: locks that are taken away from it are held back until its connection ends. */
void client_stay(struct client *client);
/* A lock was taken away from it. */
void client_lost(struct client *client);
/* It gave a lock back: perhaps the one that it had lost. */
void client_unlocked(struct client *client);
/* All that was said in this turn is written: the time of those who lost a lock begins. */
void clients_begin_grace(struct daemon *daemon);

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
	struct loop_watch watch; /* its descriptor is -1: there is none */
	struct daemon *daemon;
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
void subscriptions_free(struct client *client);

/* --- replies.c --- */

void command_reply(struct client *client, const struct node_effect *effect);
void command_event(struct client *client, const struct node_effect *effect);
/* It reads again: it is told how many events were dropped. */
void command_tell_dropped(struct client *client);

/* --- status.c --- */

struct status_job;

/* The reply to STATUS, as JSON, now or in a later turn. The client is answered then. */
void status_begin(struct client *client, struct node_status *status);
/* Goes on with one that is under way. To be called once a turn; true: call it again soon, without sleeping. */
bool status_continue(struct daemon *daemon);
/* The client is gone. */
void status_cancel(struct client *client);
/* Why it serves nobody; false: it does. */
enum { WAITS_FOR_MAX = 512 };
bool status_waits_for(struct daemon *daemon, char *ret_text, size_t size);

/* --- peers.c --- */

struct peers;

/* 0, or -1 and it is in the log. */
int peers_open(struct daemon *daemon);
/* Tells the others that this node has left, and closes all. */
void peers_close(struct daemon *daemon);
/* What the member wants: to be connected with a peer, or a connection closed. */
void peers_dial(struct daemon *daemon, struct connection *connection, uint32_t peer);
void peers_close_connection(struct connection *connection);
/* Writes what connections have to say. */
void peers_flush(struct daemon *daemon);
/* Some time has passed: there may be room for peers again that could not be accepted. */
void peers_open_again(struct daemon *daemon);
/* No event of this turn can be theirs any more. */
void peers_forget_closed(struct daemon *daemon);

/* --- epoch_file.c --- */

/* The last epoch that was kept in the folder, and where its counters began; 0 if there is none. 0, or -1
 * and it is in the log. */
int epoch_file_read(const char *folder, struct engine_proposal *ret_last);
void epoch_file_write(const char *folder, uint64_t epoch, uint64_t floor);

/* --- daemon.c --- */

struct daemon {
	const struct daemon_options *options;
	struct loop loop;
	struct member *member;
	struct node *node; /* the member's */
	struct peers *peers;
	struct pace pace;
	struct loop_watch signals;
	struct loop_timer nag; /* when the log says again what is waited for */
	struct loop_timer
	        departure; /* while it leaves: when it looks again whether all have gone */
	uint64_t incarnation;
	uint64_t
	        serve_at; /* nothing is granted before: the last node on this socket was killed; or 0 */
	bool told_ready;
	bool pumping; /* effects are being done */
	bool leaving;
	bool hurried; /* it was told twice to leave: who cannot stop is not waited for */
	bool ended;   /* the loop has no more turns */
	int code;     /* what daemon_run returns */
	uint64_t leave_deadline;
	/* Clients. */
	struct listener unix_listener, tcp_listener;
	bool listeners_paused; /* there is no descriptor for another client */
	int spare_fd;          /* given up to tell somebody that there are no more */
	bool socket_made;
	dev_t socket_device; /* which it is, … */
	ino_t socket_inode;
	bool forsakes; /* a client that stays still has a lock: the next node here has to wait */
	struct client *clients;
	struct client *buckets[CLIENT_BUCKETS];
	struct client *dirty, *ready, *later, *closed, *lost;
	struct status_job *status_jobs;
	size_t unread_room; /* of all outputs, each without the first CLIENT_UNREAD_FREE */
	bool crowded;       /* that is too much */
	uint32_t clients_count;
	uint32_t clients_most;       /* for whom there are descriptors */
	uint32_t orphans_count;      /* sessions without a connection that still hold something */
	uint64_t refused_at;         /* when the log last said that there are too many */
	struct resp_command command; /* the one that is read now */
	char inbox[1 << 16];         /* what a read brings */
};

/* Does what the member and its node want done; false: they wanted nothing. */
bool daemon_effects(struct daemon *daemon);
/* Ends: hands on what can be handed on first. */
void daemon_leave(struct daemon *daemon);

/*
 * How long the next one is kept out when a lock is taken away from a client with a grace: the time that
 * the client needs to notice (none on a Unix socket; over TCP its connection may have been cut), its
 * grace, and a margin of a tenth of the lease between its SIGKILL and the next grant.
 */
enum { CLIENT_NOTICE_MS = 10000 };
#define GRACE_MS_MAX(lease_ms) ((lease_ms)*35 / 100)
uint64_t margin_ms(const struct daemon *daemon);

/* A TCP socket, nonblocking; -1 and errno. */
int socket_tcp(int family);
/* A socket with that address. 0, or an error for bind_error. */
int bind_tcp(const struct daemon_address *address, int *ret_fd);
const char *bind_error(int error);

#endif
