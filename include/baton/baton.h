/*
 * libbaton: locks and leaders of a baton cluster, for C programs.
 *
 *     struct baton *baton = baton_open(NULL);
 *     uint64_t fence;
 *     if (baton_lock(baton, "nightly", BATON_FOREVER, &fence) < 0)
 *             errx(1, "%s", baton_message(baton));
 *     …                                   // only one in the cluster is here
 *     baton_unlock(baton, "nightly");
 *     baton_close(baton);
 *
 * A handle is a session with one node, over one connection. It can hold any number of locks. When
 * the connection ends, for whatever reason, the node gives back all that the session holds.
 *
 * Threads. One handle, one thread at a time; different handles share nothing and need no locking. A
 * child made by fork must not use its parent's handles. It has their connections, though: a session
 * ends with baton_close, or when the last process that has its connection has ended. All descriptors are
 * close-on-exec.
 *
 * Errors. Calls that can fail return an int: 0 or positive is success, a negative number one of
 * the codes in error.h; baton_error_text has a sentence for each, and baton_message the details of
 * the last one. Outputs (ret_…) are written on success only, and may be NULL unless said otherwise.
 * What is called with a wrong argument changes nothing.
 *
 * Every call that talks to the node can give
 *
 *     BATON_EADDRESS     the address is none: an empty path or one of more than 107 bytes, a port
 *                        that is no number
 *     BATON_ENODE        no node is there, or it takes no connection within 5 s
 *     BATON_EACCESS      the socket may not be opened by this user, or the node says so
 *     BATON_ECONNECTION  the connection ended before the answer came; nothing was held
 *     BATON_ELOST        the same, and something was held: all of it is lost
 *     BATON_EPROTOCOL    what came is no answer; the connection is closed, what was held is lost
 *     BATON_EREFUSED     the node refused the command for a reason that baton_message tells
 *     BATON_ENOVIEW      the node is in no agreed view, and so can promise nothing
 *     BATON_ESTOPPED     the node has stopped itself, because going on could do harm
 *     BATON_EBUSY        a lock that was started (baton_lock_start) has not been finished
 *     BATON_EMODE        the handle observes (baton_observe) and can do nothing else
 *     BATON_EMEMORY
 *
 * Connections are made when one is needed. If one has ended while nothing was held and no started
 * lock was waiting, the next call makes a new one, once, and repeats a command whose effect ended
 * with the old session or that has none. Otherwise the end is reported, because to go on as if
 * nothing had happened would be wrong: who held a lock holds it no more.
 *
 * The library never writes to standard streams, installs no signal handlers, starts no threads, is
 * not ended by SIGPIPE and goes on waiting after a signal. A program that wants to stop waiting when
 * a signal comes uses baton_lock_start and its own poll().
 *
 * What it cannot promise. That a lock was lost is known some time after it happened: messages take
 * time, and so does a process that is suspended. Only a resource that refuses older fences
 * (baton_fence_check, or a condition in a database) is safe from a holder that does not know yet. A
 * node that is stopped but not dead (SIGSTOP) is noticed by baton_observe_next only; every other call
 * waits for its answer, whatever its timeout.
 */
#ifndef BATON_BATON_H
#define BATON_BATON_H

#include <baton/error.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum {
	BATON_NAME_MAX = 255,   /* bytes of the name of a lock or a node; at least 1 */
	BATON_VALUE_MAX = 4096, /* bytes of what a leader publishes */
};

/*
 * Timeouts are in milliseconds, a year at most. Any negative number waits for ever.
 *
 * BATON_TRY does not wait: it gives BATON_ENOTFREE as soon as a member says that somebody holds the lock or
 * waits for it, and within a second BATON_ESILENT if that cannot be known, because members do not answer.
 * A timeout gives BATON_ETIMEOUT if the lock was still busy then, and BATON_ESILENT if that cannot be known;
 * it also waits for a node, or for a view of the cluster, that comes within the time. BATON_FOREVER waits
 * through restarts of the node, but if there is no node, or no view, to begin with, that is an error at once.
 *
 * These times are kept by the node: one that is stopped (SIGSTOP) keeps none. Whoever must not wait for it polls,
 * see baton_lock_start.
 */
#define BATON_FOREVER INT64_C(-1)
#define BATON_TRY INT64_C(0)

