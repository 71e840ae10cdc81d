/*
 * Writes what the node tells a client, as RESP: replies to commands, errors, and events.
 */
#ifndef DAEMON_REPLIES_H
#define DAEMON_REPLIES_H

#include "client.h"

/* Writes an effect of the node: the reply to the client's command, or an event that it is
 * subscribed to. */
void reply_tell(struct client *client, const struct node_effect *effect);
void reply_event(struct client *client, const struct node_effect *effect);
/* Writes what is left of the lease, in whole milliseconds, or nil if there are no leases. `left_ns`
 * is what was left when the turn began; the time since then is subtracted. */
void reply_left(struct client *client, uint64_t left_ns);
/* Call it when the client reads again: tells it how many events were dropped. */
void reply_dropped(struct client *client);

/* Returns a sentence for an error code of the node. */
const char *reply_error_text(int error);
/* Writes an error of the node. Without a view, the reply says what the node waits for. */
void reply_error(struct client *client, int error);
/* Writes an error reply with the code ERR. Always returns true, so that a command can end with
 * it. */
__attribute__((format(printf, 2, 3))) bool reply_wrong(struct client *client, const char *format,
                                                       ...);

#endif
