/*
 * How long the next holder is kept out when a client loses a lock: the time that the client needs to
 * notice (none on a Unix socket; over TCP its connection may have been cut), the grace that it asked
 * for, and a margin of a tenth of the lease between its SIGKILL and the next grant.
 *
 * Time that is given to others to stop is counted from a new reading of the clock, after they were
 * told, and not from the beginning of the turn: this process may have been stopped in between.
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

/* CLIENT GRACE: locks that are taken away from it are held back until it has stopped, for that time
 * at most; the time to notice and the margin are added. */
void client_set_grace(struct client *client, uint64_t ms);
/* CLIENT STAY: it cannot stop. Locks that are taken away from it are held back until its connection
 * ends. */
void client_stay(struct client *client);
/* The whole time that it has to stop when it loses a lock. */
uint64_t client_time_to_stop_ms(const struct client *client);

/* A lock was taken away from it. */
void client_lost(struct client *client);
/* It gave a lock back: perhaps the one that it had lost. */
void client_unlocked(struct client *client);
/* All that was said in this turn is written: the time of those that lost a lock begins. */
void clients_begin_grace(struct daemon *daemon);

/* Its connection is gone. True: it holds something, which others get when its time to stop is over. */
bool client_orphan(struct client *client);

#endif
