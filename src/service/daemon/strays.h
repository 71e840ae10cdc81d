/*
 * Descriptors that clients send over the Unix socket (SCM_RIGHTS), although a node takes none. The
 * last close of a descriptor may take as long as its sender likes: a TCP socket may linger, and
 * files of FUSE or NFS wait for a server. So the loop's thread must never close one: neither by
 * reading a message without taking its descriptors, nor by closing a socket in which such a message
 * is unread. A thread of its own closes them.
 *
 * Since Linux 6.16, a socket can refuse descriptors (SO_PASSRIGHTS), and nothing of this is needed.
 *
 * The thread may be blocked for any time, so all that waits for it is limited. It gets the
 * descriptors of one message at a time (STRAYS_MESSAGE_MAX). While it is at work, a message with
 * descriptors is not read, but stays in its socket. The sockets that wait for the thread count as
 * connections of their owners; those without an owner are limited by STRAYS_ORPHANS_MAX.
 */
#ifndef DAEMON_STRAYS_H
#define DAEMON_STRAYS_H

#include "loop.h"

#include <sys/types.h>

enum {
	/* The most descriptors that the kernel lets a message have (SCM_MAX_FD). */
	STRAYS_MESSAGE_MAX = 253,
	/* The most sockets without an owner that may wait for the thread. */
	STRAYS_ORPHANS_MAX = 4,
};

struct strays;

/* Can this kernel's sockets refuse descriptors? */
bool strays_are_refusable(void);

/* Starts the thread. `refused`: strays_are_refusable, and strays_refuse is called for listeners. The
 * loop calls `closed` when the thread has closed something; `owner` is what strays_leave got, or
 * NULL. */
struct strays *strays_open(struct loop *loop, bool refused,
                           void (*closed)(void *context, void *owner), void *context);
/* Does not wait for long: if the thread is blocked, it ends with the process. */
void strays_end(struct strays *strays);

/* Returns how many of the process's descriptors must be free for the descriptors of a message. If
 * there are so few that this would be too many, returns 0, and each message is looked at before it
 * is read. */
uint32_t strays_reserve(struct strays *strays, uint64_t descriptors_max);

/* Makes the connections of this listener refuse descriptors, if the kernel can do that. Call it
 * before listen. */
void strays_refuse(const struct strays *strays, int fd);
/* Call it for each accepted connection. Without it, reading would discard urgent data (MSG_OOB), and
 * descriptors that came with them. */
void strays_expect(const struct strays *strays, int fd);
/* Reads like recv. If descriptors have come with the bytes, sets *ret_came: then the connection
 * must be closed, and its bytes are worth nothing. */
ssize_t strays_receive(struct strays *strays, int fd, char *room, size_t size, bool *ret_came);
/* Closes a connection, which the loop no longer watches. Returns false if something in it is
 * unread: then strays_leave must be called, in this turn. The other side cannot tell the
 * difference. */
bool strays_close(const struct strays *strays, int fd);
/* Lets the thread close a connection, or a listener with the connections that were not accepted. If
 * `owner` is not NULL, the connection counts for the owner until `closed` is called. */
void strays_leave(struct strays *strays, int fd, void *owner);
/* Do so many sockets without an owner wait that there must not be more? */
bool strays_are_too_many(const struct strays *strays);

#endif
