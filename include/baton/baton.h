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
 * the connection ends, no matter why, the node releases all locks of the session.
 *
 * Threads. Only one thread at a time may use a handle. Different handles share nothing and need no
 * locking. A child made by fork must not use its parent's handles. But it inherits their
 * connections, so a session ends only with baton_close, or when every process that has its
 * connection open has ended. All descriptors are close-on-exec.
 *
 * Errors. Calls that can fail return an int: 0 or positive is success, a negative number is one of
 * the codes in error.h. baton_error_text has a sentence for each code, and baton_message the
 * details of the last error. Outputs (ret_…) are written on success only, and may be NULL unless
 * stated otherwise. A call with an invalid argument changes nothing.
 *
 * Every call that talks to the node can return
 *
 *     BATON_EADDRESS     the address is invalid: an empty path, a path of more than 107 bytes, or a
 *                        port that is not a number
 *     BATON_ENODE        no node is there, or it did not accept the connection within 5 s
 *     BATON_EACCESS      this user may not open the socket, or the node refuses this user; or with
 *                        TLS, one of the two refuses the other's certificate
 *     BATON_ECERTIFICATE the files for TLS are missing or cannot be used (baton_tls)
 *     BATON_ECONNECTION  the connection ended before the answer came; the handle held no lock
 *     BATON_ELOST        the connection ended, and the handle held locks: all of them are lost
 *     BATON_EPROTOCOL    the answer was malformed; the connection is closed and all locks are lost
 *     BATON_EREFUSED     the node refused the command; baton_message gives the reason
 *     BATON_ENOVIEW      the node is in no agreed view, and so can promise nothing
 *     BATON_ESTOPPED     the node has stopped itself, because going on could do harm
 *     BATON_EBUSY        a request that was started (baton_lock_start) is not finished
 *     BATON_EMODE        the handle observes (baton_observe) and can do nothing else
 *     BATON_EMEMORY      out of memory
 *
 * The library connects when it needs to. If the connection ended while the handle held no lock and
 * no started request was waiting, the next call reconnects once. It then repeats its command,
 * unless the first attempt may have had an effect that outlives the old session. In all other cases
 * the call reports the end of the connection, because the program may have lost a lock and must
 * know.
 *
 * The library never writes to standard streams, installs no signal handlers and starts no threads.
 * It ignores SIGPIPE for its own writes, and a signal does not interrupt its waiting. A program
 * that wants to stop waiting on a signal uses baton_lock_start and its own poll().
 *
 * Limits. A program learns of a lost lock some time after the loss: messages take time, and a
 * suspended process learns nothing. Only a resource that refuses older fences (baton_fence_check,
 * or a condition in a database) is safe from a holder that does not know of its loss yet. A node
 * that is stopped but not dead (SIGSTOP) does not answer. baton_observe_next reports such a node as
 * silent. Some of the other calls give up after a time that is stated below; the rest wait until
 * the node answers.
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
	BATON_NAME_MAX = 255,   /* the most bytes in the name of a lock or a node; the least is 1 */
	BATON_VALUE_MAX = 4096, /* the most bytes in the value that a leader publishes */
};

/*
 * Timeouts are in milliseconds, a year at most. A negative number means no limit.
 *
 * BATON_TRY does not wait for the lock. The call returns BATON_ENOTFREE as soon as a member says
 * that somebody holds the lock or waits for it. If members do not answer, it is not known whether
 * the lock is free, and the call returns BATON_ESILENT within a second.
 *
 * When a timeout is over, the call returns BATON_ETIMEOUT if the lock is still held, and
 * BATON_ESILENT if members do not answer. Within the timeout the call also waits for a node to
 * start and for the cluster to agree on a view.
 *
 * BATON_FOREVER keeps waiting while the node restarts. But if there is no node or no view when the
 * call begins, it fails at once.
 *
 * The node measures these times. A node that is stopped (SIGSTOP) does not answer when a timeout is
 * over; baton_lock describes what happens then. A program that must not wait for a stopped node
 * uses baton_lock_start and its own poll().
 */
#define BATON_FOREVER INT64_C(-1)
#define BATON_TRY INT64_C(0)

