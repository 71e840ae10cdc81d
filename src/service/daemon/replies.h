/*
 * What the node says to a client, as RESP: replies to commands, errors, and events.
 */
#ifndef DAEMON_REPLIES_H
#define DAEMON_REPLIES_H

#include "client.h"

/* An effect of the node: the answer to the client's command, or an event that it listens to. */
void reply_tell(struct client *client, const struct node_effect *effect);
void reply_event(struct client *client, const struct node_effect *effect);
/* It reads again: it is told how many events were dropped. */
void reply_dropped(struct client *client);

/* A sentence for an error code of the node. */
const char *reply_error_text(int error);
/* An error of the node; without a view the reply says what is waited for. */
void reply_error(struct client *client, int error);
/* An error reply with the code ERR; always true, so that a command can end with it. */
__attribute__((format(printf, 2, 3))) bool reply_wrong(struct client *client, const char *format,
                                                       ...);

#endif
