/*
 * How long others must wait when a client loses a lock. It is the time that the client needs to
 * notice (none on a Unix socket; over TCP its connection may have been cut), plus the grace that it
 * asked for, plus a margin of a tenth of the lease between its SIGKILL and the next grant.
 *
 * The time that a client has to stop is counted from a new reading of the clock after it was told,
 * not from the beginning of the turn: this process may have been suspended in between.
 */
#ifndef DAEMON_GRACE_H
#define DAEMON_GRACE_H

#include "client.h"
#include "daemon.h"

enum { CLIENT_NOTICE_MS = 10000 };
#define GRACE_MS_MAX(lease_ms) ((lease_ms)*35 / 100)

static inline uint64_t grace_margin_ms(const struct daemon_options *options)
{
	return options->lease_ms / 10;
}

/* CLIENT GRACE: a lock that is taken away from the client is held back until it has stopped, at
 * most for that time plus the time to notice and the margin. */
void client_set_grace(struct client *client, uint64_t ms);
/* CLIENT STAY: the client cannot stop. Locks that are taken away from it are held back until its
 * connection ends. */
void client_stay(struct client *client);
/* Returns the whole time that the client has to stop when it loses a lock. */
uint64_t client_time_to_stop_ms(const struct client *client);

/* A lock was taken away from the client. */
void client_lost(struct client *client);
/* The client released a lock, perhaps the one that it had lost. */
void client_unlocked(struct client *client);
/* Everything of this turn is written: the time to stop begins for clients that lost a lock. */
void clients_begin_grace(struct daemon *daemon);

/* The client's connection is gone. Returns true if it holds something, which others get when its
 * time to stop is over. */
bool client_orphan(struct client *client);

#endif