struct baton;

/* --- handles --- */

/*
 * Makes a handle. It connects when a call needs the node. The address is the path of a node's Unix
 * socket, or HOST:PORT of a node with --clients. An address with a '/' or without a colon is a
 * path. In HOST:PORT the last colon separates the port, and an IPv6 address is in brackets. If the
 * address is NULL, each connection goes to the first of these that exists: $BATON_SOCKET (a path or
 * HOST:PORT), $XDG_RUNTIME_DIR/baton.sock, /run/baton.sock. The address is copied. Returns NULL
 * only if there is no memory.
 */
struct baton *baton_open(const char *address);

/*
 * Uses TLS 1.3 for this handle's next connections to HOST:PORT. The files are in PEM: the cluster's
 * CA, a client's certificate signed by it ('baton cert client'), and the certificate's key. Without
 * this call the files are $BATON_TLS_CA, $BATON_TLS_CERT and $BATON_TLS_KEY; if none of them is
 * set, connections are plain. The node must have a node's certificate of the same CA, for the host
 * in the address. Unix sockets never use TLS. The files are read again for every connection, so
 * they may be replaced.
 *
 * After a fork, parent and child both have the connection, but with TLS only one of them can go on
 * using it.
 *
 * Returns 0, or BATON_ECERTIFICATE (a file is missing, or cannot be used), BATON_EMEMORY,
 * BATON_EBUSY or BATON_EMODE.
 */
int baton_tls(struct baton *baton, const char *ca, const char *certificate, const char *key);

/* Connects if the handle is not connected. Call it to learn early whether there is a node, or so
 * that a later baton_lock_start does not block. Returns 0 or an error. */
int baton_connect(struct baton *baton);

/* Releases all locks, ends the session (even if a forked child has the connection open) and
 * frees the handle. NULL is ignored. */
void baton_close(struct baton *baton);

/* Returns the address in use, such as "/run/baton.sock". The text is valid until the next
 * connection. */
const char *baton_address(const struct baton *baton);

/*
 * Asks the node for its name and for the length of its lease. If the node dies or is cut off,
 * others may get the locks of its clients when its lease has ended; see baton_left. `ret_name` has
 * room for BATON_NAME_MAX + 1 bytes.
 *
 * Returns 0, or one of the errors above.
 */
int baton_node(struct baton *baton, char *ret_name, uint64_t *ret_lease_ms);

/* Returns a sentence about the last error of this handle, without a newline: what failed, where,
 * and what the system or the node said. Returns "" if there was no error. The text is valid
 * until the next call with this handle. */
const char *baton_message(const struct baton *baton);

/* Return a sentence for an error code, and the code's name, such as "BATON_ENODE". The texts are
 * static. Numbers that are no error codes have a text too. */
const char *baton_error_text(int error);
const char *baton_error_name(int error);

/* --- locks --- */

/*
 * Acquires the lock and returns its fence: a number from 1 to 2^53 - 1. Every later holder of the
 * lock has a greater fence, in the whole cluster and across restarts.
 *
 * If the node does not answer at all (it is stopped, or hangs), the call gives up five seconds
 * after timeout_ms; with BATON_FOREVER it never does. While this handle holds another lock, the
 * call does not give up either, because that would end the session and lose the other lock.
 *
 * Returns 0, or an error: BATON_ETIMEOUT; BATON_ENOTFREE (with BATON_TRY); BATON_ESILENT (members
 * do not answer, so it is not known whether the lock is free); BATON_ENAME; BATON_EHELD (this
 * handle holds it already); BATON_EWAITERS, BATON_ELOCKS, BATON_EUSERLOCKS, BATON_EUSERNAMES and,
 * after baton_watch, BATON_ESUBSCRIPTIONS (limits of the node); or one of the errors above.
 */
int baton_lock(struct baton *baton, const char *name, int64_t timeout_ms, uint64_t *ret_fence);

/* Does the same as baton_lock with BATON_TRY. */
int baton_trylock(struct baton *baton, const char *name, uint64_t *ret_fence);

