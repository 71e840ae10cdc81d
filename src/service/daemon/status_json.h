/*
 * The reply to STATUS, as JSON. A long reply is made in parts, one in each turn of the loop.
 */
#ifndef DAEMON_STATUS_JSON_H
#define DAEMON_STATUS_JSON_H

#include "node.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

struct client;
struct daemon;
struct status_job;

TAILQ_HEAD(status_jobs, status_job);

/* Writes the reply now or in later turns. The client is answered when it is complete. */
void status_begin(struct client *client, struct node_status *status);
/* Continues with one of the replies. Call it once in each turn. Returns true if it must be called
 * again soon, without sleeping. */
bool status_continue(struct daemon *daemon);
/* Drops the reply of a client that is gone. */
void status_cancel(struct client *client);

/* Writes why the node serves nobody. Returns false if it does serve. */
enum { WAITS_FOR_MAX = 512 };
bool status_waits_for(struct daemon *daemon, char *ret_text, size_t size);

#endif