struct baton;

/* --- handles --- */

/*
 * A handle that connects when it must. The address is the path of a node's Unix socket, or HOST:PORT
 * (the last colon divides, an IPv6 address stands in brackets) of a node that has --clients; what
 * has a '/' or no colon is a path. NULL: the first that exists of $BATON_SOCKET, which may also be
 * HOST:PORT, $XDG_RUNTIME_DIR/baton.sock and /run/baton.sock, looked for at each connection. The
 * address is copied; NULL is returned only if there is no memory.
 */
struct baton *baton_open(const char *address);

/* Connects if the handle is not connected: to learn early whether there is a node, and so that a
 * later baton_lock_start does not block. 0 or an error. */
int baton_connect(struct baton *baton);

/* Gives back what is held, ends the session (even if a forked child has the connection), frees the
 * handle. NULL is ignored. */
void baton_close(struct baton *baton);

/* The address in use, such as "/run/baton.sock". Good until the next connection. */
const char *baton_address(const struct baton *baton);

/*
 * The node at the other end: its name, and how long a lease lasts, within which a holder that lost its
 * lock must have stopped. `ret_name` has room for BATON_NAME_MAX + 1 bytes.
 *
 * 0, or one of the above.
 */
int baton_node(struct baton *baton, char *ret_name, uint64_t *ret_lease_ms);

/* A sentence about the last error of this handle, without a newline: what, where, and what the
 * system or the node said. "" if there was none. Good until the next call with this handle. */
const char *baton_message(const struct baton *baton);

/* A sentence for an error code, and its name, such as "BATON_ENODE". Static; for other numbers they
 * say so. */
const char *baton_error_text(int error);
const char *baton_error_name(int error);

/* --- locks --- */

/*
 * Waits until the lock is held and gives its fence: a number that rises with every holder, across
 * the cluster and its restarts, 1 to 2^53 - 1.
 *
 * 0, or an error: BATON_ETIMEOUT; BATON_ENOTFREE (with BATON_TRY); BATON_ESILENT (members do not answer, so
 * that it cannot be known whether the lock is free); BATON_ENAME; BATON_EHELD (this
 * handle holds it already); BATON_EWAITERS, BATON_ELOCKS and, after baton_watch, BATON_ESUBSCRIPTIONS
 * (limits of the node); or one of the above.
 */
int baton_lock(struct baton *baton, const char *name, int64_t timeout_ms, uint64_t *ret_fence);

/* The same with BATON_TRY. */
int baton_trylock(struct baton *baton, const char *name, uint64_t *ret_fence);

/*
 * Gives a lock back, won by election or not. Does not wait for the node's answer, which is read
 * with that of the next command: the lock is free as soon as the node has read this, well
 * within a millisecond. baton_sync waits.
 *
 * 0, or an error: BATON_ENOTHELD; BATON_ELOST (it was lost before, and is not held now either);
 * BATON_EBUSY. Never connects.
 */
int baton_unlock(struct baton *baton, const char *name);

/*
 * Waits for the answers to all unlocks. 0; BATON_ELOST if a lock given back since the last
 * baton_sync had been lost before that; BATON_ECONNECTION if the connection ended, so that this
 * is not known. Never connects.
 */
int baton_sync(struct baton *baton);

/*
 * The fence of a lock that this handle holds, for all that it knows: what has arrived on the
 * descriptor of baton_watch is looked at, nothing is waited for.
 *
 * 0, or an error: BATON_ENOTHELD, BATON_ELOST. Never connects.
 */
int baton_fence(struct baton *baton, const char *name, uint64_t *ret_fence);

/* --- losing a lock --- */

/*
 * A descriptor that becomes readable when a lock of this handle may have been lost: the node says
 * so, somebody breaks it, the node or the connection to it dies. It becomes readable for other
 * reasons too; baton_lost says what it was. Poll it for input; never read, write or close it. It
 * is the same as long as the handle and stays readable until baton_lost has been called as often
 * as needed.
 *
 * Must be called before anything is locked, and costs a second connection to the node and, for
 * every lock, another round trip. Locks taken from now on are watched.
 *
 * The descriptor (0 or greater), or an error: BATON_EHELD (this handle holds a lock already), or one
 * of the above.
 */
int baton_watch(struct baton *baton);