/*
 * Releases a lock, or a leadership. Does not wait for the node's answer: a later call reads it, and
 * baton_sync waits for it. The lock is free as soon as the node has read the command, usually well
 * within a millisecond.
 *
 * Returns 0, or an error: BATON_ENOTHELD; BATON_ELOST (the lock was lost before this call);
 * BATON_EBUSY. Never connects.
 */
int baton_unlock(struct baton *baton, const char *name);

/*
 * Waits for the answers to all unlocks. Returns 0; BATON_ELOST if a lock that was released since
 * the last baton_sync had already been lost before its release; BATON_ECONNECTION if the connection
 * ended before that was known. Never connects.
 */
int baton_sync(struct baton *baton);

/* Does the same as baton_sync, but waits for at most this many milliseconds. Can also return
 * BATON_EPENDING: the node has not answered all unlocks in this time. It will release the locks
 * when it reads the commands. */
int baton_sync_within(struct baton *baton, int64_t timeout_ms);

/*
 * Returns the fence of a lock that this handle holds, as far as it knows. It reads what has arrived
 * on the descriptor of baton_watch, and does not wait.
 *
 * Returns 0, or an error: BATON_ENOTHELD, BATON_ELOST. Never connects.
 */
int baton_fence(struct baton *baton, const char *name, uint64_t *ret_fence);

/* --- losing a lock --- */

/*
 * Returns a descriptor that becomes readable when a lock of this handle may have been lost:
 * somebody broke it, the node leaves, the node or the connection to it died, or the lease of the
 * node ends. If the lease is about to end, the descriptor becomes readable while the program still
 * has time to stop: the time of baton_grace and a tenth of the lease before the end. Without
 * baton_grace, it becomes readable only at the end. It can become readable for other reasons too;
 * baton_lost tells. Poll it for input; never read, write or close it. The descriptor stays the same
 * for the life of the handle, and stays readable until baton_lost has returned 0.
 *
 * Call this before the first lock. It costs a second connection to the node and another round trip
 * for every lock. Locks acquired from now on are watched.
 *
 * Returns the descriptor (0 or greater), or an error: BATON_EHELD (this handle holds a lock
 * already), or one of the errors above.
 */
int baton_watch(struct baton *baton);

/*
 * Returns 1 with the name and fence of one lost lock, or 0 if no further loss is known. Never
 * blocks and never connects. `ret_name` has room for BATON_NAME_MAX + 1 bytes. Each loss is
 * reported once, here or by baton_unlock. Without baton_watch it reports the losses that other
 * calls noticed.
 */
int baton_lost(struct baton *baton, char *ret_name, uint64_t *ret_fence);

enum baton_reason {
	BATON_LOST_BROKEN = 1,     /* an operator took the lock away (baton_break) */
	BATON_LOST_LEAVING = 2,    /* the node is leaving the cluster */
	BATON_LOST_CONNECTION = 3, /* the connection to the node has ended */
	BATON_LOST_LEASE = 4,      /* the node's lease has ended, or is about to end */
};

/*
 * Returns why the lock that baton_lost reported last was lost, or 0 if it has reported none.
 * *ret_text has details, such as "broken uid 0 pid 12 at n2"; it is valid until the next call with
 * this handle.
 */
enum baton_reason baton_lost_reason(const struct baton *baton, const char **ret_text);

/*
 * Returns how many milliseconds ago the node reported the loss that baton_lost returned last. The
 * time of baton_grace counts from that moment, and part of it may be over, because this program may
 * have been stopped since. 0 means that the time is not known. This is so over TCP, where nobody
 * else gets the lock before the end of the lease that baton_left showed.
 */
int64_t baton_lost_ago(const struct baton *baton);

