/*
 * The reply to STATUS, as JSON. A long reply is made in parts, one in each turn of the client.
 */
#ifndef DAEMON_STATUS_JSON_H
#define DAEMON_STATUS_JSON_H

#include "node.h"

#include <stdbool.h>
#include <stddef.h>

struct client;
struct daemon;
struct status_job;

/* Writes the reply now or in later turns of the client, which is answered when the reply is
 * complete. */
void status_begin(struct client *client, struct node_status *status);
/* Continues with the reply; call it when it is the client's turn. */
void status_continue(struct client *client);
/* Drops the reply of a client that is gone. */
void status_cancel(struct client *client);

/* Writes why the node serves nobody. Returns false if it does serve. */
enum { WAITS_FOR_MAX = 512 };
bool status_waits_for(struct daemon *daemon, char *ret_text, size_t size);

#endif