/*
 * Takes note of one lost lock; never blocks and never connects. 1 and its name and fence; 0: nothing
 * more is known to be lost. `ret_name` has room for BATON_NAME_MAX + 1 bytes. Each loss is told once,
 * here or by baton_unlock. Also works without baton_watch, for what other calls found out.
 */
int baton_lost(struct baton *baton, char *ret_name, uint64_t *ret_fence);

enum baton_reason {
	BATON_LOST_BROKEN = 1,     /* somebody took it away (baton_break) */
	BATON_LOST_LEAVING = 2,    /* the node leaves */
	BATON_LOST_CONNECTION = 3, /* the connection to the node has ended */
	BATON_LOST_LEASE = 4,      /* the node is not in the cluster's view any more */
};

/*
 * Why the lock that baton_lost told last was lost, or 0 if it has told none. *ret_text says more, such as
 * "broken uid 0 pid 12 at n2"; good until the next call with this handle.
 */
enum baton_reason baton_lost_reason(const struct baton *baton, const char **ret_text);

/*
 * This program needs some time to stop when a lock of its is broken, when its node leaves, or when a TCP
 * connection ends: nobody else is let in before it has closed the handle, or so many milliseconds and a
 * margin of a tenth of the lease have passed. Over TCP ten seconds are added, within which a connection
 * that was cut is noticed. For all locks taken from now on with this handle, on later connections, too.
 *
 * 0, or an error: BATON_EREFUSED (not 1 to 0.35 of the lease), or one of the above.
 */
int baton_grace(struct baton *baton, uint32_t grace_ms);

/*
 * This program cannot stop what it does under a lock that it has lost or may lose: the node keeps the
 * lock where it is until the connection ends, instead of giving it to another when the time of
 * baton_grace is over. For the present connection only, and not taken back.
 *
 * 0, or an error: BATON_EPENDING (the node has not answered within 200 ms, and will do it when it
 * reads it); BATON_ECONNECTION (the session has ended, nothing can be kept); or one of the above.
 * Never connects.
 */
int baton_stay(struct baton *baton);

/* --- for programs with their own event loop --- */

/*
 * Asks for a lock as baton_lock does and returns at once. 0: now poll baton_fd for input and call
 * baton_finish; until it is finished or cancelled, all other calls that talk to the node give
 * BATON_EBUSY. Errors as of baton_lock, as far as they are known at once. Blocks only to connect and,
 * after baton_watch, for the round trip that makes the lock watched.
 */
int baton_lock_start(struct baton *baton, const char *name, int64_t timeout_ms);

/* The same for baton_elect. */
int baton_elect_start(struct baton *baton, const char *name, const void *value, size_t value_size);

/*
 * The outcome of what was started: 0 and the fence; BATON_EPENDING: poll baton_fd and call again; or
 * an error as of baton_lock and baton_elect, with which it has ended too. If the connection ends, so
 * does the wait: BATON_ECONNECTION, or BATON_ELOST if other locks were held. BATON_ENOTHELD if
 * nothing was started. Never blocks and never connects.
 */
int baton_finish(struct baton *baton, uint64_t *ret_fence);

/*
 * Withdraws what was started, by ending the session. So nothing else may be held: else BATON_EHELD, and
 * it waits on. 0 also if nothing was started.
 */
int baton_cancel(struct baton *baton);

/* The connection's descriptor: to poll for input, and for a guardian to keep: the session lasts as long
 * as anybody has it open. Never read, write or close it. It may be another after BATON_ECONNECTION,
 * BATON_ELOST or BATON_EPROTOCOL. BATON_ECONNECTION if not connected. */
int baton_fd(const struct baton *baton);

/* --- leaders --- */

/* Both texts end with a 0 that does not count. */
struct baton_leader {
	uint64_t fence;
	size_t value_size;
	int silent; /* 1: its node does not answer; it led when that was last heard of */
	char node[BATON_NAME_MAX + 1];
	char value[BATON_VALUE_MAX + 1];
};

/*
 * Campaigns until this handle leads, and publishes a value, such as the address of a service. When
 * it returns, every member of the cluster knows who leads. A leader is the holder of the lock of that
 * name: baton_fence, baton_watch and the rest apply.
 *
 * 0, or an error: as baton_lock; BATON_EVALUE (more than BATON_VALUE_MAX bytes); BATON_ELEADERS; and
 * BATON_ELOST also if the leadership was taken away before all knew of it.
 */
