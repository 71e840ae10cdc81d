/*
 * Decides how long others must wait when a client loses a lock: the grace that the client asked
 * for, plus a margin of a tenth of the lease. When the grace is over, baton run kills its command;
 * the margin leaves time for that before the next grant. A client that has asked LEASE may not
 * notice that its connection was cut, so others wait at least until the end of the lease that it
 * was told last.
 *
 * The time that a client has to stop is counted from a new reading of the clock after it was told,
 * not from the beginning of the turn: this process may have been suspended in between.
 */
#ifndef DAEMON_GRACE_H
#define DAEMON_GRACE_H

#include "client.h"
#include "daemon.h"

/* The longest grace, in percent of the lease. It is shorter over TCP, where it takes time to ask
 * the node when the lease ends. */
enum { GRACE_PERCENT_MAX = 35, GRACE_PERCENT_MAX_TCP = 30 };

static inline uint64_t grace_margin_ms(uint64_t lease_ms)
{
	return lease_ms / 10;
}

/* CLIENT GRACE: a lock that is taken from the client is held back until the client has stopped, but
 * at most for client_time_to_stop_ms or, if that is later, until the end of the lease that the
 * client was told. */
void client_set_grace(struct client *client, uint64_t ms);
/* CLIENT STAY: the client cannot stop. Locks that are taken from it are held back until its
 * connection or this node ends: see leave.h. */
void client_stay(struct client *client);
/* LEASE: the client relies on the deadline that it was told. Locks that are taken from it are held
 * back until then. */
void client_ask_lease(struct client *client);
/* Returns how long the client may take to stop when it loses a lock: its grace and the margin. It
 * may take longer if it was told a lease that ends later. */
uint64_t client_time_to_stop_ms(const struct client *client);

/* Call it when a lock was taken away from the client. */
void client_lost(struct client *client);
/* Ends the client's connection, because this node has lapsed and the client has lost all its
 * locks. */
void client_lapsed(struct client *client);
/* Call it when the client released a lock, perhaps the one that it had lost. */
void client_unlocked(struct client *client);
/* Begins the time to stop for clients that lost a lock. Call it when all output of this turn is
 * written. */
void clients_begin_grace(struct daemon *daemon);

/* Call it when the client's connection is gone. Returns true if the client holds something; others
 * get it when the client's time to stop is over. */
bool client_orphan(struct client *client);

#endif