/*
 * Returns how many milliseconds are left of the lease under which the locks of this handle are
 * held. A node that is cut off from the others, or is stopped, cannot renew its lease; when the
 * lease has ended, others may get the locks. Call this before every action that only the holder may
 * do, and stop in time: at 0 the action is no longer safe. A lock can also be lost earlier, if an
 * operator breaks it or the node leaves. Only baton_watch tells of that; the holder then still has
 * the time that it asked for with baton_grace. BATON_UNENDING: the node has no lease. An error
 * means that a lock is lost (BATON_ELOST) or none is held (BATON_ENOTHELD).
 *
 * The call takes well below a microsecond, makes no system call and does not ask the node. On a
 * Unix socket it reads a word of memory that the node shares. Over TCP, and where the socket is
 * forwarded from another host, the library must instead ask the node repeatedly: every sixth of the
 * lease, or every thirtieth when less than 0.6 of the lease is left. The program must then poll the
 * descriptor of baton_watch and call baton_lost when it is readable; otherwise this call returns 0
 * after a lease.
 *
 * Any amount of time may pass between this call and the action that it permits. Only a resource
 * that refuses older fences closes that gap.
 */
#define BATON_UNENDING INT64_MAX
int64_t baton_left(const struct baton *baton);

/*
 * Asks for time to stop. When a lock of this program is broken or its node leaves, nobody else gets
 * the lock until the program has closed the handle, or until this many milliseconds and a margin of
 * a tenth of the lease have passed. Over TCP, the lease that the node reported last must have ended
 * too, because the connection may have been cut. The descriptor of baton_watch becomes readable
 * this long, and that margin, before the end of a lease. All this applies to the locks that this
 * handle acquires from now on, also after a reconnection.
 *
 * Returns 0, or an error: BATON_EREFUSED (not between 1 ms and 0.35 of the lease, over TCP 0.30),
 * or one of the errors above.
 */
int baton_grace(struct baton *baton, uint32_t grace_ms);

/*
 * Tells the node that this program cannot stop what it does under its locks. If a lock is lost,
 * nobody else gets it until the connection ends, even if the time of baton_grace is over. This
 * applies to the present connection only and cannot be undone.
 *
 * Returns 0, or an error: BATON_EREFUSED (no lock is held or being lost); BATON_EPENDING (the node
 * has not answered within 200 ms; it will obey when it reads the command); BATON_ECONNECTION (the
 * session has ended, and its locks with it); or one of the errors above. Never connects.
 */
int baton_stay(struct baton *baton);

/* --- for programs with their own event loop --- */

/*
 * Asks for a lock as baton_lock does, but returns at once. If it returns 0, poll baton_fd for input
 * and call baton_finish. Until then, or until baton_cancel, all other calls that talk to the node
 * return BATON_EBUSY. The errors are those of baton_lock, as far as they are known at once. The
 * call blocks only to connect, for one round trip before the first lock of a connection (to learn
 * of the node's lease) and, after baton_watch, for one more (so that the lock is watched). It
 * blocks for 5 s at most, and then returns BATON_ESILENT.
 */
int baton_lock_start(struct baton *baton, const char *name, int64_t timeout_ms);

/* Campaigns as baton_elect does, but returns at once, like baton_lock_start. */
int baton_elect_start(struct baton *baton, const char *name, const void *value, size_t value_size);

/*
 * Returns the outcome of a started request: 0 and the fence; BATON_EPENDING, which means poll
 * baton_fd and call again; or an error of baton_lock or baton_elect, which ends the request. If the
 * connection ends, the request ends too: BATON_ECONNECTION, or BATON_ELOST if the handle held other
 * locks. Returns BATON_ENOTHELD if nothing was started. Never connects. Never blocks, except over
 * TCP: if the program had to wait for the lock, the library asks the node once more how much of its
 * lease is left.
 */
int baton_finish(struct baton *baton, uint64_t *ret_fence);

/*
 * Withdraws a started request by ending the session. That would release other locks too, so if the
 * handle holds any, the call returns BATON_EHELD and the request goes on. Returns 0 also if
 * nothing was started.
 */
int baton_cancel(struct baton *baton);

/* Returns the connection's descriptor. Poll it for input. A child process may keep it open to
 * keep the session alive: the session lasts until the last process closes it. Never read, write
 * or close it. It can change after BATON_ECONNECTION, BATON_ELOST or BATON_EPROTOCOL. Returns
 * BATON_ECONNECTION if the handle is not connected. */
int baton_fd(const struct baton *baton);

/* --- leaders --- */

/* The leader of an election. `node` and `value` end with a 0 byte, which value_size does not
 * count. */