int baton_elect(struct baton *baton, const char *name, const void *value, size_t value_size,
                uint64_t *ret_fence);

/* Stands down; as baton_unlock. */
int baton_resign(struct baton *baton, const char *name);

/* Who leads? 1 and the leader; 0: nobody; or an error: BATON_ESILENT (nobody is known to lead, but it
 * cannot be known: baton_message tells which members do not answer), BATON_ENAME, or one of the above. */
int baton_leader(struct baton *baton, const char *name, struct baton_leader *ret_leader);

/*
 * Makes this handle an observer of an election, which must hold nothing; from then on it can only
 * do baton_observe_next, baton_fd and baton_close. 0, or an error: BATON_EHELD, BATON_EMODE (it
 * watches its locks), BATON_ENAME, or one of the above.
 */
int baton_observe(struct baton *baton, const char *name);

enum baton_change {
	BATON_LEADS =
	        1,     /* this one leads from now on; or, if it was told before, its node has become
	                      silent or answers again: see `silent` */
	BATON_LED = 2, /* this one, told before, leads no more, and nobody does until told */
	BATON_UNKNOWN =
	        3, /* nobody is known to lead, but it cannot be known: members are silent, whose names
	                      are the value, with blanks between; none: the node asked itself */
	BATON_NOBODY = 4, /* after BATON_UNKNOWN: nobody leads */
};

/*
 * The next change, in the order in which they happened: first who leads already, if anybody does, or that
 * this cannot be known. Waits
 * up to that many milliseconds, BATON_FOREVER, or not at all (0). Poll baton_fd for input, and then
 * call it until it returns 0.
 *
 * That a node has become silent is told by no event. So the members are asked every second; who waits with a poll of
 * its own calls this once a second too. A member is silent if it did not answer twice, within 200 ms each time,
 * or if the node at the other end of this connection has not answered for 3 s.
 *
 * One of these changes, and who; 0: nothing in time; or an error, one of the above.
 * BATON_ECONNECTION: who led when it ended may lead no more; the next call connects again and goes
 * on with who leads then. What happened in between is not told.
 */
int baton_observe_next(struct baton *baton, int64_t timeout_ms, struct baton_leader *ret_leader);

/* --- for operators --- */

/*
 * What there is, as JSON text to be given to free(): members, and locks that somebody holds or waits for,
 * whose names match the pattern (NULL: all), at most `count` of each member (0: the node's default).
 * 0, or an error: BATON_ENAME (of the pattern), or one of the above.
 */
int baton_status(struct baton *baton, const char *pattern, uint32_t count, char **ret_json);

/*
 * Takes a lock from whoever holds it with this fence. Returns when the holder's node has told the holder; if
 * that asked for time to stop (baton_grace), nobody else gets the lock before it has stopped or that time is
 * over, and baton_status tells of it as "losing". 0, or an error: BATON_ENOTHELD (nobody does);
 * BATON_EFENCE (not 1 to 2^53 - 1); BATON_ESILENT (a member did not answer, and no other has it);
 * BATON_ENAME; or one of the above: after BATON_ECONNECTION it may have been done or not.
 */
int baton_break(struct baton *baton, const char *name, uint64_t fence);

/* --- at the resource --- */

/*
 * A guard for a resource: succeeds only if no greater fence was seen in this file before, and then
 * remembers this one. The file need not exist; it holds the highest fence as a line of text. Beside
 * it FILE.lock is made, which is locked (flock) meanwhile, so that any number of processes may ask, and
 * FILE.new, which takes the file's place when it is on disk: after a crash at any moment the
 * file holds the old fence or the new one.
 *
 * Between this call and the deed that it guards, another with a greater fence may pass. Where that
 * matters, hold a lock of the resource's own around both.
 *
 * 0; BATON_ESTALE, and *ret_highest is written too; BATON_EFENCE (not 1 to 2^53 - 1); BATON_EFILE
 * (errno says why); BATON_ETORN: the file holds something else, and nothing passes until somebody
 * has put that right; BATON_EMEMORY.
 */
int baton_fence_check(const char *file, uint64_t fence, uint64_t *ret_highest);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
