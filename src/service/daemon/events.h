/*
 * Events that are told to clients, but not written yet, or written and not read.
 *
 * One event may have thousands of subscribers. So events are not written at the end of the loop's
 * turn, as replies are, but in turns: see user_enqueue_events. A client that has lost a lock is an
 * exception, because its time to stop begins then (grace.h).
 *
 * Limits the memory for events that clients do not read. A client may have CLIENT_EVENTS_MAX, and
 * all clients together CLIENTS_EVENTS_MAX. Beyond that, a user gets no more events who has an equal
 * share of it or more, as if it were divided among all users that have any; so one user does not
 * cost another its events. What a client has not read up to CLIENT_EVENTS_FREE does not keep it from
 * getting one more event: a client that reads gets all events, even one with many subscribers.
 * Events beyond the limits are dropped, and the client is told how many when it reads again.
 */
#ifndef DAEMON_EVENTS_H
#define DAEMON_EVENTS_H

#include "client.h"

enum {
	CLIENT_EVENTS_MAX = 1 << 20,
	CLIENT_EVENTS_FREE = 1 << 9,
	CLIENTS_EVENTS_MAX = 1 << 26,
	/* A user whose command causes more events than this is held, see user_hold. */
	EVENTS_UNHELD = 16,
	/* How long it takes to write an event to one client, about. */
	EVENT_WRITE_NS = 4000,
};

/* May the client be told of another event? */
bool client_takes_events(const struct client *client);
/* Notes that the client's output has this many more bytes of events, to be written soon. */
void client_add_events(struct client *client, size_t size);
/* Call it when as much of the client's output was written as its socket takes. */
void client_events_written(struct client *client);
/* Call it when the client is closed. */
void client_forget_events(struct client *client);

#endif
