/*
 * Limits the memory for commands that cannot be served yet: they are incomplete, or come after a
 * command that waits. All clients together may use CLIENTS_INPUT_MAX. Beyond that, the user with
 * most of it loses the connection whose commands have gone unserved for longest: its memory is
 * freed, and other users notice nothing.
 *
 * Limits the memory for clients that do not read their replies. A client may write many commands
 * before it reads the first reply: it is served up to CLIENT_UNREAD_MAX bytes of replies. All
 * clients together may use CLIENTS_UNREAD_MAX. Beyond these limits a client's commands are not read
 * until it has read some replies; a client that never reads is closed.
 */
#ifndef DAEMON_FLOW_H
#define DAEMON_FLOW_H

#include "client.h"

enum {
	/* How many bytes of replies a client may leave unread before its commands are no longer
	 * served. */
	CLIENT_UNREAD_MAX = 1 << 26,
	/* The limit for one client while all clients together use more than CLIENTS_UNREAD_MAX. */
	CLIENT_UNREAD_FREE = 1 << 16,
	CLIENTS_UNREAD_MAX = 1 << 28,
	/* A client that leaves more than this unread, and reads less than this within
	 * --client-timeout, is closed. */
	CLIENT_UNREAD_SLOW = 1 << 20,
	/* How many bytes of input a client may have that do not count: enough for usual commands.
	 * This much memory is also kept when the input is empty. */
	CLIENT_INPUT_FREE = 1 << 12,
	CLIENTS_INPUT_MAX = 1 << 28,
};

/* Call it when the memory of the client's input may have changed. If all inputs together take too
 * much memory, clients are ended, perhaps this one. Do not call it while commands of a client are
 * being served. */
void client_charge_input(struct client *client);

/* Call it when the memory of the client's output, or of its STATUS, may have changed. */
void client_charge(struct client *client);
/* Is there room for the client's replies? */
bool client_takes_replies(struct client *client);
/* Logs, once, that the client does not read. Does not log a client that has little unread and must
 * wait only because of others. */
void client_tell_unread(struct client *client);

/* Call it from time to time. Is it certain that the client does not read? A client that is still
 * writing many commands may read later. */
bool client_never_reads(struct client *client);
/* Call it from time to time. Is the connection ending, and does the client read its last replies so
 * slowly that it would keep its locks for too long? */
bool client_is_overdue(struct client *client);
/* Call it from time to time. Has the client sent its last command long ago, and is that not answered
 * yet? It would keep its locks for too long. */
bool client_waits_too_long(const struct client *client);

#endif
