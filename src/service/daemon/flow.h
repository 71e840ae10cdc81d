/*
 * How much is kept for clients that do not read. One that writes many commands before it reads the
 * first reply is served, up to CLIENT_UNREAD_MAX bytes of replies; all of them together may have the
 * memory of CLIENTS_UNREAD_MAX. Beyond that a client is not read from until it has taken some; and
 * one that never does is closed.
 */
#ifndef DAEMON_FLOW_H
#define DAEMON_FLOW_H

#include "client.h"

enum {
	/* Bytes of replies that a client may leave unread; with more its commands are not served. */
	CLIENT_UNREAD_MAX = 1 << 26,
	/* The same while all clients together use the memory of CLIENTS_UNREAD_MAX. */
	CLIENT_UNREAD_FREE = 1 << 16,
	CLIENTS_UNREAD_MAX = 1 << 28,
	/* A client that leaves more than this unread, and takes less than this in --client-timeout, is
	 * closed. */
	CLIENT_UNREAD_SLOW = 1 << 20,
};

/* The memory of its output may have changed. */
void client_charge(struct client *client);
/* Is there room for its replies? */
bool client_takes_replies(struct client *client);
/* The log says that there is none, once; not of a client that has little unread and is stopped because
 * of others. */
void client_tell_unread(struct client *client);

/* Now and then: it does not read, unlike a client that has written much and will read later. */
bool client_never_reads(struct client *client);
/* Now and then: its connection ends, and it takes its last replies not at all, or as slowly as if it
 * wanted to keep what it holds. */
bool client_is_overdue(struct client *client);

#endif