struct baton_leader {
	uint64_t fence;    /* the number of this leadership */
	size_t value_size; /* the bytes of `value`, without the 0 byte */
	int silent;        /* 1: the leader's node does not answer; it led when last heard of */
	char node[BATON_NAME_MAX + 1];   /* the name of the leader's node */
	char value[BATON_VALUE_MAX + 1]; /* what the leader published */
};

/*
 * Campaigns until this handle leads, and publishes a value, such as the address of a service. When
 * it returns 0, every member of the cluster knows who leads. The leader is the holder of the lock
 * of that name: baton_fence, baton_watch and so on apply.
 *
 * Returns 0, or an error: those of baton_lock; BATON_EVALUE (more than BATON_VALUE_MAX bytes);
 * BATON_ELEADERS, BATON_EUSERLEADERS (limits of the node); BATON_ELOST also if the leadership was
 * taken away before all members knew of it.
 */
int baton_elect(struct baton *baton, const char *name, const void *value, size_t value_size,
                uint64_t *ret_fence);

/* Campaigns as baton_elect does, for a limited time, as in baton_lock: milliseconds, BATON_TRY or
 * BATON_FOREVER. */
int baton_elect_within(struct baton *baton, const char *name, const void *value, size_t value_size,
                       int64_t timeout_ms, uint64_t *ret_fence);

/* Gives up the leadership, in the same way as baton_unlock. */
int baton_resign(struct baton *baton, const char *name);

/* Returns 1 and the leader, 0 if nobody leads, or an error: BATON_ESILENT (no leader is known, and
 * members that may know one do not answer; baton_message names them), BATON_ENAME, or one of the
 * errors above. */
int baton_leader(struct baton *baton, const char *name, struct baton_leader *ret_leader);

/*
 * Makes this handle an observer of an election. The handle must hold no lock. From then on only
 * baton_observe_next, baton_fd and baton_close may be called with it. Returns 0, or an error:
 * BATON_EHELD, BATON_EMODE (baton_watch was called), BATON_ENAME, or one of the errors above.
 */
int baton_observe(struct baton *baton, const char *name);

enum baton_change {
	/* The leader that is returned leads from now on. If it was reported before, its node has
	 * become silent or answers again; see `silent`. */
	BATON_LEADS = 1,
	/* The leader that is returned was reported before, and no longer leads. Nobody leads until
	 * the next BATON_LEADS. */
	BATON_LED = 2,
	/* No leader is known, but members that may know one are silent. `value` has their names,
	 * separated by blanks; it is empty if the node at the other end is silent itself. */
	BATON_UNKNOWN = 3,
	/* Follows BATON_UNKNOWN: all members answer, and nobody leads. */
	BATON_NOBODY = 4,
};

/*
 * Returns the next change, in the order in which changes happened. The first one tells who leads
 * already, if anybody does, or that this is unknown. Waits for `timeout_ms` milliseconds,
 * BATON_FOREVER, or not at all (0). A program with its own poll() polls baton_fd for input, and
 * then calls this until it returns 0.
 *
 * A node that becomes silent sends no event. So this call asks the members every second; a program
 * with its own poll() must also call it once a second. A member counts as silent if it did not
 * answer twice, within 200 ms each time. The node at the other end of the connection counts as
 * silent if it has not answered for 3 s.
 *
 * Returns a change, and in *ret_leader the leader that it is about; 0 if there was none in time; or
 * one of the errors above. After BATON_ECONNECTION the last leader may no longer lead. The next
 * call connects again and reports who leads then. It does not report what happened in between.
 */
int baton_observe_next(struct baton *baton, int64_t timeout_ms, struct baton_leader *ret_leader);

/* --- for operators --- */

/*
 * Returns the status of the cluster as JSON text, which the caller frees with free(): the members,
 * and the locks that somebody holds or waits for. Only locks whose names match the pattern are
 * included (NULL: all), and at most `count` of each member (0: the node's default). Returns 0, or
 * an error: BATON_ENAME (of the pattern), or one of the errors above.
 */
int baton_status(struct baton *baton, const char *pattern, uint32_t count, char **ret_json);

/*
 * Takes a lock from the holder that has this fence. Returns when the holder's node has told the
 * holder. If the holder asked for time to stop (baton_grace), nobody else gets the lock before the
 * holder has stopped or that time is over; until then baton_status shows the holder as "losing".
 *
 * Returns 0, or an error: BATON_ENOTHELD (nobody holds the lock with this fence); BATON_EFENCE
 * (not between 1 and 2^53 - 1); BATON_ESILENT (a member did not answer, and the holder is at none
 * of those that did); BATON_ENAME; or one of the errors above. After BATON_ECONNECTION the lock may
 * or may not have been broken.
 */
int baton_break(struct baton *baton, const char *name, uint64_t fence);

/* Asks whether the node serves. Every client may ask this. Returns 1 if it does; 0 if the node
 * waits for something, which baton_status names; or one of the errors above. */
int baton_ready(struct baton *baton);

/*
 * Returns how the node has identified this program, as JSON text that the caller frees with
 * free(): its uid and groups, or the name in its certificate, and whether the node has rules about
 * who may do what. Returns 0 or one of the errors above.
 */
int baton_whoami(struct baton *baton, char **ret_json);

/*
 * Returns what this program may do with a lock, as JSON text that the caller frees with free():
 * {"verbs": [...], "rules": ...}, with the verbs lock, elect, observe, status, break and admin.
 * Returns 0, BATON_ENAME, or one of the errors above.
 */
int baton_can(struct baton *baton, const char *name, char **ret_json);

/*
 * Returns the members of the cluster as JSON text, which the caller frees with free(): their names,
 * addresses and roles, and who leads the voters. Returns 0 or one of the errors above.
 */
int baton_members(struct baton *baton, char **ret_json);

/*
 * Asks the voters to change something about a member: "REMOVE" it for good, "INVITE" a name that
 * was removed, "PROMOTE" it to vote, or "DEMOTE" it. Waits until the voters have agreed upon the
 * order, for ten seconds at most; baton_members shows when it is carried out.
 *
 * Returns 0, or an error: BATON_EREFUSED (the voters refuse the order, or have not answered in time
 * and may still obey it, or the node belongs to no cluster; baton_message says which), BATON_ENAME,
 * or one of the errors above.
 */
int baton_member(struct baton *baton, const char *act, const char *name);

/*
 * Makes an invitation, with which one new node can get a certificate of the cluster's CA within
 * `valid_ms` (at most 30 days). Returns 0 and its text, which the caller frees and should keep
 * secret; or an error: BATON_EREFUSED (the cluster has no TLS, or the voters do not answer), or one
 * of the errors above.
 */
int baton_invite(struct baton *baton, uint64_t valid_ms, char **ret_token);

/*
 * Makes the node leave the cluster and end. From now on it grants nothing. Clients that hold a lock
 * there have `finish_ms` to finish, or no limit (BATON_FOREVER); then they are told that they lost
 * it. Returns 0 and how many locks are held there, or one of the errors above. The connection ends
 * when the node does.
 */
int baton_drain(struct baton *baton, int64_t finish_ms, uint64_t *ret_holds);

/* --- at the resource --- */

/*
 * Guards a resource. Succeeds only if the file has no greater fence, and then stores this one. The
 * file need not exist; it holds the greatest fence so far, as a line of text. The call makes two
 * files next to it: FILE.lock, which it locks (flock), so that any number of processes may call
 * this at once; and FILE.new, which replaces FILE once it is on disk, so that after a crash FILE
 * holds either the old fence or the new one.
 *
 * Between this call and the action that it guards, a holder with a greater fence may come. Where
 * that matters, hold a lock of the resource's own around both.
 *
 * Returns 0; BATON_ESTALE, with *ret_highest written too; BATON_EFENCE (not between 1 and
 * 2^53 - 1); BATON_EFILE (errno has the reason); BATON_ETORN (the file holds something that is no
 * fence; nothing passes until somebody repairs it); BATON_EMEMORY.
 */
int baton_fence_check(const char *file, uint64_t fence, uint64_t *ret_highest);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
